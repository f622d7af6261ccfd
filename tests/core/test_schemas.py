"""The schemas hold for what the project writes, and for nothing else."""

from __future__ import annotations

import copy
import functools
import itertools
import json
import math
import shutil
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import phrasebook
from psp.config.config import Config
from psp.config.entries import document
from psp.core import schemas
from psp.core.errors import DataError
from psp.core.files import read_json, sha256, write_json
from psp.corpora.download import Remote, fetch
from psp.evaluation import quantize, resamples, testsets
from psp.evaluation.compare import compare
from psp.evaluation.development import Development
from psp.evaluation.development_pairs import clear
from psp.evaluation.evaluate import evaluate_model, evaluate_system
from psp.evaluation.examples import examples_of_model
from psp.evaluation.lexicon import write_lexicon
from psp.evaluation.speed.measure import measure_speed
from psp.evaluation.system import scorer_of
from psp.evaluation.task import evaluate_model_task, evaluate_system_task
from psp.evaluation.testsets import read_file
from psp.evaluation.variants import gather
from psp.inference.translation import load_translator
from psp.inference.translation.backtranslate import back_translate
from psp.models.registry import load_encoder
from psp.pairs import filters
from psp.pairs.dedupe import dedupe_corpus
from psp.pairs.inspect.run import InspectedCorpus, inspect
from psp.pairs.lexicon.sentences import SentenceSource as PairFile
from psp.pairs.mix import mix
from psp.pairs.neardup import remove_near_duplicates
from psp.pairs.pivot import Bitext, mine
from psp.pairs.rank import rank_corpus
from psp.pairs.samples import SampledCorpus as SampledCorpus
from psp.pairs.samples import first_pairs, sample_all, sample_deciles
from psp.pairs.stats.annotation_form import read_form
from psp.pairs.stats.run import DescribedCorpus as StatsCorpus
from psp.pairs.stats.run import describe
from psp.pairs.stats.sample import pair_id
from psp.pairs.store import write_store
from psp.pairs.subword import train_subword
from psp.pairs.translator_heldout import hold_out
from psp.pairs.vocabulary import build_vocabulary
from psp.report.data import CorpusSource, report
from psp.report.inspect import write as write_inspect
from psp.report.stats import write as write_stats
from psp.text.segment import Segmenter
from psp.training import by_corpus, deciles
from psp.training.loop import Training
from psp.training.settings import TrainSettings
from psp.training.teaching.teach import teach
from psp.training.translator import train_translator
from psp.training.tune import Tuning, tunable, winner
from tests.conftest import PAIRS, SENTENCES, write_lid, write_pair_file

ROOT = Path(__file__).parents[2]
LABEL = "Small.en-fr"
SMALL = {"languages": ["en", "fr"], "corpora": ["Small"]}
CONFIG = {"languages": ["en", "fr"], "lower_case": True, "segment": {}, "recipe": "psp"}
SETTINGS: dict[str, Any] = {"epochs": 2, "batch_size": 32, "megabatch": 2, "dim": 8, "device": "cpu"}

Place = tuple[str | int, ...]

# ------------------------------------------------------------------------- what the project writes, made for real


def write_downloads(results: Path, scratch: Path) -> None:
    """A zip with a licence, and a file that has none and is pinned."""
    with zipfile.ZipFile(scratch / "zip", "w") as archive:
        archive.writestr("LICENSE", "CC0-1.0")
    (scratch / "lid").write_bytes(b"a model")
    corpus = Remote("opus/Small/v1/en-fr.txt.zip", (str(scratch / "zip"),), licence="CC0-1.0")
    for remote in (corpus, Remote("lid/lid.176.ftz", (str(scratch / "lid"),), sha256=sha256(scratch / "lid"))):
        path = results / "downloads" / remote.name
        fetch(remote, path, Path(f"{path}.json"))


def write_pairs(folder: Path) -> None:
    """Filter, deduplicate and mix a corpus with faults, and filter another by all filters."""
    rows = [*PAIRS, *((a.upper(), b) for a, b in PAIRS[:5]), ("one", "un"), ("", "vide")]
    length = {"length": {"sides": "both", "min": 3, "max": 100}}
    write_filtered(folder / "filter", rows, ("en", "fr"), filters.build(length, ("en", "fr")))
    # No pairs here, so that the language filter reads no model.
    every: dict[str, Any] = {name: {"enabled": True} for name in filters.names()}
    every["similarity"]["encoder"] = str(folder.parent / "vectors.txt")
    (folder.parent / "vectors.txt").write_text("word 0.5 1\n")
    write_filtered(
        folder / "filter", [], ("en", "zh"), filters.build(every, ("en", "zh"), {"lid": "unread", "tests": []})
    )
    mine(
        [Bitext("Small.en-fr", folder / f"filter/{LABEL}.tsv", 1)], folder / "pivot/Mined-fr.en-en.tsv",
        folder / "pivot/Mined-fr.en-en.json", languages=("en", "en"), through="fr", seed=1,
    )  # fmt: skip
    back_translate(
        [("Small.en-fr", folder / f"filter/{LABEL}.tsv", 1)], folder / "backtranslate/Translated-fr.en-en.tsv",
        folder / "backtranslate/Translated-fr.en-en.json", translator=load_translator({"command": "cat"}),
        encoder=load_encoder(str(folder.parent / "vectors.txt")), sample=5,
        cache=folder.parents[1].with_name("translations"),
        about={
            "languages": ["en", "en"], "through": "fr", "translator": {"name": "copier"},
            "encoder": {"name": "vectors.txt", "files": {"vectors.txt": sha256(folder.parent / "vectors.txt")}},
        },
    )  # fmt: skip
    rank_corpus(
        folder / f"filter/{LABEL}.tsv", folder / f"rank/{LABEL}.tsv", folder / f"rank/{LABEL}.json",
        corpus="Small", by="length", deciles=[1, 10], seed=1,
    )  # fmt: skip
    kept, counts = folder / f"dedupe/{LABEL}.tsv", folder / f"dedupe/{LABEL}.json"
    dedupe_corpus(folder / f"filter/{LABEL}.tsv", kept, counts, corpus="Small", cap=230, seed=1)
    mix([(LABEL, kept)], folder / "mix.tsv", folder / "heldout.tsv", folder / "mix.json", heldout_pairs=10, seed=1)
    out, report, dropped = (folder / f"neardup{suffix}" for suffix in (".tsv", ".json", ".dropped.tsv"))
    remove_near_duplicates(folder / "mix.tsv", out, report, dropped, labels=[LABEL], threshold=0.8)


