"""Describe a model to mteb (2.26): a Python file with its ``ModelMeta``, and the encoder by which mteb runs it.

The encoder loads the model's own folder by ``psp.load_model``, so the vectors are psp's, no code of the model is
trusted, and nothing is copied. The file is only text: writing it does not need mteb.

A value that psp does not know is None, for a person to complete. ``training_datasets`` is always one: mteb assumes
that the model has never seen the data of a task outside that set, and psp does not know which of mteb's data sets its
corpora contain. The corpora of the model card are listed beside it instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from psp.core.errors import DataError, PspError
from psp.core.files import atomic_text, sha256
from psp.core.version import __version__
from psp.models import card_data, card_file
from psp.models.combined import parts_of
from psp.models.files import WEIGHTS
from psp.models.folder import model_name
from psp.models.static import StaticModel
from psp.text.languages import ISO3, LID_LABELS, lid_label
from psp.text.scripts import scripts_of

#: mteb's names have an organisation; this one is in the manner of its own "no_model_name/available".
NO_ORGANISATION = "no_organization_available"

# The licences that mteb has a name for.
_LICENCES = """
afl-3.0 apache-2.0 bsd-3-clause cc-by-2.0 cc-by-3.0 cc-by-4.0 cc-by-nc-3.0 cc-by-nc-4.0 cc-by-nc-nd-4.0 cc-by-nc-sa-3.0
cc-by-nc-sa-4.0 cc-by-nd-2.1-jp cc-by-nd-4.0 cc-by-sa-3.0 cc-by-sa-4.0 cc0-1.0 cdla-sharing-1.0 eupl-1.2 gemma gpl-3.0
lgpl lgpl-3.0 mit mpl-2.0 msr-la-nc odc-by openmdw-1.1 openrail openrail++
"""
LICENCES = frozenset(_LICENCES.split())

# The codes of macrolanguages, where the Tatoeba test set has one of their languages.
_CODES = ISO3 | {"fa": "fas", "lv": "lav", "ms": "msa", "no": "nor", "sw": "swa", "zh": "zho"}
# ISO 15924 for the scripts of psp.text.scripts.
_ISO_15924 = """
ARABIC Arab ARMENIAN Armn BENGALI Beng CYRILLIC Cyrl DEVANAGARI Deva ETHIOPIC Ethi GEORGIAN Geor GREEK Grek
GUJARATI Gujr HEBREW Hebr KANNADA Knda KHMER Khmr LAO Laoo LATIN Latn MALAYALAM Mlym MYANMAR Mymr ORIYA Orya
SINHALA Sinh TAMIL Taml TELUGU Telu THAANA Thaa THAI Thai TIBETAN Tibt
"""
# For a language with several scripts, the one meant by its bare code (Unicode's likely subtags). For Korean, mteb
# writes Hang, not Kore.
_LIKELY = """
az Latn be Cyrl bs Latn ja Jpan kk Cyrl ko Hang ku Latn ky Cyrl mn Cyrl ms Latn pa Guru ro Latn sd Arab sr Cyrl tg Cyrl
tk Latn tt Cyrl ug Arab uz Latn wuu Hans yue Hant zh Hans
"""


def _pairs(text: str) -> dict[str, str]:
    words = text.split()
    return dict(zip(words[::2], words[1::2], strict=True))


_SCRIPTS, _LIKELY_SCRIPTS = _pairs(_ISO_15924), _pairs(_LIKELY)

_BEGINNING = '''\
"""A model of psp {version} as mteb (2.26) describes models. `psp export mteb` wrote this file; complete what is None.

    mteb.evaluate(model_meta, tasks)

needs `pip install 'paraphrastic[mteb]'`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mteb.models.abs_encoder import AbsEncoder, get_prompt
from mteb.models.model_meta import ModelMeta, ScoringFunction

if TYPE_CHECKING:
    from mteb.abstasks.task_metadata import TaskMetadata
    from mteb.types import Array, BatchedInput, EncodeKwargs, PromptType
    from torch.utils.data import DataLoader
    from typing_extensions import Unpack

# The model's folder on this machine. None: it is on the Hugging Face Hub, under its name below.
FOLDER: str | None = {folder}


class PspEncoder(AbsEncoder):
    """A psp model as mteb runs it, on the CPU."""

    def __init__(
        self, model_name: str, revision: str | None = None, device: str | None = None, embed_dim: int | None = None
    ) -> None:
        import paraphrastic

        on_the_hub = f"hf://{{model_name}}@{{revision}}" if revision else f"hf://{{model_name}}"
        self.model = paraphrastic.load_model(FOLDER or on_the_hub, dim=embed_dim)
        self.model_prompts, _ = self.validate_task_to_prompt_name(self.model.prompts, raise_for_invalid_keys=False)

    def encode(
        self,
        inputs: DataLoader[BatchedInput],
        *,
        task_metadata: TaskMetadata,
        hf_split: str,
        hf_subset: str,
        prompt_type: PromptType | None = None,
        **kwargs: Unpack[EncodeKwargs],
    ) -> Array:
        texts = [text for batch in inputs for text in batch["text"]]
        kwargs.pop("batch_size", None)  # no vector depends on it, and psp's own is five times as fast
        return self.model.encode(texts, prompt=get_prompt(self.model_prompts, task_metadata, prompt_type), **kwargs)


