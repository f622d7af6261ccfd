"""The test sets of eval.json that have a page on the Hugging Face Hub, as mteb (2.26) has them.

A test compares the table with the installed mteb: addresses, revisions, splits, subsets, numbers of pairs, and that its
main score is Spearman's correlation of cosines, over all pairs of the split together. That is our Spearman of a year's
data sets joined, of a SemEval-2017 track and of the STS Benchmark. For each set, mteb's statistics have our number of
pairs and, to six digits, our mean gold score; the texts differ by 3% of their characters at most (2012 to 2015 and the
STS Benchmark: 1 to 3%).

Left out are SemEval-2017's English track, by which models are chosen here; track 4b, which mteb lacks; and Tatoeba,
whose main score is F1 there and an error rate here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class HubSet(NamedTuple):
    """A test set on the Hub."""

    task: str
    """mteb's task."""
    dataset: str
    revision: str
    subset: str
    split: str
    pairs: int

    @property
    def task_id(self) -> str:
        """The id of the score, as mteb writes it into ``.eval_results``."""
        return f"{self.task}_{self.subset}_{self.split}"


_STS17 = "faeb762787bd10488a50c8b5be4a3b82e411949c"
#: By part and name in eval.json.
SETS: Mapping[str, HubSet] = {
    "sts.2012": HubSet("STS12", "mteb/sts12-sts", "a0d554a64d88156834ff5ae9920b964011b16384", "default", "test", 3108),
    "sts.2013": HubSet("STS13", "mteb/sts13-sts", "7e90230a92c190f1bf69ae9002b8cea547a64cca", "default", "test", 1500),
    "sts.2014": HubSet("STS14", "mteb/sts14-sts", "6031580fec1f6af667f0bd2da0a551cf4f0b2375", "default", "test", 3750),
    "sts.2015": HubSet("STS15", "mteb/sts15-sts", "ae752c7c21bf194d8b67fd573edf7ae58183cbe3", "default", "test", 3000),
    "sts.2016": HubSet("STS16", "mteb/sts16-sts", "4d8694f8f0e0100860b497b999b3dbed754a0513", "default", "test", 1186),
    "semeval2017.track1.ar-ar": HubSet("STS17", "mteb/sts17-crosslingual-sts", _STS17, "ar-ar", "test", 250),
    "semeval2017.track2.ar-en": HubSet("STS17", "mteb/sts17-crosslingual-sts", _STS17, "en-ar", "test", 250),
    "semeval2017.track3.es-es": HubSet("STS17", "mteb/sts17-crosslingual-sts", _STS17, "es-es", "test", 250),
    "semeval2017.track4a.es-en": HubSet("STS17", "mteb/sts17-crosslingual-sts", _STS17, "es-en", "test", 250),
    "semeval2017.track6.tr-en": HubSet("STS17", "mteb/sts17-crosslingual-sts", _STS17, "en-tr", "test", 250),
    "stsb.test": HubSet(
        "STSBenchmark", "mteb/stsbenchmark-sts", "b0fddb56ed78048fa8b90373c8a3cfc37b684831", "default", "test", 1379
    ),
}