def write_words(folder: Path, scratch: Path) -> None:
    """A lexicon, with its scores on a word set."""
    (scratch / "words.txt").write_text("cat\tdog\t5\nriver\tapple\t1\nthe\tcat\t0\nno\tword\t2\n")
    pairs = write_pair_file(scratch / "paraphrases.tsv", [(a, SENTENCES[2 * n]) for n, (a, _) in enumerate(PAIRS[5:])])
    write_lexicon(
        [PairFile("Own.en-en", pairs)], folder / "lexicon.tsv", folder / "lexicon.json", model="fr",
        languages=["en", "en"], settings=block_of("lexicon"), resamples=20, seed=1,
        tasks={"words": {"task": "word_similarity", "path": str(scratch / "words.txt")}},
    )  # fmt: skip


def write_inspected(folder: Path, scratch: Path) -> None:
    """A corpus of pairs with test sentences and an encoder, and text; with findings."""
    rows = [*PAIRS * 5, *((a, a) for a, _ in PAIRS), ("", "vide")]
    write_pair_file(scratch / "pairs.tsv", rows)
    (scratch / "text.txt").write_text("".join(f"{a}\n" for a, _ in PAIRS))
    block = block_of("filters")
    corpora = [
        InspectedCorpus("Own.en-fr", "Own", "local", ("en", "fr"), ("en", "fr"), block, scratch / "pairs.tsv"),
        InspectedCorpus(
            "Text.en", "Text", "text", ("en", "en"), ("en", "en"), filters.for_text(block), scratch / "text.txt"
        ),
    ]
    vectors = scratch / "vectors.txt"
    vectors.write_text("cat 0.5 1\nchat 0.5 1\ndog 1 0\n")
    report = inspect(
        "fr", corpora, pairs=1000, samples=2, lid=write_lid(scratch / "lid.ftz"), segmenters={}, seed=1,
        tests={"files": [("files/own", PAIRS[0][0], "another")]}, warn_pairs=5000, encoder=str(vectors), encoded=50,
    )  # fmt: skip
    write_inspect(report, folder / "inspect.json", folder / "inspect.html")


def write_statistics(folder: Path, scratch: Path) -> None:
    """Paraphrases with scores, trees and labels; bitext; and text."""
    rows = [(a, f"{a} indeed", number / 200) for number, (a, _) in enumerate(PAIRS)]
    (scratch / "scored.tsv").write_text("".join(f"{a}\t{b}\t{score}\n" for a, b, score in rows))
    (scratch / "trees").write_text("(S (NP) (VP))\n" * len(rows))
    write_pair_file(scratch / "bitext.tsv", PAIRS)
    write_pair_file(scratch / "text.tsv", [(a, a) for a, _ in PAIRS])
    ids = [pair_id(a, b) for a, b, _ in rows]
    for name, label in (("ann", 1), ("bob", 3)):
        lines = "".join(f"{number}\t{label}\t\n" for number in ids)
        (scratch / f"{name}.tsv").write_text(f"id\tparaphrase\tfluency\n{lines}")
    found = describe(
        [
            StatsCorpus("Scored.en-en", ("en", "en"), scratch / "scored.tsv", parses=scratch / "trees"),
            StatsCorpus(LABEL, ("en", "fr"), scratch / "bitext.tsv"),
            StatsCorpus("Text.en", ("en", "en"), scratch / "text.tsv", text=True),
        ],
        model="fr", pairs=100, ranges=[-0.1, 0.2, 0.4, 2], samples=2, sheet=5, seed=1,
        idf_from={"fr": scratch / "text.tsv"}, forms=[read_form(scratch / f"{name}.tsv") for name in ("ann", "bob")],
    )  # fmt: skip
    write_stats(found[0], folder / "stats.json", folder / "stats.md")


def write_filtered(
    folder: Path, rows: list[tuple[str, str]], languages: tuple[str, str], judges: list[filters.Filter]
) -> None:
    out, report, dropped = (
        folder / f"Small.{'-'.join(languages)}{suffix}" for suffix in (".tsv", ".json", ".dropped.tsv")
    )
    segmenters = {"zh": Segmenter()}
    filters.filter_corpus(
        rows, out, report, dropped, corpus="Small", languages=languages, filters=judges, segmenters=segmenters
    )


