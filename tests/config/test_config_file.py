"""Config files before they are merged: what is refused, and what is told of them."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from psp.config.config_file import adding, look, read_yaml
from psp.core.errors import ConfigError

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("text", "key", "lines"),
    [
        ("models: {a: {}}\ncorpora: {}\nmodels: {b: {}}\n", "models", (1, 3)),
        ("train:\n  epochs: 3\n  dim: 4\n  epochs: 5\n", "epochs", (2, 4)),
        ("models:\n  1: {}\n  1: {}\n", "1", (2, 3)),
        ("a: [{b: 1,\n b: 1}]", "b", (1, 2)),
        ("a: {b: 1, b: 2}\n", "b", (1, 1)),
    ],
)
def test_a_key_given_twice_is_refused_with_its_lines(
    text: str, key: str, lines: tuple[int, int], tmp_path: Path
) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        read_yaml(file)
    start = f"{file}: {key} is given twice in one mapping, on lines {lines[0]} and {lines[1]}; only the last"
    assert str(caught.value).startswith(start)


def test_so_is_one_in_json(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text('{"train": {"epochs": 3, "epochs": 4}}')
    with pytest.raises(ConfigError, match=r"mine\.json: epochs is given twice"):
        read_yaml(file)
    file.write_text('{"train": {"learning_rate": 1e-3}}')  # JSON knows such a number
    assert read_yaml(file) == {"train": {"learning_rate": 0.001}}


def test_what_an_anchor_gives_may_be_given_again(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("a: &a {x: 1, y: 1}\nb: &b {<<: *a, x: 2}\nc: {deep: {<<: *b, x: 3}, also: *b}\n")
    assert read_yaml(file) == yaml.safe_load(file.read_text())


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text() | st.integers(), inner, max_size=3),
)


@settings(max_examples=25)
@given(st.dictionaries(st.text(), values, max_size=4))
def test_all_else_is_read_as_yaml(tmp_path_factory: pytest.TempPathFactory, value: dict[str, object]) -> None:
    file = tmp_path_factory.getbasetemp() / "any.yaml"
    file.write_text(yaml.safe_dump(value), encoding="utf-8")
    assert read_yaml(file) == value


def test_the_projects_own_files_give_no_key_twice() -> None:
    for file in ROOT.glob("config/**/*.yaml"):
        read_yaml(file)


def test_a_file_that_adds_to_models_is_told_with_what_they_take_over() -> None:
    own = {"models": {"fr": {"languages": ["en", "fr"], "corpora": ["A"], "train": {"dim": 3, "epochs": 2}}}}
    own["models"]["de"] = {"languages": ["en", "de"], "corpora": ["A"]}
    whole = {"languages": ["en", "fr"], "corpora": ["B"]}
    assert list(adding({"own.yaml": own, "mine.yaml": {"models": {"fr-mine": whole, "de": whole}}})) == []
    (told,) = adding({"own.yaml": own, "mine.yaml": {"models": {"fr": whole, "de": {"corpora": ["B"]}}}})
    assert told.startswith("mine.yaml extends existing models, which provide what it leaves out: ")
    assert "fr (train.dim, train.epochs); de (languages);" in told
    files = {"own.yaml": own, "a.yaml": {"models": {"fr": {**whole, "train": {"dim": 4}}}}, "b.yaml": {"models": {}}}
    (told,) = adding(files)
    assert "a.yaml" in told and "fr (train.epochs);" in told
    # What is no mapping is the schema's to tell.
    assert list(adding({"own.yaml": own, "mine.yaml": {"models": [1]}, "other.yaml": {"models": {"fr": 3}}})) == []


def test_a_result_is_no_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    base = tmp_path / "config.yaml"
    base.write_text("models: {}\n")
    for name, text in (("results/fr/eval.json", "{}"), ("copy/eval.json", '{"format": 1, "model": "fr"}')):
        file = tmp_path / name
        file.parent.mkdir(parents=True)
        file.write_text(text)
        with pytest.raises(ConfigError, match=r"eval\.json is a result, .*; put -- before the targets, as in `--conf"):
            look([base, file])
    (tmp_path / "mine.json").write_text('{"models": {}}')
    assert look([base, tmp_path / "mine.json"]) == []


@pytest.mark.parametrize(
    "text",
    [
        "a: " + "9" * 5000, '{"a": ' + "9" * 5000 + "}", "[" * 100_000, "{" * 100_000, "- " * 100_000,
        "a: 2026-99-99", "a: &b [*b]", "a: !!python/object/apply:os.system [ls]", "a: !mine 3", "a: \x00", "a: [",
        "- *b",
        "\n".join(["a0: &a0 [1, 1]", *(f"a{n + 1}: &a{n + 1} [{', '.join([f'*a{n}'] * 9)}]" for n in range(12))]),
    ],
    ids=lambda text: text[:20],
)  # fmt: skip
def test_what_is_no_config_is_one_line(text: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=r"mine\.yaml: not YAML: ") as caught:
        read_yaml(file)
    assert len(str(caught.value)) < 500 and "\n" not in str(caught.value)
