"""The model card: the README.md of a model's folder, which is also its page on the Hugging Face hub.

The same model gives the same bytes: no date, no path, no name of a machine is in it. Its last line holds a checksum of
the lines above, by which a card that a person has edited is told from one that psp wrote: the former is never replaced.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from psp.core.errors import DataError
from psp.core.files import atomic_text, read_json
from psp.core.version import __version__
from psp.models.files import TRANSFORMER, is_transformer
from psp.models.lstm import vector_dim
from psp.text.languages import NAMES

log = logging.getLogger(__name__)

NAME = "README.md"
SENTENCEPIECE = "sentencepiece"
#: Models of another tokenizer have its kind in place of sentencepiece.
TAGS = ("sentence-embeddings", "paraphrase", "bitext-mining", SENTENCEPIECE, "static-embeddings")
#: By the kind of encoder, what a sentence's vector is the mean of; and by that of the tokenizer, of what.
ENCODERS = {
    "lstm": "of the states of an LSTM that reads the vectors",
    "blstm": "of the states of a bidirectional LSTM that reads the vectors",
}
PARTS = {SENTENCEPIECE: "sentencepiece pieces", "word": "words", "trigram": "character trigrams"}
#: The columns of the table of corpora.
COLUMNS = ("corpus", "languages", "release", "pairs", "licence", "source")
_SEAL = re.compile(r"<!-- written by psp; kept once it is edited: ([0-9a-f]{16}) -->\n?\Z")


def card(
    config: Mapping[str, Any],
    *,
    licence: str | None = None,
    evaluation: Mapping[str, Any] | None = None,
    data: Mapping[str, Any] | None = None,
) -> str:
    """The text of a model card, in Markdown with the hub's front matter.

    Args:
        config: the model's config.json.
        licence: of the model, an SPDX id; the config's ``licence`` where it is None, and not mentioned without either.
        evaluation: eval.json; its figures become a table.
        data: data.json; its corpora become a table of sources and licences.
    """
    parts = [
        _front_matter(config, licence or config.get("licence")),
        _what(config),
        _loading(config),
        _text(config),
        _making(config),
    ]
    if evaluation is not None:
        parts.append(_figures(evaluation))
    if data is not None:
        parts.append(_data(data))
    text = "\n\n".join(parts) + "\n\n"
    return f"{text}<!-- written by psp; kept once it is edited: {_checksum(text)} -->\n"


def write_with_scores(model_dir: Path, evaluation: Path, data: Path, out: Path) -> None:
    """Write the card of a model that the workflow made, and copy it into the model's folder.

    Args:
        model_dir: the model's folder; a card in it that a person has edited stays.
        evaluation: eval.json.
        data: data.json.
        out: where the card goes.

    Raises:
        DataError: a file cannot be read or written.
    """
    text = card(read_json(model_dir / "config.json"), evaluation=read_json(evaluation), data=read_json(data))
    with atomic_text(out) as file:
        file.write(text)
    write(model_dir, text)


def is_generated(text: str) -> bool:
    """Whether psp wrote this card and nobody has edited it since."""
    text = text.replace("\r\n", "\n")  # an editor or git may turn the ends of lines; that is no edit
    seal = _SEAL.search(text)
    return seal is not None and seal[1] == _checksum(text[: seal.start()])


def write(folder: Path, text: str) -> bool:
    """Write a card into a model's folder, unless one is there that psp did not write or that was edited since.

    Returns:
        Whether it was written.

    Raises:
        DataError: it cannot be read or written.
    """
    path = folder / NAME
    try:
        there = path.read_bytes().decode("utf-8", "replace") if path.exists() else None
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from error
    if there is not None and not is_generated(there):
        log.warning("%s was edited by hand and is kept; remove it to have a new one", path)
        return False
    with atomic_text(path) as file:
        file.write(text)
    return True


def licence(text: str) -> str | None:
    """The licence in a card's front matter, which may be anybody's card; None without one."""
    front = re.match(r"---\r?\n(.*?)^---", text, re.DOTALL | re.MULTILINE)
    found = front and re.search(r"""^license:[ \t]*["']?([^\s"'#]+)""", front[1], re.MULTILINE)
    return found[1] if found else None


def corpora(text: str) -> list[dict[str, str]]:
    """The rows of a card's table of corpora, by :data:`COLUMNS`; none without such a table."""
    _, _, rest = text.replace("\r\n", "\n").partition(f"\n| {' | '.join(COLUMNS)} |\n")
    rows = []
    for line in rest.split("\n")[1:]:  # after the rule below the names
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) != len(COLUMNS):
            break
        rows.append(dict(zip(COLUMNS, cells, strict=True)))
    return rows


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _front_matter(config: Mapping[str, Any], licence: str | None) -> str:
    lines = ["---"]
    if config.get("languages"):
        # In quotation marks: Norwegian's code is YAML's word for false.
        lines += ["language:", *(f"- {json.dumps(code)}" for code in config["languages"])]
    if licence:
        lines.append(f"license: {licence.lower()}")
    parts = _joined(config) or [dict(config)]
    encoders = dict.fromkeys((part.get("encoder") or {}).get("kind") for part in parts)
    others = {
        SENTENCEPIECE: dict.fromkeys(map(_kind, parts)),
        "static-embeddings": dict.fromkeys(
            kind if kind in (*ENCODERS, TRANSFORMER) else "static-embeddings" for kind in encoders
        ),
    }
    tags = [kind for tag in TAGS for kind in others.get(tag, [tag])]
    lines += [
        "library_name: psp",
        "pipeline_tag: sentence-similarity",
        "tags:",
        *(f"- {tag}" for tag in dict.fromkeys(tags)),
        "---",
    ]
    return "\n".join(lines)