def write_trained(folder: Path) -> None:
    """The sentencepiece model, the store and the model; again from its table and without development data."""
    mixed, model, store = folder / "pairs/mix.tsv", folder / "sentencepiece.model", folder / "store.h5"
    train_subword(mixed, model, vocab_size=150, report=folder / "sentencepiece.json")
    write_store(mixed, model, store, languages=["en", "fr"], corpora=[LABEL])
    for kind in ("trigram", "word"):
        made = folder.with_name(f"{kind}s")
        build_vocabulary(mixed, made / "vocabulary.txt", kind=kind, report=made / "vocabulary.json")
    graded = "".join(f"{number % 6}\t{a}\t{b}\n" for number, (a, b) in enumerate(PAIRS[:30]))
    (folder / "graded.tsv").write_text(graded, encoding="utf-8")
    tested = [("files/own", PAIRS[0][0], "")]
    clear(read_file(folder / "graded.tsv"), tested, folder / "pairs/development.tsv", folder / "pairs/development.json")
    development = Development.load(folder / "graded.tsv", folder / "pairs/heldout.tsv")
    Training(
        store, model, folder / "model", folder / "train", SETTINGS, development, threads=1, model_config=CONFIG
    ).run()
    again = folder.with_name("again")
    segmented = {**CONFIG, "segment": {"zh": {"name": "jieba", "cut_all": False}}}
    Training(
        store, model, again / "model", again / "train", {**SETTINGS, "clip": 1.0, "dev_every": 100}, None,
        threads=1, model_config=segmented, init_from=folder / "model",
    ).run()  # fmt: skip
    teaching = {"encoder": str(folder / "model"), "languages": ["en"], "centres": 4, "neighbours": 3, "among": 5}
    taught = folder.with_name("distilled")
    targets = taught / "teacher.safetensors"
    teach(
        mixed, targets, taught / "teacher.json", cache=folder / "cache", settings=teaching,
        corpora=[(("en", "fr"), False)],
    )  # fmt: skip
    Training(
        store, model, taught / "model", taught / "train", SETTINGS, development, threads=1, model_config=CONFIG,
        teacher=targets, teaching=teaching,
    ).run()  # fmt: skip
    tuning = Tuning({"dropout": [0, 0.1]}, epochs=1)
    reports = {name: folder / "tune" / name / "train.json" for name in tuning.points}
    for name, path in reports.items():
        point = tuning.settings(SETTINGS, name)
        Training(store, model, None, path.parent, point, development, threads=1, model_config=CONFIG).run()
    tuning.gather(reports, folder / "tune.json", model="fr")
    write_studies(folder, model, development)


def write_studies(folder: Path, model: Path, development: Development) -> None:
    """The studies of pairs, with one training for all of their points."""
    samples, filtered = folder / "samples/tenths", folder / f"pairs/filter/{LABEL}.tsv"
    corpus = SampledCorpus(LABEL, "Small", "opus", "", filtered, {})
    outs = {decile: samples / f"length-{decile}.tsv" for decile in range(1, 11)}
    ranked = sample_deciles([corpus], "length", outs, samples / "length.json", seed=1)
    sample_all([corpus], samples / "all.tsv", samples / "all.json", seed=1)
    names = ["all", *(one["name"] for one in ranked["samples"])]
    pairs = min(one["pairs"] for one in ranked["samples"])
    first_pairs(samples / "all.tsv", folder / "first.tsv", pairs)
    report = samples / "all/subword/1/train.json"
    seeded = {**SETTINGS, "seed": 1}
    Training(
        folder / "first.tsv", model, None, report.parent, seeded, development, threads=1, model_config=CONFIG
    ).run()
    block = {"encoders": ["subword"], "seeds": [1], "epochs": SETTINGS["epochs"], "pairs": pairs}
    about = {"model": "fr", "development": "semeval2017-en"}
    deciles.gather(
        {name: {"subword": {1: report}} for name in names},
        {name: samples / f"{name}.json" for name in ("all", "length")},
        folder / "tenths.json", settings={**block, "by": ["length"]}, **about,
    )  # fmt: skip
    by_corpus.gather(
        {LABEL: {"subword": {1: report}}}, {LABEL: folder / f"pairs/dedupe/{LABEL}.json"}, folder / "by_corpus.json",
        settings={**block, "corpora": None}, **about,
    )  # fmt: skip


