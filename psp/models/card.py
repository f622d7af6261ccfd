"""The model card: the README.md of a model's folder, which is also its page on the Hugging Face hub.

The same model gives the same bytes: the card has no date, path or machine name. Its last line holds a checksum of the
lines above, which distinguishes an edited card from psp's own: psp never replaces an edited one.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from psp.core import __version__
from psp.core.files import atomic_text, read_json
from psp.models import TRANSFORMER, is_transformer
from psp.models import licence as licences
from psp.models.card_data import section, together
from psp.models.card_file import sealed, write
from psp.models.lstm import vector_dim
from psp.models.scores import METRICS, Score, kind_of, model_index, shown
from psp.models.static import unknown_alone
from psp.text import markup
from psp.text.languages import NAMES
from psp.text.published_sets import same_domain
from psp.text.tokenizer_kinds import on_disk

log = logging.getLogger(__name__)

SENTENCEPIECE = "sentencepiece"
BITEXT = "bitext-mining"
#: Models with another tokenizer have its kind in place of sentencepiece; monolingual models mine no bitext.
TAGS = ("sentence-embeddings", "paraphrase", BITEXT, SENTENCEPIECE, "static-embeddings")
#: By the kind of encoder, what is averaged into a sentence's vector.
ENCODERS = {
    "lstm": "of the states of an LSTM that reads the vectors",
    "blstm": "of the states of a bidirectional LSTM that reads the vectors",
}


class Release(NamedTuple):
    """What a card says about its destination."""

    files: Mapping[str, str]
    """The files besides the card that are not the model's, and their contents, in Markdown."""
    repo: str | None = None
    """The place on the Hub, ``user/name``, if it is known."""
    base_model: str | None = None
    """For a smaller form: the place of the model that it was made from."""
    licence_file: str | None = None
    """The file with the licences of the data."""


def card(
    config: Mapping[str, Any],
    *,
    licence: str | None = None,
    evaluation: Mapping[str, Any] | None = None,
    data: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    release: Release | None = None,
) -> str:
    """The text of a model card, in Markdown with the hub's front matter.

    Args:
        config: the model's config.json.
        licence: of the model, an SPDX id; the config's ``licence`` where it is None. Without either, that of its data
            (:mod:`psp.models.licence`), and not mentioned without data.
        evaluation: eval.json; its figures become a table, and the hub's ``model-index``. Those of a combination are
            shown beside its parts'.
        data: data.json; its corpora become a table of sources and licences. Of a combination of models trained apart,
            that of each part.
        release: for a folder that is published with more than the model.

    Raises:
        PspError: there is ``data`` but no ``licence``, and license-expression is missing.
    """
    given = licence or config.get("licence")
    jointly, names = _jointly(config, data), [part["model"] for part in (evaluation or {}).get("parts", [])]
    models = None if data is None else [data] if isinstance(data, Mapping) else list(data)
    whole = None if models is None else {"corpora": [corpus for one in models for corpus in one["corpora"]]}
    parts = [
        _front_matter(config, given, evaluation, whole, release),
        _what(config, release, jointly, names),
        _loading(config, release),
        _text(config, names),
        _making(config, release, jointly),
    ]
    if evaluation is not None:
        parts.append(_figures(evaluation))
    if models is not None and whole is not None:
        parts.append(section(models, whole, given))
    if release is not None:
        parts.append(_files(release))
    return sealed("\n\n".join(parts) + "\n\n")


def write_with_scores(model_dir: Path, evaluation: Path, data: Sequence[Path], out: Path) -> None:
    """Write the card of a model that the workflow made, and copy it into the model's folder.

    Args:
        model_dir: the model's folder; a card in it that a person has edited stays.
        evaluation: eval.json.
        data: data.json; those of its parts, in their order, if it joins models that were trained apart.
        out: where the card goes.

    Raises:
        DataError: a file cannot be read or written.
        PspError: as :func:`card`.
    """
    reports = [read_json(path) for path in data]
    told = reports[0] if len(reports) == 1 else reports
    text = card(read_json(model_dir / "config.json"), evaluation=read_json(evaluation), data=told)
    with atomic_text(out) as file:
        file.write(text)
    write(model_dir, text)


