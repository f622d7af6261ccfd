"""``psp languages suggest`` prints a block that the config takes as it is."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from psp.cli.main import main
from psp.config.blocks.overlay import merge
from psp.config.config import Config
from psp.config.config_file import read_yaml
from psp.config.suggest import CAP, suggest
from psp.core.errors import ConfigError, DataError, DownloadError
from psp.text.languages import NAMES, TATOEBA, opus_names
from tests.conftest import SWAHILI, Api, entry, opus_api

ROOT = Path(__file__).parents[2]
BASE = ROOT / "config/config.yaml"
CHINESE = [
    entry("GlobalVoices", "v2017q3", "en-zhs", 126_923),
    entry("GlobalVoices", "v2017q3", "en-zht", 125_000),
    entry("MultiUN", "v1", "en-zh", 9_564_315),
    entry("TED2020", "v1", "en-zh", 15_000),
    entry("TED2020", "v1", "en-zh_cn", 399_092),
    entry("TED2020", "v1", "en-zh_tw", 379_000),
    entry("KDE4", "v2", "en-zh_CN", 139_666),
    entry("wikimedia", "v20230407", "en-zh_yue", 5_000),
    entry("OpenSubtitles", "v2018", "en-zh_cn", 11_203_286),
    entry("OpenSubtitles", "v2018", "en-zh_tw", 4_773_898),
]


@pytest.fixture
def api() -> Iterator[Api]:
    with opus_api(SWAHILI) as served:
        yield served


def config(address: str, **top: Any) -> Config:
    raw = merge(read_yaml(BASE), {"sources": {"opus": {"api": address}}, **top})
    return Config(raw)


def pasted(block: str, tmp_path: Path) -> Config:
    """The project's config with the block beside it, as ``--configfile`` puts it there."""
    (tmp_path / "block.yaml").write_text(block, encoding="utf-8")
    return Config.load([BASE, tmp_path / "block.yaml"])


def test_the_block_for_swahili_makes_a_model(api, tmp_path):
    block = suggest(config(api.address), "sw")
    after = pasted(block, tmp_path)
    model = after.model("sw")
    assert model.languages == ("en", "sw")
    names = [part.corpus for part in model.parts]
    # By size; what is mined, made by machine, a test set or no sentences is not trained on.
    assert names == ["Tanzil", "OpenSubtitles", "GlobalVoices", "QED", "TED2020", "bible-uedin", "GNOME"]
    assert after.remote("opus/bible-uedin/v1/en-sw.txt.zip").licence == "CC0-1.0"
    assert after.corpora["QED"] == {
        "version": "v2.0a",
        "licence": None,
        "pairs": {"en-sw": 18_192},
        "bytes": {"en-sw": 1_100 * 1024},
    }
    assert after.tatoeba(model) == {"sw": ("tatoeba/v1/tatoeba.swh-eng.swh", "tatoeba/v1/tatoeba.swh-eng.eng")}
    assert "licence: null # none declared: for research only" in block


def test_what_is_left_out_is_named_with_its_reason(api):
    block = suggest(config(api.address), "sw")
    left = block[block.index("# Left out:") :]
    assert "Tatoeba v2023-04-12, 3,401 pairs: the Tatoeba test is drawn from it" in left
    assert "XLEnt v1.2, 321,000 pairs: names of entities" in left
    assert "Wikipedia v1syn, 3,300,000 pairs: made by machine translation" in left
    assert "Tatoeba" not in yaml.safe_load(block)["corpora"]


def test_mined_corpora_are_in_the_catalogue_but_off(api, tmp_path):
    block = suggest(config(api.address), "sw")
    assert yaml.safe_load(block)["corpora"]["CCMatrix"]["cap"] == CAP
    (line,) = [line for line in block.splitlines() if "- CCMatrix" in line]
    assert line == "      # - CCMatrix # 5,756,664 pairs; mined from the web: many pairs are not translations"
    switched_on = block.replace("# - CCMatrix", "- CCMatrix")
    assert "CCMatrix" in [part.corpus for part in pasted(switched_on, tmp_path).model("sw").parts]


def test_mined_corpora_are_taken_where_there_is_nothing_else(tmp_path):
    with opus_api([entry("NLLB", "v1", "bm-en", 300_000), entry("Tatoeba", "v1", "bm-en", 5)]) as api:
        block = suggest(config(api.address), "bm")
    assert [part.corpus for part in pasted(block, tmp_path).model("bm").parts] == ["NLLB"]


def test_a_corpus_of_the_config_keeps_its_release_and_other_models_stay_as_they_are(api, tmp_path):
    block = suggest(config(api.address), "sw")
    before, after = Config.load([BASE]), pasted(block, tmp_path)
    for name in before.models:
        assert after.model(name) == before.model(name)
        assert [after.remote(part.download) for part in after.model(name).parts] == [
            before.remote(part.download) for part in before.model(name).parts
        ]
    assert after.corpora["GlobalVoices"]["pairs"]["en-sw"] == 26_041  # v2017q3's, not the newest's