def write_evaluation(folder: Path, scratch: Path) -> None:
    sides = scratch / "fr", scratch / "en"
    for side, path in zip((1, 0), sides, strict=True):
        path.write_text("".join(f"{pair[side]}\n" for pair in PAIRS[:40]), encoding="utf-8")
    tests: dict[str, Any] = {
        "languages": ["en", "fr"],
        "sts": archive_of_sts(scratch / "STS.zip"),
        "tatoeba": {"fr": sides},
        "files": {"graded": folder / "graded.tsv"},
        "resamples": 20,
        "seed": 1,
    }
    pairs = folder / "pairs"
    info = {
        "languages": ["en", "fr"],
        "recipe": "psp",
        "differences": {"train.epochs": 2, "filters.language.enabled": False, "evaluate.files": {"graded": "a.tsv"}},
        "unpinned": ["lid/lid.176.ftz"],
        "decontaminated": {"enabled": True, "mode": "side", "pairs": 0},
        "data": {
            "filter": [read_json(pairs / f"filter/{LABEL}.json")],
            "dedupe": [read_json(pairs / f"dedupe/{LABEL}.json")],
            "mix": read_json(pairs / "mix.json"),
            "near_duplicates": read_json(pairs / "neardup.json"),
        },
        "subword": read_json(folder / "sentencepiece.json"),
        "train": read_json(folder / "train/train.json"),
    }
    drawn = folder / "eval.safetensors"
    evaluate_model(folder / "model", folder / "eval.json", name="fr", info=info, resampled=drawn, **tests)
    sets = {key: tests[key] for key in ("languages", "sts", "tatoeba", "files")}
    examples_of_model(folder / "model", folder / "examples.json", name="fr", **sets)
    # What is evaluated makes no difference here.
    words = folder.with_name("words")
    listed = {key: value for key, value in info.items() if key != "subword"}
    listed["vocabulary"] = read_json(words / "vocabulary.json")
    own = {"languages": ["en", "fr"], "files": tests["files"], "resamples": 20}
    evaluate_model(folder / "model", words / "eval.json", name="words", info=listed, **own)
    # Without STS: the layout is that of eval.json, and it would be four times as long for each test below.
    few = {**tests, "sts": None}
    whole = tuple(folder / f"few/eval.{kind}" for kind in ("json", "safetensors"))
    evaluate_model(folder / "model", whole[0], name="fr", resampled=whole[1], **few)
    beside = tuple(folder / f"systems/word-overlap/eval.{kind}" for kind in ("json", "safetensors"))
    evaluate_system(scorer_of("word-overlap"), beside[0], name="word-overlap", resampled=beside[1], **few)
    graded = {"task": "similarity", "path": str(tests["files"]["graded"])}
    about = {"name": "graded", "resamples": 100, "seed": 1}
    evaluate_model_task(folder / "model", folder / "few/tasks/graded.json", graded, model="fr", **about)
    out = beside[0].parent / "tasks/graded.json"
    evaluate_system_task(scorer_of("word-overlap"), out, graded, model="word-overlap", **about)
    compare(whole, {"word-overlap": beside}, folder / "compare.json", name="fr", tasks=["graded"])
    shutil.rmtree(folder / "few")
    quantize.measure(
        folder / "model", folder / "quantized.json", name="fr", dtypes=["int8"], dims=[4], **{**tests, "sts": None}
    )
    runs = {"psp": {1: folder}, "again": {1: folder}}
    gather(runs, {"word-overlap": beside[0].parent}, folder / "variants.json", model="fr")
    files = (folder / "model", folder / "store.h5", folder / "speed.json")
    # The peer has no forward pass; the other one is not there on any machine without a GPU.
    measure_speed(*files, sentences=100, repeats=3, own=[], peers=["model2vec", "EmbeddingBag, GPU"])
    # As a call of the library may do it: nothing but the figures, of which there are none.
    evaluate_model(folder / "model", folder.with_name("again") / "eval.json", name="again", languages=["xx"])


def write_data(folder: Path, archive: Path) -> None:
    source = CorpusSource(LABEL, "opus", "v1", "CC0-1.0", archive, Path(f"{archive}.json"))
    out = folder / "data.json", folder / "data.md"
    report("fr", [source], folder / "pairs", folder / "store.h5", *out, languages=["en", "fr"], recipe="psp")


def write_translator(folder: Path, of: Path) -> None:
    pairs, heldout = folder / "pairs/train.tsv", folder / "pairs/heldout.tsv"
    counts = folder / "pairs/heldout.json"
    sets = {"Small": 5, "rest": 0}
    hold_out(of / "pairs/mix.tsv", pairs, heldout, counts, corpora=["Small"], sets=sets, development=1)
    settings = {
        "dim": 8, "heads": 2, "feed_forward": 8, "encoder_layers": 1, "decoder_layers": 1, "steps": 2, "max_tokens": 30,
        "precision": "float32", "device": "cpu",
    }  # fmt: skip
    train_translator(
        pairs, heldout, of / "sentencepiece.model", folder / "model", folder / "translator.json", folder / "train",
        settings, languages=("en", "fr"), corpora=["Small"], threads=1,
    )  # fmt: skip


