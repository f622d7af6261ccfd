"""Models on the hub: huggingface_hub itself, in a process of its own, against a hub on this machine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from psp.core.errors import DataError, PspError
from psp.core.files import read_json
from psp.models import card, card_file, checksums, hub
from psp.models.static import StaticModel
from tests.conftest import write_model
from tests.models.conftest import TOKEN, Hub
from tests.short_scores import in_full

pytest.importorskip("huggingface_hub")

REPO = "ours/fr"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    write_model(folder, 8, recipe="psp")
    (folder / "model/README.md").write_text(card.card(read_json(folder / "model/config.json")))
    (folder / "model/notes.txt").write_text("not for the world")
    return folder / "model"


@pytest.fixture
def folder(made, tmp_path):
    return Path(shutil.copytree(made, tmp_path / "results/fr/model"))


def put(server: Hub, folder: Path, private: bool | None = None) -> str:
    """Put the model on the hub; its commit."""
    server.create(REPO, private)
    return server.commit(REPO, "main", {path.name: path.read_bytes() for path in folder.iterdir()})


@pytest.fixture
def server():
    made = Hub()
    yield made
    made.close()


class User:
    """Someone with a home of their own, and so a cache, who runs Python."""

    def __init__(self, home: Path, endpoint: str) -> None:
        self.home = home
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith(("HF_", "HUGGING"))}
        self.environment |= {
            "HF_HOME": str(home),
            "HF_ENDPOINT": endpoint,
            "HF_TOKEN": TOKEN,
            "HF_HUB_DISABLE_XET": "1",  # the hub's other way to upload, which the one on this machine has not
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        }

    def run(self, code: str, lines: int = 1, **environment: str) -> str | list[str]:
        """What the code's last expression is; a PspError is its class and message. With ``lines``, the output."""
        *body, last = code.strip().split("\n")
        source = (
            "import json, logging\nfrom psp.models import hub\nfrom psp.core.errors import PspError\n"
            "from psp.models.static import StaticModel\n"
            "logging.basicConfig(level='WARNING')\ntry:\n"
            + "".join(f"    {line}\n" for line in [*body, f"print(json.dumps(str({last})))"])
            + "except PspError as error:\n    print(json.dumps(f'{type(error).__name__}: {error}'))\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", source],
            env=self.environment | environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        self.said = done.stderr
        if lines > 1:
            assert done.stdout.count("\n") == lines
            return done.stdout.splitlines()
        result: str = json.loads(done.stdout)
        assert "\n" not in result
        return result


@pytest.fixture
def user(server, tmp_path):
    return User(tmp_path / "home", server.endpoint)


@pytest.mark.slow
def test_what_is_pushed_is_what_is_fetched(folder, server, user, tmp_path):
    pushed = user.run(f"hub.push({str(folder)!r}, {REPO!r}, private=True)")
    assert pushed == f"{server.endpoint}/{REPO}/commit/{server.branches[REPO]['main']}"
    assert server.private[REPO] is True and len(server.messages) == 1
    names = {"config.json", "model.safetensors", "sentencepiece.model", "README.md"}
    assert set(server.files(REPO)) == names | {".gitattributes"}
    server.commit(REPO, "main", {"pytorch_model.bin": b"gigabytes"})
    other = User(tmp_path / "other", server.endpoint)
    fetched = Path(other.run(f"hub.fetch('hf://{REPO}')"))
    assert {path.name for path in fetched.iterdir()} == names
    for name in names:
        assert (fetched / name).read_bytes() == (folder / name).read_bytes()
    texts = ["the cat eats bread", "le chat mange du pain", ""]
    assert (StaticModel.load(fetched).embed_raw_text(texts) == StaticModel.load(folder).embed_raw_text(texts)).all()


@pytest.mark.slow
def test_a_model_in_memory_a_branch_and_a_commit(folder, server, user):
    code = f"hub.push(StaticModel.load({str(folder)!r}), {REPO!r}, revision='small', commit_message='try')"
    assert "/commit/" in user.run(code)
    assert server.messages == ["try"] and set(server.files(REPO, "main")) == {".gitattributes"}
    for revision in ("small", server.branches[REPO]["small"]):
        fetched = Path(user.run(f"hub.fetch('hf://{REPO}@{revision}')"))
        assert (fetched / "model.safetensors").read_bytes() == (folder / "model.safetensors").read_bytes()
    assert user.run(f"hub.fetch('hf://{REPO}@large')").startswith(f"DataError: hf://{REPO}@large: no such rev")


