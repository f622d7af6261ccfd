"""``psp eval``: score any encoder on test sets, without the workflow."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from psp.core.errors import ConfigError
from psp.text.languages import check_codes

#: psp.models.registry.KINDS, which needs numpy: not for every start of psp.
_ENCODERS = (
    "the folder of a psp model, hf://USER/NAME, a file of word vectors, use-multilingual, "
    "multilingual-e5-small, minilm, sentence-transformers:NAME_OR_FOLDER, model2vec:NAME_OR_FOLDER, or word-overlap"
)


def add(command: Any) -> None:
    """Add the command's parser."""
    added = command("eval", run, "Score an encoder on test sets, without the workflow.")
    added.set_defaults(level=logging.INFO)
    added.add_argument("encoder", metavar="ENCODER", help=_ENCODERS)
    added.add_argument(
        "--languages",
        nargs="+",
        metavar="CODE",
        help="published sets in other languages are skipped (default: the encoder's, or en if unknown)",
    )
    added.add_argument("--sts", type=Path, metavar="PATH", help="zip archive or folder of SemEval 2012-2017 and STS-B")
    added.add_argument(
        "--tatoeba", type=Path, metavar="FOLDER", help="folder of Tatoeba sets, as in LASER; every language with en"
    )
    added.add_argument(
        "--tasks",
        nargs="+",
        type=Path,
        default=[],
        metavar="FILE",
        help="config files (YAML) with further sets under evaluate.tasks",
    )
    added.add_argument("--only", nargs="+", metavar="NAME", help="only the tasks with these names")
    added.add_argument("--resamples", type=int, default=1000, metavar="N", help="bootstrap resamples (default: 1000)")
    added.add_argument("--seed", type=int, default=1, metavar="N", help="seed of the bootstrap (default: 1)")
    added.add_argument(
        "--cache", type=Path, metavar="FOLDER", help="folder to keep the vectors of other libraries' encoders"
    )
    added.add_argument(
        "--out", type=Path, metavar="FOLDER", help="also write FOLDER/eval.json and FOLDER/tasks/<name>.json"
    )
    added.add_argument(
        "--format", choices=("text", "markdown"), default="text", help="format of the tables (default: text)"
    )


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    if options.resamples < 100 or options.seed < 0:
        raise ConfigError("--resamples must be 100 or more, and --seed 0 or more")
    check_codes(options.languages or (), "--languages")
    entries = _entries(options.tasks, options.only)
    if options.sts is None and options.tatoeba is None and not entries:
        raise ConfigError("no test set; give --sts, --tatoeba or --tasks")

    from psp.core.files import write_json
    from psp.evaluation import evaluate as evaluation
    from psp.evaluation import testsets
    from psp.evaluation.system import scorer_of
    from psp.evaluation.task import FORMAT, evaluate_task
    from psp.evaluation.task_files import write
    from psp.evaluation.tasks import make
    from psp.models.embedding_cache import default_folder
    from psp.models.registry import known_languages
    from psp.models.scores import FORMAT as EVALUATION_FORMAT
    from psp.models.scores import main_metrics
    from psp.report import eval_table, task_table

    for name, entry in entries.items():
        for path in make(entry, f"evaluate.tasks.{name}").files():  # before the first one runs for minutes
            if not path.is_file():
                raise ConfigError(f"{path}: no such file, but the task {name} needs it; add it or correct its path")
    folder = options.tatoeba
    name = options.encoder
    languages = options.languages or known_languages(name)
    scorer = scorer_of(name, languages=languages or (), cache=options.cache or default_folder())
    languages = languages or getattr(getattr(scorer, "model", None), "config", {}).get("languages") or ["en"]
    tatoeba = {} if folder is None else {
        language: testsets.tatoeba_files(folder, language)
        for language in languages
        if testsets.tatoeba_code(language) is not None
    }  # fmt: skip
    if not options.languages:  # not all of them were requested
        wanted = [files[0].name for files in tatoeba.values()]
        tatoeba = {language: files for language, files in tatoeba.items() if files[0].is_file()}
        if wanted and not tatoeba:
            raise ConfigError(f"{folder}: has none of the model's Tatoeba sets, such as {wanted[0]}")
    about = {"resamples": options.resamples, "seed": options.seed}
    tables = []
    if options.sts is not None or folder is not None:
        body = {
            "format": EVALUATION_FORMAT,
            "model": name,
            **evaluation.evaluate(scorer, languages=languages, sts=options.sts, tatoeba=tatoeba, **about),
        }
        if not entries and not main_metrics(body):
            why = "; ".join(f"{one['set']}: {one['why']}" for one in body["skipped"])
            why = why or f"no set there is in {' and '.join(languages)}"
            raise ConfigError(f"nothing was scored ({why}); give --languages, or other sets")
        tables.append(eval_table.table(body).write(options.format))
        if options.out:
            write_json(options.out / "eval.json", body)
    results = []
    for task, entry in entries.items():
        drawn: dict[str, Any] = {}
        scores = evaluate_task(scorer, entry, name=task, resampled=drawn, **about)
        results.append({"format": FORMAT, "model": name, "name": task, **scores})
        if options.out:
            write(options.out / f"tasks/{task}.json", results[-1], drawn)
    if results:
        tables.append(task_table.table(results).write(options.format))
    print("\n".join(tables), end="")


def _entries(files: Sequence[Path], only: Sequence[str] | None) -> Mapping[str, Any]:
    """Return the entries of ``evaluate.tasks`` in config files, later files on top of earlier ones."""
    from psp.core.errors import closest

    entries: dict[str, Any] = {}
    for file in files:
        from psp.config.config_file import read_yaml  # needs yaml

        tasks = _below(read_yaml(file), ["evaluate", "tasks"])
        if not isinstance(tasks, Mapping) or not tasks:
            raise ConfigError(f"{file}: has no tasks; write them under `evaluate: {{tasks: ...}}`")
        entries |= tasks
    for name in only or ():
        if name not in entries:
            raise ConfigError(
                f"--only {name}: no such task{closest(name, entries)}; there are {', '.join(entries) or 'none'}"
            )
    return entries if only is None else {name: entries[name] for name in only}


def _below(config: Any, keys: Sequence[str]) -> Any:
    for key in keys:
        config = config.get(key) if isinstance(config, Mapping) else None
    return config
