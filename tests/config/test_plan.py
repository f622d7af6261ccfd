import re
import zipfile
from pathlib import Path

import pytest

from psp.config.config import Config
from psp.config.plan import downloads, plan
from psp.core.errors import ConfigError

ROOT = Path(__file__).parents[2]
#: Languages that the config lacks.
NEW_LANGUAGES = ("pl", "it", "pt", "nl", "sw", "ja", "uk")


@pytest.fixture
def config(tmp_path):
    mirror = tmp_path / "mirror"
    (mirror / "sts").mkdir(parents=True)
    (mirror / "sts/a.txt").write_bytes(b"x" * 70)
    (mirror / "sts/b.txt").write_bytes(b"x" * 30)
    pins = tmp_path / "pins.yaml"
    pins.write_text("lid/lid.176.ftz: {bytes: 938013, sha256: abc}\n")
    corpora = {
        "Listed": {"version": "v1", "pairs": {"en-fr": 1_000_000}, "bytes": {"en-fr": 30_000_000}},
        "Counted": {"version": "v1", "pairs": {"en-fr": 1000}, "cap": 100},
        "Here": {"version": "v1"},
    }
    return Config(
        {
            "corpora": corpora,
            "pins": str(pins),
            "sources": {"sts": {"mirrors": [f"file://{mirror}/sts/"]}},
            "models": {"fr": {"languages": ["en", "fr"], "corpora": list(corpora)}},
        }
    )


def test_each_size_has_its_basis(config, tmp_path):
    here = tmp_path / "downloads/opus/Here/v1/en-fr.txt.zip"
    here.parent.mkdir(parents=True)
    here.write_bytes(b"12345")
    found = {file.name.split("/")[1]: file for file in downloads(config, config.model("fr"), tmp_path / "downloads")}
    assert (found["Listed"].bytes, found["Listed"].basis) == (30_000_000, "OPUS's listing")
    assert found["Counted"].basis.startswith("its pairs")
    assert (found["Here"].bytes, found["Here"].here) == (5, True)
    assert found["Here"].basis.startswith("here already; its pairs cannot be counted: ")
    assert (found["lid.176.ftz"].bytes, found["lid.176.ftz"].basis) == (938013, "pinned")
    assert (found["STS.zip"].bytes, found["STS.zip"].basis) == (100, "size of the local mirror")
    assert (found["v1"].bytes, found["v1"].basis) == (None, "not known")


def test_a_plan_names_what_will_be_fetched_and_what_it_will_take(config, tmp_path):
    text = plan(config, "fr", tmp_path / "downloads")
    assert "to fetch: 0.03 GB, and 3 file(s) of unknown size" in text
    assert "1,001,000 read" in text
    assert "trained on (the config caps Counted at 100 pairs), " in text
    assert "unknown for Here, so the rest is too low" in text
    for word in ("GB of disk at most", "memory ", "hours on 2 cores"):
        assert word in text


def test_hours_count_the_recipe_and_the_grid_whose_best_point_is_taken(config, tmp_path):
    def planned(**entry):
        corpora = {"Listed": {"version": "v1", "pairs": {"en-fr": 100_000_000}}}
        models = {"fr": {"languages": ["en", "fr"], "corpora": ["Listed"], **entry}}
        text = plan(Config({"corpora": corpora, "models": models}), "fr", tmp_path / "downloads")
        return float(re.search(r"about ([\d.]+) hours", text)[1]) - 194e6 / 70_000 / 3600, text

    grid = {"token_dropout": [0, 0.15, 0.3], "scale": [10, 20, 40], "epochs": [5]}
    plain, _ = planned(variants={"grid": grid})
    tuned, text = planned(train={"settings_from": "variants"}, variants={"grid": grid})
    assert tuned == pytest.approx((1 + 9 * 5 / 6) * plain, rel=0.02) and "6 epochs" in text
    paper, text = planned(recipe="paper")
    assert "25 epochs" in text and paper > 25 / 6 * 2 * plain  # slower by the pair as well


