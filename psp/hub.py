"""Models on the Hugging Face hub: ``hf://user/name`` as a folder, and a folder as ``user/name``. Extra ``hub``.

Transfers are left to huggingface_hub: its cache, its login, its variables (HF_HOME, HF_TOKEN, HF_ENDPOINT,
HF_HUB_OFFLINE). What is here picks the files, makes sure that they are a psp model, and turns what may go wrong into
one line each.
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

from psp import __version__, card
from psp.errors import DataError, PspError
from psp.files import read_json
from psp.model import Model
from psp.modelfolder import CONFIG, KIND, SENTENCEPIECE, WEIGHTS

log = logging.getLogger(__name__)

SCHEME = "hf://"
#: All that is ever downloaded or uploaded.
FILES = (CONFIG, WEIGHTS, SENTENCEPIECE, card.NAME)
_ADDRESS = re.compile(r"hf://([\w.-]+/[\w.-]+)(?:@([\w./-]+))?")


def fetch(address: str) -> Path:
    """A local folder with a model of the hub; what is in the cache already is not downloaded again.

    Without network, or with HF_HUB_OFFLINE=1, the cached files of that revision serve.

    Args:
        address: ``hf://user/name``, or ``hf://user/name@revision`` with a branch, a tag or a commit.

    Raises:
        DataError: the address is not one, there is no such model or revision, or it is not a psp model.
        PspError: huggingface_hub is missing, the hub cannot be reached, or the cache cannot be written.
    """
    match = _ADDRESS.fullmatch(address)
    if match is None:
        raise DataError("not a model of the hub; write hf://user/name or hf://user/name@revision", address)
    hub = _huggingface_hub()

    def download(revision: str | None, files: tuple[str, ...]) -> Path:
        with _explained(hub, address):
            return Path(
                hub.snapshot_download(
                    match[1],
                    revision=revision,
                    allow_patterns=list(files),
                    library_name="psp",
                    library_version=__version__,
                )
            )

    folder = download(match[2], (CONFIG,))  # first, so that gigabytes of something else are not downloaded
    if not (folder / CONFIG).is_file():
        raise DataError(f"no psp model: it has no {CONFIG}", address)
    config = read_json(folder / CONFIG)
    if not isinstance(config, dict) or config.get("kind") != KIND:
        raise DataError(f'no psp model: its {CONFIG} does not say "kind": "psp"', address)
    # The cache names a folder by its commit: the other files are those of the same one, whatever is pushed meanwhile.
    folder = download(folder.name, FILES)
    for name in (WEIGHTS, SENTENCEPIECE):
        if not (folder / name).is_file():
            raise DataError(f"{name} is missing in it; push the whole model again", address)
    return folder


def push(
    folder_or_model: Path | str | Model,
    repo_id: str,
    *,
    private: bool | None = None,
    token: str | None = None,
    revision: str | None = None,
    commit_message: str | None = None,
) -> str:
    """Upload a model, in one commit; the repository is made where there is none.

    A card that psp wrote is brought up to date on the way: with the scores and the data's sources, where eval.json and
    data.json lie in the folder above (as the workflow leaves them). It takes no edited card's place on the hub; an
    edited card of one's own does.

    Args:
        folder_or_model: what to upload; a folder must load, so that no damaged model goes out.
        repo_id: ``user/name``.
        private: whether a new repository is private; None: as the hub has it for this user.
        token: a token with write access (default: that of HF_TOKEN or of ``hf auth login``).
        revision: a branch, made where there is none (default: main).
        commit_message: default: "A model of psp VERSION".

    Returns:
        The commit's address.

    Raises:
        DataError: the folder holds no whole model, or ``repo_id`` is no name of a repository.
        PspError: huggingface_hub is missing, the hub cannot be reached, or it refuses.
    """
    repo_id = repo_id.removeprefix(SCHEME)
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", repo_id):
        raise DataError("not a name of a model on the hub; write user/name", repo_id)
    hub = _huggingface_hub()
    with tempfile.TemporaryDirectory(prefix="psp-push-") as scratch:
        if isinstance(folder_or_model, Model):
            folder = Path(scratch) / "model"
            folder_or_model.save(folder)
        else:
            folder = Path(folder_or_model)
            Model.load(folder)
        readme = _card(folder)
        with _explained(hub, SCHEME + repo_id):
            api = hub.HfApi(token=token, library_name="psp", library_version=__version__)
            api.create_repo(repo_id, private=private, exist_ok=True)
            if revision is not None:
                api.create_branch(repo_id, branch=revision, exist_ok=True)
            add = hub.CommitOperationAdd
            operations = [add(name, str(folder / name)) for name in FILES if name != card.NAME]
            if card.is_generated(readme) and _edited(hub, api, repo_id, revision):
                log.warning("%s%s: its README.md was edited there and is kept", SCHEME, repo_id)
            else:
                operations.append(add(card.NAME, readme.encode()))
            commit = api.create_commit(
                repo_id,
                operations,
                revision=revision,
                commit_message=commit_message or f"A model of psp {__version__}",
            )
    return str(commit.commit_url)


def _huggingface_hub() -> ModuleType:
    try:
        import huggingface_hub
        import huggingface_hub.errors
    except ModuleNotFoundError:
        raise PspError("models on the Hugging Face hub need a package: pip install 'psp[hub]'") from None
    return huggingface_hub


def _card(folder: Path) -> str:
    """The card to upload: the folder's where a person edited it, else the fullest that can be written."""
    path = folder / card.NAME
    if path.is_file():
        there = path.read_bytes().decode("utf-8", "replace")
        if not card.is_generated(there):
            return there
    config = read_json(folder / CONFIG)
    found: dict[str, Any] = {}
    if folder.name == "model":
        # A report older than the weights is about other weights.
        weights = (folder / WEIGHTS).stat().st_mtime
        for key, name in (("evaluation", "eval.json"), ("data", "data.json")):
            beside = folder.parent / name
            if beside.is_file() and (key == "data" or beside.stat().st_mtime >= weights):
                found[key] = read_json(beside)
    return card.card(config, **found)


