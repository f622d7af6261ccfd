"""A model's title, main facts and a summary in three sentences, from its results: what, how good, what to note."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from psp.evaluation.systems import BASELINES, TRAINED
from psp.models import TRANSFORMER
from psp.models.scores import heldout, scores, tasks_of
from psp.pairs import data_warnings
from psp.pairs.data_warnings import of_evaluated
from psp.report.comparison import judged
from psp.report.run import Run
from psp.report.tables import Number
from psp.text.languages import NAMES, name_of_set
from psp.text.published_sets import own_name, same_domain

Interval = Sequence[float] | None
#: The name of a fact.
PAIRS = "Training pairs"
#: Of what :func:`ten_lines` shows.
MOST_SCORES, MOST_TASKS, MOST_WARNINGS = 4, 3, 2


@dataclass(frozen=True)
class Main:
    """The score that stands for a model.

    Attributes:
        key: its name, as in :func:`psp.models.scores.compared_metrics`.
        name: its common name.
        value, interval: the score; correlations are times 100, errors in %.
        is_error: whether lower is better.
    """

    key: str
    name: str
    value: float
    interval: Interval
    is_error: bool = False


def main_scores(evaluation: Mapping[str, Any]) -> list[Main]:
    """The scores that stand for a model: one of similarity and one of retrieval, as far as there are any.

    Of similarity the mean Pearson over STS 2012 to 2016, or else the first SemEval track that no model is selected by,
    the STS Benchmark's test set, or the user's first set; of retrieval the mean Tatoeba error of a single language, or
    of all, which has no interval here.
    """
    known = {score.name: score for score in scores(evaluation)}
    main = []
    average = known.get("sts")
    if average is not None and average.value is not None:
        years = tasks_of(evaluation)["sts"]["parts"]["average"]["further"].get("years", [""])
        name = own_name(evaluation, "sts") or (f"STS {years[0]}–{years[-1]}" if len(years) > 1 else "STS")
        main.append(Main("sts", f"mean Pearson on {name}", average.value, average.interval))
    else:
        fit = (one for one in known.values() if one.main and one.higher_is_better and not one.development)
        if one := next((one for one in fit if one.value is not None), None):
            main.append(Main(one.name, f"Pearson on {one.test}", one.value or 0.0, one.interval))
    means = (one for one in known.values() if one.task == "tatoeba" and one.mean)
    languages = [one.part for one in means if one.part != "mean"]
    if languages:
        one = known[f"tatoeba/{languages[0]}" if len(languages) == 1 else "tatoeba"]
        of = name_of_set(languages[0]) if len(languages) == 1 else f"{len(languages)} languages"
        about = f"{'mean ' * (len(languages) > 1)}error on {own_name(evaluation, one.name) or 'Tatoeba'} ({of})"
        main.append(Main(one.name, about, one.value or 0.0, None, True))
    return main


def title(run: Run) -> str:
    """What the model is, such as ``English-French sentence embeddings``."""
    names = _languages(run)
    if len(names) > 2:
        return f"Sentence embeddings for {_and(names) if len(names) <= 4 else f'{len(names)} languages'}"
    return f"{'-'.join(names)} sentence embeddings" if names else "Sentence embeddings"


def facts(run: Run) -> list[tuple[str, str, str]]:
    """The figures that people ask for first, as far as they are known: name, figure, and conditions of each."""
    known = [
        (
            f"{main.name[0].upper()}{main.name[1:]}",
            f"{main.value:.1f}{' %' * main.is_error}",
            f"95 % interval {main.interval[0]:.1f} to {main.interval[1]:.1f}" if main.interval else "",
        )
        for main in main_scores(run.found.get("eval", {}))
    ]
    return [*known, *_unscored(run)]


def _unscored(run: Run) -> list[tuple[str, str, str]]:
    """Size, speed and data, as :func:`facts` has them."""
    known = []
    if run.size is not None:
        dim = (run.config or {}).get("dim")
        known.append(("Size", f"{run.size / 1e6:,.1f} MB", f"{dim:,} dimensions" if dim else ""))
    if "speed" in run:
        systems = run["speed"]["systems"]
        cores = min(row["cores"] for row in systems)
        own = [row for row in systems if row["cores"] == cores and row["name"].startswith("psp float32")]
        if own:
            best = max(own, key=lambda row: row["warm"]["median"])
            about = f"text in, on {cores} core{'s' * (cores > 1)}"
            known.append(("Sentences per second", f"{best['warm']['median']:,.0f}", about))
    elif run.config is not None and (run.config.get("encoder") or {}).get("kind") != TRANSFORMER:
        known.append(("Sentences per second", "–", "not measured; in the config: report: {include: [speed]}"))
    if "data" in run:
        count = len(run["data"]["corpora"])
        pairs = f"{run['data']['total']['kept']:,}"
        known.append((PAIRS, pairs, f"of {count} {'corpora' if count > 1 else 'corpus'}"))
    return known


def summary(run: Run) -> list[str]:
    """Three sentences, each as far as the run's files allow."""
    return [_what(run), _how_good(run), _careful(run)]


