"""The publishing kit: a folder with a model and everything that others need to trust it, results/<model>/release.

The model's own files; the model card with the Hugging Face Hub's metadata; the scores that the Hub may show
(``.eval_results``); the licences of the data; checksums. The same run gives the same bytes.
"""

from __future__ import annotations

import logging
import re
import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from psp.core.errors import ConfigError, DataError
from psp.core.files import atomic, atomic_text, new_folder, read_json, sha256
from psp.corpora.archive import store_member
from psp.models import CONFIG, card, card_data, card_file, checksums, file_names
from psp.models.folder import load
from psp.models.licence import NONE, normalised
from psp.models.scores import eval_results
from psp.models.table import DTYPES
from psp.pairs.data_warnings import verbatim
from psp.text import markup

log = logging.getLogger(__name__)

REPORT, LICENCES = "report.html", "LICENSE.md"
#: The card's description of each file beside it.
FILES: Mapping[str, str] = {
    REPORT: "what it was trained on, how well it does and against whom, on one page",
    LICENCES: "the licences that the corpora declare, and what their archives say of them",
    checksums.NAME: "`sha256sum --check SHA256SUMS` tells whether the files are those that psp wrote",
}
#: How the scores of ``.eval_results`` were computed.
_NOTE = "Spearman x 100 of cosines, all pairs of the split; computed by psp, not by mteb"
_FORM = re.compile(rf"({'|'.join(DTYPES)})(?:-(\d+))?")


def release(
    model_dir: Path,
    evaluation: Path,
    data: Path,
    out: Path,
    *,
    repo: str | None = None,
    form: str | None = None,
    report: Path | None = None,
) -> None:
    """Write the folder.

    Args:
        model_dir: the model's folder. A card in it that a person has edited is published unchanged.
        evaluation: eval.json; of a smaller form, quantized.json.
        data: data.json.
        out: the folder to write, which must not exist.
        repo: where the model is, or will be, on the Hub: ``user/name``. A smaller form's place has the form
            after a hyphen, such as ``user/name-int8``.
        form: a smaller form, such as ``int8`` or ``float16-256``; None for the model as it is.
        report: the report, an HTML page that needs no other file.

    Raises:
        DataError: a file is missing (all that are missing are named), cannot be read, or belongs to another model.
        ConfigError: ``form`` is not among those that were evaluated.
        PspError: license-expression is missing.
    """
    inputs = [model_dir / CONFIG, evaluation, data, *([report] if report else [])]
    if missing := [str(path) for path in inputs if not path.is_file()]:
        raise DataError(
            f"cannot be made, since the run is incomplete: there is no {', no '.join(missing)}; the target {out} of "
            "the workflow makes all of them",
            out,
        )
    figures, about = read_json(evaluation), read_json(data)
    name = about["model"]
    if figures["model"] != name:
        raise DataError(f"is of {figures['model']}, but {data} of {name}; make both again", evaluation)
    with new_folder(out) as folder:
        if form is None:
            place, base = repo, None
            for file in file_names(read_json(model_dir / CONFIG), model_dir / CONFIG):
                (folder / file).parent.mkdir(parents=True, exist_ok=True)
                _copy(model_dir / file, folder / file)
        else:
            place, base = f"{repo}-{form}" if repo else None, repo
            figures = {"model": f"{name}-{form}", **_smaller(model_dir, folder, form, figures, evaluation)}
        config = read_json(folder / CONFIG)
        own, added = file_names(config, folder / CONFIG), [LICENCES]
        if report is not None:
            shutil.copyfile(report, folder / REPORT)
            added.append(REPORT)
        _write_text(folder / LICENCES, licences(about))
        results = eval_results(figures, _NOTE)
        for file, entries in results.items():
            (folder / file).parent.mkdir(exist_ok=True)
            _write_text(folder / file, markup.yaml(entries))
        kit = card.Release(
            {file: what for file, what in FILES.items() if file in (*added, checksums.NAME)}, place, base, LICENCES
        )
        _write_text(folder / card_file.NAME, card.card(config, evaluation=figures, data=about, release=kit))
        checksums.write(folder, [*own, *added, *results])
        edited = card_file.edited(model_dir) if form is None else None
        if edited is not None:
            log.warning("%s was edited by hand and is used unchanged", model_dir / card_file.NAME)
            (folder / card_file.NAME).write_bytes(edited)


def pack(folder: Path, out: Path, name: str) -> str:
    """Pack a release as a .zip with one folder; write its checksum beside it, as ``sha256sum --check`` reads it.

    The same files give the same bytes. :func:`psp.load_model` takes the file's address on the web.

    Args:
        folder: what :func:`release` wrote.
        out: the .zip; its checksum is in ``out`` with ``.sha256`` after it.
        name: of the folder in the .zip.

    Returns:
        The SHA-256.

    Raises:
        DataError: the folder is not the one that was written (:func:`psp.models.checksums.check`).
    """
    files = [*checksums.check(folder), checksums.NAME, card_file.NAME]
    with atomic(out) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for file in sorted(files):
            store_member(archive, f"{name}/{file}", folder / file)
    digest = sha256(out)
    _write_text(out.with_name(f"{out.name}.sha256"), f"{digest}  {out.name}\n")
    return digest


def _copy(source: Path, target: Path) -> None:
    try:
        shutil.copyfile(source, target)
    except FileNotFoundError:
        raise DataError("no such file, but its config.json names it; make the model again", source) from None


def _smaller(model_dir: Path, folder: Path, form: str, quantized: Mapping[str, Any], path: Path) -> Mapping[str, Any]:
    """Save a smaller form, and return its scores."""
    match = _FORM.fullmatch(form)
    if match is None:
        raise ConfigError(f"{form}: not a form of a model; write e.g. int8 or float16-256")
    model = load(model_dir, accelerate=False)
    dtype, dim = match[1], int(match[2] or quantized["whole"]["dim"])
    same_form = [one for one in quantized["smaller"] if (one["dtype"], one["dim"]) == (dtype, dim)]
    if not same_form:
        there_is = ", ".join(f"{one['dtype']}-{one['dim']}" for one in quantized["smaller"])
        raise ConfigError(
            f"{form}: {path} has no scores of it, but of {there_is or 'none'}; add it to the block `quantize`"
        )
    made = model.quantized(dtype, dim)
    made.config.setdefault("quantized_from", {"dtype": model.dtype, "dim": model.dim})
    made.save(folder, card=False)
    scores: Mapping[str, Any] = same_form[0]["scores"]
    return scores


def _write_text(path: Path, text: str) -> None:
    with atomic_text(path) as file:
        file.write(text)


def licences(data: Mapping[str, Any]) -> str:
    """The licences of the corpora in data.json, in Markdown."""
    terms = card_data.together(data)
    lines = [
        "# Licences of the training data",
        "",
        "The licences that the model's training corpora declare. Their text is not in this folder.",
        "",
        f"Together: {markup.markdown(str(terms))}.",
    ]
    for corpus in data["corpora"]:
        declared, text = corpus["licence"]["declared"], corpus["licence"]["text"]
        lines += ["", f"## {markup.markdown(corpus['label'])}", ""]
        licence_text = markup.markdown(normalised(declared)) if declared else NONE
        if declared and normalised(declared) != declared:
            licence_text += f" (declared as {markup.markdown(declared)})"
        lines.append(f"Licence: {licence_text}. SHA-256 of the file that was read: {corpus['source']['sha256']}.")
        if text:
            lines += ["", "The archive says:", "", *verbatim([markup.plain(line) for line in text.split("\n")])]
    return "\n".join(lines) + "\n"