def _edited(hub: ModuleType, api: Any, repo_id: str, revision: str | None) -> bool:
    """Whether the hub has a card that a person wrote or edited."""
    try:
        path = api.hf_hub_download(repo_id, card.NAME, revision=revision)
    except hub.errors.EntryNotFoundError:
        return False
    return not card.is_generated(Path(path).read_bytes().decode("utf-8", "replace"))


@contextlib.contextmanager
def _explained(hub: ModuleType, address: str) -> Iterator[None]:
    """Turn what huggingface_hub raises into one line that says what to do."""
    errors = hub.errors
    # All errors of the HTTP library, which is requests, httpx or httpx2 by huggingface_hub's version: what stands
    # highest of it among the ancestors of huggingface_hub's own error.
    name = errors.HfHubHTTPError.__bases__[0].__module__.partition(".")[0]
    library = [one for one in errors.HfHubHTTPError.__mro__ if one.__module__.partition(".")[0] == name][-1]
    try:
        yield
    except (library, OSError, ValueError, RuntimeError) as error:
        # An upload of a large file wraps what went wrong.
        inner = error.__cause__ if type(error) is RuntimeError and error.__cause__ is not None else error
        problem = _problem(errors, library, inner)
        if problem is None:
            raise
        if isinstance(problem, DataError):
            raise DataError(str(problem), address) from error
        raise PspError(f"{address}: {problem}") from error


def _problem(errors: ModuleType, library: type[Exception], error: BaseException) -> PspError | None:
    """What went wrong, without its address; None for what is no such thing but a bug."""
    if isinstance(error, errors.LocalEntryNotFoundError):  # not in the cache: it matters why the hub did not help
        if error.__cause__ is None:
            return PspError(f"the hub cannot be reached ({_first_line(error)}); try again")
        error = error.__cause__
    if isinstance(error, errors.GatedRepoError):
        return DataError("its owner wants to be asked first: ask on its page, then log in with `hf auth login`")
    if isinstance(error, errors.RepositoryNotFoundError):
        return DataError("no such model on the hub, or it is private: check the name, or log in with `hf auth login`")
    if isinstance(error, errors.RevisionNotFoundError):
        return DataError("it has no such revision; name a branch, a tag or a commit of it after the @")
    if isinstance(error, errors.HFValidationError):
        return DataError(f"not a name of a model on the hub: {_first_line(error)}")
    if _among(error, errors.OfflineModeIsEnabled) is not None:
        return PspError("HF_HUB_OFFLINE forbids to ask the hub, and the cache has not all of it; unset it once")
    if isinstance(error, errors.LocalTokenNotFoundError):
        return PspError("there is no token; log in with `hf auth login`, or set HF_TOKEN")
    if (refused := _among(error, errors.HfHubHTTPError)) is not None:
        status = refused.response.status_code
        if status in (401, 403):
            return PspError(f"the hub refuses ({status}); log in with `hf auth login`, with a token that may do this")
        return PspError(f"the hub answers with an error: {_first_line(refused)}; try again later")
    if (lost := _among(error, library, ConnectionError, TimeoutError)) is not None:
        return PspError(f"the hub cannot be reached ({_first_line(lost)}), and the cache has not all of it; try again")
    if isinstance(error, OSError) and error.errno is not None:
        return PspError(f"cannot be written to the cache: {error.strerror}; free space, or set HF_HOME elsewhere")
    if isinstance(error, OSError):  # a download that was cut: its size is not what was announced
        return PspError(f"the download failed ({_first_line(error)}); try again")
    return None


def _among(error: BaseException, *kinds: type[BaseException]) -> Any:
    """The error, or the one that it was raised from, if it is of one of these kinds; else None."""
    return next((one for one in (error, error.__cause__) if isinstance(one, kinds)), None)


def _first_line(error: BaseException) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
