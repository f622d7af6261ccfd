"""Every command and every line of code in the README, and on the pages that people read on, does what it says."""

import argparse
import collections
import itertools
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import psp
from docs.site import commands as page_of_commands
from psp.config.config import Config
from psp.evaluation import judged
from psp.pairs.stats.sample import pair_id
from tests.conftest import SWAHILI, opus_api, served
from tests.models.conftest import TOKEN, Hub
from tests.training.translator import conftest as translator

ROOT = Path(__file__).parent.parent.parent
#: The pages whose blocks a person may copy, in the order of reading. The blocks for other libraries (`py`) run in
#: tests/models/test_interface.py.
GUIDE = tuple(
    f"docs/guide/{page}.md"
    for page in ("install", "first-model", "data", "config", "encoders", "evaluate", "use", "search", "publish",
                 "running", "paraphrases", "polish")
)  # fmt: skip
PAGES = ("README.md", *GUIDE, "docs/papers.md", "docs/starter.md", "docs/architecture.md", "CONTRIBUTING.md")
TEXTS = {page: (ROOT / page).read_text(encoding="utf-8") for page in PAGES}


def blocks(language, pages=PAGES):
    return [block for page in pages for block in re.findall(rf"```{language}\n(.*?)```", TEXTS[page], re.DOTALL)]


#: Each once, whether or not several pages have it.
COMMANDS = list(dict.fromkeys(line for block in blocks("sh") for line in block.splitlines()))
#: Config files: the first line of each says its name.
#: Those that no command names: they are looked at below, or say what to add to another.
UNNAMED = {"mirror.yaml", "custom.yaml", "translators.yaml", "sets.yaml"}
CONFIGS = {re.match(r"# (\w+\.yaml)\n", block)[1]: block for block in blocks("yaml")}


def test_every_command_is_run_here_or_by_ci():
    assert {command.split()[0] for command in COMMANDS} == {"make", "psp", "snakemake"}
    assert len(CONFIGS) == len(blocks("yaml"))
    files = {word for command in COMMANDS for word in command.split() if word.endswith(".yaml")} - {"config/demo.yaml"}
    # The one is written by a command, the others are added to a config.
    assert files - {"sw.yaml"} == set(CONFIGS) - UNNAMED


def test_every_psp_command_has_the_options_that_a_page_gives_it():
    parsers = {parser.prog: parser for _, parser in page_of_commands.commands()}
    for command in COMMANDS:
        if command.startswith("psp "):
            words = shlex.split(command.partition(" > ")[0])
            parsers[" ".join(words[:2])].parse_args(words[2:])


def test_the_readme_has_the_help_of_psp_train():
    (block,) = [" ".join(text.split()) for text in blocks("text", ["README.md"]) if "psp train FILE" in text]
    (parser,) = [parser for _, parser in page_of_commands.commands() if parser.prog == "psp train"]
    for action in parser._actions[1:]:
        assert f"{action.option_strings[0] if action.option_strings else action.metavar} " in block
        assert action.help in block


def test_the_readme_stays_short():
    assert len(TEXTS["README.md"].splitlines()) <= 150


def test_the_guide_is_all_that_is_in_its_folder():
    assert sorted(GUIDE) == sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs/guide").iterdir())


#: Options of Snakemake that take all words up to the next option.
GREEDY = r"--(?:configfile|config|until|logger) "


def taught(text):
    """The commands in a text that give Snakemake such an option, lines that a backslash joins as one."""
    return re.findall(rf"snakemake\b[^\n`]*{GREEDY}[^\n`]*", re.sub(r"\\\n[ #]*", " ", text))


def swallows_targets(command):
    """Whether an option takes a target for its own, since it takes all that stands before the next."""
    return any(
        "results/" in word or word.startswith("$")
        for rest in re.split(GREEDY, command)[1:]
        for word in itertools.takewhile(lambda word: not word.startswith("-"), rest.split()[1:])
    )


def test_nobody_is_taught_to_give_targets_to_an_option():
    assert swallows_targets("snakemake --cores 2 --until download results/fr/eval.json")
    assert swallows_targets("snakemake --cores 2 --configfile a.yaml results/fr/eval.json")
    assert not swallows_targets("snakemake --configfile a.yaml b.yaml -- results/fr/eval.json")
    folders = ("psp", "rules", "config", "docs", "benchmarks", "workflow_scripts", "tests", ".ci")
    places = [*ROOT.iterdir(), *(path for folder in folders for path in (ROOT / folder).rglob("*"))]
    found = {}
    for path in places:
        if (
            path.is_file()
            and path.suffix in {".md", ".yaml", ".smk", ".py", ".toml", ".html", ""}
            and path != Path(__file__)
        ):
            try:
                found[path] = taught(path.read_text(encoding="utf-8"))
            except UnicodeDecodeError:  # no text
                continue
    assert len([command for commands in found.values() for command in commands]) > 8
    assert {
        str(path): command for path, commands in found.items() for command in commands if swallows_targets(command)
    } == {}


