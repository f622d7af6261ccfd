"""Every JSON file of a whole run has a schema, and is as it says."""

import pytest

from psp.core import schemas
from psp.core.files import read_json


@pytest.mark.slow
def test_every_json_file_of_a_run_is_as_its_schema_says(compared):
    results = compared.folder / "results"
    found = {path: schemas.at(path.relative_to(results)) for path in sorted(results.rglob("*.json"))}
    without = [str(path.relative_to(results)) for path, name in found.items() if name is None]
    assert not without, f"no schema for {', '.join(without)}: add its type and place to psp/core/schemas"
    for path, name in found.items():
        schemas.check(read_json(path), name, path)
    # The demo leaves near-duplicates in, searches for no settings, and has no variants, vocabulary of words,
    # mined pairs, ranking, teacher or translator; nobody studies its pairs, or asks for its corpora, their statistics,
    # examples or a lexicon. tests/core/test_schemas.py holds the reports of all these against their schemas. Its speed
    # takes as long as all the rest: test_encoders.py has a run that measures one.
    others = {
        "backtranslate",
        "examples",
        "inspect",
        "neardup",
        "pivot",
        "speed",
        "stats",
        "teacher",
        "tune",
        "variants",
        "vocabulary",
    }
    others |= {"by_corpus", "lexicon", "rank", "sample", "tenths"}
    others |= {"translator", "translator_heldout", "translator_model"}
    assert set(found.values()) == set(schemas.names()) - others