def ten_lines(run: Run, form: str = "text") -> str:
    """What an owner asks of an evaluated model first, in about ten lines; ``form`` is text or markdown.

    What it is and what it was trained on; its size and speed; its main scores, each beside the best other system's; the
    first warnings; and where the rest is.
    """
    lines = [
        (name, f"{figure}, {about}" if about else figure)
        for name, figure, about in _unscored(run)
        if figure != "–" and name != PAIRS  # which the sentence above has
    ]
    for main in _first_scores(run["eval"]):
        figure = f"{Number(main.value, main.interval)}{' %' * main.is_error}"
        if best := _best(run, main, run.found.get("compare", {"systems": ()})["systems"]):
            name, lost = best
            beside = Number(lost["difference"], lost["interval"], sign=True)
            figure += f"; best other: {name} {main.value + lost['difference']:.1f} ({beside})"
        lines.append((f"{main.name[0].upper()}{main.name[1:]}", figure))
    own = [task for task in run.tasks if task["model"] == run.name and task["parts"]]
    for task in own[:MOST_TASKS]:
        part, scored = next(iter(task["parts"].items()))
        figure, score = next(iter(scored["figures"].items()))
        lines.append((f"{task['name']}, {part}: {figure}", str(Number(score["value"], score["interval"]))))
    if not main_scores(run["eval"]) and (error := heldout(run["eval"])):
        lines.append((f"Error on {error.test}", f"{Number(error.value)} %"))
    elif not main_scores(run["eval"]) and not own:
        lines.append(("Scores", "none: no test set was given, or none is in its languages"))
    warnings = [warning for warning, _ in data_warnings.lines(of_evaluated(run.folder, run["eval"]), run.name)]
    lines += [("Warning", warning) for warning in warnings[:MOST_WARNINGS]]
    if more := warnings[MOST_WARNINGS:]:
        lines.append(("Warnings", f"{len(more)} more"))
    skipped = len(run["eval"]["skipped"])
    told = ["all scores", *(name for name in ("compare", "variants", "quantized") if name in run)]
    told += ["tasks"] * bool(run.tasks) + [f"why {skipped} sets were skipped"] * bool(skipped)
    lines.append(("More", f"psp show {run.folder} --all ({', '.join(told)})"))
    if form == "markdown":
        return "".join(f"{line}\n" for line in [_what(run), "", *(f"- {name}: {what}" for name, what in lines)])
    width = max(len(name) for name, _ in lines)
    return "".join(f"{line}\n" for line in [_what(run), "", *(f"{name:<{width}}  {what}" for name, what in lines)])


def _first_scores(evaluation: Mapping[str, Any]) -> list[Main]:
    """The scores that stand for a model, and those of the next test sets, which no model is selected by."""
    main = main_scores(evaluation)
    known = {one.key for one in main}
    further = [
        Main(one.name, f"Pearson on {one.test}", one.value, one.interval)
        for one in scores(evaluation)
        if one.main and one.compared and not one.development and one.higher_is_better
        if one.value is not None and one.name not in {*known, "stsb/dev"}
    ]
    # The errors of retrieval come last.
    return sorted([*main, *further[: MOST_SCORES - len(main)]], key=lambda one: one.is_error)


def _what(run: Run) -> str:
    evaluation = run.found.get("eval", {})
    config = run.config or {}
    what = f"{run.name} embeds {_and(_languages(run)) or 'sentences'}"
    if dim := config.get("dim"):
        what += f" in {dim:,} dimensions"
    if run.joined:
        return f"{what}: it joins the vectors of {_and([part['model'] for part in evaluation['parts']])}."
    if "data" in run:
        data = run["data"]
        corpora = len(data["corpora"])
        many = f"{data['total']['kept']:,} pairs of {corpora} {'corpora' if corpora > 1 else 'corpus'}"
    elif "mix" in evaluation.get("data", {}):
        many = f"{evaluation['data']['mix']['total']['kept']:,} pairs"
    else:
        return f"{what}; what it was trained on is not known."
    changed = len(evaluation.get("differences", {}))
    recipe = f"recipe {evaluation['recipe']}" if "recipe" in evaluation else ""
    if recipe and changed:
        recipe += f", {changed} setting{'s' * (changed > 1)} changed"
    trained = "was trained on" if "eval" in run or "train" in run else "is to be trained on"
    return f"{what}; it {trained} {many}{f' ({recipe})' if recipe else ''}."


