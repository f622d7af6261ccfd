"""The file for mteb; and mteb's own runner, which gives an export, a server and that file psp's scores."""

from __future__ import annotations

import importlib.util
import random
import socket
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import psp
from phrasebook.sts import pairs
from psp.core.errors import DataError, PspError
from psp.core.files import sha256
from psp.evaluation.evaluate import EmbeddingScorer, evaluate
from psp.evaluation.testsets import YEARS, StsSource
from psp.models import card, card_file
from psp.models.exports import export
from psp.models.exports.mteb import _CODES, LICENCES, language
from psp.models.folder import save_model
from psp.models.model import Model
from psp.models.scores import by_place
from psp.text.languages import NAMES, TATOEBA
from tests.conftest import served

WITHOUT = pytest.mark.skipif(importlib.util.find_spec("mteb") is None, reason="mteb is not installed (the extra mteb)")
CORPUS = {
    "corpus": "my|own", "languages": ["en", "fr"], "version": None, "kept": 9,
    "licence": {"declared": "CC0-1.0"}, "source": {"address": "https://example.org/en-fr.zip"},
}  # fmt: skip


def needs_mteb(test):
    """Mark a test that imports mteb, datasets and sentence-transformers, which takes 9 s."""
    return pytest.mark.slow(WITHOUT(test))


@pytest.fixture(scope="module")
def folder(model, tmp_path_factory):
    """The folder of a model called fr, with a model card."""
    folder = tmp_path_factory.mktemp("results") / "fr/model"
    save_model(folder, model.weight, model.sentencepiece_model, model.config)
    (folder / card_file.NAME).write_text(
        card.card(psp.load_model(folder).config, licence="MIT", data={"corpora": [CORPUS]})
    )
    return folder


def write(source, out, model=None):
    """The text of the file for mteb."""
    export("mteb", model or psp.load_model(source), out, [], source=source)
    return out.read_text()


class Meta(SimpleNamespace):
    """In place of mteb's ``ModelMeta``."""


@pytest.fixture
def read(monkeypatch):
    """Run such a file without mteb; its names."""
    modules = {"abs_encoder": {"AbsEncoder": object, "get_prompt": None}}
    modules["model_meta"] = {"ModelMeta": Meta, "ScoringFunction": SimpleNamespace(COSINE="cosine")}
    for name, content in modules.items():
        monkeypatch.setitem(sys.modules, f"mteb.models.{name}", SimpleNamespace(**content))
    for name in ("mteb", "mteb.models"):
        monkeypatch.setitem(sys.modules, name, SimpleNamespace())

    def run(text):
        names = {"__name__": "of_a_test"}
        exec(compile(text, "of_a_test.py", "exec"), names)
        return names

    return run


# ------------------------------------------------------------------------------------------------------ the file alone


def test_what_is_known_of_a_model_in_a_folder(folder, model, tmp_path, read):
    names = read(write(folder, tmp_path / "fr.py"))
    assert names["FOLDER"] == str(folder)
    assert vars(names["model_meta"]) == {
        "loader": names["PspEncoder"],
        "name": "no_organization_available/fr",
        "revision": sha256(folder / "model.safetensors"),
        "release_date": None,
        "languages": ["eng-Latn", "fra-Latn"],
        "n_parameters": model.vocab_size * 12,
        "n_embedding_parameters": model.vocab_size * 12,
        "memory_usage_mb": pytest.approx(model.nbytes / 2**20, rel=0.05),
        "max_tokens": float("inf"),
        "embed_dim": 12,
        "license": "mit",
        "open_weights": None,
        "public_training_code": None,
        "public_training_data": None,
        "framework": ["NumPy", "safetensors"],
        "reference": None,
        "similarity_fn_name": "cosine",
        "use_instructions": False,
        "training_datasets": None,
        "citation": None,
        "contacts": None,
    }


def test_the_corpora_of_its_card_are_a_comment(folder, tmp_path):
    lines = write(folder, tmp_path / "fr.py").split("\n")
    assert lines[lines.index("# Trained on, by its model card:") + 1] == (
        "#   my|own, CC0-1.0, https://example.org/en-fr.zip"
    )


