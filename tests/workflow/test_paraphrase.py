"""English alone, from rows of ParaNMT's format; and a model of two languages over those and a file of one's own."""

import gzip
import json
import random
import zipfile

import pytest

from phrasebook.meaning import Sampler
from phrasebook.speak import English, French
from psp.pairs.store import Store

MODELS = """
  english: {extends: demo, languages: [en], corpora: [Sayings]}
  both:
    extends: demo
    languages: [en, fr]
    corpora: [{name: Sayings, languages: [en, en]}, {path: "Own pairs.tsv.gz", licence: MIT}]
sources:
  paranmt: {mirrors: ["{corpus}.zip"]}
corpora:
  Sayings:
    kind: paranmt
    version: v1
    licence: MIT
    filters:
      language: {enabled: true, sides: both}
      score: {enabled: true, min: 0.4, max: 1.0}
      identical: {enabled: false}
"""


@pytest.mark.slow
def test_paraphrases_and_a_file_of_ones_own_become_models(project):
    rng = random.Random(5)
    sampler, english, french = Sampler(rng, held=False), English(rng), French(rng)
    meanings = [sampler.draw() for _ in range(2500)]
    lines = [f"{english.say(one)}\t{english.say(one)}\t{rng.uniform(0.2, 1.2):.4f}" for one in meanings]
    with zipfile.ZipFile(project.folder / "Sayings.zip", "w") as archive:
        archive.writestr("folder/sayings.txt", "".join(f"{line}\n" for line in lines))
    with gzip.open(project.folder / "Own pairs.tsv.gz", "wt", encoding="utf-8") as file:
        file.writelines(f"{english.say(one)}\t{french.say(one)}\n" for one in meanings[:1500])
    project.add(MODELS)
    targets = [f"results/{name}/{file}.json" for name in ("english", "both") for file in ("eval", "data")]
    project.run("--", *targets)
    results = project.folder / "results"

    # Every row has its place.
    report = json.loads((results / "english/pairs/filter/Sayings.en-en.json").read_text())
    assert report["seen"] == len(lines) == report["kept"] + sum(report["dropped"].values())
    numbers = [float(line.rpartition("\t")[2]) for line in lines]
    assert report["dropped"]["score: too low"] == sum(number < 0.4 for number in numbers)
    assert report["dropped"]["score: too high"] == sum(number > 1.0 for number in numbers)

    evaluation = json.loads((results / "english/eval.json").read_text())
    assert evaluation["languages"] == ["en"]
    assert list(evaluation["tasks"]) == ["files"]
    assert evaluation["tasks"]["files"]["parts"]["phrasebook"]["items"] == 1000
    assert evaluation["differences"]["corpora.Sayings.filters.score.enabled"] is True
    assert evaluation["train"]["settings"]["negatives"] == "auto"
    assert evaluation["train"]["best"]["pairs_heldout"] == 100

    evaluation = json.loads((results / "both/eval.json").read_text())
    assert [part["label"] for part in evaluation["data"]["mix"]["corpora"]] == ["Sayings.en-en", "Own-pairs.en-fr"]
    assert set(evaluation["tasks"]["tatoeba"]["parts"]) == {"fra-eng", "eng-fra", "fra", "mean"}
    with Store(results / "both/store.h5") as store:
        assert store.corpus_languages == [["en", "en"], ["en", "fr"]]
        block = store.read(0, len(store))
        assert (block.paraphrase == (block.corpus == 0)).all()
        assert 0 < block.paraphrase.sum() < len(store)

    corpora = json.loads((results / "both/data.json").read_text())["corpora"]
    assert [(part["kind"], part["licence"]["declared"]) for part in corpora] == [("paranmt", "MIT"), ("local", "MIT")]