def test_make_targets_are_those_that_ci_runs():
    ci, makefile = (ROOT / ".ci/run").read_text(), (ROOT / "Makefile").read_text()
    targets = [command.split()[1] for command in COMMANDS if command.startswith("make")]
    assert targets == ["demo", "test", "install", "lint"]
    assert all(f"\nmake {target}\n" in ci for target in targets)
    for target in re.findall(r"`make (\w+)`", "".join(TEXTS.values())):
        assert f"\n{target}:" in makefile


def run_psp(command, workflow, folder, **options):
    """Run a ``psp`` command of a page; what a shell would redirect goes into the file that it names."""
    command, _, out = command.partition(" > ")
    result = workflow.psp(*shlex.split(command)[1:], folder=folder, **options)
    assert result.returncode == 0, result.stderr
    assert result.stdout
    if out:
        (folder / out).write_text(result.stdout)


def link_results(folder, workflow):
    """A folder of results with the demo's among them."""
    (folder / "results").mkdir()
    (folder / "results/demo").symlink_to(workflow.folder / "results/demo")


@pytest.mark.slow
def test_snakemake_commands_can_be_planned(project):
    for name, yaml in CONFIGS.items():
        (project.folder / name).write_text(yaml)
    files = "my.tsv news.en news.fr judged.tsv glove.6B.300d.txt my.txt.gz english.txt english.tsv"
    for name in files.split():
        (project.folder / name).touch()
    suggestions = [command for command in COMMANDS if command.startswith("psp languages")]
    assert len(suggestions) == 1
    with opus_api(SWAHILI) as api:
        with (project.folder / "config/config.yaml").open("a") as config:
            config.write(f"sources: {{opus: {{api: '{api.address}'}}}}\n")
        for command in suggestions:
            run_psp(command, project, project.folder)
    commands = [shlex.split(command) for command in COMMANDS if command.startswith("snakemake")]
    assert len(commands) == 32
    together = collections.defaultdict(list)  # the targets of those that differ in nothing else
    for _, *words in commands:
        options = tuple(word for word in words if not word.startswith("results/") and word != "--")
        together[options] += [word for word in words if word.startswith("results/")]
    for options, targets in together.items():
        said = project.run_line("--dry-run", *options, "--", *targets).output
        assert re.search(
            "^(evaluate|translator|(added_)?task|report|stats|lexicon|summary) ",
            said,
            re.MULTILINE,
        ), said


def test_the_mirrors_layout_is_where_files_are_looked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "mirror.yaml").write_text(CONFIGS["mirror.yaml"])
    config = Config.load([ROOT / "config/config.yaml", tmp_path / "mirror.yaml"])
    model = config.model("fr")
    sought = {mirror for name in config.downloads(model) for mirror in config.remote(name).mirrors}
    (tree,) = re.findall(r"```\n(mirror/\n.*?)```", TEXTS["docs/guide/data.md"], re.DOTALL)
    folders, drawn = [], set()
    for line in tree.splitlines():
        depth, name = re.match(r"[│├└─ ]*", line).end() // 4, re.sub(r"^[│├└─ ]*", "", line).partition("  ")[0].strip()
        folders[depth:] = [name.rstrip("/")]
        below = re.findall(r"tatoeba\.\S+\.\w{3}\b", line) if name.endswith("v1/") else [""]
        drawn |= {str(tmp_path.joinpath(*folders, file)) + "/" * name.endswith("sts/") for file in below}
    europarl = {mirror for mirror in sought if "/opus/" not in mirror or "Europarl" in mirror}
    assert len(europarl) == 5 and europarl <= drawn


def test_the_sets_to_choose_by_are_those_of_a_model_with_their_language(psp_data, tmp_path, monkeypatch):
    monkeypatch.setenv("PSP_DATA", str(psp_data / "eval/transfer"))
    (tmp_path / "sets.yaml").write_text(CONFIGS["sets.yaml"])
    config = Config.load([ROOT / "config/config.yaml", tmp_path / "sets.yaml"])
    sets = config.model("fr")["development"]["sets"]
    sizes = {name: len(judged.read(entry, f"development.sets.{name}")) for name, entry in sets.items()}
    assert sizes == {"sick": 5000, "mrpc": 4076}


