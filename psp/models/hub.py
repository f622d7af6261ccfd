"""Models on the Hugging Face hub: ``hf://user/name`` as a folder, and a folder as ``user/name``. Extra ``hub``.

Transfers use huggingface_hub with its cache, login and variables (HF_HOME, HF_TOKEN, HF_ENDPOINT, HF_HUB_OFFLINE).
This module selects the files, verifies that they are a psp model, and turns errors into one line each. Models have the
two methods of the hub's ModelHubMixin, but do not inherit from it: importing it takes 0.25 s, longer than loading a
model, and it writes a card of its own.
"""

from __future__ import annotations

import contextlib
import logging
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from psp.core import __version__
from psp.core.errors import DataError, PspError, from_extra
from psp.core.files import read_json
from psp.models import CONFIG, HUB, card, card_file, checksums, file_names
from psp.models.folder import KIND, load
from psp.models.text_model import TextModel

log = logging.getLogger(__name__)

SCHEME = HUB
_ADDRESS = re.compile(r"hf://([\w.-]+/[\w.-]+)(?:@([\w./-]+))?")


def fetch(address: str) -> Path:
    """Download a model from the hub, unless it is cached; return its local folder.

    Without network, or with HF_HUB_OFFLINE=1, the cached files of that revision are used.

    Args:
        address: ``hf://user/name``, or ``hf://user/name@revision`` with a branch, a tag or a commit.

    Raises:
        DataError: the address is malformed, the model or revision does not exist, or it is not a psp model.
        PspError: huggingface_hub is missing, the hub cannot be reached, or the cache cannot be written.
    """
    match = _ADDRESS.fullmatch(address)
    if match is None:
        raise DataError("not a model address; write hf://user/name or hf://user/name@revision", address)
    hub = _huggingface_hub()

    def download(revision: str | None, files: list[str]) -> Path:
        with _explained(hub, address):
            return Path(
                hub.snapshot_download(
                    match[1],
                    revision=revision,
                    allow_patterns=files,
                    library_name="psp",
                    library_version=__version__,
                )
            )

    folder = download(match[2], [CONFIG])  # first, so that gigabytes of something else are not downloaded
    if not (folder / CONFIG).is_file():
        raise DataError(f"not a psp model: it has no {CONFIG}", address)
    config = read_json(folder / CONFIG)
    if not isinstance(config, dict) or config.get("kind") != KIND:
        raise DataError(f'not a psp model: its {CONFIG} lacks "kind": "psp"', address)
    files = file_names(config, address)
    # The cache names a folder by its commit; fetch the other files from the same commit, even after a push.
    folder = download(folder.name, [*files, card_file.NAME])  # and nothing else, ever
    for name in files:
        if not (folder / name).is_file():
            raise DataError(f"has no {name}; push the whole model again", address)
    return folder


def push(
    folder_or_model: Path | str | TextModel,
    repo_id: str,
    *,
    private: bool | None = None,
    token: str | None = None,
    revision: str | None = None,
    commit_message: str | None = None,
) -> str:
    """Upload a model, or a release of one, in one commit; create the repository if needed.

    A release (:mod:`psp.report.release`) is a folder with SHA256SUMS, and all files named there are uploaded with its
    card. From any other folder, only the model's own files are uploaded.

    The folder's model card is uploaded too (the workflow's rule ``card`` writes it with scores and data), or one
    without scores if there is none or the weights are newer. A generated card never replaces an edited card on the hub;
    an edited local card does.

    Args:
        folder_or_model: the model; a folder must load, and a release's checksums hold, so that no damaged model is
            published.
        repo_id: ``user/name``.
        private: whether a new repository is private; None: the hub's default for this user.
        token: a token with write access (default: from HF_TOKEN or ``hf auth login``).
        revision: a branch, created if needed (default: main).
        commit_message: default: "A model of psp VERSION".

    Returns:
        The commit's URL.

    Raises:
        DataError: the folder does not hold a complete model, or ``repo_id`` is not a repository name.
        PspError: huggingface_hub is missing, the hub cannot be reached, or it denies access.
    """
    repo_id = repo_id.removeprefix(SCHEME)
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", repo_id):
        raise DataError("not a model name; write user/name", repo_id)
    hub = _huggingface_hub()
    with tempfile.TemporaryDirectory(prefix="psp-push-") as scratch:
        if isinstance(folder_or_model, TextModel):
            folder = Path(scratch) / "model"
            folder_or_model.save(folder)
        else:
            folder = Path(folder_or_model)
            load(folder)
        files = file_names(read_json(folder / CONFIG), folder / CONFIG)
        if (folder / checksums.NAME).exists():
            files, readme = _release(folder, files)
        else:
            readme = _card(folder)
        with _explained(hub, SCHEME + repo_id):
            api = hub.HfApi(token=token, library_name="psp", library_version=__version__)
            api.create_repo(repo_id, private=private, exist_ok=True)
            if revision is not None:
                api.create_branch(repo_id, branch=revision, exist_ok=True)
            add = hub.CommitOperationAdd
            operations = [add(name, str(folder / name)) for name in files]
            if card_file.is_generated(readme) and _edited(hub, api, repo_id, revision):
                log.warning("%s%s: its README.md was edited there and is kept", SCHEME, repo_id)
            else:
                operations.append(add(card_file.NAME, readme.encode()))
            commit = api.create_commit(
                repo_id,
                operations,
                revision=revision,
                commit_message=commit_message or f"A model of psp {__version__}",
            )
    return str(commit.commit_url)


