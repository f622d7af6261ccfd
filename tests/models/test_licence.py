"""The licence of a model's data: joined, in SPDX's spelling, and never guessed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from license_expression import get_spdx_licensing

from psp.models import licence
from psp.models.licence import normalised, together


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ("cc-by-4.0", "CC-BY-4.0"),
        ("gpl-2.0-or-later with classpath-exception-2.0", "GPL-2.0-or-later WITH Classpath-exception-2.0"),
        ("MIT or Apache-2.0 and BSD-2-Clause", "MIT OR (Apache-2.0 AND BSD-2-Clause)"),
        ("LicenseRef-mine AND mit", "LicenseRef-mine AND MIT"),
        ("CC BY 4.0", "LicenseRef-CC-BY-4.0"),  # near an id, but none
        ("MIT OR (", "LicenseRef-MIT-OR"),
        ('"; rm -rf <b>', "LicenseRef-rm-rf-b"),
        ("\u202e", "LicenseRef-unnamed"),
    ],
)
def test_a_declared_licence_in_spdxs_spelling(declared, expected):
    assert normalised(declared) == expected


def test_of_several_corpora():
    found = together([("A", "GPL-2.0-or-later AND CC-BY-SA-3.0"), ("B", "MIT OR Apache-2.0"), ("C", "cc-by-sa-3.0")])
    assert found.expression == "CC-BY-SA-3.0 AND GPL-2.0-or-later AND (Apache-2.0 OR MIT)"
    assert found.undeclared == () and str(found) == found.expression
    assert found.ids == ["Apache-2.0", "CC-BY-SA-3.0", "GPL-2.0-or-later", "MIT"]
    assert found.metadata == {"license": "other", "license_name": found.expression}


def test_a_corpus_that_declares_none_is_named():
    found = together([("A", "MIT"), ("B", None), ("C", " "), ("B", None)])
    assert found == ("MIT", ("B", "C"))
    assert found.metadata == {"license": "other", "license_name": "MIT, and not declared (B, C)"}
    assert together([("A", None)]).metadata == {"license": "other", "license_name": "not declared (A)"}
    assert together([]).metadata["license_name"] == "not declared"


@pytest.mark.parametrize(
    ("declared", "known"),
    [("MIT", "mit"), ("cc-by-nc-sa-2.0", "cc-by-nc-sa-2.0"), ("GPL-3.0-only", "gpl-3.0"), ("ODbL-1.0", "odbl")],
)
def test_the_hubs_ids(declared, known):
    assert together([("A", declared), ("B", declared.upper())]).metadata == {"license": known}


def test_what_the_hub_has_no_id_for():
    # GPL-2.0-or-later is not the Hub's gpl-2.0.
    assert together([("A", "GPL-2.0-or-later")]).metadata == {"license": "other", "license_name": "GPL-2.0-or-later"}


def test_the_hubs_ids_are_licences_of_spdx():
    known = {key.lower() for key in get_spdx_licensing().known_symbols}
    assert licence.HUB.keys() <= known
    assert licence.on_the_hub("agpl-3.0") == {"license": "agpl-3.0"}
    assert licence.on_the_hub("CC-BY-4.0 AND MIT")["license"] == "other"


@given(st.lists(st.tuples(st.text(max_size=20), st.one_of(st.none(), st.text(max_size=30))), max_size=4))
def test_any_text_gives_an_expression_that_can_be_read(corpora):
    found = together(corpora)
    declared = [text for _, text in corpora if text and text.strip()]
    assert bool(declared) == bool(found.expression)
    if found.expression:
        assert found.ids and found.expression.isascii() and '"' not in found.expression
        assert normalised(found.expression) == together([("all", found.expression)]).expression == found.expression
