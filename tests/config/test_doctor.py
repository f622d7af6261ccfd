"""``psp doctor``: each fault is made for real, as far as a test can, and has one line that says what to do."""

import importlib.metadata
import os
import stat
import sys

import pytest

from psp.cli.main import main
from psp.config import doctor
from psp.config.config import Config
from psp.config.downloads import FOLDER
from psp.corpora.download import answers
from tests.conftest import opus_api


def config(**sources):
    models = {"fr": {"languages": ["en", "fr"], "corpora": ["Europarl"]}}
    raw = {"corpora": {"Europarl": {"version": "v8"}}, "models": models}
    return Config({**raw, "sources": sources})


def told(findings, state):
    return [f"{one.name}: {one.text}; {one.mend}" for one in findings if one.state == state]


def program(folder, name, text):
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!{sys.executable}\n{text}\n")
    (folder / name).chmod(0o755)


def test_nothing_is_broken_where_the_tests_run(tmp_path):
    findings = list(doctor.check(tmp_path, config()))
    assert not told(findings, "BROKEN")
    assert {"Python", "packages", "cores", "disk", "compiled code", "GPU", "Slurm", "config"} <= {
        one.name for one in findings
    }
    assert any("workflow" in one.text for one in findings if one.name == "packages")


def test_a_package_of_another_version_is_broken_where_it_is_needed(monkeypatch):
    version = importlib.metadata.version
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "1.0" if name == "h5py" else version(name))
    (line,) = told(doctor.packages(workflow=True), "BROKEN")
    assert "packages[workflow]: h5py (1.0, not >=3.11); run `pip install 'paraphrastic[workflow]'`" in line
    without = list(doctor.packages(workflow=False))
    assert not told(without, "BROKEN")
    assert any("packages[data]: h5py" in line for line in told(without, "note"))


def test_an_extra_of_which_much_is_absent_is_no_fault(monkeypatch):
    version = importlib.metadata.version

    def without_a_server(name):
        if name in ("starlette", "uvicorn"):
            raise importlib.metadata.PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(importlib.metadata, "version", without_a_server)
    findings = list(doctor.packages(workflow=True))
    assert {one.state for one in findings} == {"ok"}
    assert "serve" not in findings[-1].text.split(", ")


def test_a_folder_that_cannot_be_written_to_is_broken():
    (line,) = told(doctor.disk(doctor.Path("/proc")), "BROKEN")
    assert line.startswith("disk: /proc: ")
    assert "make it writable" in line


def test_a_wrong_number_of_threads_and_little_memory_are_told(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "many")
    monkeypatch.setattr(doctor, "MEMORY", 10**15)
    lines = told(doctor.machine(), "note")
    assert any("OMP_NUM_THREADS is many" in line and "unset OMP_NUM_THREADS" in line for line in lines)
    assert any(line.startswith("memory: ") and "subword.sample" in line for line in lines)


def test_compiled_code_that_nothing_can_be_kept_of_is_told(monkeypatch):
    from psp.core import jit

    monkeypatch.setattr(jit, "cache_folder", lambda: None)
    assert "NUMBA_CACHE_DIR" in doctor.compiled_code(needed=True).mend


@pytest.mark.parametrize(
    ("answer", "state", "words"),
    [
        ("print('main up')", "ok", "answers: main up"),
        ("import sys; sys.exit('no controller')", "note", "does not answer: no controller"),
        (None, "ok", "none"),
    ],
)
def test_slurm(tmp_path, monkeypatch, answer, state, words):
    if answer is not None:
        program(tmp_path / "bin", "sbatch", "")
        program(tmp_path / "bin", "sinfo", answer)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    finding = next(iter(doctor.slurm()))
    assert (finding.state, finding.text) == (state, words)


def test_a_model_of_languages_that_does_not_load_is_broken(tmp_path):
    path = tmp_path / FOLDER / "lid/lid.176.ftz"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"<html>not found</html>")
    (line,) = told(doctor.language_identification(config(), tmp_path), "BROKEN")
    assert "not a fastText classifier" in line
    assert f"remove {path}" in line


def test_an_address_that_answers_and_one_that_does_not(tmp_path):
    (tmp_path / "sts").mkdir()
    with opus_api([]) as server:
        server.fault = (404, b"")
        check_addresses(tmp_path, server.address + "{file}")


def check_addresses(tmp_path, gone):
    both = config(sts={"mirrors": [f"file://{tmp_path}/sts/"]}, lid={"mirrors": [gone, f"file://{tmp_path}/sts/"]})
    findings = list(doctor.addresses(both))
    assert any("this machine has sts/STS.zip" in line for line in told(findings, "ok"))
    assert any("404" in line and "another mirror answers" in line for line in told(findings, "note"))
    alone = told(doctor.addresses(config(lid={"mirrors": [gone]}, sts={"mirrors": [gone]})), "BROKEN")
    assert any("lid/lid.176.ftz" in line and "correct the mirror" in line for line in alone)


def test_a_closed_port_and_a_package_that_is_not_there_do_not_answer():
    assert "refused" in answers("http://127.0.0.1:9/file")
    assert "not installed" in answers("package://no_such_package/file")


def test_the_command_ends_with_an_error_where_something_is_broken(tmp_path, capsys):
    (tmp_path / "config").mkdir()
    (tmp_path / "config/config.yaml").write_text(
        "corpora: {A: {version: v1}}\nmodels: {fr: {languages: [en, fr], corpora: [B]}}\n"
    )
    with pytest.raises(SystemExit) as ended:
        main(["doctor", "--folder", str(tmp_path)])
    out, err = capsys.readouterr()
    assert ended.value.code == 1
    assert "BROKEN  config: " in out and "B" in out
    assert "must be fixed" in err


def test_outside_of_a_checkout_it_says_so_and_ends_well(tmp_path, capsys):
    main(["doctor", "--folder", str(tmp_path)])
    assert capsys.readouterr().out.startswith("ok      config: none: ")


def test_it_changes_nothing(tmp_path):
    before = sorted(os.walk(tmp_path))
    mode = stat.S_IMODE(tmp_path.stat().st_mode)
    list(doctor.check(tmp_path, config()))
    assert (sorted(os.walk(tmp_path)), stat.S_IMODE(tmp_path.stat().st_mode)) == (before, mode)