def _huggingface_hub() -> ModuleType:
    with from_extra("hub", "models on the Hugging Face hub need huggingface_hub"):
        import huggingface_hub
        import huggingface_hub.errors
    return huggingface_hub


def _card(folder: Path) -> str:
    """Return the card to upload: the folder's own, or one without scores if it has none or the weights are newer."""
    path, weights = folder / card_file.NAME, folder / file_names(read_json(folder / CONFIG), folder / CONFIG)[1]
    if path.is_file():
        there = path.read_bytes().decode("utf-8", "replace")
        if not card_file.is_generated(there) or path.stat().st_mtime >= weights.stat().st_mtime:
            return there
    return card.card(read_json(folder / CONFIG))


def _release(folder: Path, own: list[str]) -> tuple[list[str], str]:
    """The files of a release besides its card, and the card."""
    named = checksums.check(folder)
    if missing := [name for name in own if name not in named]:
        raise DataError(f"does not name {', '.join(missing)}; make the folder again", folder / checksums.NAME)
    try:
        readme = (folder / card_file.NAME).read_bytes().decode("utf-8", "replace")
    except FileNotFoundError:
        raise DataError("is missing from the release; make the folder again", folder / card_file.NAME) from None
    return [*own, *(name for name in named if name not in own), checksums.NAME], readme


def _edited(hub: ModuleType, api: Any, repo_id: str, revision: str | None) -> bool:
    """Return whether the hub has a card written or edited by a person."""
    try:
        path = api.hf_hub_download(repo_id, card_file.NAME, revision=revision)
    except hub.errors.EntryNotFoundError:
        return False
    return not card_file.is_generated(Path(path).read_bytes().decode("utf-8", "replace"))


@contextlib.contextmanager
def _explained(hub: ModuleType, address: str) -> Iterator[None]:
    """Turn huggingface_hub's errors into one line that says what to do."""
    errors = hub.errors
    # The base error of the HTTP library (requests, httpx or httpx2, depending on huggingface_hub's version): its
    # topmost class among the ancestors of huggingface_hub's own error.
    name = errors.HfHubHTTPError.__bases__[0].__module__.partition(".")[0]
    library = [one for one in errors.HfHubHTTPError.__mro__ if one.__module__.partition(".")[0] == name][-1]
    try:
        yield
    except (library, OSError, ValueError, RuntimeError) as error:
        # Uploads of large files wrap the error.
        inner = error.__cause__ if type(error) is RuntimeError and error.__cause__ is not None else error
        problem = _problem(errors, library, inner)
        if problem is None:
            raise
        if isinstance(problem, DataError):
            raise DataError(str(problem), address) from error
        raise PspError(f"{address}: {problem}") from error


def _problem(errors: ModuleType, library: type[Exception], error: BaseException) -> PspError | None:
    """Describe what went wrong, without the address; None if it is a bug."""
    if isinstance(error, errors.LocalEntryNotFoundError):  # not in the cache: report why the hub failed
        if error.__cause__ is None:
            return PspError(f"the hub cannot be reached ({_first_line(error)}); try again")
        error = error.__cause__
    if isinstance(error, errors.GatedRepoError):
        return DataError("a gated model: request access on its page, then log in with `hf auth login`")
    if isinstance(error, errors.RepositoryNotFoundError):
        return DataError("no such model on the hub, or it is private: check the name, or log in with `hf auth login`")
    if isinstance(error, errors.RevisionNotFoundError):
        return DataError("no such revision; name a branch, a tag or a commit after the @")
    if isinstance(error, errors.HFValidationError):
        return DataError(f"not a model name: {_first_line(error)}; write user/name")
    if _among(error, errors.OfflineModeIsEnabled) is not None:
        return PspError("HF_HUB_OFFLINE is set, and the cache is incomplete; unset it once")
    if isinstance(error, errors.LocalTokenNotFoundError):
        return PspError("no token; log in with `hf auth login`, or set HF_TOKEN")
    if (refused := _among(error, errors.HfHubHTTPError)) is not None:
        status = refused.response.status_code
        if status in (401, 403):
            return PspError(f"the hub denies access ({status}); log in with `hf auth login` and a token that allows it")
        return PspError(f"the hub reports an error: {_first_line(refused)}; try again later")
    if (lost := _among(error, library, ConnectionError, TimeoutError)) is not None:
        return PspError(f"the hub cannot be reached ({_first_line(lost)}), and the cache is incomplete; try again")
    if isinstance(error, OSError) and error.errno is not None:
        return PspError(f"cannot be written to the cache: {error.strerror}; free space, or set HF_HOME elsewhere")
    if isinstance(error, OSError):  # a truncated download: its size is not the one announced
        return PspError(f"the download failed ({_first_line(error)}); try again")
    return None


def _among(error: BaseException, *kinds: type[BaseException]) -> Any:
    """Return the error, or its cause, if it is of one of these kinds; else None."""
    return next((one for one in (error, error.__cause__) if isinstance(one, kinds)), None)


def _first_line(error: BaseException) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
