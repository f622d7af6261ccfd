"""The files that people have, each as a corpus of one model, from the config to the filtered pairs and the report."""

import gzip
import json

import pytest

PAIRS = [
    (f"The cat number {n} sleeps on the old mat", f"Le chat numéro {n} dort sur le vieux tapis") for n in range(40)
]
NO_TESTS = "evaluate: {tatoeba: false, sts: false}, development: {sts: null}"


@pytest.mark.slow
def test_every_kind_of_file_is_filtered(project):
    folder = project.folder
    (folder / "ä.en").write_text("".join(f"{source}\n" for source, _ in PAIRS))
    (folder / "ä.fr.gz").write_bytes(gzip.compress("".join(f"{target}\n" for _, target in PAIRS).encode()))
    (folder / "b.csv").write_text("id;fr;en\n" + "".join(f"1;{target};{source}\n" for source, target in PAIRS))
    objects = [json.dumps({"t": {"en": source, "fr": target}}) for source, target in PAIRS]
    (folder / "c.jsonl").write_text("".join(f"{one}\n" for one in objects))
    units = "".join(
        f'<tu><tuv xml:lang="en-GB"><seg>{source}</seg></tuv><tuv xml:lang="FR"><seg>{target}</seg></tuv></tu>'
        for source, target in PAIRS
    )
    (folder / "d.tmx").write_text(f"<tmx><body>{units}</body></tmx>")
    (folder / "e{}.tsv").write_bytes(
        b"caf\xe9\tcaf\n" + "".join(f"{source}\t{target}\n" for source, target in PAIRS).encode()
    )
    corpora = (
        "[{source: ä.en, target: ä.fr.gz, name: a}, {csv: b.csv, columns: [en, fr]}, "
        "{jsonl: c.jsonl, columns: [t.en, t.fr]}, {tmx: d.tmx}, {path: 'e{}.tsv'}]"
    )
    (folder / "tiny.yaml").write_text(f"models: {{own: {{languages: [en, fr], corpora: {corpora}, {NO_TESTS}}}}}\n")
    names = ["a", "b", "c", "d", "e"]
    project.run(*(f"results/own/pairs/filter/{name}.en-fr.json" for name in names))
    for name in names:
        report = json.loads((folder / f"results/own/pairs/filter/{name}.en-fr.json").read_text())
        dropped = {"row: not UTF-8": 1} if name == "e" else {}
        assert (report["kept"], report["dropped"]) == (40, dropped)
    (folder / "ä.fr.gz").write_bytes(gzip.compress(b"un\n" * 40))  # the second file counts as well
    assert any(rule.startswith("filter") for rule in project.jobs("results/own/pairs/filter/a.en-fr.json"))