def archive_of_sts(path: Path) -> Path:
    """STS 2012 to 2016, the English track of 2017 and the STS Benchmark; one set has no correlation."""
    english = itertools.cycle(SENTENCES[0::2])
    sets = [(f"STS{year[2:]}-en-test", name) for year, names in testsets.YEARS.items() for name in names]
    with zipfile.ZipFile(path, "w") as archive:
        for folder, name in [*sets, ("STS17-test", testsets.DEVELOPMENT_TRACK)]:
            lines = "".join(f"{next(english)}\t{next(english)}\n" for _ in range(9))
            scores = "".join(f"{3 if name == 'MSRpar' else number % 5}\n" for number in range(9))
            archive.writestr(f"{folder}/STS.input.{name}.txt", lines)
            archive.writestr(f"{folder}/STS.gs.{name}.txt", scores)
        for file in testsets.BENCHMARK.values():
            rows = "".join(f"g\tf\ty\t{i}\t{i % 5}\t{next(english)}\t{next(english)}\n" for i in range(9))
            archive.writestr(f"STSBenchmark/{file}", rows)
    return path


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Any]:
    """Every JSON file of a results folder, by its path there; each written by the function that does so in a run."""
    scratch, results = tmp_path_factory.mktemp("scratch"), tmp_path_factory.mktemp("results")
    write_downloads(results, scratch)
    phrasebook.generate(results / "phrasebook", pairs=1000, seed=1)
    write_pairs(results / "fr/pairs")
    write_inspected(results / "fr", scratch)
    write_statistics(results / "fr", scratch)
    write_words(results / "fr", scratch)
    write_trained(results / "fr")
    write_evaluation(results / "fr", scratch)
    write_data(results / "fr", results / "downloads/opus/Small/v1/en-fr.txt.zip")
    write_translator(results / "translators/fr-en", results / "fr")
    task = {"task": "similarity", "path": str(results / "fr/graded.tsv")}
    out = results / "fr/tasks/graded.json"
    evaluate_model_task(results / "fr/model", out, task, model="fr", name="graded", resamples=100, seed=1)
    found = (path for path in sorted(results.rglob("*.json")) if path.parent.name != "ctranslate2")  # not our format
    return {path.relative_to(results): read_json(path) for path in found}


def documents(written: Mapping[Path, Any], name: str) -> list[Any]:
    found = [value for path, value in written.items() if schemas.at(path) == name]
    assert found, f"nothing is written that has the schema {name}"
    return found


# ------------------------------------------------------------------------------------------------- what is right


def test_all_that_is_written_is_as_its_schema_says(written: dict[Path, Any]) -> None:
    for path, value in written.items():
        name = schemas.at(path)
        assert name is not None, f"{path} has no schema"
        schemas.check(value, name, path)
    assert {schemas.at(path) for path in written} == set(schemas.names())


def test_the_cases_that_make_a_difference_are_among_what_is_written(written: dict[Path, Any]) -> None:
    full, bare = (written[Path(model, "eval.json")] for model in ("fr", "again"))
    years = full["tasks"]["sts"]["parts"]
    assert years["2012"]["further"]["sets"]["MSRpar"]["pearson"]["value"] is None
    assert years["average"]["figures"]["pearson"]["value"] is None
    assert years["average"]["figures"]["spearman"]["value"] is not None
    assert list(full["tasks"]) == ["sts", "semeval2017", "stsb", "files", "tatoeba"] and full["skipped"]
    assert "recipe" not in bare and not bare["tasks"]
    best, none = (written[Path(model, "train/train.json")] for model in ("fr", "again"))
    assert best["best"] and len(best["development"]) == 2 and best["initialised_from"] is None
    assert none["best"] is None and none["development"] == [] and none["initialised_from"]["taken_over"] > 0


# ---------------------------------------------------------------------- what a config may hold can be written down


def allowed(node: Mapping[str, Any]) -> Iterator[Any]:
    """Values of a key that the config's schema allows: all of a choice, else the ends of its range."""
    kinds = node.get("type", ())
    kinds = [kinds] if isinstance(kinds, str) else kinds
    yield from node.get("enum", ())
    if "null" in kinds:
        yield None
    if "boolean" in kinds:
        yield from (True, False)
    if "integer" in kinds:
        yield from (node.get("minimum", 0), node.get("maximum", 10**6))
    if "number" in kinds:
        low, high = node.get("minimum", node.get("exclusiveMinimum", -2)), node.get("maximum", 1e6)
        yield low if "minimum" in node else low + 1e-3
        yield node["exclusiveMaximum"] - 1e-3 if "exclusiveMaximum" in node else high
    if "array" in kinds:
        items = node["items"]
        yield from ([], items.get("enum") or (["my_rules:keep"] if items["type"] == "string" else [1, 2]))
    if "string" in kinds:
        yield from ("cpu", "cuda:1") if "cuda" in node.get("pattern", "") else ("a/model",)
    if "object" in kinds:
        for key, below in node["properties"].items():
            yield from ({key: value} for value in allowed(below))


def cases(block: str) -> list[tuple[str, Any]]:
    """Each key of a block of the config with each value that is not its default."""
    properties = document()["$defs"][block]["properties"]
    found = [
        (key, value) for key, node in properties.items() for value in allowed(node) if value != node.get("default")
    ]
    assert {key for key, _ in found} == set(properties)
    return found


#: Keys of `train` that are no settings of train.json: its `threads` and `initialised_from` tell of them,
#: or nothing does, since they change when a checkpoint is written, or which of the settings are taken.
NO_SETTINGS = {
    "checkpoint",
    "init_encoder",
    "init_from",
    "init_vectors",
    "threads",
    "tune",
}
#: Settings in which variants are not compared.
HOW = {"device", "precision", "dev_every", "log_every"}


def block_of(name: str, **own: Any) -> dict[str, Any]:
    """A block of a model's settings, by way of the config."""
    raw = {"corpora": {"Small": {"version": "v1"}}, "models": {"fr": {**SMALL, name: own}}}
    return dict(Config(raw).model("fr")[name])


def trained_with(**own: Any) -> dict[str, Any]:
    """The settings in the train.json of a model with such a block `train`."""
    block = {key: value for key, value in block_of("train", **own).items() if key not in NO_SETTINGS}
    return dict(json.loads(json.dumps(TrainSettings.from_mapping(block).as_dict())))


