"""SemEval-2017's tracks of semantic textual similarity, as published (read by :mod:`psp.evaluation.testsets`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from psp.config.blocks.evaluation import has_sts
from psp.config.blocks.fields import setting
from psp.evaluation import testsets
from psp.evaluation.scorers import Scorer
from psp.evaluation.tasks.base import BootstrapSpec, Part, Sources
from psp.evaluation.tasks.similarity import Similarity, correlations, similarities
from psp.evaluation.tasks.sts import OfArchive
from psp.text.published_sets import checksum


class SemEval2017(OfArchive):
    """Each track is a part. The English one, of which most others are translations, chooses models."""

    kind = "semeval2017"
    order = 2
    help = "semantic textual similarity within and across languages, as published for SemEval-2017"

    class Settings(OfArchive.Settings):
        """The keys of an entry besides `task`."""

        languages: list[str] = setting(..., "the tracks in these languages are scored", min_length=1)

    metrics = Similarity.metrics

    @classmethod
    def by_default(cls, sources: Sources) -> Mapping[str, Any] | None:
        if sources.sts is None or not has_sts(sources.languages):
            return None
        known = {language for needed in testsets.TRACKS.values() for language in needed}
        return {"path": sources.sts, "languages": [code for code in sources.languages if code in known]}

    @classmethod
    def skipped(cls, sources: Sources) -> Iterator[tuple[str, str]]:
        if sources.sts is None:
            return
        for track, languages in testsets.TRACKS.items():
            if missing := sorted(set(languages) - set(sources.languages)):
                yield f"SemEval-2017 {track}", f"not a language of this model: {', '.join(missing)}"

    def named(self, source: testsets.StsSource) -> Iterator[tuple[str, testsets.StsSet]]:
        for track, languages in testsets.TRACKS.items():
            if set(languages) <= set(self.settings["languages"]):
                try:
                    yield track, source.semeval("2017", track)
                except testsets.MissingSetError as error:
                    self.missing.append((f"SemEval-2017 {track}", str(error)))

    def score(self, scorer: Scorer, draw: BootstrapSpec) -> dict[str, Part]:
        parts = {}
        with self.source() as source:
            for track, data in self.named(source):
                self.sums[f"{self.kind}/{track}"] = checksum(data.a, data.b, data.gold)
                development = track == testsets.DEVELOPMENT_TRACK
                # Each part of the STS Benchmark holds half of the English pairs.
                shared = {part: int(testsets.shared(data, of).sum()) for part, of in testsets.benchmark(source).items()}
                parts[track] = Part(
                    len(data),
                    correlations(similarities(scorer, data), data.gold, draw.counts_of_set(len(data), f"2017/{track}")),
                    {"in_stsb": shared} if development else {},
                    test=f"SemEval-2017 {track}" + " (dev)" * development,
                    development=development,
                )
        return parts
