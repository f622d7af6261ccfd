"""Every register of classes: two may not share a name, and a module that is loaded again replaces its own."""

from __future__ import annotations

import re

import pytest

from psp.core import named
from psp.evaluation.tasks.base import Task
from psp.pairs.filters.base import Filter


class First:
    pass


def test_a_module_that_is_loaded_again_brings_its_class_again():
    classes: dict[str, type] = {}
    named.add(classes, "a", First)
    again = type("First", (), {"__module__": __name__})
    named.add(classes, "a", again)
    assert classes == {"a": again}


@pytest.mark.parametrize(
    ("known", "name", "base"),
    [(Filter.classes, "length", Filter), (Task.classes, "similarity", Task)],
    ids=["filter", "task"],
)
def test_no_filter_or_task_takes_the_name_of_another(known, name, base):
    before = known[name]
    with pytest.raises(ValueError, match=re.escape(f"'{name}' is already the name of {before.__module__}.")):
        type("Other", (base,), {"name": name, "kind": name})
    assert known[name] is before