def test_the_papers_models_can_be_planned_but_for_sizes_nobody_lists(tmp_path):
    config = Config.load([ROOT / "config/config.yaml"])
    for name in ("ar", "de", "es", "fr", "ru", "tr", "zh"):
        corpora = [file for file in downloads(config, config.model(name), tmp_path) if file.name.startswith("opus")]
        assert all(file.bytes and file.pairs for file in corpora)


@pytest.mark.parametrize("language", NEW_LANGUAGES)
def test_a_new_language_is_an_entry_of_the_papers_corpora(tmp_path, language):
    entry = tmp_path / "new.yaml"
    corpora = "[OpenSubtitles, GlobalVoices, Europarl]"
    entry.write_text(f"models: {{{language}: {{languages: [en, {language}], corpora: {corpora}}}}}\n")
    config = Config.load([ROOT / "config/config.yaml", entry])
    text = plan(config, language, tmp_path)
    pair = "-".join(sorted(["en", language]))
    assert re.search(rf"opus/Europarl/v8/{pair}\.txt\.zip +\? +not known", text)
    assert "unknown, since no corpus lists its pairs" in text
    with pytest.raises(ConfigError) as caught:
        Config.load([ROOT / "config/config.yaml"]).model(language)
    assert f"`{language}: {{languages: [en, {language}], corpora: [OpenSubtitles]}}`" in str(caught.value)
    assert f"`psp languages suggest {language}`" in str(caught.value)


