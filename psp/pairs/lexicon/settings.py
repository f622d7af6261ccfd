"""The block ``lexicon`` of the config."""

from psp.core.settings import Section, integer, list_of, number

SECTION = Section(
    "the lexicon results/<model>/lexicon.tsv: pairs of words that match across pairs, by pointwise mutual information",
    {
        "languages": list_of(
            None,
            items={"type": "string"},
            at_least=2,
            at_most=2,
            null=True,
            help="the pairs it is made from, such as [en, en] (paraphrases) or [en, fr] (a translation lexicon); null: "
            "the model's paraphrases if it has any, otherwise the pairs of its first corpus",
        ),
        "min_count": integer(
            10,
            at_least=1,
            recipes={"paranmt": 10},
            help="list two words that occur in the two sides of a pair at least this often (5 suits small corpora)",
        ),
        "smoothing": number(
            0.1,
            above=0,
            recipes={"paranmt": 0.1},
            unstated=["paranmt"],
            help="added to each count and to the count expected by chance",
        ),
        "stop_top": integer(0, at_least=0, help="number of most frequent words to leave out (of each language)"),
        "within_length": integer(
            30,
            at_least=1,
            null=True,
            recipes={"paranmt": 30},
            help="leave out pairs with a longer side, in words including punctuation marks; null for no limit",
        ),
        "min_score": number(
            None,
            null=True,
            recipes={"paranmt": 0.35},
            help="leave out pairs with a lower score in the third column; null for no limit",
        ),
    },
    inert=True,
)