def test_where_the_configs_release_lacks_the_pair_another_is_written_for_it_alone(api, tmp_path):
    block = suggest(config(api.address), "sw")
    after = pasted(block, tmp_path)
    (part,) = [part for part in after.model("sw").parts if part.corpus == "OpenSubtitles"]
    assert (part.version, part.cap) == ("v2024", 4_000_000)
    assert part.download == "opus/OpenSubtitles/v2024/en-sw.txt.zip"
    assert "versions: {en-sw: v2024} # v2018, the config's release, lacks it" in block
    assert after.corpora["OpenSubtitles"]["version"] == "v2018"
    assert "OpenSubtitles" not in block[block.index("# Left out:") :]
    # Pasted and asked for again, it stays.
    again = config(
        api.address, corpora={"OpenSubtitles": {"versions": {"en-sw": "v2024"}, "pairs": {"en-sw": 123_456}}}
    )
    assert "lacks it" not in suggest(again, "sw")


def test_a_corpus_that_stands_in_the_config_under_another_name(api, tmp_path):
    mine = {
        "Scripture": {"opus": "bible-uedin", "version": "v1", "licence": "MIT"},
        "QED": {"opus": "Talks", "version": "v9"},
    }
    block = yaml.safe_load(suggest(config(api.address, corpora=mine), "sw"))
    assert {"Scripture", "QED-en-sw"} <= set(block["models"]["sw"]["corpora"])
    assert block["corpora"]["Scripture"]["opus"] == "bible-uedin"
    assert block["corpora"]["Scripture"]["licence"] == "MIT"
    assert block["corpora"]["QED-en-sw"] | {"bytes": 0, "pairs": 0} == {
        "opus": "QED", "version": "v2.0a", "licence": None, "bytes": 0, "pairs": 0,
    }  # fmt: skip


def test_other_names_of_a_language_make_an_entry_of_its_own(tmp_path):
    offers = [entry("OpenSubtitles", "v2018", "sw-zh", 900), entry("GlobalVoices", "v2017q3", "sw-zhs", "")]
    with opus_api(offers) as api:
        block = suggest(config(api.address), "sw", "zh")
    assert "- GlobalVoices # pairs not counted" in block
    before, after = Config.load([BASE]), pasted(block, tmp_path)
    assert "sw-zhs" not in after.corpora["GlobalVoices"]["pairs"]
    assert after.model("zh") == before.model("zh")  # whose OpenSubtitles calls Chinese zh_cn
    assert {part.corpus: part.download for part in after.model("zh-sw").parts} == {
        "OpenSubtitles-sw-zh": "opus/OpenSubtitles/v2018/sw-zh.txt.zip",
        "GlobalVoices": "opus/GlobalVoices/v2017q3/sw-zhs.txt.zip",  # which does not count this pair
    }
    assert after.remote("opus/GlobalVoices/v2017q3/sw-zhs.txt.zip").licence == "CC-BY-3.0"


def test_chinese_is_asked_for_under_all_its_names(tmp_path):
    with opus_api(CHINESE) as api:
        block = suggest(config(api.address), "zh")
    after = pasted(block, tmp_path)
    assert after.model("zh") == Config.load([BASE]).model("zh")  # there is one of this name, which stays
    parts = {part.corpus: part for part in after.model("zh-opus").parts}
    assert {corpus: part.names for corpus, part in parts.items()} == {
        "OpenSubtitles": ("en", "zh_cn"),
        "MultiUN": ("en", "zh"),
        "TED2020": ("en", "zh_cn"),
        "KDE4": ("en", "zh_CN"),
        "GlobalVoices": ("en", "zhs"),
    }  # and not Cantonese
    assert {part.languages for part in parts.values()} == {("en", "zh")}
    assert parts["KDE4"].download == "opus/KDE4/v2/en-zh_CN.txt.zip"
    assert "pairs: {en-zh_cn: 11203286} # also: en-zh_tw, 4,773,898 pairs" in block
    assert "pairs: {en-zh_cn: 399092} # also: en-zh, 15,000 pairs, en-zh_tw, 379,000 pairs" in block


def test_a_corpus_that_the_licences_forbid_is_left_out(api):
    block = suggest(config(api.address, licences={"allow": ["CC0-1.0", "CC-BY-3.0"]}), "sw")
    assert set(yaml.safe_load(block)["corpora"]) == {"GlobalVoices", "bible-uedin"}
    assert "Tanzil v1, 138,253 pairs: it declares no licence" in block


# ----------------------------------------------------------------------------------------------------- what goes wrong


def error(kind: type[Exception], address: str, language: str = "sw", partner: str = "en", **top: Any) -> str:
    with pytest.raises(kind) as caught:
        suggest(config(address, **top), language, partner)
    text = str(caught.value)
    assert "\n" not in text and len(text) < 400
    return text


def test_an_api_that_is_down():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but nobody listens
        address = f"http://127.0.0.1:{taken.getsockname()[1]}/opusapi/"
        text = error(DownloadError, address)
    assert address in text and "cannot be reached" in text and "sources.opus.api" in text


