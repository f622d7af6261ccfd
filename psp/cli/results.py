"""Commands of results: ``psp show``, ``psp report`` and ``psp eval``."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from psp.cli import check_results
from psp.core.errors import ConfigError, DataError, from_extra
from psp.text.languages import check_codes

_NOTHING_QUOTED = "Nothing is quoted: no figure of these is over a whole published set that others were scored on.\n"


def add_show(added: argparse.ArgumentParser) -> None:
    """Add the arguments of ``psp show``."""
    added.add_argument(
        "results",
        type=Path,
        nargs="+",
        help="results of a model, such as results/fr, or of several, which end with a table of all",
    )
    added.add_argument(
        "--all",
        action="store_true",
        help="every table: scores of each year too, other systems, tasks, variants, versions",
    )
    added.add_argument(
        "--quoted",
        nargs="*",
        type=Path,
        metavar="FILE",
        help="show published figures of others, too, from psp's list or from FILEs",
    )
    added.add_argument(
        "--format",
        choices=("text", "markdown", "csv", "json"),
        default="text",
        help="tables for people; or csv or json: a row for each score of the models, their systems and their variants "
        "(default: %(default)s)",
    )


def run_show(options: argparse.Namespace) -> None:
    """Run ``psp show``."""
    if options.format in ("csv", "json"):
        _print_records(options)
        return
    several = len(options.results) > 1
    for place, folder in enumerate(options.results):
        if several:
            heading = f"## {folder}" if options.format == "markdown" else f"{folder}\n{'=' * len(str(folder))}"
            print("\n" * (place > 0) + heading + "\n")
        _print_results(folder, options)
    if several:
        _print_models(options)


def _print_models(options: argparse.Namespace) -> None:
    """Print one table of all models."""
    from psp.core.files import read_json
    from psp.report import comparison

    paths = {str(folder): folder / "eval.json" for folder in options.results}
    if bodies := {name: read_json(path) for name, path in paths.items() if path.exists()}:
        print(f"\n{comparison.models(bodies).write(options.format)}", end="")


def _print_records(options: argparse.Namespace) -> None:
    import dataclasses
    import json

    from psp.models.summary import frame, records

    every = [record for folder in options.results for record in records(check_results(folder))]
    if options.format == "csv":
        print(frame(every).to_csv(index=False), end="")
    else:
        print(json.dumps([dataclasses.asdict(record) for record in every], ensure_ascii=False, indent=1))


def _print_results(results: Path, options: argparse.Namespace) -> None:
    folder = check_results(results)
    cited = None if options.quoted is None else _quoted(folder, options)
    if options.all or not (folder / "eval.json").exists():
        print("\n".join([*_tables(folder, options.format), *([cited] if cited else [])]))
        return
    from psp.report.run import Run
    from psp.report.summary import ten_lines

    print(ten_lines(Run.load(folder), options.format), end=f"\n{cited}" if cited else "")


def _quoted(folder: Path, options: argparse.Namespace) -> str:
    """The published figures of others beside a model's."""
    from psp.core.files import read_json
    from psp.report import comparison, reported

    cited = [one for file in options.quoted or [None] for one in reported.load(file)]
    if not (folder / "eval.json").exists():
        raise DataError("has no eval.json, beside which figures are quoted; make it with snakemake first", folder)
    table = comparison.quoted(read_json(folder / "eval.json"), cited)
    return table.write(options.format) if table else _NOTHING_QUOTED


def _tables(folder: Path, form: str) -> Iterator[str]:
    """All tables of a model's results, or of a translator's."""
    from psp.core.files import read_json
    from psp.models.scores import is_of_every_model
    from psp.pairs import data_warnings
    from psp.report import comparison, eval_table, task_table

    names = ("eval", "compare", "variants", "quantized", "translator")
    reports = {name: read_json(path) for name in names if (path := folder / f"{name}.json").exists()}
    paths = [*(folder / "tasks").glob("*.json"), *folder.glob("systems/*/tasks/*.json")]
    # One task after another, the model before the other systems.
    tasks = [read_json(path) for path in sorted(paths, key=lambda path: (path.name, len(path.parts), path))]
    if "eval" in reports:  # which has the tasks of every model
        tasks = [task for task in tasks if not is_of_every_model(task)]
    if not tasks and not reports.keys() - {"compare"}:
        raise DataError(
            "has no eval.json, variants.json, quantized.json, translator.json or tasks/; make one with snakemake first",
            folder,
        )
    if "eval" in reports:
        evaluation = reports["eval"]
        warnings = data_warnings.of_evaluated(folder, evaluation)
        if text := data_warnings.as_text(warnings, evaluation["model"], form):
            yield text
        yield eval_table.table(evaluation, reports.get("compare")).write(form)
        if "parts" in evaluation:
            yield comparison.parts(evaluation).write(form)
    if tasks:
        yield task_table.table(tasks, reports.get("compare")).write(form)
    if "variants" in reports:
        yield from (table.write(form) for table in comparison.variants(reports["variants"]))
    if "quantized" in reports:
        yield comparison.quantized(reports["quantized"]).write(form)
    if "translator" in reports:
        yield task_table.translator(reports["translator"], form)


def add_report(added: argparse.ArgumentParser) -> None:
    """Add the arguments of ``psp report``."""
    added.add_argument("folders", nargs="+", type=Path, metavar="FOLDER", help="a model's results, such as results/fr")
    added.add_argument("--out", required=True, type=Path, metavar="FILE", help="the page, such as report.html")


def run_report(options: argparse.Namespace) -> None:
    """Run ``psp report``."""
    for folder in options.folders:
        check_results(folder)
    with from_extra("workflow", "a page needs jinja2 and matplotlib"):
        import jinja2  # noqa: F401
        import matplotlib  # noqa: F401
    if len(options.folders) == 1:
        from psp.report.report import write

        write(options.folders[0], options.out)
    else:
        from psp.report import several

        several.write(options.folders, options.out)
    print(f"{options.out}: a page of {', '.join(map(str, options.folders))}, {options.out.stat().st_size / 1e6:.1f} MB")


#: psp.models.registry.KINDS, which needs numpy: not for every start of psp.
_ENCODERS = (
    "the folder of a psp model, starter, hf://USER/NAME, a file of word vectors, use-multilingual, "
    "multilingual-e5-small, minilm, sentence-transformers:NAME_OR_FOLDER, model2vec:NAME_OR_FOLDER, or word-overlap"
)


def add_eval(added: argparse.ArgumentParser) -> None:
    """Add the arguments of ``psp eval``."""
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


def run_eval(options: argparse.Namespace) -> None:
    """Run ``psp eval``."""
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