def _languages(run: Run) -> list[str]:
    known = (run.found.get("eval", {}), run.config or {}, run.found.get("data", {}))
    codes: Sequence[str] = next(filter(None, (one.get("languages") for one in known)), ())
    return [NAMES.get(code, code) for code in codes]


def _how_good(run: Run) -> str:
    if "eval" not in run:
        return "It has not been evaluated yet."
    scores = main_scores(run["eval"])
    if not scores:
        return "No test set is in its languages, so its quality is unknown."
    figures = ((main, Number(main.value, main.interval).typeset) for main in scores)
    scores_text = [f"its {main.name} is {figure}{' %' * main.is_error}" for main, figure in figures]
    text = " and ".join(scores_text)
    baseline = _best(run, scores[0])
    if baseline:
        name, difference = baseline
        own = -1 if not scores[0].is_error else 1
        value = own * difference["difference"]
        ends = sorted(own * end for end in difference["interval"] or ())
        amount = Number(value, ends or None, sign=True).typeset
        verb = {1: "not as good as", -1: "better than", 0: "not significantly different from"}
        word = verb[judged(difference, is_error=scores[0].is_error)]
        text += (
            f"; {'on the first ' * (len(scores) > 1)}it is {word} the best system without training, {name} ({amount})"
        )
    text = "; ".join([text, *_others(run)])
    return f"{text[0].upper()}{text[1:]}."


def _best(run: Run, main: Main, among: Collection[str] = BASELINES) -> tuple[str, Mapping[str, Any]] | None:
    """The best of other systems by a score, and its difference to the model."""
    if "compare" not in run:
        return None
    differences = run["compare"]["differences"]
    known = {
        name: values[main.key]
        for name, values in differences.items()
        if name in among and values.get(main.key, {}).get("difference") is not None
    }
    if not known:
        return None
    best = max(known, key=lambda name: known[name]["difference"] * (-1 if main.is_error else 1))
    return best, known[best]


def _careful(run: Run) -> str:
    cautions = list(_warnings(run))
    if domain := same_domain(run.found.get("eval", {})):
        cautions.append(domain[0].lower() + domain[1:].removesuffix("."))
    if run.missing:
        cautions.append(f"this page lacks {_and([about for _, about in run.missing])}")
    if not cautions:
        cautions.append("there are no warnings about its data or scores")
    if "compare" in run and not list(_others(run)):
        cautions.append("no other trained system was compared with it")
    text = "; ".join(cautions)
    return f"{text[0].upper()}{text[1:]}."


def _warnings(run: Run) -> Iterator[str]:
    if "data" in run:
        count = sum(1 for _ in data_warnings.lines(run["data"]["warnings"], run.name))
        if count:
            yield f"its data has {count} warning{'s' * (count > 1)}, below"
        undeclared = sum(corpus["licence"]["declared"] is None for corpus in run["data"]["corpora"])
        if undeclared:
            yield (
                f"{undeclared} of its corpora declare no licence"
                if undeclared > 1
                else "one corpus declares no licence"
            )


def _others(run: Run) -> Iterator[str]:
    """Other trained systems compared with the model, by the first main score that both have."""
    if "compare" not in run or "eval" not in run:
        return
    for name in run["compare"]["systems"]:
        if name == TRAINED or name in BASELINES:
            continue
        for main in main_scores(run["eval"]):
            difference = run["compare"]["differences"].get(name, {}).get(main.key)
            if difference is not None and difference["difference"] is not None:
                verb = {1: "is better", -1: "is worse", 0: "is not significantly different"}
                amount = Number(difference["difference"], difference["interval"], sign=True).typeset
                yield f"{name} {verb[judged(difference, is_error=main.is_error)]} by {main.name} ({amount})"
                break


def _and(names: Sequence[str]) -> str:
    *most, last = names or [""]
    return f"{', '.join(most)} and {last}" if most else last