'''


class _Place(NamedTuple):
    """A model's location and its name in mteb; ``local`` is None for one on the hub."""

    folder: Path
    local: str | None
    name: str
    revision: str


def write(model: StaticModel, out: Path, sentences: Sequence[str], source: Path | str | None = None) -> str:
    """Write the file; see :func:`psp.models.exports.export`. ``sentences`` is unused: nothing differs.

    Raises:
        PspError: ``out`` is not the name of a Python file, or ``source`` is None; or as
            :func:`psp.models.hub.fetch`, for a model on the hub.
        DataError: ``out`` exists or cannot be written, or ``source`` is not a model's folder.
    """
    if out.suffix != ".py":
        raise PspError(f"{out}: mteb imports what is written here; choose a name that ends in .py")
    if source is None:
        raise PspError("a file for mteb names the model's place; pass source, its folder or hf://user/name")
    if out.exists():
        raise DataError("already exists; name another place, or remove it first", out)
    place = _place(str(source))
    readme = _read(place.folder / card_file.NAME)
    text = _BEGINNING.format(version=__version__, folder=_literal(place.local))
    text += "".join(f"{line}\n" for line in (*_corpora(readme), "model_meta = ModelMeta("))
    for key, value, note in _values(model, place, readme):
        text += f"    {key}={value},{note and f'  # {note}'}\n"
    with atomic_text(out) as file:
        file.write(f"{text})\n")
    return "The vectors are psp's. Before it goes to mteb, complete what is None."


def language(code: str) -> str | None:
    """mteb's code for a language, such as ``fra-Latn``; without the script if psp does not know it.

    Args:
        code: as in the config: ISO 639-1, or else that of a Tatoeba test set.

    Returns:
        None for any other code.
    """
    if (iso3 := _CODES.get(code)) is None:
        return None
    label = lid_label(code)
    script = _LIKELY_SCRIPTS.get(label)
    if script is None and label in LID_LABELS:
        (only,) = scripts_of(label)
        script = _SCRIPTS[only]
    return f"{iso3}-{script}" if script else iso3


def _place(source: str) -> _Place:
    if source.startswith("hf://"):
        from psp.models.hub import fetch

        folder = fetch(source)  # the cache names a folder by its commit
        return _Place(folder, None, source.removeprefix("hf://").partition("@")[0], folder.name)
    folder = Path(source).resolve()
    try:
        # mteb caches results by name and revision: a retrained model must not get the old model's results.
        revision = sha256(folder / WEIGHTS)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}; name a model's folder", folder / WEIGHTS) from None
    return _Place(folder, str(folder), f"{NO_ORGANISATION}/{model_name(folder)}", revision)


def _values(model: StaticModel, place: _Place, readme: str) -> Iterator[tuple[str, str, str]]:
    """Name, Python code and comment of each of ``ModelMeta``'s values."""
    yield "loader", "PspEncoder", ""
    yield "name", _literal(place.name), "USER/NAME, as on the Hugging Face Hub" if place.local else ""
    yield "revision", _literal(place.revision), "the weights' SHA-256; hub: commit" if place.local else ""
    yield "release_date", "None", '"2026-11-22"'
    yield "languages", *_languages(model)
    embeddings = sum(part.table.values.size for part in parts_of(model))
    matrices = sum(part.contextual.nbytes // 4 for part in parts_of(model) if part.contextual is not None)
    yield "n_parameters", f"{embeddings + matrices:_}", ""
    yield "n_embedding_parameters", f"{embeddings:_}", ""
    megabytes = model.nbytes / 2**20
    yield "memory_usage_mb", f"{megabytes:.0f}" if megabytes >= 10 else f"{megabytes:.2g}", ""
    yield "max_tokens", 'float("inf")', "there is no limit"
    yield "embed_dim", str(model.dim), ""
    yield "license", *_licence(model, readme)
    yield "open_weights", "None", "True: anyone can download it"
    yield "public_training_code", "None", "its address"
    yield "public_training_data", "None", "its address, or True"
    yield "framework", '["NumPy", "safetensors"]', ""
    page = None if place.local else f"https://huggingface.co/{place.name}"
    yield "reference", _literal(page), "" if page else "its page"
    yield "similarity_fn_name", "ScoringFunction.COSINE", ""
    yield "use_instructions", str(any(model.prompts.values())), ""
    yield "training_datasets", "None", "those of mteb that it was trained on; what is not in the set counts as unseen"
    yield "citation", "None", "BibTeX"
    yield "contacts", "None", "GitHub names"


def _languages(model: StaticModel) -> tuple[str, str]:
    codes = model.config.get("languages") or []
    names = [language(code) for code in codes]
    if not codes or None in names:  # mteb's file would not load with a code that it does not know
        return "None", f"psp's codes: {_line(', '.join(codes))}" if codes else ""
    return "[" + ", ".join(map(_literal, names)) + "]", ""


def _licence(model: StaticModel, readme: str) -> tuple[str, str]:
    given = str(card_data.licence(readme) or model.config.get("licence") or "").lower()
    if given in LICENCES:
        return _literal(given), ""
    return "None", f"its card has {_line(given)}, for which mteb has no name: the text's address" if given else ""


def _corpora(readme: str) -> Iterator[str]:
    """The corpora of a model card, as comments."""
    if rows := card_data.corpora(readme):
        yield "# Trained on, by its model card:"
    for row in rows:
        facts = (f"{row['corpus']} {row['release']}".removesuffix(" -"), row["licence"], row["source"])
        yield f"#   {_line(', '.join(facts))}"


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8", "replace") if path.is_file() else ""
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from None


def _line(text: str) -> str:
    """Text as part of a comment, which a line break would end."""
    return "".join(character if character.isprintable() else " " for character in text)


def _literal(text: str | None) -> str:
    """Python code of a str, in double quotes where that needs no escapes; or of None."""
    code = repr(text)
    return code if text is None or {'"', "'", "\\"} & set(text) else f'"{code[1:-1]}"'
