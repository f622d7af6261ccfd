import contextlib

import pytest

from psp.cli.main import main
from psp.config import pins
from psp.config.config import Config
from psp.core.errors import DataError

NAME = "opus/Europarl/v8/en-fr.txt.zip"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / NAME).parent.mkdir(parents=True)
    (tmp_path / NAME).write_bytes(b"abc")
    return tmp_path


def config(pins_file):
    models = {"fr": {"languages": ["en", "fr"], "corpora": ["Europarl"]}}
    return Config({"corpora": {"Europarl": {"version": "v8"}}, "models": models, "pins": str(pins_file)})


def test_pins_are_written_and_then_checked(folder, caplog):
    file = folder / "pins.yaml"
    assert pins.pin(config(file), ["fr"], folder, file) == [NAME]
    assert "sts/STS.zip is not downloaded yet" in caplog.text
    pinned = config(file)
    assert pinned.pins[NAME]["bytes"] == 3
    assert pinned.remote(NAME).sha256.startswith("ba7816bf")
    assert pins.check(pinned, [NAME, "sts/STS.zip"], folder) == [NAME]


@pytest.mark.parametrize(("data", "words"), [(b"abd", "SHA-256"), (b"abcd", "4 bytes, but its pin says 3")])
def test_a_changed_file_is_an_error_and_keeps_its_pin(folder, data, words):
    file = folder / "pins.yaml"
    pins.pin(config(file), ["fr"], folder, file)
    before = file.read_bytes()
    (folder / NAME).write_bytes(data)
    with pytest.raises(DataError, match=words):
        pins.pin(config(file), ["fr"], folder, file)
    assert file.read_bytes() == before


def test_a_check_ends_with_a_status_that_tells(folder, capsys):
    """Of files that differ, are missing or have no pin each is named; status 0 only where all are as pinned."""
    project, downloads = folder / "project", folder / "project/results/downloads"
    (project / "config").mkdir(parents=True)
    (project / "Snakefile").touch()
    text = "{languages: [en, fr], corpora: [Europarl], evaluate: {sts: false, tatoeba: false}, development: {sts: null}"
    (project / "config/config.yaml").write_text(
        f"corpora: {{Europarl: {{version: v8}}}}\npins: {project}/pins.yaml\n"
        f"models: {{fr: {text}, filters: {{language: {{enabled: false}}}}}}}}\n"
    )

    def check(status):
        with pytest.raises(SystemExit) if status else contextlib.nullcontext() as caught:
            main(["pin", "fr", "--check", "--folder", str(project)])
        assert not status or caught.value.code == status
        printed = capsys.readouterr()
        assert "1 of 1" in printed.out if not status else "0 of 1 files match their pins" in printed.out
        return printed.err

    assert f"error: {downloads / NAME}: is not downloaded; run the workflow" in check(1)
    (downloads / NAME).parent.mkdir(parents=True)
    (downloads / NAME).write_bytes(b"abc")
    assert f"{NAME}: has no pin; write it with `psp pin`" in check(1)
    main(["pin", "fr", "--folder", str(project)])
    capsys.readouterr()
    assert check(0) == ""
    (downloads / NAME).write_bytes(b"abd")
    assert f"{NAME}: has SHA-256 a52d159f" in check(1)


def test_nothing_to_pin(tmp_path):
    with pytest.raises(DataError, match="run the workflow first"):
        pins.pin(config(tmp_path / "pins.yaml"), ["fr"], tmp_path, tmp_path / "pins.yaml")
