"""What a config leads to outside: mirrors, pins, files that are missing."""

import pytest

from psp.config.config import Config
from psp.core.errors import ConfigError, DownloadError
from psp.corpora.download import fetch


def config(**top) -> Config:
    models = {"fr": {"languages": ["en", "fr"], "corpora": ["Europarl"]}}
    return Config({"corpora": {"Europarl": {"version": "v8", "licence": "CC0-1.0"}}, "models": models, **top})


def test_mirrors_take_environment_variables_and_say_when_one_is_missing(monkeypatch, tmp_path):
    checked = config(sources={"opus": {"mirrors": ["file://${PSP_MIRROR}/{corpus}/{version}/{pair}.zip"]}})
    name = checked.model("fr").parts[0].download
    monkeypatch.setenv("PSP_MIRROR", str(tmp_path))
    assert checked.remote(name).mirrors == (f"file://{tmp_path}/Europarl/v8/en-fr.zip",)
    monkeypatch.delenv("PSP_MIRROR")
    with pytest.raises(ConfigError, match=r"PSP_MIRROR is not set.*export PSP_MIRROR"):
        checked.remote(name)
    wrong = config(sources={"opus": {"mirrors": ["https://host/{corpsu}"]}})
    with pytest.raises(ConfigError, match=r"\{corpus\}, \{version\}, \{pair\}"):
        wrong.remote(name)


def test_pins_without_what_is_checked_are_refused(tmp_path):
    pins = tmp_path / "pins.yaml"
    pins.write_text("opus/Europarl/v8/en-fr.txt.zip: {size: 5}\n")
    with pytest.raises(ConfigError, match="psp pin"):
        config(pins=str(pins))


def test_offline_names_every_missing_file(tmp_path):
    checked = config(offline=True)
    wanted = checked.downloads(checked.model("fr"))
    missing = checked.missing(checked.model("fr"), tmp_path)
    # All but the language identification model, of which an installed package has a copy.
    assert set(wanted) - set(missing) == {"lid/lid.176.ftz"}
    for name in wanted:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert checked.missing(checked.model("fr"), tmp_path) == []


@pytest.mark.parametrize(
    ("languages", "names", "counted", "command"),
    [
        (["en", "it"], {}, {"en-fr": 5}, "psp languages suggest it`"),
        (["en", "zh"], {"zh": "zh-CN"}, {}, "psp languages suggest zh`"),
        (["de", "fr"], {}, {}, "psp languages suggest fr --with de`"),
        (["en", "fr"], {}, {"en-fr": 5}, None),
    ],
)
def test_an_archive_that_nobody_counted_may_be_absent(tmp_path, languages, names, counted, command):
    corpora = {"Books": {"version": "v1", "pairs": counted, "names": names, "mirrors": [f"{tmp_path}/{{pair}}.zip"]}}
    checked = config(corpora=corpora, models={"m": {"languages": languages, "corpora": ["Books"]}})
    remote = checked.remote(checked.model("m").parts[0].download)
    with pytest.raises(DownloadError) as caught:
        fetch(remote, tmp_path / "here.zip", tmp_path / "here.json")
    told = f"Books v1 has no {checked.model('m').parts[0].pair}, leave Books out of the model"
    assert (told in str(caught.value)) == (command is not None)
    assert (command or "put the file at") in str(caught.value)


@pytest.mark.parametrize("name", ["europarl", "books/Europarl/v8.zip", "results/fr/eval.json"])
def test_what_is_no_download(name):
    with pytest.raises(ConfigError, match="is not a download of this config"):
        config().remote(name)
