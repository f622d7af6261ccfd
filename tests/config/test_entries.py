"""The declared settings."""

from psp.config import entries
from psp.core.settings import Section, Setting
from psp.pairs.filters import Filter


def settings(section):
    for key, one in section.keys.items():
        if isinstance(one, Setting):
            yield key, one
        elif isinstance(one, Section):
            yield from settings(one)


def test_every_default_is_a_value_that_its_setting_allows():
    found = [pair for one in entries.sections().values() if isinstance(one, Section) for pair in settings(one)]
    found += [pair for judge in Filter.classes.values() for pair in judge.declared.items()]
    assert len(found) > 100
    for key, setting in found:
        for value in (setting.default, *setting.recipes.values()):
            assert isinstance(value, dict) or setting.allows(value), (key, value)
        assert setting.help and not setting.help.endswith("."), key
