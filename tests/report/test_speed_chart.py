"""The picture of speed.json."""

import pytest

from psp.report.speed_chart import picture


def measured(name, cores, warm):
    rates = {"min": 0.9 * warm, "median": warm, "max": 1.1 * warm}
    row = {"name": name, "cores": cores, "warm": rates, "cold": rates}
    return row | {"forward": None, "no_forward": "it has no entry for ids"}


@pytest.mark.parametrize(
    ("on_two", "titles"),
    [
        ({"a": 1000, "b": 50}, ["1 core (no faster on 2)"]),
        ({"a": 1150, "b": 50}, ["1 core (no faster on 2)"]),  # within the spread
        ({"a": 1000, "b": 95}, ["1 core", "2 cores"]),
        ({"a": 1000, "b": 25}, ["1 core", "2 cores"]),
        ({"a": 1000, "b": 50, "c": 7}, ["1 core", "2 cores"]),  # measured there alone
    ],
)
def test_there_is_one_panel_unless_cores_change_something(on_two, titles):
    systems = [measured("a", 1, 1000), measured("b", 1, 50), *(measured(name, 2, on_two[name]) for name in on_two)]
    conditions = {"dim": 8, "vocab_size": 60, "mean_pieces": 9.5, "cpu": "a processor"}
    panels = picture({"model": "fr", "systems": systems, "missing": [], "conditions": conditions}).axes
    assert [panel.get_title() for panel in panels] == titles
    assert all(panel.get_xscale() == "log" and not panel.patches for panel in panels)  # bars would start nowhere