def _front_matter(
    config: Mapping[str, Any],
    given: str | None,
    evaluation: Mapping[str, Any] | None,
    data: Mapping[str, Any] | None,
    release: Release | None,
) -> str:
    front: dict[str, Any] = {}
    if config.get("languages"):
        front["language"] = list(config["languages"])
    if given:
        front |= licences.on_the_hub(given)
    elif data is not None:
        front |= together(data).metadata
    if front.get("license") == "other" and release is not None and release.licence_file:
        front["license_link"] = release.licence_file
    front |= {"library_name": "psp", "pipeline_tag": "sentence-similarity", "tags": _tags(config)}
    if data is not None:
        # Their own names, as OPUS has them; most are no data set of the Hub's, which shows them without a link.
        names = (re.sub(r"[^A-Za-z0-9._-]+", "-", corpus["corpus"]).strip("-.") for corpus in data["corpora"])
        front["datasets"] = list(dict.fromkeys(name for name in names if name))
    if evaluation is not None and (scores := list(shown(evaluation))):
        front["metrics"] = list(dict.fromkeys(METRICS[score.metric] for score in scores))
    if base := base_model(config, release):
        front["base_model"] = base
        if config["quantized_from"]["dtype"] != config.get("dtype", "float32"):
            front["base_model_relation"] = "quantized"
    if evaluation is not None and (index := model_index(_name(config, evaluation, release), evaluation)):
        front["model-index"] = index
    return f"---\n{markup.yaml(front)}---"


def base_model(config: Mapping[str, Any], release: Release | None = None) -> str | None:
    """The Hub name of the model that a smaller form was made from; None for other models, or if the name is unknown."""
    if not (made_of := config.get("quantized_from")):
        return None
    base: str | None = (release.base_model if release else None) or made_of.get("model")
    return base


def _name(config: Mapping[str, Any], evaluation: Mapping[str, Any], release: Release | None) -> str:
    if release is not None and release.repo:
        return release.repo.rpartition("/")[2]
    named: str | None = evaluation.get("model")
    return named or "-".join(["psp", *(config.get("languages") or [])])


def _tags(config: Mapping[str, Any]) -> list[str]:
    parts = _joined(config) or [dict(config)]
    encoders = dict.fromkeys((part.get("encoder") or {}).get("kind") for part in parts)
    others = {
        SENTENCEPIECE: dict.fromkeys(map(_kind, parts)),
        "static-embeddings": dict.fromkeys(
            kind if kind in (*ENCODERS, TRANSFORMER) else "static-embeddings" for kind in encoders
        ),
    }
    if len(config.get("languages") or []) == 1:
        others[BITEXT] = {}
    tags = [kind for tag in TAGS for kind in others.get(tag, [tag])]
    return list(dict.fromkeys(tags))


def _jointly(config: Mapping[str, Any], data: Any) -> bool:
    """Whether a combination's parts were trained together, as far as is known, so that it has data of its own."""
    encoder = config.get("encoder") or {}
    return isinstance(data, Mapping) or encoder.get("kind") == "add" or encoder.get("scaled") is False


def _what(config: Mapping[str, Any], release: Release | None, jointly: bool, part_names: Sequence[str]) -> str:
    *names, last = [NAMES.get(code, code) for code in config.get("languages") or []] or ["unknown languages"]
    languages = f"{', '.join(names)} and {last}" if names else last
    table = ""
    if joined := _joined(config):
        trained = "encoders that were trained together" if jointly else "models that were trained apart"
        parted = f"{len(joined)} {trained}"
        if config["encoder"].get("kind") == "add":
            how = f"A sentence's vector is the sum of the vectors of {parted}: {config['dim']:,} dimensions."
        elif config["encoder"].get("scaled") is False:
            how = (
                f"A sentence's vector joins the vectors of {parted}, as they are: {config['dim']:,} dimensions in all."
            )
        else:
            how = (
                f"A sentence's vector joins the vectors of {parted}, {config['dim']:,} dimensions in all. Each of them "
                "is scaled to length 1 and multiplied by the square root of its weight, so that a cosine is the mean "
                "of theirs by these weights."
            )
        table = _table_of_parts(joined, part_names)
    elif is_transformer(config):
        pooling, longest = (config["encoder"].get(key, "unknown") for key in ("pooling", "max_length"))
        how = (
            f"A sentence's vector is made of the states of a transformer, by {pooling} pooling: {config['dim']:,} "
            f"dimensions. Texts are truncated to {longest} tokens."
        )
    else:
        rows, dim, parts = config["vocab_size"], vector_dim(config), _parts(config)
        how = (
            f"A sentence's vector is the {_made_of(config)}: {dim:,} dimensions, {rows:,} "
            f"{parts.rpartition(' ')[2]}, numbers in {config.get('dtype', 'float32')}."
        )
    # One language's vectors are not compared with another's.
    across = ", within a language and across the languages above" * bool(names)
    return (
        f"# Sentence embeddings for {languages}\n\n{how} Sentences that mean the same have a high "
        f"cosine{across}. No GPU is needed.{_made_smaller(config, release)}{table}"
    )