def test_a_file_of_another_kind_has_no_pairs(tmp_path, monkeypatch):
    """Its first rows are read by the corpus's own reader; lines alone are no pairs."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("source,target\n" + "one,un\n" * 50_000)
    (tmp_path / "a.tmx").write_text("<tmx>\n" + "<tu><tuv xml:lang='en'><seg>a</seg></tuv>\n</tu>\n" * 50 + "</tmx>")
    items = [
        {"path": "a.csv"},
        {"path": "a.tmx", "name": "b"},
        {"csv": "a.csv", "name": "c"},
        {"tmx": "a.tmx", "name": "d"},
    ]
    config = Config({"corpora": {}, "models": {"m": {"languages": ["en", "fr"], "corpora": items}}})
    wrong_csv, wrong_tmx, csv, tmx = list(downloads(config, config.model("m"), tmp_path))[-4:]
    assert wrong_csv.pairs is None and "a.csv, line 1: 1 column instead of 2, 3 or 4" in wrong_csv.basis
    assert wrong_tmx.pairs is None and "1 column" in wrong_tmx.basis
    assert csv.pairs == pytest.approx(50_000, rel=0.01) and csv.basis == "your file, pairs estimated from a sample"
    assert tmx.pairs is None and "no unit has a text in en and in fr; there are en" in tmx.basis
    assert "50,0" in plan(config, "m", tmp_path)


def test_what_nobody_lists_is_counted_where_it_is_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.tsv").write_text("one\tun\n" * 70)
    archive = tmp_path / "mirror/A/v1/en-fr.zip"
    fetched = tmp_path / "downloads/opus/B/v1/en-fr.txt.zip"
    unpacked = tmp_path / "mirror/D/v1/en-fr.zip"  # a folder can replace a zip
    unpacked.mkdir(parents=True)
    for code in ("en", "fr"):
        (unpacked / f"D.en-fr.{code}").write_text("one\n" * 20)
    for path, corpus, count in ((archive, "A", 30), (fetched, "B", 500)):
        path.parent.mkdir(parents=True)
        with zipfile.ZipFile(path, "w") as file:
            file.writestr(f"{corpus}.en-fr.en", "one\n" * count)
            file.writestr(f"{corpus}.en-fr.fr", "un\n" * count)
    raw = {
        "corpora": {name: {"version": "v1"} for name in "ABCD"},
        "sources": {"opus": {"mirrors": [f"{tmp_path}/mirror/{{corpus}}/{{version}}/{{pair}}.zip"]}},
        "models": {
            "fr": {"languages": ["en", "fr"], "corpora": ["A", "B", "D", {"path": "my.tsv", "name": "C"}]},
            "more": {"extends": "fr", "corpora": ["A", "C", {"path": "nowhere.tsv"}]},
            "none": {"extends": "fr", "corpora": ["C"]},
        },
    }
    config = Config(raw)
    found = {file.name: file for file in downloads(config, config.model("fr"), tmp_path / "downloads")}
    assert found["my.tsv"].pairs == 70 and found["my.tsv"].basis == "your file, pairs counted"
    assert found["opus/A/v1/en-fr.txt.zip"].pairs == 30 and found["opus/B/v1/en-fr.txt.zip"].pairs == 500
    text = plan(config, "fr", tmp_path / "downloads")
    folder = found["opus/D/v1/en-fr.txt.zip"]
    assert (folder.pairs, folder.basis) == (20, "size of the local mirror, pairs counted")
    assert "pairs: 620 read, about 583 trained on" in text and "unknown for" not in text
    assert "to fetch: 0.00 GB, and 4 file(s) of unknown size" in text  # not one's own
    text = plan(config, "more", tmp_path / "downloads")
    assert "30 read" in text and "unknown for C, nowhere, so the rest is too low" in text
    text = plan(config, "none", tmp_path / "downloads")
    assert "pairs, disk and time: unknown" in text and "about 0" not in text and " read" not in text
    fetched.write_bytes(b"cut short")
    assert "pairs cannot be counted: " in plan(config, "fr", tmp_path / "downloads")


def test_a_transformers_training_is_at_the_rate_of_its_base(tmp_path):
    encoder = {"kind": "transformer", "base": "some-base"}
    models = {"t": {"languages": ["en", "fr"], "corpora": ["Listed"], "encoder": encoder, "transformer": {"epochs": 2}}}
    corpora = {"Listed": {"version": "v1", "pairs": {"en-fr": 100_000}}}
    text = plan(Config({"corpora": corpora, "models": models}), "t", tmp_path)
    assert "100,000 read, about 94,000 trained on, 2 epochs" in text
    assert "about 2.6 hours" in text and "MiniLM (another base differs)" in text and "memory" not in text


def test_translating_takes_what_the_translator_takes(tmp_path):
    models = {
        "fr": {"languages": ["en", "fr"], "corpora": ["Listed"]},
        "en": {
            "languages": ["en"],
            "corpora": [{"translated": "en", "through": "fr", "from": {"model": "fr"}, "translator": "t"}],
        },
    }
    translators = {"t": {"languages": ["fr", "en"], "from": {"model": "fr"}, "train": {"minutes": 7, "steps": 9}}}
    raw = {"corpora": {"Listed": {"version": "v1", "pairs": {"en-fr": 100_000}}}, "models": models}
    text = plan(Config({**raw, "translators": translators}), "en", tmp_path)
    whole = float(re.search(r"about ([\d.]+) hours", text)[1])
    models["en"]["corpora"][0]["sample"] = 5_000
    sample = plan(Config({**raw, "translators": translators}), "en", tmp_path)
    assert whole > float(re.search(r"about ([\d.]+) hours", sample)[1])


def test_two_languages_through_a_third_have_what_is_in_both(tmp_path):
    corpora = {
        "Both": {"version": "v1", "pairs": {"de-en": 400_000, "en-fr": 100_000}},
        "Half": {"version": "v1", "pairs": {"de-en": 900_000, "en-fr": 0}},
    }
    models = {
        "all": {"languages": ["de", "en", "fr"], "corpora": [
            {"name": "Both", "languages": ["en", "de"]}, {"name": "Both", "languages": ["en", "fr"]},
            {"name": "Half", "languages": ["en", "de"]},
        ]},
        "defr": {"languages": ["de", "fr"], "corpora": [
            {"pivoted": ["de", "fr"], "through": "en", "from": {"model": "all"}},
        ]},
    }  # fmt: skip
    text = plan(Config({"corpora": corpora, "models": models}), "defr", tmp_path / "downloads")
    assert "pairs: 1,400,000 read, about 70,000 trained on, " in text
