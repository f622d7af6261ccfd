"""A corpus whose licence is not allowed is refused, for the models that use it and before anything runs."""

import pytest

from psp.config.config import Config
from psp.config.licences import permitted
from psp.core.errors import ConfigError

CORPORA = {
    "Free": {"version": "v1", "licence": "CC0-1.0"},
    "Shared": {"version": "v1", "licence": "GPL-2.0-or-later AND CC-BY-SA-3.0"},
    "Silent": {"version": "v1"},
    "Odd": {"version": "v1", "licence": "free of charge"},
}


def config(**top) -> Config:
    models = {
        name.lower(): {"languages": ["en", "fr"], "corpora": ["Free", name]} for name in CORPORA if name != "Free"
    }
    models["free"] = {"languages": ["en", "fr"], "corpora": ["Free"]}
    return Config({"corpora": CORPORA, "models": models, **top})


def refusal(model: str, *allow: str) -> str:
    with pytest.raises(ConfigError) as caught:
        config(licences={"allow": list(allow)}).cleared(model)
    return str(caught.value)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("CC0-1.0", True),
        ("cc0-1.0", True),
        ("MIT", False),
        ("MIT OR CC0-1.0", True),
        ("MIT AND CC0-1.0", False),
        ("CC0-1.0 AND BSD-3-Clause", True),
        ("MIT AND CC0-1.0 OR BSD-3-Clause", True),  # AND binds tighter
        ("MIT AND (CC0-1.0 OR BSD-3-Clause)", False),
        ("(MIT OR CC0-1.0) AND (BSD-3-Clause)", True),
        ("GPL-2.0-only", False),
        ("GPL-2.0-only WITH Classpath-exception-2.0", True),
        ("BSD-3-Clause WITH Classpath-exception-2.0", False),
        ("LicenseRef-Mine AND LicenseRef-Yours", True),
        ("LicenseRef-Yours AND LicenseRef-Mine", False),
    ],
)
def test_an_expression_is_met_by_allowed_licences_alone(expression, expected):
    allowed = [
        "CC0-1.0", "BSD-3-Clause", "GPL-2.0-only WITH Classpath-exception-2.0", "LicenseRef-Mine  and LicenseRef-Yours",
    ]  # fmt: skip
    assert permitted(expression, allowed) is expected


@pytest.mark.parametrize("text", ["", "free of charge", "MIT AND", "OR MIT", "(MIT", "MIT)", "MIT MIT", "MIT, CC0-1.0"])
def test_what_is_no_expression_is_an_error(text):
    with pytest.raises(ValueError, match="SPDX expression"):
        permitted(text, ["MIT"])


def test_by_default_every_licence_is_allowed():
    assert {part.corpus for part in config().cleared("silent").parts} == {"Free", "Silent"}
    assert config(licences={"allow": None}).cleared("odd")


def test_a_forbidden_licence_is_named_with_what_to_do():
    text = refusal("shared", "CC0-1.0", "CC-BY-SA-3.0")
    assert "models.shared.corpora: Shared has the licence GPL-2.0-or-later AND CC-BY-SA-3.0" in text
    assert "licences.allow holds CC0-1.0, CC-BY-SA-3.0" in text
    assert "leave it out" in text
    assert "\n" not in text
    assert "Silent declares no licence" in refusal("silent", "CC0-1.0")
    assert "Free has the licence CC0-1.0, and licences.allow holds none" in refusal("free")
    assert "Odd has a licence that cannot be read" in refusal("odd", "CC0-1.0")


def test_an_id_that_is_none_is_refused_by_the_schema():
    with pytest.raises(ConfigError, match=r"licences\.allow\.0"):
        config(licences={"allow": ["CC BY 4.0, please"]})