def _what(config: Mapping[str, Any]) -> str:
    *names, last = [NAMES.get(code, code) for code in config.get("languages") or []] or ["unknown languages"]
    languages = f"{', '.join(names)} and {last}" if names else last
    table = ""
    if joined := _joined(config):
        how = (
            f"A sentence's vector joins the vectors of {len(joined)} models that were trained apart, "
            f"{config['dim']:,} dimensions in all. Each of them is scaled to length 1 and multiplied by the square "
            "root of its weight, so that a cosine is the mean of theirs by these weights."
        )
        table = _table_of_parts(joined)
    elif is_transformer(config):
        pooling, longest = (config["encoder"].get(key, "unknown") for key in ("pooling", "max_length"))
        how = (
            f"A sentence's vector is made of the states of a transformer, by {pooling} pooling: {config['dim']:,} "
            f"dimensions. A text is read up to {longest} tokens."
        )
    else:
        rows, dim, parts = config["vocab_size"], vector_dim(config), _parts(config)
        how = (
            f"A sentence's vector is the {_made_of(config)}: {dim:,} dimensions, {rows:,} "
            f"{parts.rpartition(' ')[2]}, numbers in {config.get('dtype', 'float32')}."
        )
    return (
        f"# Sentence embeddings for {languages}\n\n{how} Sentences that mean the same have a high cosine, within a "
        f"language and across the languages above. No GPU is needed.{table}"
    )


def _made_of(config: Mapping[str, Any]) -> str:
    encoder = config.get("encoder") or {}
    made_of = ENCODERS.get(str(encoder.get("kind")), "of the vectors")
    pooled = "largest value, in each dimension," if encoder.get("pooling") == "max" else "mean"
    return f"{pooled} {made_of} of its {_parts(config)}"