@functools.cache
def every_setting() -> list[dict[str, Any]]:
    """Settings of train.json in which each key that can be has another value than its default, until all have had all.

    They are put together from trainings that differ in one key, since not every two values go together.
    """
    values: dict[str, list[Any]] = {}
    for key, value in cases("train"):
        # A file of word vectors must be in the config, and the model of words.
        used = trained_with() if key == "init_vectors" else trained_with(**{key: value})
        assert key in NO_SETTINGS or used[key] == value
        values.setdefault(key, []).append(used.get(key))
    default = trained_with()
    assert set(values) - NO_SETTINGS == set(default) - {"seed"}
    return [
        default | {key: found[number % len(found)] for key, found in values.items() if key not in NO_SETTINGS}
        for number in range(max(map(len, values.values())))
    ]


def as_if_trained(folder: Path, written: Mapping[Path, Any], settings: Mapping[str, Any]) -> Path:
    """The files that a variant is known by, in a folder."""
    write_json(folder / "eval.json", changed(written[Path("fr/eval.json")], ("train", "settings"), settings))
    resamples.write(folder / "eval.safetensors", {}, written[Path("fr/eval.json")]["conditions"])
    (folder / "train").mkdir(exist_ok=True)
    (folder / "train/timing.csv").write_text("pairs,seconds,pairs_per_second\n64,2,32\n")
    return folder


def test_every_setting_of_a_training_can_stand_in_variants_json(written: dict[Path, Any], tmp_path: Path) -> None:
    default = trained_with()
    runs = {"own": {1: as_if_trained(tmp_path / "own", written, default)}}
    for number, settings in enumerate(every_setting()):
        runs[f"other{number}"] = {1: as_if_trained(tmp_path / f"other{number}", written, settings)}
    found = gather(runs, {}, tmp_path / "variants.json", model="fr")
    schemas.check(found, "variants")
    listed = [one["settings"] for one in found["variants"][1:]]
    assert set().union(*listed) == set(default) - HOW - {"seed"}
    # The rest would be understood, should anybody compare it one day.
    schemas.check(changed(found, ("variants", 1, "settings"), without(default, ("seed",))), "variants")


def test_every_point_of_a_search_can_stand_in_tune_json(written: dict[Path, Any], tmp_path: Path) -> None:
    searched = tunable()
    for settings in every_setting():
        point = {key: settings[key] for key in searched}
        write_json(tmp_path / "train.json", changed(written[Path("fr/train/train.json")], ("settings",), settings))
        tuning = Tuning({key: [value] for key, value in point.items()})
        (name,) = tuning.points
        tuning.gather({name: tmp_path / "train.json"}, tmp_path / "tune.json", model="fr")
        assert winner(tmp_path / "tune.json") == point