@pytest.mark.slow
def test_what_is_in_the_cache_is_used_without_network(folder, server, user):
    number = put(server, folder)
    fetched = user.run(f"hub.fetch('hf://{REPO}')")
    asked = len(server.requests)
    assert user.run(f"hub.fetch('hf://{REPO}')") == fetched
    assert not [request for request in server.requests[asked:] if "resolve" in request], "downloaded again"
    assert user.run(f"hub.fetch('hf://{REPO}')", HF_HUB_OFFLINE="1") == fetched
    server.close()
    assert user.run(f"hub.fetch('hf://{REPO}')") == fetched
    assert user.run(f"hub.fetch('hf://{REPO}@{number}')") == fetched
    # And what is not there is an error of one line.
    offline = user.run("hub.fetch('hf://ours/de')", HF_HUB_OFFLINE="1")
    assert offline.startswith("PspError: hf://ours/de: HF_HUB_OFFLINE is set")
    assert user.run("hub.fetch('hf://ours/de')").startswith("PspError: hf://ours/de: the hub cannot be reached")
    offline = user.run(f"hub.push({str(folder)!r}, 'ours/de')", HF_HUB_OFFLINE="1")
    assert offline.startswith("PspError: hf://ours/de: HF_HUB_OFFLINE")


@pytest.mark.slow
def test_a_missing_or_private_model(folder, server, user):
    put(server, folder, private=True)
    for token, repo in ((TOKEN, "ours/none"), ("hf_of_a_stranger", REPO)):
        said = user.run(f"hub.fetch('hf://{repo}')", HF_TOKEN=token)
        assert said == (
            f"DataError: hf://{repo}: no such model on the hub, or it is private: "
            "check the name, or log in with `hf auth login`"
        )
    said = user.run(f"hub.push({str(folder)!r}, 'theirs/fr')", HF_TOKEN="hf_of_a_stranger")
    assert said.startswith("PspError: hf://theirs/fr: the hub denies access (401)")
    assert "theirs/fr" not in server.commits


@pytest.mark.slow
def test_what_is_no_psp_model_is_not_downloaded(folder, server, user):
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    server.create(REPO)
    server.commit(REPO, "main", {"model.safetensors": b"gigabytes"})
    assert user.run(f"hub.fetch('hf://{REPO}')") == f"DataError: hf://{REPO}: not a psp model: it has no config.json"
    server.commit(REPO, "main", {"config.json": b'{"model_type": "bert"}'})
    said = user.run(f"hub.fetch('hf://{REPO}')")
    assert said == f'DataError: hf://{REPO}: not a psp model: its config.json lacks "kind": "psp"'
    server.create(REPO)
    server.commit(REPO, "main", {"config.json": files["config.json"], "sentencepiece.model": b"x"})
    assert "has no model.safetensors" in user.run(f"hub.fetch('hf://{REPO}')")
    assert not [r for r in server.requests if r.startswith("GET") and r.endswith("model.safetensors")]


@pytest.mark.slow
def test_a_full_disk_and_a_download_that_was_cut(folder, server, user):
    put(server, folder)
    limit = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))\n"  # the weights have more
    said = user.run(f"{limit}hub.fetch('hf://{REPO}')")
    assert said.startswith(f"PspError: hf://{REPO}: cannot be written to the cache: File too large"), said
    server.cut = "model.safetensors"
    said = user.run(f"hub.fetch('hf://{REPO}')")
    assert said.startswith(f"PspError: hf://{REPO}: "), said
    server.cut = None
    assert StaticModel.load(user.run(f"hub.fetch('hf://{REPO}')")).dim == 8


@pytest.fixture
def released(folder):
    """A release of the model: its files, others beside them, checksums."""
    names = ["config.json", "model.safetensors", "sentencepiece.model", "LICENSE.md", ".eval_results/STS12.yaml"]
    (folder / ".eval_results").mkdir()
    for name in names[3:]:
        (folder / name).write_text(f"[] # {name}")
    checksums.write(folder, names)
    return folder


@pytest.mark.slow
def test_a_release_goes_up_as_a_whole(released, server, user):
    command = "from psp.cli.main import main\nmain(['push', {!r}, {!r}, '--private', '--message', 'the first'])"
    out = user.run(command.format(str(released), REPO) + "\nNone", lines=2)
    assert out == [f"{server.endpoint}/{REPO}/commit/{server.branches[REPO]['main']}", '"None"']
    assert server.private[REPO] is True and server.messages == ["the first"]
    there = server.files(REPO)
    assert set(there) == {
        "config.json", "model.safetensors", "sentencepiece.model", "LICENSE.md", ".eval_results/STS12.yaml",
        "README.md", "SHA256SUMS", ".gitattributes",
    }  # fmt: skip
    assert all(there[name] == (released / name).read_bytes() for name in there if name != ".gitattributes")


