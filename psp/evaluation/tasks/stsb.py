"""The STS Benchmark, as published (read by :mod:`psp.evaluation.testsets`)."""

from __future__ import annotations

from collections.abc import Iterator

from psp.evaluation import testsets
from psp.evaluation.scorers import Scorer
from psp.evaluation.tasks.base import BootstrapSpec, Part, Sources
from psp.evaluation.tasks.similarity import Similarity, correlations, similarities
from psp.evaluation.tasks.sts import OfArchive
from psp.text.published_sets import checksum


class StsBenchmark(OfArchive):
    """The parts are ``dev`` and ``test``, and each without the pairs of SemEval-2017, by which models are chosen."""

    kind = "stsb"
    order = 3
    help = "the STS Benchmark, in English"
    metrics = Similarity.metrics

    @classmethod
    def skipped(cls, sources: Sources) -> Iterator[tuple[str, str]]:
        if sources.sts is not None and "en" not in sources.languages:
            yield "STS Benchmark", "not a language of this model: en"

    def named(self, source: testsets.StsSource) -> Iterator[tuple[str, testsets.StsSet]]:
        for part in testsets.BENCHMARK:
            try:
                yield part, source.benchmark(part)
            except testsets.MissingSetError as error:
                self.missing.append((f"STS Benchmark {part}", str(error)))

    def score(self, scorer: Scorer, draw: BootstrapSpec) -> dict[str, Part]:
        parts = {}
        with self.source() as source:
            for part, data in self.named(source):
                name, test = f"{self.kind}/{part}", f"STS Benchmark {part}"
                self.sums[name] = checksum(data.a, data.b, data.gold)
                similarity = similarities(scorer, data)
                known = testsets.development_track(source)
                inside = testsets.shared(data, known)
                parts[part] = Part(
                    len(data),
                    correlations(similarity, data.gold, draw.counts_of_set(len(data), name)),
                    {"in_semeval2017_en": int(inside.sum())},
                    test=test,
                )
                if inside.any() and not inside.all():
                    rest = int((~inside).sum())
                    counts = draw.counts_of_set(rest, f"{name}/rest")
                    parts[f"{part}-without-semeval2017-en"] = Part(
                        rest,
                        correlations(similarity[~inside], data.gold[~inside], counts),
                        test=f"{test}, without SemEval-2017 en",
                        detail=True,
                    )
        return parts