def test_every_setting_of_a_filter_can_stand_in_its_counts(
    written: dict[Path, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_rules.py").write_text("def keep(source, target):\n    return True\n")
    default = block_of("filters")
    default["similarity"]["encoder"] = "a/model"
    for key, value in cases("filters"):
        if value == {"encoder": None}:
            continue  # refused where the filter is on
        if isinstance(value, dict):
            (only,) = value
            bounds = {}
            if {"min", "max"} <= default[key].keys() and only in ("min", "max"):
                both = [value[only], default[key]["max" if only == "min" else "min"]]
                bounds = {"min": min(both), "max": max(both)}
            value = {**default[key], **bounds, **value, "enabled": True}
        judges = filters.build(default | {key: value}, ("en", "fr"), {"lid": "unread", "tests": []})
        used = {judge.name: json.loads(json.dumps(judge.settings)) for judge in judges}
        schemas.check(changed(written[Path(f"fr/pairs/filter/{LABEL}.json")], ("filters",), used), "filter")


def test_what_is_not_as_its_schema_says_is_written_all_the_same(
    written: dict[Path, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    as_if_trained(tmp_path, written, trained_with())
    out = tmp_path / "variants.json"
    with monkeypatch.context() as patch:
        # A figure that no schema knows.
        patch.setattr("psp.evaluation.variants.compared_metrics", lambda body: {"loss": 1.0})
        found = gather({"psp": {1: tmp_path}}, {}, out, model="fr")
    assert read_json(out) == found
    (record,) = caplog.records
    assert record.levelname == "ERROR" and "\n" not in record.getMessage()
    assert "variants.json: written completely but does not match schema variants" in record.getMessage()


# ------------------------------------------------------------------------------------------------- what is wrong

#: Where any value may stand: settings that differ from the recipe's, and a model's further keys.
FREE = {("eval", ("differences",)), ("model", ())}
#: Settings are as the config's own schema has them.
FROM_CONFIG = {"settings", "filters", "grid", "teacher"}


def is_free(name: str, place: Place) -> bool:
    """Whether any value may stand there; a task says itself what it is set to, and what else is worth knowing."""
    of_task = name == "task" or "tasks" in place
    of_config = name in {"data", "eval", "filter", "train", "translator", "tune", "variants"}
    return (
        (name, place[:1]) in FREE
        or (name, place) in FREE
        or (of_task and bool({"settings", "further"} & {*place}))
        or (of_config and bool(FROM_CONFIG & {*place}))
    )


def walk(value: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Each value in a JSON value, and where it stands."""
    yield place, value
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in inside:
        yield from walk(below, (*place, key))


def changed(value: Any, place: Place, new: Any) -> Any:
    """A copy with ``new`` at ``place``."""
    result = [copy.deepcopy(value)]
    *above, last = (0, *place)
    inside: Any = result
    for key in above:
        inside = inside[key]
    inside[last] = new
    return result[0]


def without(value: Any, place: Place) -> Any:
    *above, last = place
    inside = value
    for key in above:
        inside = inside[key]
    kept = {key: below for key, below in inside.items() if key != last}
    return changed(value, tuple(above), kept) if above else kept


def different_places(name: str, value: Any) -> dict[Place, tuple[Place, Any]]:
    """One place of each kind: of a list, and of equal names at a depth, the first stands for all."""
    found: dict[Place, tuple[Place, Any]] = {}
    for place, below in walk(value):
        kind = tuple("*" if isinstance(key, int) else key for key in place)
        found.setdefault((len(kind), *kind[-1:], type(below).__name__), (place, below))
    return {kind: at for kind, at in found.items() if not is_free(name, at[0])}


def refused(value: Any, name: str) -> bool:
    try:
        schemas.check(value, name)
    except DataError as error:
        assert "\n" not in str(error)
        return True
    return False


#: Keys that not every file has: those of before, and vocabularies of other kinds than words.
OPTIONAL = {"eval": {"sets"}, "model": {"weights_sha256"}, "train": {"title", "final"}, "vocabulary": {"split"}}


@pytest.mark.parametrize("name", schemas.names())
def test_a_missing_key_is_refused(name: str, written: dict[Path, Any]) -> None:
    whole = documents(written, name)[-1]
    for key in whole.keys() - OPTIONAL.get(name, set()):
        assert refused(without(whole, (key,)), name), key


@pytest.mark.parametrize("name", schemas.names())
def test_an_unknown_key_is_refused(name: str, written: dict[Path, Any]) -> None:
    for value in documents(written, name):
        for place, below in different_places(name, value).values():
            if isinstance(below, dict):
                assert refused(changed(value, place, {**below, "surprise": None}), name), place


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name == "eval" else name for name in schemas.names()]
)
def test_a_value_of_another_type_is_refused(name: str, written: dict[Path, Any]) -> None:
    for value in documents(written, name):
        for place, below in different_places(name, value).values():
            if isinstance(below, bool):
                others: list[Any] = [1, "true"]
            elif isinstance(below, int | float):
                others = [str(below), True, math.nan, math.inf]
            elif below is None:  # what may be null may be a number, a text or an object of its own
                others = [[1], {"surprise": 1}]
            else:
                others = [1, [below]]
            for other in others:
                assert refused(changed(value, place, other), name), (place, other)


@pytest.mark.parametrize(
    ("name", "place", "new"),
    [
        ("eval", ("format",), 3),
        ("eval", ("tasks", "sts", "parts", "2013", "figures", "pearson", "value"), 100.1),
        ("eval", ("tasks", "sts", "parts", "2013", "figures", "spearman", "interval"), [1.0]),
        ("eval", ("tasks", "tatoeba", "parts", "fra-eng", "figures", "error", "value"), None),  # without a reason
        ("eval", ("tasks", "tatoeba", "parts", "fra-eng", "figures", "error", "unit"), "percent"),
        ("eval", ("tasks", "tatoeba", "parts", "fra-eng", "figures"), {}),
        ("eval", ("recipe",), "mine"),
        ("eval", ("data", "mix", "total", "kept"), -1),
        ("compare", ("systems", "word-overlap", "tasks", "files", "parts", "graded", "items"), 0),
        ("compare", ("tasks", "graded", "word-overlap", "graded"), {}),
        ("compare", ("tasks", "graded", "word-overlap", "graded", "pearson", "interval"), [1.0]),
        ("task", ("files", 0, "sha256"), "ABC"),
        ("task", ("files",), []),
        ("quantized", ("smaller", 0, "dtype"), "int4"),
        ("quantized", ("smaller", 1, "scale"), "column"),
        ("quantized", ("smaller", 0, "differences", "files/graded", "interval"), [0.1]),
        ("quantized", ("smaller", 0, "differences"), {"files": {"difference": 1, "interval": None}}),
        ("train", ("best", "error"), 101),
        ("tune", ("points",), []),
        ("tune", ("points", 0, "name"), "dropout=0,megabatch=60"),
        ("variants", ("variants", 0, "figures", "seconds", "deviation"), -1),
        ("variants", ("variants", 0, "figures"), {"loss": {"values": [1], "mean": 1, "deviation": None}}),
        ("variants", ("variants", 1, "name"), "a/b"),
        ("variants", ("systems", "word-overlap"), {"score": 1}),
        ("download", ("sha256",), "ABC"),
        ("download", ("date",), "yesterday"),
        ("model", ("kind",), "another"),
        ("truth", ("corpora", "Phrasebook", "noise", "misaligned", 0, "line"), 0),
    ],
)
def test_a_value_out_of_range_is_refused(name: str, place: Place, new: Any, written: dict[Path, Any]) -> None:
    value = next(value for path, value in written.items() if schemas.at(path) == name and path.parts[0] != "again")
    assert not refused(value, name)
    assert refused(changed(value, place, new), name)


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("eval", ("tasks", "sts", "parts")),
        ("eval", ("tasks", "sts", "parts", "2012", "figures", "pearson", "why")),
        ("eval", ("tasks", "sts", "parts", "2012", "items")),
        ("eval", ("tasks", "tatoeba", "parts", "eng-fra", "figures", "error", "interval")),
        ("eval", ("train", "device")),
        ("compare", ("systems", "trained")),
        ("compare", ("tasks", "graded", "word-overlap", "graded", "pearson", "difference")),
        ("quantized", ("smaller", 1, "differences")),
        ("quantized", ("whole", "scores", "tasks", "tatoeba", "parts", "eng-fra", "items")),
        ("train", ("best", "score")),
        ("mix", ("corpora", 0, "label")),
        ("tune", ("points", 0, "score")),
        ("variants", ("variants", 0, "figures")),
        ("variants", ("variants", 0, "figures", "seconds", "mean")),
    ],
)
def test_a_key_missing_further_down_is_refused(name: str, place: Place, written: dict[Path, Any]) -> None:
    value = next(value for path, value in written.items() if schemas.at(path) == name and path.parts[0] != "again")
    assert refused(without(value, place), name)


def test_the_error_names_the_file_and_the_key(written: dict[Path, Any]) -> None:
    value = changed(written[Path("fr/eval.json")], ("train", "store_pairs"), "wide" * 100)
    with pytest.raises(DataError, match=r"^fr/eval\.json: train\.store_pairs: is 'wide.{0,80}, not integer") as caught:
        schemas.check(value, "eval", Path("fr/eval.json"))
    assert len(str(caught.value)) < 300
    with pytest.raises(ValueError, match="no schema 'evaluation'; available: backtranslate, by_corpus, compare, data"):
        schemas.check(value, "evaluation")


def test_a_place_has_one_schema_or_none() -> None:
    assert schemas.at("downloads/opus/Europarl/v8/en-fr.txt.zip.json") == "download"
    assert schemas.at("fr/pairs/filter/Europarl.en-fr.json") == "filter"
    assert schemas.at(Path("fr-2.0/model/config.json")) == "model"
    assert schemas.at("fr/tune/dropout=0.1+megabatch=60/train.json") == "train"
    assert schemas.at("fr/variants/no-zipf/2/train/train.json") == "train"
    assert schemas.at("fr/variants/no-zipf/2/eval.json") == "eval"
    partial = "downloads/lid/lid.176.ftz.partial.json"  # a broken download's own note, gone when it is complete
    for other in (
        partial,
        "fr/data.md",
        "eval.json",
        "fr/fr/eval.json",
        "fr/eval.json.json",
        "fr/pairs/filter/a/b.json",
    ):
        assert schemas.at(other) is None, other


# ------------------------------------------------------------------------------------------ the schemas themselves

KEYWORDS = {
    "$schema", "title", "description", "type", "$ref", "$defs", "const", "enum", "pattern", "required", "properties",
    "additionalProperties", "unevaluatedProperties", "propertyNames", "dependentRequired", "items", "minItems",
    "maxItems", "uniqueItems", "minLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
    "minProperties", "maxProperties", "anyOf", "if", "then", "else",
}  # fmt: skip


def subschemas(schema: Any, place: Place = ()) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Each schema in a schema, but for conditions, which describe nothing."""
    if not isinstance(schema, dict):
        return
    yield place, schema
    for key in ("properties", "$defs"):
        for name, below in schema.get(key, {}).items():
            yield from subschemas(below, (*place, key, name))
    for key in ("items", "additionalProperties", "propertyNames"):
        yield from subschemas(schema.get(key), (*place, key))


def resolved(schema: dict[str, Any], whole: Mapping[str, Any]) -> dict[str, Any]:
    """A schema with the keywords of the one that it refers to."""
    if "$ref" not in schema:
        return schema
    return {**resolved(whole["$defs"][schema["$ref"].rpartition("/")[2]], whole), **schema}


@pytest.mark.parametrize("name", schemas.names())
def test_each_schema_is_sound_and_describes_each_key(name: str) -> None:
    schema = schemas.load(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["title"] == name
    # Some have several: files of before are read too.
    assert all(isinstance(one, int) for one in schema["properties"]["format"]["enum"])
    for place, below in subschemas(schema):
        assert set(below) <= KEYWORDS, place  # a misspelt keyword would check nothing
        whole = resolved(below, schema)
        if place[-2:-1] == ("properties",):
            assert {"type", "enum", "anyOf"} & whole.keys(), place
            assert whole.get("description"), place
            assert "\n" not in whole["description"], place
        if "object" in whole.get("type", ()) and "properties" in whole:
            assert "additionalProperties" in whole, place


def test_what_is_no_code_is_part_of_the_package() -> None:
    patterns = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]["psp"]
    packed = {path for pattern in patterns for path in (ROOT / "psp").glob(pattern)}
    there = {path for ending in ("yaml", "html", "css", "js", "tsv") for path in (ROOT / "psp").rglob(f"*.{ending}")}
    assert packed == there | {ROOT / "psp/py.typed"}
    assert {path.stem for path in there if path.suffix == ".yaml"} == {"reported"}


def test_the_formats_page_lists_every_schema() -> None:
    page = (ROOT / "docs/formats.md").read_text(encoding="utf-8")
    for name in schemas.names():
        assert f"[{name}](../psp/core/schemas/{schemas.TYPES[name].__module__.rpartition('.')[2]}.py)" in page