def write_checkpoint(path, model, sp_model):
    """The model as a checkpoint of the published code, and its sentencepiece model beside it."""
    import torch

    loaded = psp.load_model(model)
    pieces = [loaded.sentencepiece.id_to_piece(number) for number in range(loaded.vocab_size)]
    pieces[loaded.unknown_id] = "UUUNKKK"
    content = {
        "state_dict": {"embedding.weight": torch.from_numpy(loaded.weight[::-1].copy())},
        "vocab": {piece: row for row, piece in enumerate(reversed(pieces))},
        "vocab_fr": None,
        "args": argparse.Namespace(lower_case=1),
    }
    torch.save(content, path)
    shutil.copy(model / "sentencepiece.model", sp_model)


@pytest.mark.slow
def test_each_kind_of_translator_is_a_config(tmp_path):
    (tmp_path / "translators.yaml").write_text(CONFIGS["translators.yaml"])
    config = Config.load([ROOT / "config/config.yaml", tmp_path / "translators.yaml"])
    assert config.translator("fr-en").settings["beam"] == 5
    assert config.translator("de-en").files == ("models/opus-mt-de-en/model.bin",)
    assert config.translator("tr-en").settings["command"].startswith("my-translator")


#: Commands of translators.
TRANSLATE = ("psp translate", "psp paraphrase")


#: What the page on searching one's documents shows.
PASSAGES = """house#1\tDie Heizung ist im Keller. Wenn sie ausfällt, ruft man den Hausmeister an.
house#2\tLa clé de la cave est chez la voisine du premier étage. Elle part travailler à huit heures.
house#3\tThe rubbish is collected on Tuesdays. Paper goes into the blue bin, and glass is taken to the shop.
"""
QUESTIONS = "Who has the key to the cellar?\nWhom do I call when the heating does not work?\n"


@pytest.mark.slow
def test_psp_commands_and_the_python_run_on_the_demo(compared, tmp_path):
    link_results(tmp_path, compared)
    for name, kind in (("en", "subword"), ("en-trigrams", "trigram")):
        (tmp_path / "results" / name).mkdir()
        (tmp_path / "results" / name / "model").symlink_to(ROOT / "tests/held/fixtures" / kind)
    (tmp_path / "config").symlink_to(compared.folder / "config")
    (tmp_path / "sentences.txt").write_text("a red car\nune voiture rouge\n")
    cars = [("red", "rouge"), ("green", "verte"), ("blue", "bleue"), ("white", "blanche")]
    (tmp_path / "pairs.tsv").write_text("".join(f"a {english} car\tune voiture {french}\n" for english, french in cars))
    (tmp_path / "corpus.txt").write_text("".join(f"une voiture {french}\n" for _, french in cars))
    (tmp_path / "queries.txt").write_text("a blue car\n")
    (tmp_path / "passages.tsv").write_text(PASSAGES)
    (tmp_path / "questions.txt").write_text(QUESTIONS)
    (tmp_path / "english.txt").write_text("".join(f"a {english} car\n" for english, _ in cars))
    (tmp_path / "french.txt").write_text("".join(f"une voiture {french}\n" for _, french in reversed(cars)))
    (tmp_path / "tasks.yaml").write_text(CONFIGS["tasks.yaml"])
    (tmp_path / "judged.tsv").write_text(
        "".join(f"{n}\ta {one} car\ta {cars[0][0]} car\n" for n, (one, _) in enumerate(cars))
    )
    (tmp_path / "sets").mkdir()
    for side, names in enumerate((("news.en", "sets/tatoeba.fra-eng.eng"), ("news.fr", "sets/tatoeba.fra-eng.fra"))):
        for name in names:
            (tmp_path / name).write_text("".join(f"{pair[side]} car\n" for pair in cars))
    scored = [(f"a {english} car", f"one {english} car", n / 4) for n, (english, _) in enumerate(cars)]
    (tmp_path / "scored.tsv").write_text("".join(f"{one}\t{other}\t{score}\n" for one, other, score in scored))
    for name in ("ann", "bob"):
        rows = "".join(f"{pair_id(one, other)}\t3\t3\n" for one, other, _ in scored)
        (tmp_path / f"{name}.tsv").write_text(f"id\tparaphrase\tfluency\n{rows}")
    # psp train is run in test_dist.py, by the wheel.
    elsewhere = ("psp inspect", "psp languages", "psp push", "psp serve", "psp train", *TRANSLATE)
    commands = [c for c in COMMANDS if c.startswith("psp") and not c.startswith(elsewhere)]
    assert len(commands) == 22
    write_checkpoint(tmp_path / "model.pt", compared.folder / "results/demo/model", tmp_path / "sp.model")
    for command in commands:
        run_psp(command, compared, tmp_path)
    (found,) = (command for command in commands if "--passages" in command)
    shown = compared.psp(*shlex.split(found)[1:], folder=tmp_path).stdout
    assert shown == blocks("text", ["docs/guide/search.md"])[-1]
    assert np.load(tmp_path / "vectors.npy").shape == (2, 16)
    assert (tmp_path / "mined.tsv").exists()
    assert psp.load_model(tmp_path / "smaller").dtype == "int8"
    assert psp.load_model(tmp_path / "both").weights == (1.0, 0.5)
    original, *others = (psp.load_model(tmp_path / name) for name in ("results/demo/model", "exported", "imported"))
    cars = ["a red car", "une voiture rouge"]
    for other in others:
        assert np.array_equal(other.embed_raw_text(cars), original.embed_raw_text(cars))
    code = [
        *blocks("python"),
        "assert vectors.shape == (2, 16) and vectors.dtype == 'float32' and abs(cosines[0, 0] - 1) < 1e-5",
        "assert len(hits[0]) == 2 and all(pair.source in english and pair.target in french for pair in pairs)",
        "assert similarities.shape == (1, 2) and psp.load_model('small-model').dtype == 'int8'",
    ]
    subprocess.run([sys.executable, "-c", "\n".join(code)], cwd=tmp_path, env=compared.environment, check=True)


