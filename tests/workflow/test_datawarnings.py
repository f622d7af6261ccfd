"""A filter that drops much, and a model with few pairs, are told where people look; telling drops no pair."""

import pytest

DATA, EVAL = "results/demo/data.json", "results/demo/eval.json"
SAID = "    filters: {warn_share: 0.01}\n    mix: {warn_pairs: 100000}\n"


@pytest.mark.slow
def test_what_is_worth_a_warning_is_said_at_the_end_and_reruns_no_filter(copy_of_finished):
    run, config = copy_of_finished, copy_of_finished.folder / "tiny.yaml"
    folder = run.folder / "results/demo"
    run.add(SAID)
    assert run.planned(EVAL) == set()
    assert run.planned(DATA) == {"data"}
    screen = run.run(DATA).output
    warnings = [line for line in screen.splitlines() if line.startswith("warning: model demo: ")]
    assert len({line.partition(" dropped ")[0] for line in warnings}) == len(warnings) > 1  # a line a filter
    (few,) = [line for line in warnings if " pairs are few to train on" in line]
    (length,) = [line for line in warnings if "the length filter dropped" in line]
    assert "of Phrasebook.en-fr" in length and "of PhrasebookExtra.en-fr" in length
    assert "`filters: {length: {min: 1}}` under models.demo" in length
    text = (folder / "data.md").read_text()
    for line in (few, length):
        assert line.removeprefix("warning: model demo: ") in text[: text.index("| corpus |")]

    # What it says to write, keeps them: the filter's log says so no longer. The model is trained with a warning.
    log = folder / "logs/filter/Phrasebook.en-fr.log"
    report = "results/demo/pairs/filter/Phrasebook.en-fr.json"
    config.write_text(config.read_text().replace("warn_share: 0.01", "warn_share: 0.01, length: {max: 99}"))
    screen = run.run(report).output
    assert "INFO psp.pairs.data_warnings: the length filter dropped" in log.read_text()
    assert "the length filter dropped" in screen
    config.write_text(config.read_text().replace("max: 99", "min: 1"))
    screen = run.run(report).output
    assert "the length filter" not in log.read_text() and "Phrasebook.en-fr" in screen
