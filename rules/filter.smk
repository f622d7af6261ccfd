# Filter the pairs of a corpus.
from psp.config import counts
from psp.config.blocks.filters import FiltersBlock, needs_lid


def kept_out(w):
    """Return the sets on which the model is scored or chosen, whose sentences are kept out of training."""
    return scored_sets.kept_out(CONFIG, model(w), part_of(w))


def encoder_of_similarity(w):
    """Return the files of the similarity filter's encoder; changing them reruns the filter."""
    wanted = part_of(w).filters["similarity"]
    return files_of(wanted["encoder"]) if wanted["enabled"] else []


def segmenters(w):
    """Return how each side is segmented: as its language says, else as the model segments any text in use."""
    own = {one: how for one, how in model(w)["segment"].items() if one in model(w).languages}
    in_use = next((how for how in own.values() if how["inference"]), None)
    return {one: how for one in part_of(w).languages if (how := own.get(one, in_use))}


def filter_processes(w, input):
    """Return the processes that filter a corpus: at most one for 50,000 pairs, or if their number is not known, for 4 MB."""
    part, file = part_of(w), Path(input.corpus)
    most = part.filters["threads"]
    pairs = None if part.sources else counts.count(CONFIG.corpora, part)
    if pairs is not None:
        return min(most, max(1, pairs // 50_000))
    if not file.exists():  # Snakemake asks again when the job is submitted
        return most
    return min(most, max(1, file.stat().st_size // 4_000_000))


rule filter:
    input:
        corpus=lambda w: origin(w, part_of(w), ".tsv"),
        beside=lambda w: part_of(w).beside,
        tests=lambda w: scored_sets.files(CONFIG, model(w), kept_out(w)),
        lid=lambda w: (f"{DOWNLOADS}/{CONFIG.lid()}" if needs_lid(part_of(w).filters) else []),
        encoder=encoder_of_similarity,
    output:
        pairs=scratch("results/{model}/pairs/filter/{part}.tsv"),
        report="results/{model}/pairs/filter/{part}.json",
        dropped="results/{model}/pairs/filter/{part}.dropped.tsv",
    log:
        "results/{model}/logs/filter/{part}.log",
    benchmark:
        "results/{model}/benchmarks/filter/{part}.tsv"
    wildcard_constraints:
        model=MODEL_OR_TRANSLATOR,
    threads: filter_processes
    resources:
        # The identifier's model is shared; each process has its blocks of pairs.
        mem_mb=mem_mb(lambda w, input: 800 + 200 * filter_processes(w, input)),
        runtime=runtime(240, rates.FILTER_RATE),
    params:
        filters=lambda w: FiltersBlock.tracked(part_of(w).filters),
        tests=kept_out,
        custom=lambda w: user_code.fingerprint(part_of(w).filters["custom"], "filters.custom"),
        segment=segmenters,
        part=lambda w: {name: getattr(part_of(w), name) for name in ("corpus", "opus", "kind", "languages", "names")},
        # A translator keeps case and spacing.
        prepared=lambda w: w.model in CONFIG.models,
        normalisation=attribute("normalisation"),
        seed=attribute("seed"),
        version=lambda w: with_code(VERSION["filter"], kept_out(w).get("tasks", {})),
        # Depends on `input`, so it is not compared: it only controls warnings.
        warn_share=lambda w, input: part_of(w).filters["warn_share"],
    message:
        "Filtering {wildcards.part} for {wildcards.model}"
    script:
        "../workflow_scripts/filter.py"