def test_what_is_unknown_is_none(sp_model, make, tmp_path, read):
    model = Model(make().weight, sp_model, {"languages": ["en", "tlh"]})
    model.save(tmp_path / "model")
    (tmp_path / "model" / card_file.NAME).unlink()
    text = write(tmp_path / "model", tmp_path / "a.py")
    meta = read(text)["model_meta"]
    assert meta.languages is None and "languages=None,  # psp's codes: en, tlh\n" in text
    assert meta.license is None and "Trained on" not in text
    Model(model.weight, sp_model, {}).save(tmp_path / "model")
    assert read(write(tmp_path / "model", tmp_path / "b.py"))["model_meta"].languages is None


def test_prompts_are_instructions_and_a_smaller_table_needs_less(folder, make, tmp_path, read):
    small = make(prompts={"query": "the "}).quantized("int8")
    small.save(tmp_path / "model")
    meta = read(write(tmp_path / "model", tmp_path / "small.py"))["model_meta"]
    assert meta.use_instructions is True
    assert meta.memory_usage_mb == pytest.approx(small.nbytes / 2**20, rel=0.05)
    assert meta.n_parameters == small.vocab_size * 12


@pytest.mark.parametrize(
    ("licence", "named", "comment"), [("CC-BY-4.0", "cc-by-4.0", ""), ("GPL-2.0-only", None, "has gpl-2.0-only, for")]
)
def test_licences_that_mteb_has_no_name_for_are_quoted(folder, tmp_path, read, licence, named, comment):
    copy = tmp_path / "model"
    psp.load_model(folder).save(copy)
    (copy / card_file.NAME).write_text(f"---\r\nlanguage: en\r\nlicense: '{licence}'\r\n---\r\n# By hand\r\n")
    text = write(copy, tmp_path / "out.py")
    assert read(text)["model_meta"].license == named and comment in text


def test_no_name_breaks_the_file(model, tmp_path, read):
    folder = tmp_path / 'a "quoted" \\ name\n# é' / "model"
    model.save(folder)
    corpus = CORPUS | {"corpus": 'x\r"""\0', "version": "v1"}
    (folder / card_file.NAME).write_text(card.card(psp.load_model(folder).config, data={"corpora": [corpus]}))
    text = write(folder, tmp_path / "out.py")
    names = read(text)
    assert names["FOLDER"] == str(folder) and names["model_meta"].name.endswith(folder.parent.name)
    assert '#   x """U+0000 v1, CC0-1.0' in text


def test_a_model_of_the_hub_keeps_its_name_and_commit(folder, tmp_path, read, monkeypatch):
    from psp.models import hub

    commit = "0123456789abcdef0123456789abcdef01234567"
    psp.load_model(folder).save(tmp_path / commit)
    monkeypatch.setattr(hub, "fetch", {"hf://user/psp-fr@v2": tmp_path / commit}.__getitem__)
    names = read(write("hf://user/psp-fr@v2", tmp_path / "fr.py", psp.load_model(folder)))
    meta = names["model_meta"]
    assert (meta.name, meta.revision, meta.reference) == (
        "user/psp-fr",
        commit,
        "https://huggingface.co/user/psp-fr",
    )
    assert names["FOLDER"] is None
    asked = []
    monkeypatch.setattr(psp, "load_model", lambda address, dim: asked.append(address) or psp.Model.load(folder))
    monkeypatch.setattr(names["PspEncoder"], "validate_task_to_prompt_name", lambda *_, **__: ({}, ()), raising=False)
    names["PspEncoder"](meta.name, revision=meta.revision)
    names["PspEncoder"](meta.name)
    assert asked == [f"hf://user/psp-fr@{commit}", "hf://user/psp-fr"]


def test_what_cannot_be_written(folder, model, tmp_path):
    with pytest.raises(PspError, match=r"out: .*ends in \.py"):
        export("mteb", model, tmp_path / "out", [], source=folder)
    with pytest.raises(PspError, match="pass source"):
        export("mteb", model, tmp_path / "out.py", [])
    with pytest.raises(DataError, match=r"model\.safetensors: cannot be read"):
        export("mteb", model, tmp_path / "out.py", [], source=tmp_path)
    assert not list(tmp_path.iterdir())
    (tmp_path / "out.py").touch()
    with pytest.raises(DataError, match=r"out\.py: already exists"):
        export("mteb", model, tmp_path / "out.py", [], source=folder)


