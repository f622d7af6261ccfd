"""The rule that writes the publishing kit."""

import pytest

from psp.models import checksums
from psp.models.folder import load_model
from psp.models.zipped import unpack

RELEASE = "results/demo/release"

pytestmark = pytest.mark.slow  # its run, and the page's


@pytest.fixture(scope="module")
def released(compared, tmp_path_factory):
    """The compared copy with a release. Not to be changed."""
    copy = compared.copy(tmp_path_factory.mktemp("released") / "copy")
    copy.run(RELEASE)
    return copy


def test_the_release_of_a_finished_run(released):
    results = released.folder / "results/demo"
    named = checksums.check(results / "release")
    assert {"config.json", "model.safetensors", "sentencepiece.model", "report.html"} <= set(named)
    for name in named:
        if (source := results / "model" / name).exists() or (source := results / name).exists():
            assert (results / "release" / name).read_bytes() == source.read_bytes()
    assert load_model(results / "release").config["languages"] == ["en", "fr"]
    text = (results / "release/README.md").read_text()
    assert "license: mit\n" in text and "## Beside this card" in text and "## Scores" in text
    assert released.planned(RELEASE) == set()


def test_what_makes_a_release_anew(released, tmp_path):
    copy = released.copy(tmp_path / "copy")
    results = copy.folder / "results/demo"
    # An edited card goes out as it is.
    own = results / "model/README.md"
    own.write_text(own.read_text().replace("## Scores", "## Scores, and my thanks to all"))
    assert copy.planned(RELEASE) == {"release"}
    copy.run(RELEASE)
    assert (results / "release/README.md").read_bytes() == own.read_bytes()
    # A new place on the Hub makes nothing else anew.
    copy.edit("tiny.yaml", "models:", "release: {repo: someone/demo}\nmodels:")
    assert copy.planned(RELEASE, "results/demo/eval.json") == {"release"}


def test_the_release_of_a_smaller_form(compared, tmp_path):
    copy = compared.copy(tmp_path / "copy")
    copy.run(f"{RELEASE}-int8.zip", f"{RELEASE}-float16-8")
    folder = copy.folder / RELEASE
    for form, dtype, dim in (("int8", "int8", 16), ("float16-8", "float16", 8)):
        made = load_model(folder.with_name(f"release-{form}"))
        assert (made.dtype, made.dim) == (dtype, dim)
        assert checksums.check(folder.with_name(f"release-{form}"))
    unpack(folder.with_name("release-int8.zip"), tmp_path / "unpacked")
    assert load_model(tmp_path / "unpacked").dtype == "int8"
