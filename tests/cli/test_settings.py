"""``psp settings``: every key of the config, with its default."""

import pytest
import yaml

from psp.cli.main import main


def printed(capsys, *arguments):
    main(["settings", *arguments])
    return capsys.readouterr().out


def test_a_block_is_yaml_with_the_defaults_that_a_config_has(capsys):
    said = printed(capsys, "filters")
    block = yaml.safe_load(said)["filters"]
    assert block["length"]["min"] == 1 and block["language"]["enabled"] is True
    (line,) = [line for line in said.splitlines() if line.startswith("    min: 1 ")]
    assert "whole number ≥ 0; paper: 3" in line


def test_one_key_and_the_values_that_no_paper_states(capsys):
    assert printed(capsys, "train.objective").startswith('objective: "infonce"  # ')
    assert "paranmt: 40*" in printed(capsys, "train.megabatch")  # the paper has no M


def test_all_blocks_are_listed_and_each_can_be_printed(capsys):
    names = [line.partition(":")[0] for line in printed(capsys).splitlines()]
    assert {"corpora", "models", "filters", "train", "release"} <= set(names)
    for name in names:
        assert yaml.safe_load(printed(capsys, name)).keys() == {name}


def test_the_kinds_of_tasks(capsys):
    assert "  task: tatoeba\n" in printed(capsys, "evaluate.tasks")
    assert yaml.safe_load(printed(capsys, "evaluate.tasks.passages"))["<name>"]["task"] == "passages"


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("filter", "filter: no key of the config; did you mean filters?; `psp settings` lists the blocks"),
        ("train.epoch", "epoch: no key of train; did you mean epochs?; `psp settings` lists the blocks"),
        ("evaluate.tasks.st", "st: no kind of task; did you mean sts?; `psp settings evaluate.tasks` has all"),
    ],
)
def test_a_key_that_is_not_there(capsys, key, said):
    with pytest.raises(SystemExit):
        main(["settings", key])
    assert said in capsys.readouterr().err
