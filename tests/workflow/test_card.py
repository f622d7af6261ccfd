"""The rule that writes the model card."""

import pytest

from psp.core.files import read_json
from psp.models.card_file import is_generated

CARD = "results/demo/card.md"


def test_the_card_has_scores_and_data_and_stands_in_the_models_folder(finished):
    results = finished.folder / "results/demo"
    text = (results / "card.md").read_text()
    assert is_generated(text) and (results / "model/README.md").read_text() == text
    parts = read_json(results / "eval.json")["tasks"]["tatoeba"]["parts"]
    for direction in ("fra-eng", "eng-fra"):
        items, error = parts[direction]["items"], parts[direction]["figures"]["error"]["value"]
        assert f"| own set {direction} (French) | error, % | {items:,} | {error:.1f} |" in text
    for corpus in read_json(results / "data.json")["corpora"]:
        assert f"| {corpus['corpus']} | en-fr | {corpus['version']} | {corpus['kept']:,} |" in text


@pytest.mark.slow
def test_a_card_that_a_person_edited_is_kept(copy_of_finished):
    results = copy_of_finished.folder / "results/demo"
    own = results / "model/README.md"
    own.write_text(own.read_text().replace("## Scores", "## Scores, and my thanks to all"))
    edited = own.read_bytes()
    (results / "card.md").unlink()
    output = copy_of_finished.run(CARD).output
    assert own.read_bytes() == edited and "edited by hand and is kept" in output
    assert is_generated((results / "card.md").read_text())
    assert copy_of_finished.planned(CARD) == set()
    # One that was not edited is replaced.
    own.unlink()
    (results / "card.md").unlink()
    assert copy_of_finished.planned(CARD) == {"card"}
    copy_of_finished.run(CARD)
    assert own.read_bytes() == (results / "card.md").read_bytes()