def _joined(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The parts of a combination, each with its weight; none of any other model."""
    parts: list[dict[str, Any]] = config.get("encoder", {}).get("parts", [])
    return parts


def _table_of_parts(parts: list[dict[str, Any]]) -> str:
    lines = [
        "| part | weight | vector | vocabulary | dimensions | numbers | languages |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {number} | {part['weight']:g} | {_made_of(part)} | {part['vocab_size']:,} | {vector_dim(part):,} | "
        f"{part.get('dtype', 'float32')} | {', '.join(part['languages']) or 'unknown'} |"
        for number, part in enumerate(parts)
    ]
    return "\n\n" + "\n".join(lines)


def _kind(config: Mapping[str, Any]) -> str:
    kind: str = config.get("tokenizer", {}).get("kind", SENTENCEPIECE)
    return kind


def _parts(config: Mapping[str, Any]) -> str:
    return PARTS.get(_kind(config), "pieces")


def _loading(config: Mapping[str, Any]) -> str:
    takes = "This takes psp, NumPy, sentencepiece and safetensors."
    if is_transformer(config):
        ours = config["encoder"].get("pooling") in ("lstm", "bilstm")
        argument = ", trust_remote_code=True" if ours else ""
        takes = (
            "This takes `pip install 'psp[transformer]'`. sentence-transformers, version 6 or later, loads the folder "
            f'too{", with psp installed for its pooling" * ours}: `SentenceTransformer("this/folder"{argument})`.'
        )
    return (
        """## How it is loaded

```python
import psp

model = psp.load_model("this/folder")  # or "hf://user/name"
vectors = model.embed_raw_text(["a red car", "a car that is red"])  # float32 (2, dimensions)
cosines = model.score_raw_text([("a red car", "a car that is red")])
```

```sh
psp embed this/folder sentences.txt --out vectors.npy
```

"""
        + takes
    )


def _text(config: Mapping[str, Any]) -> str:
    if joined := _joined(config):
        said = "\n".join(f"- Part {number}: {_treatment(part)}" for number, part in enumerate(joined))
        return f"## How text is treated\n\nEach part treats it in its own way.\n\n{said}"
    return "## How text is treated\n\n" + _treatment(config)


def _treatment(config: Mapping[str, Any]) -> str:
    if is_transformer(config):
        return "As the transformer's own tokenizer does, upper and lower case included; nothing needs to be done to it."
    segmenters = {value["name"] for value in (config.get("segment") or {}).values()}
    said = [
        f"Text with Han ideographs is split into words by {name} (`pip install 'psp[zh]'`)."
        for name in sorted(segmenters)
    ]
    said.append("Text is lower-cased." if config.get("lower_case") else "Upper and lower case are kept.")
    kind, parts = _kind(config), _parts(config).rpartition(" ")[2]
    said.append(
        f"{'Sentencepiece' if kind == SENTENCEPIECE else 'psp'} then splits it into {parts}; nothing else needs to be "
        "done to it."
    )
    said.append(
        f"Unknown {parts} are left out; a text of nothing else has the unknown {parts.removesuffix('s')}'s vector, an "
        "empty one zeros."
    )
    if left_out := config.get("left_out"):
        said.append(f"{len(left_out):,} pieces for which no vector was trained are left out in the same way.")
    return " ".join(said)


def _making(config: Mapping[str, Any]) -> str:
    recipe = config.get("recipe")
    said = f"Recipe: {recipe}. " if recipe else ""
    if _joined(config):
        return (
            f"## How it was made\n\n{said}Its parts were trained apart, by the method of *Paraphrastic Representations "
            f"at Scale* (Wieting et al., EMNLP 2022), and joined by psp {config.get('psp_version', __version__)}."
        )
    paper = "*Paraphrastic Representations at Scale* (Wieting et al., EMNLP 2022)"
    if is_transformer(config):
        paper = "*Training Effective Neural Sentence Encoders from Automatically Mined Paraphrases* (Dadas, SMC 2022)"
    sequence = (config.get("encoder") or {}).get("kind") in ENCODERS
    encoder = ", the encoder that of *ParaNMT-50M* (Wieting & Gimpel, ACL 2018)" if sequence else ""
    return (
        f"## How it was made\n\n{said}Written by psp {config.get('psp_version', __version__)}. The method is that of "
        f"{paper}{encoder}. Where psp's workflow trained it, the "
        "folder above this one has all scores with their intervals (`eval.json`), its speed (`speed.json`), and the "
        "source, licence and counts of its data (`data.json`)."
    )


def _figures(evaluation: Mapping[str, Any]) -> str:
    lines = ["## Scores", "", "| test | figure | pairs | value | 95% interval |", "|---|---|---|---|---|"]
    lines += [
        f"| {test} | {figure} | {pairs:,} | {value:.1f} | {_interval(interval)} |"
        for test, figure, pairs, value, interval in _scores(evaluation)
    ]
    if len(lines) == 4:
        return "## Scores\n\nIt was evaluated on no test set."
    return "\n".join([*lines, "", "Correlations are times 100. dev: models are chosen by this set, so it is no test."])


def _scores(evaluation: Mapping[str, Any]) -> Iterator[tuple[str, str, int, float, list[float] | None]]:
    """Test, figure, pairs, value and interval of what there is a value for."""
    for year, figures in evaluation["sts"].items():
        name = "STS 2012-2016, mean of the years" if year == "average" else f"STS {year}"
        if figures["pearson_mean"] is not None:
            yield name, "Pearson", figures["pairs"], figures["pearson_mean"], figures["pearson_mean_interval"]
    for part, title in (("semeval2017", "SemEval-2017 {}"), ("stsb", "STS Benchmark {}"), ("files", "{}")):
        for name, figures in evaluation[part].items():
            if figures["pearson"] is not None:
                test = title.format(name) + (" (dev)" if figures.get("development") else "")
                yield test, "Pearson", figures["pairs"], figures["pearson"], figures["pearson_interval"]
    for directions in evaluation["tatoeba"].values():
        for direction, figures in directions.items():
            yield f"Tatoeba {direction}", "error, %", figures["pairs"], figures["error"], figures["interval"]
    best = (evaluation.get("train") or {}).get("best")
    if best and best["error"] is not None:
        yield "pairs held out of the training data (dev)", "error, %", best["pairs_heldout"], best["error"], None


def _interval(ends: list[float] | None) -> str:
    return "-" if ends is None else f"{ends[0]:.1f} to {ends[1]:.1f}"


def _data(data: Mapping[str, Any]) -> str:
    lines = ["## Data", "", f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|"]
    for corpus in data["corpora"]:
        address = corpus["source"]["address"]
        cells = [
            corpus["corpus"],
            "-".join(corpus["languages"]),
            corpus["version"] or "-",
            f"{corpus['kept']:,}",
            corpus["licence"]["declared"] or "none declared",
            # The path of a file of one's own says nothing to others, and too much about oneself.
            address if address.startswith(("https://", "http://")) else "not on the web",
        ]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join([*lines, "", "Licences are those that the corpora declare, as far as psp's config knows them."])