def test_an_api_that_never_answers():
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        top = {"opus": {"api": f"http://127.0.0.1:{silent.getsockname()[1]}/"}, "timeout": 0.2}
        assert "timed out" in error(DownloadError, top["opus"]["api"], sources=top)


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (500, b"", "status 500"),
        (200, b"<html>\n<body>Maintenance</body></html>", "not JSON but '<html> <body>Maintenance"),
        (200, b'{"languages": "sw"}', "JSON without a list of languages"),
        (200, b'{"languages": [1]}', "languages that are not text"),
    ],
)
def test_an_api_that_answers_otherwise(api, status, body, words):
    api.fault = (status, body)
    text = error(DownloadError, api.address)
    assert words in text and api.address in text


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({}, "JSON without a list of corpora"),
        ({"corpora": ["Books"]}, "a corpus that is not a mapping"),
        ({"corpora": [{"corpus": "Books"}]}, "a corpus without corpus, version, source or target"),
    ],
)
def test_an_api_whose_corpora_are_otherwise(api, monkeypatch, answer, words):
    documented = api.answer
    monkeypatch.setattr(api, "answer", lambda query: documented(query) if "languages" in query else answer)
    assert words in error(DownloadError, api.address)


def test_names_that_could_not_stand_in_the_config_are_passed_over():
    strange = [entry("A: {b", "v1", "en-sw", 10), entry("Books", "../v1", "en-sw", 10)]
    with opus_api([*strange, entry("Books", "v1", "en-sw", 10)]) as api:
        assert set(yaml.safe_load(suggest(config(api.address), "sw"))["corpora"]) == {"Books"}


def test_no_corpora_for_the_pair(api):
    assert error(DataError, api.address, "xh").startswith("OPUS has no corpora for en and xh; try another pair")
    with opus_api([entry("Tatoeba", "v1", "en-sw", 5)]) as other:
        assert "the Tatoeba test is drawn from it" in error(DataError, other.address)


def test_what_is_no_pair(api):
    assert "zh_CN is not psp's code for Mandarin Chinese; write zh" in error(ConfigError, api.address, "zh_CN")
    assert "en with itself is not a pair" in error(ConfigError, api.address, "en")
    assert "offline" in error(ConfigError, api.address, offline=True)
    assert api.asked == []


# ------------------------------------------------------------------------------------------------------------ the rest


def test_a_suggestion_is_printed_alone_or_written_whole_or_not_at_all(api, tmp_path, capsys):
    (tmp_path / "api.yaml").write_text(f"sources: {{opus: {{api: '{api.address}'}}}}\n")
    out = tmp_path / "sw.yaml"
    command = ["--out", str(out), "--folder", str(ROOT), "--configfile", str(tmp_path / "api.yaml")]
    with pytest.raises(SystemExit):  # as a shell's > would not, it leaves no empty file that the next command reads
        main(["languages", "suggest", "xh", *command])
    assert not out.exists() and {path.name for path in tmp_path.iterdir()} == {"api.yaml"}
    assert capsys.readouterr().err.startswith("error: OPUS has no corpora for en and xh")
    main(["languages", "suggest", "sw", *command[2:]])
    assert capsys.readouterr().out == suggest(config(api.address), "sw")
    main(["languages", "suggest", "sw", *command])
    assert out.read_text() == suggest(config(api.address), "sw")
    assert capsys.readouterr().out.startswith(f"{out}: English and Swahili: ")
    out.write_text("mine: {}\n")
    asked = len(api.asked)
    with pytest.raises(SystemExit):
        main(["languages", "suggest", "sw", *command])
    assert f"{out}: already exists" in capsys.readouterr().err
    assert out.read_text() == "mine: {}\n" and len(api.asked) == asked


def test_a_variety_is_taken_where_there_is_nothing_else():
    entries = [
        entry("Books", "v1", "en-pt", 10),
        entry("Books", "v1", "en-pt_br", 99),
        entry("KDE4", "v2", "en-pt_BR", 9),
    ]
    with opus_api(entries) as api:
        corpora = yaml.safe_load(suggest(config(api.address), "pt"))["corpora"]
    assert corpora["Books"]["pairs"] == {"en-pt": 10}
    assert corpora["KDE4"]["names"] == {"pt": "pt_BR"}


def test_every_language_has_one_table_of_names():
    assert opus_names("sw") == {"sw": 0, "swa": 0, "swh": 0}
    assert opus_names("pt") == {"pt": 0, "pt_pt": 0, "por": 0, "pt_br": 1}
    assert opus_names("zh")["zh_cn"] == 0
    assert opus_names("zh")["zh_tw"] == 1
    assert "zh_yue" not in opus_names("zh")
    assert opus_names("en") == {"en": 0}
    assert opus_names("xx") == {"xx": 0}
    for language in NAMES:
        names = opus_names(language)
        assert names[language] == names[TATOEBA.get(language, language)] == 0
        assert all(name == name.casefold() and "/" not in name for name in names)