@pytest.mark.slow
def test_a_smaller_form_of_a_model_on_the_hub_names_it(folder, server, user, tmp_path):
    user.run(f"hub.push({str(folder)!r}, {REPO!r})")
    arguments = ["quantize", f"hf://{REPO}@main", str(tmp_path / "small"), "--dtype", "int8"]
    user.run(f"from psp.cli.main import main\nmain({arguments})\nNone", lines=2)
    assert read_json(tmp_path / "small/config.json")["quantized_from"]["model"] == REPO
    text = (tmp_path / "small/README.md").read_text()
    assert f'base_model: "{REPO}"\nbase_model_relation: quantized\n' in text


@pytest.mark.slow
def test_a_release_that_was_changed_is_not_pushed(released, server, user):
    push = f"hub.push({str(released)!r}, {REPO!r})"
    (released / "LICENSE.md").write_text("{}")
    assert f"{released}/LICENSE.md: was changed since SHA256SUMS was written" in user.run(push)
    (released / "LICENSE.md").unlink()
    assert "LICENSE.md: is missing, but SHA256SUMS names it" in user.run(push)
    checksums.write(released, ["config.json", "model.safetensors"])
    assert "SHA256SUMS: does not name sentencepiece.model" in user.run(push)
    for line in ("x", f"{'0' * 64}  ../../secret", f"{'0' * 64}  /etc/passwd"):
        (released / "SHA256SUMS").write_text(f"{line}\n")
        assert "SHA256SUMS, line 1: not a SHA-256 and a file of this folder" in user.run(push)
    assert not server.requests


def test_a_damaged_folder_is_not_pushed(folder, server, user):
    weights = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(weights[:-8])
    assert user.run(f"hub.push({str(folder)!r}, {REPO!r})").startswith(f"DataError: {folder}")
    assert not server.requests


@pytest.mark.slow
def test_the_card_on_the_hub(folder, server, user, tmp_path):
    def shown() -> str:
        return server.files(REPO)["README.md"].decode()

    # The folder's goes up.
    figures = {"pearson": 71.25, "pearson_interval": [70.0, 72.5], "spearman": None, "pairs": 1379}
    evaluation = in_full({"stsb": {"test": figures}})
    (folder / "README.md").write_text(card.card(read_json(folder / "config.json"), evaluation=evaluation))
    user.run(f"hub.push({str(folder)!r}, {REPO!r})")
    assert "| STS Benchmark test | Pearson | 1,379 | 71.2 | 70.0 to 72.5 |" in shown()
    # But not one about other weights; then, and where there is none, one without scores does.
    os.utime(folder / "README.md", (1, 1))
    user.run(f"hub.push({str(folder)!r}, {REPO!r})")
    assert "71.2" not in shown() and card_file.is_generated(shown())
    (folder / "README.md").unlink()
    user.run(f"hub.push({str(folder)!r}, {REPO!r})")
    assert "71.2" not in shown() and card_file.is_generated(shown())
    # One that was edited on the hub stays, unless one's own was edited too.
    server.commit(REPO, "main", {"README.md": (shown() + "Thanks to all.\n").encode()})
    (folder / "config.json").write_text((folder / "config.json").read_text() + "\n")
    user.run(f"hub.push({str(folder)!r}, {REPO!r})")
    assert shown().endswith("Thanks to all.\n") and "was edited there and is kept" in user.said
    assert server.files(REPO)["config.json"].endswith(b"}\n\n")
    (folder / "README.md").write_text("---\nlanguage: [en]\n---\nMine.\n")
    user.run(f"hub.push({str(folder)!r}, {REPO!r})")
    assert shown() == "---\nlanguage: [en]\n---\nMine.\n"


@pytest.mark.parametrize("address", ["hf://", "hf://fr", "hf://ours/fr/", "hf://ours/fr@", "hf://ours/f r", "ours/fr"])
def test_what_is_no_address_or_no_name(folder, address):
    with pytest.raises(DataError, match="write hf://user/name"):
        hub.fetch(address)
    with pytest.raises(DataError, match="write user/name"):
        hub.push(folder, "fr")


def test_without_huggingface_hub(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    for use in (lambda: hub.fetch("hf://ours/fr"), lambda: hub.push(folder, "ours/fr")):
        with pytest.raises(PspError, match=r"pip install 'paraphrastic\[hub\]'"):
            use()