def test_writing_does_not_import_mteb(folder, tmp_path):
    code = (
        "import sys; from psp.cli.main import main\n"
        f"main(['export', 'mteb', {str(folder)!r}, {str(tmp_path / 'out.py')!r}])\n"
        "assert not {'mteb', 'torch', 'sentence_transformers'} & set(sys.modules)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said == f"{tmp_path / 'out.py'}: The vectors are psp's. Before it goes to mteb, complete what is None.\n"


def test_languages():
    codes = ("en", "fr", "zh", "ja", "ko", "sr", "no", "ceb", "gu", "ti", "xx", "pt_br")
    assert [language(code) for code in codes] == [
        "eng-Latn", "fra-Latn", "zho-Hans", "jpn-Jpan", "kor-Hang", "srp-Cyrl", "nor-Latn", "ceb-Latn", "guj-Gujr",
        "tir", None, None,
    ]  # fmt: skip
    assert all(language(code) for code in NAMES)


# -------------------------------------------------------------------------------------------------------- mteb's runner


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """Nothing but this machine can be reached. Also what was asked for elsewhere, which must be nothing."""
    asked = []

    def here(host):
        return host in (None, "", "localhost", "127.0.0.1", "::1", b"localhost", b"127.0.0.1")

    def refusing(method):
        def connect(self, address):
            if self.family in (socket.AF_INET, socket.AF_INET6) and not here(address[0]):
                asked.append(address)
                raise ConnectionRefusedError(f"a test must not reach {address}")
            return method(self, address)

        return connect

    def getaddrinfo(host, *arguments, look_up=socket.getaddrinfo, **options):
        if not here(host):
            asked.append(host)
            raise socket.gaierror(socket.EAI_NONAME, f"a test must not look up {host}")
        return look_up(host, *arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", refusing(socket.socket.connect))
        patch.setattr(socket.socket, "connect_ex", refusing(socket.socket.connect_ex))
        patch.setattr(socket, "getaddrinfo", getaddrinfo)
        for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "TRANSFORMERS_OFFLINE"):
            patch.setenv(name, "1")
        patch.setenv("MTEB_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield asked
    assert asked == []


def test_no_other_machine_can_be_reached(alone):
    with pytest.raises(ConnectionRefusedError), socket.socket() as one:
        one.connect(("192.0.2.1", 443))
    with pytest.raises(socket.gaierror):
        socket.create_connection(("huggingface.co", 443))
    assert alone == [("192.0.2.1", 443), "huggingface.co"]
    alone.clear()


@pytest.fixture(scope="module", params=["generated", pytest.param("real", marks=pytest.mark.slow)])
def sts(request, tmp_path_factory):
    """The STS Benchmark and STS 2012: the published ones, or the demo's generated pairs in their layout."""
    if request.param == "real":
        return request.getfixturevalue("psp_data") / "eval/sts"
    folder, seen = tmp_path_factory.mktemp("sts"), set()
    drawn = list(pairs(random.Random(5), 300, seen))
    random.Random(6).shuffle(drawn)  # the last ones drawn are much alike in score
    (folder / "STSBenchmark").mkdir()
    for part in ("dev", "test"):
        rows = "".join(f"genre\tfile\tyear\t0\t{pair.score}\t{pair.first}\t{pair.second}\n" for pair in drawn[:200])
        (folder / f"STSBenchmark/sts-{part}.csv").write_text(rows)
    (folder / "STS12-en-test").mkdir()
    for number, name in enumerate(YEARS["2012"]):
        some = drawn[200 + number :: 5]
        (folder / f"STS12-en-test/STS.input.{name}.txt").write_text("".join(f"{p.first}\t{p.second}\n" for p in some))
        (folder / f"STS12-en-test/STS.gs.{name}.txt").write_text("".join(f"{pair.score}\n" for pair in some))
    return folder


@pytest.fixture(scope="module")
def expected(folder, sts):
    """psp's own Spearman x 100 of the model."""
    body = evaluate(EmbeddingScorer(psp.load_model(folder)), languages=["en"], sts=sts, resamples=2)
    known = by_place(body)
    return {"STSBenchmark": known["stsb", "test", "spearman"].value, "STS12": known["sts", "2012", "spearman"].value}


@pytest.fixture(scope="module")
def tasks(alone, sts):
    """mteb's tasks, with their data."""
    import mteb
    from datasets import Dataset

    with StsSource(sts) as source:
        sets = {
            "STSBenchmark": [source.benchmark("test")],
            "STS12": [source.semeval("2012", name) for name in YEARS["2012"]],
        }
    made = []
    for name, data in sets.items():
        task = mteb.get_task(name)
        columns = {
            "sentence1": [text for one in data for text in one.a],
            "sentence2": [text for one in data for text in one.b],
            "score": np.concatenate([one.gold for one in data]),
        }
        task.dataset = {"default": {"test": Dataset.from_dict(columns)}}
        task.data_loaded = True
        made.append(task)
    return made


def spearman(model, tasks):
    """mteb's cosine Spearman x 100 of each task."""
    import mteb

    # No cache: it knows a model by its name, and another of this name may have been there.
    result = mteb.evaluate(model, tasks, cache=None, co2_tracker=False, show_progress_bar=False)
    return {one.task_name: 100 * one.scores["test"][0]["cosine_spearman"] for one in result.task_results}


@needs_mteb
def test_the_sentence_transformers_export_has_psps_scores(folder, tasks, expected, tmp_path):
    from sentence_transformers import SentenceTransformer

    export("sentence-transformers", psp.load_model(folder), tmp_path / "out", [])
    model = SentenceTransformer(str(tmp_path / "out"), device="cpu", trust_remote_code=True)
    assert spearman(model, tasks) == pytest.approx(expected, abs=0.1)


@needs_mteb
def test_a_server_has_psps_scores(folder, tasks, expected):
    from mteb.models import OpenAIAPIEncodeWrapper

    with served(folder) as server:
        model = OpenAIAPIEncodeWrapper(server.address, "fr", use_chat_template=False, modalities=["text"])
        assert spearman(model, tasks) == pytest.approx(expected, abs=0.1)


@needs_mteb
def test_the_written_file_has_psps_scores(folder, tasks, expected, tmp_path):
    meta = imported(folder, tmp_path / "fr.py")
    assert spearman(meta, tasks) == pytest.approx(expected, abs=0.1)


def imported(source, out):
    """The ``ModelMeta`` of a model's file, imported."""
    write(source, out)
    spec = importlib.util.spec_from_file_location("of_a_test", out)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.model_meta


@needs_mteb
def test_mteb_accepts_the_file_and_loads_the_model(alone, make, tmp_path):
    from mteb.models.model_meta import ModelMeta, ScoringFunction

    prompted = make(prompts={"query": "the ", "STS": "cat "})
    prompted.save(tmp_path / "fr/model")
    meta = imported(tmp_path / "fr/model", tmp_path / "fr.py")
    assert isinstance(meta, ModelMeta) and meta.similarity_fn_name is ScoringFunction.COSINE
    assert ModelMeta.model_validate(meta.model_dump()) == meta
    loaded = meta.load_model(device="cpu")
    assert loaded.mteb_model_meta.name == "no_organization_available/fr"
    asked = {"task_metadata": SimpleNamespace(name="STS12", type="STS"), "hf_split": "test", "hf_subset": "default"}
    batches = [{"text": ["bread", "a dog"]}, {"text": ["river"]}]
    vectors = loaded.encode(batches, **asked, batch_size=2, show_progress_bar=False)
    assert np.array_equal(vectors, prompted.embed_raw_text(["cat bread", "cat a dog", "cat river"]))
    np.testing.assert_allclose(loaded.similarity(vectors, vectors), prompted.similarity(vectors, vectors), atol=1e-6)


@needs_mteb
def test_mteb_knows_these_languages_and_licences(alone):
    import typing

    from mteb.languages import check_language_code
    from mteb.languages.iso_mappings import _get_iso1_to_iso3, _get_iso3_to_default_script
    from mteb.types import Licenses

    for code in _CODES:
        check_language_code(language(code))
        iso3, _, script = language(code).partition("-")
        usual = _get_iso3_to_default_script().get(iso3)
        assert not script or usual in (None, script) or code == "ku", code  # mteb: that of the data it has
        assert _get_iso1_to_iso3().get(code, iso3) == iso3
    assert set(_get_iso1_to_iso3()) | set(TATOEBA) == set(_CODES)
    assert set(typing.get_args(Licenses)) == LICENCES | {"not specified", "multiple"}