def _made_smaller(config: Mapping[str, Any], release: Release | None) -> str:
    if not (made_of := config.get("quantized_from")):
        return ""
    base = base_model(config, release)
    place = f"[{markup.markdown(base)}](https://huggingface.co/{base})" if base else "a larger model"
    return f"\n\nIt was made from {place}, with {made_of['dim']:,} dimensions, numbers in {made_of['dtype']}."


def _made_of(config: Mapping[str, Any]) -> str:
    encoder = config.get("encoder") or {}
    made_of = ENCODERS.get(str(encoder.get("kind")), "of the vectors")
    pooled = "largest value, in each dimension," if encoder.get("pooling") == "max" else "mean"
    return f"{pooled} {made_of} of its {_parts(config)}"


def _joined(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The parts of a combination, each with its weight; empty for other models."""
    parts: list[dict[str, Any]] = config.get("encoder", {}).get("parts", [])
    return parts


def _part(number: int, names: Sequence[str]) -> str:
    """The label of a combination's part: its number and, if known, its model's name."""
    return f"{number} ({markup.markdown(names[number])})" if names else str(number)


def _table_of_parts(parts: list[dict[str, Any]], names: Sequence[str]) -> str:
    lines = [
        "| part | weight | vector | vocabulary | dimensions | numbers | languages |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {_part(number, names)} | {part['weight']:g} | {_made_of(part)} | {part['vocab_size']:,} | "
        f"{vector_dim(part):,} | {part.get('dtype', 'float32')} | {', '.join(part['languages']) or 'unknown'} |"
        for number, part in enumerate(parts)
    ]
    return "\n\n" + "\n".join(lines)


def _kind(config: Mapping[str, Any]) -> str:
    kind: str = config.get("tokenizer", {}).get("kind", SENTENCEPIECE)
    return kind


def _parts(config: Mapping[str, Any]) -> str:
    return on_disk(_kind(config)).pieces_in_full


def _loading(config: Mapping[str, Any], release: Release | None) -> str:
    place = f"hf://{release.repo}" if release is not None and release.repo else None
    load = f'"{place}"' if place else '"this/folder"'
    takes = "This needs psp (the package `paraphrastic`), NumPy, sentencepiece and safetensors."
    if is_transformer(config):
        ours = config["encoder"].get("pooling") in ("lstm", "bilstm")
        argument = ", trust_remote_code=True" if ours else ""
        takes = (
            "This needs `pip install 'paraphrastic[transformer]'`. sentence-transformers, version 6 or later, loads "
            f"the folder too{', with psp installed for its pooling' * ours}: "
            f'`SentenceTransformer("this/folder"{argument})`.'
        )
    return (
        f"""## How it is loaded

```python
import psp

model = psp.load_model({load}){"" if place else '  # or "hf://user/name"'}
vectors = model.encode(["a red car", "a car that is red"])  # float32 (2, dimensions)
cosines = model.similarity(vectors, vectors)  # (2, 2)
```

```sh
psp embed {place or "this/folder"} sentences.txt --out vectors.npy
```

"""
        + takes
    )


def _text(config: Mapping[str, Any], names: Sequence[str]) -> str:
    if joined := _joined(config):
        treatments = "\n".join(
            f"- Part {_part(number, names)}: {_treatment(part)}" for number, part in enumerate(joined)
        )
        return f"## How text is treated\n\nEach part treats it in its own way.\n\n{treatments}"
    return "## How text is treated\n\n" + _treatment(config)


def _treatment(config: Mapping[str, Any]) -> str:
    if is_transformer(config):
        return "As the transformer's own tokenizer does, upper and lower case included; nothing needs to be done to it."
    segmenters = {value["name"] for value in (config.get("segment") or {}).values()}
    sentences = [
        f"Text with Han ideographs is split into words by {name} (`pip install 'paraphrastic[zh]'`)."
        for name in sorted(segmenters)
    ]
    sentences.append("Text is lower-cased." if config.get("lower_case") else "Upper and lower case are kept.")
    parts = _parts(config).rpartition(" ")[2]
    sentences.append(f"It is then split into {parts}; nothing else needs to be done to it.")
    sentences.append(f"Unknown {parts} are left out. A text without known {parts} gets the zero vector.")
    if unknown_alone(config):
        one = parts.removesuffix("s")
        sentences[-1] = (
            f"Unknown {parts} are left out. A text of unknown {parts} alone gets the vector of the unknown {one}."
        )
    if left_out := config.get("left_out"):
        sentences.append(f"{len(left_out):,} pieces for which no vector was trained are left out in the same way.")
    return " ".join(sentences)


def _making(config: Mapping[str, Any], release: Release | None, jointly: bool) -> str:
    by = f"Recipe: {config['recipe']}. " if config.get("recipe") else ""
    if _joined(config):
        version = config.get("psp_version", __version__)
        how = "together, with one loss for the whole vector" if jointly else "apart"
        last = f"with psp {version}" if jointly else f"and joined by psp {version}"
        return (
            f"## How it was made\n\n{by}Its parts were trained {how}, by the method of *Paraphrastic Representations "
            f"at Scale* (Wieting et al., EMNLP 2022), {last}. Joining encoders is the idea of *ParaNMT-50M* (Wieting & "
            "Gimpel, ACL 2018)."
        )
    paper = "*Paraphrastic Representations at Scale* (Wieting et al., EMNLP 2022)"
    if is_transformer(config):
        paper = "*Training Effective Neural Sentence Encoders from Automatically Mined Paraphrases* (Dadas, SMC 2022)"
    sequence = (config.get("encoder") or {}).get("kind") in ENCODERS
    encoder = ", the encoder that of *ParaNMT-50M* (Wieting & Gimpel, ACL 2018)" if sequence else ""
    where = (
        " Where psp's workflow trained it, the folder above this one has all scores with their intervals "
        "(`eval.json`), its speed (`speed.json`), and the source, licence and counts of its data (`data.json`)."
    )
    return (
        f"## How it was made\n\n{by}Written by psp {config.get('psp_version', __version__)}. The method is that of "
        f"{paper}{encoder}.{where if release is None else ''}"
    )


def _figures(evaluation: Mapping[str, Any]) -> str:
    scores = list(shown(evaluation))
    if not scores:
        return "## Scores\n\nIt was not evaluated on any test set."
    body = [
        (
            markup.markdown(score.test),
            kind_of(score),
            f"{score.items:,}",
            f"{score.value:.1f}",
            _interval(score.interval),
        )
        for score in scores
    ]
    notes = ["Correlations are times 100."]
    if any(score.task == "sts" for score in scores):
        notes.append(
            "STS 2012 to 2016: Pearson is the mean over a year's data sets, Spearman that of all their pairs together "
            "(2013 without SMT)."
        )
    notes.append("dev: models are chosen by this set, so it is not a test.")
    if domain := same_domain(evaluation):
        notes.append(domain)
    table = markup.rows(("test", "figure", "pairs", "value", "95% interval"), body)
    return f"## Scores\n\n{table}\n\n{' '.join(notes)}{_metrics_of_parts(evaluation, scores)}"


def _metrics_of_parts(evaluation: Mapping[str, Any], scores: Sequence[Score]) -> str:
    """A combination's figures and those of its parts; empty for other models."""
    if not (parts := evaluation.get("parts")):
        return ""
    body = [
        (markup.markdown(one.test), kind_of(one), f"{one.value:.1f}", *(_beside(part, one.name) for part in parts))
        for one in scores
        if one.compared and all(one.name in part["scores"] for part in parts)
    ]
    names = (markup.markdown(part["model"]) for part in parts)
    head = ("test", "figure", markup.markdown(evaluation["model"]), *names)
    return (
        "\n\nCompared with the models that it was made from: the difference of each and its 95% interval, by the "
        f"paired bootstrap. If an interval contains 0, the difference is not significant:\n\n{markup.rows(head, body)}"
    )


def _beside(part: Mapping[str, Any], key: str) -> str:
    """A part's figure and how much it is above the whole's."""
    value, difference = part["scores"][key], part["differences"].get(key)
    if value is None:
        return "-"
    if difference is None or difference["difference"] is None or difference["interval"] is None:
        return f"{value:.1f}"
    low, high = difference["interval"]
    return f"{value:.1f} ({difference['difference']:+.1f}: {low:+.1f} to {high:+.1f})"


def _interval(ends: Sequence[float] | None) -> str:
    return "-" if ends is None else f"{ends[0]:.1f} to {ends[1]:.1f}"


def _files(release: Release) -> str:
    rows = "\n".join(f"- `{name}`: {what}" for name, what in release.files.items())
    return f"## Beside this card\n\n{rows}"