@pytest.mark.slow
def test_translators_translate(compared, tmp_path):
    link_results(tmp_path, compared)
    (tmp_path / "sentences.txt").write_text("a red car\nune voiture rouge\n")
    for name in ("fr-en", "en-en"):
        made = translator.prepare(tmp_path / name, translator.sentences(400))
        translator.train(made, tmp_path / "results/translators" / name, steps=40)
    commands = [command for command in COMMANDS if command.startswith(TRANSLATE)]
    assert len(commands) == 3
    for command in commands:
        run_psp(command, compared, tmp_path)
    assert json.loads((tmp_path / "paraphrases.json").read_text())["sentences"] == 2


@pytest.mark.slow
def test_a_release_is_pushed(compared, monkeypatch, tmp_path):
    pytest.importorskip("huggingface_hub", reason="huggingface_hub is not installed (the extra hub)")
    (command,) = [command for command in COMMANDS if command.startswith("psp push")]
    folder, repo = shlex.split(command)[2:4]
    copy = compared.copy(tmp_path / "copy")
    copy.run(folder)
    hub = Hub()
    for key, value in {
        "ENDPOINT": hub.endpoint,
        "TOKEN": TOKEN,
        "HOME": tmp_path / "home",
        "HUB_DISABLE_XET": "1",
    }.items():
        monkeypatch.setenv(f"HF_{key}", str(value))
    try:
        run_psp(command, copy, copy.folder, imported=False)
    finally:
        hub.close()
    assert {"LICENSE.md", "SHA256SUMS", "README.md"} <= hub.files(repo).keys() and hub.private[repo]


def test_the_page_is_served(finished):
    pytest.importorskip("uvicorn", reason="uvicorn is not installed (the extra serve)")
    models = [shlex.split(command)[2] for command in COMMANDS if command.startswith("psp serve")]
    assert models == ["starter", "results/demo/model"]
    with served(finished.folder / models[1]) as server:
        assert server.ask("api/model")[1]["name"] == "demo"


def test_the_picture_is_the_rule_graph(project):
    picture = set()
    for line in blocks("mermaid", ["docs/architecture.md"])[0].splitlines()[1:]:
        names = line.strip().split(" --> ")
        picture |= set(itertools.pairwise(names))
    targets = [f"results/fr/{name}.json" for name in ("eval", "data", "compare", "speed")]
    output = project.run("--rulegraph", "dot", *targets, configs=()).output
    names = dict(re.findall(r'(\d+)\[label = "(\w+)"', output))
    real = {(names[start], names[end]) for start, end in re.findall(r"(\d+) -> (\d+)", output)}
    assert len(real) > 12
    # Left out for the reader: reports that the evaluation copies into eval.json, and what is beside the road.
    real -= {(start, "evaluate") for start in ("filter", "dedupe", "mix", "subword", "train")}
    real -= {(start, "data") for start in ("download", "filter", "dedupe", "mix")}
    real -= {("download", "system")}
    assert picture == real


def anchors(page):
    """The headings of a page as GitHub links to them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize(
    "page", [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))], ids=lambda page: page.name
)
def test_what_a_page_links_to_is_there(page):
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if link.startswith(("https://", "http://")):
            continue
        file, _, anchor = link.partition("#")
        target = page.parent / file if file else page
        assert target.exists(), link
        assert not anchor or target.suffix != ".md" or anchor in anchors(target), link


def test_every_page_is_found_from_the_readme():
    assert "(docs/README.md)" in TEXTS["README.md"]
    listed = re.findall(r"^- \[[^]]+\]\(([\w/-]+\.md)\)", (ROOT / "docs/README.md").read_text(), re.MULTILINE)
    pages = (page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md"))
    assert sorted([*listed, "README.md"]) == sorted(pages)
