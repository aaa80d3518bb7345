"""Commands that search: search, compare, explain, demo."""

from __future__ import annotations

import shutil
import sys
import tempfile
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

import click

from ..comparison.config import CompareConfig, ExplainConfig
from ..demo import DemoConfig
from ..options import Effect
from ..report.table import Table, to_latex, to_markdown
from ..report.wording import counted
from ..searching.config import SearchConfig
from . import common as options

_STDOUT = "-"  # in place of a file to write
_PRINTED = (Effect(("overwrite",), "output", "printing replaces nothing", unless=(_STDOUT,)),)
_ONE_QUERY = (
    Effect(("topic_field", "topic_reader"), "query", "one query is in no file", only=(None,)),
)
_EFFECTS = (Effect(("form",), "as_json", "JSON output has no tables", only=(False,)),)
_SHOWN = 10  # documents of --query; ids of queries without hits on the screen, --json has them all


@options.command("search", config=SearchConfig, effects=(*_PRINTED, *_ONE_QUERY))
@options.shards_option
@options.option("--topics", metavar="TOPICS", help=f"{options.TOPICS_HELP}  [required]")
@options.option(
    "--query", metavar="TEXT",
    help="Search this query in place of --topics, and print its ten best documents, or --hits.",
)  # fmt: skip
@options.option(
    "--output", metavar="PATH",
    help="Write the run to PATH. '-' prints it and sends everything else to stderr.  "
    "[required; with --query: -]",
)  # fmt: skip
@options.option("--rm3", is_flag=True, help="Expand queries with RM3, as Pyserini does.")
@options.option("--rocchio", is_flag=True, help="Expand queries with Rocchio, as Pyserini does.")
@options.scheduler_option
def search(as_json: bool, rm3: bool, rocchio: bool, **arguments: Any) -> None:
    """Search all topics and write a TREC run, as Pyserini would.

    Uses and prints the parameters that a pruned index records. For BM25 these are Pyserini's
    defaults, unless it was pruned with another --search-as. --rm3 and --rocchio need term vectors
    (Anserini's -storeDocvectors).
    """
    from ..searching.search import search_index

    if rm3 and rocchio:
        raise click.UsageError("--rm3 and --rocchio exclude each other: pass one")
    topics, query, output = map(arguments.pop, ("topics", "query", "output"))
    if topics is not None and query is not None:
        raise click.UsageError("--topics and --query exclude each other: pass one")
    if query is not None:
        output, arguments = output or _STDOUT, {"hits": _SHOWN, **arguments}
    elif topics is None:
        raise click.UsageError("pass --topics, or --query with the text of one query")
    if output is None:
        raise click.UsageError("Missing option '--output'.")
    arguments["feedback"] = "rm3" if rm3 else "rocchio" if rocchio else None
    arguments["topics"] = topics if query is None else {"query": query}
    if output == _STDOUT:
        with tempfile.TemporaryDirectory(prefix="tdv-lucene-") as folder:
            run = Path(folder) / "run"
            summary = options.run(search_index, output=str(run), **arguments)
            with run.open("rb") as file:
                shutil.copyfileobj(file, sys.stdout.buffer)
    else:
        summary = options.run(search_index, output=output, **arguments)
    if not as_json:
        empty = summary["queries_without_hits"]
        ids = " ".join(empty[:_SHOWN]) + (" ..." if len(empty) > _SHOWN else "")
        summary["queries_without_hits"] = f"{len(empty)} (ids: {ids})" if empty else "0"
    options.show({"output": output, **summary}, as_json, err=output == _STDOUT)


@options.command("compare", config=CompareConfig, effects=_EFFECTS)
@options.option(
    "--index", "indexes", required=True, multiple=True, metavar="[NAME=]FOLDER",
    help="Compare this Lucene index. Repeat with names to compare several; the first is the "
    "baseline. For shards, pass 'SHARDS/*' (quoted) or @FILE.",
)  # fmt: skip
@options.option(
    "--pruned", metavar="FOLDER", callback=options.folder_or_shards,
    help="Compare this pruned index with --index.",
)  # fmt: skip
@options.option(
    "--topics", required=True, multiple=True, metavar="TOPICS",
    help=f"{options.TOPICS_HELP} Repeat for more query sets.",
)  # fmt: skip
@options.option(
    "--qrels", multiple=True, metavar="QRELS",
    help=f"{options.QRELS_HELP} Pass one for each --topics, in the same order.  [required]",
)  # fmt: skip
@options.output_option("the report to this folder")
@options.option(
    "--tune-topics", metavar="TOPICS",
    help="Add a system: the baseline with k1 and b (or mu) tuned on these training topics.",
)  # fmt: skip
@options.option("--tune-qrels", metavar="QRELS", help="Read the judgements of --tune-topics.")
@options.option(
    "--format", "form", type=click.Choice(["screen", "markdown", "latex"]), default="screen",
    show_default=True, group="Report", help="Print tables in this format.",
)  # fmt: skip
def compare(
    indexes: tuple[str, ...],
    pruned: Any,
    topics: tuple[str, ...],
    qrels: tuple[str, ...],
    tune_topics: str | None,
    tune_qrels: str | None,
    form: str,
    as_json: bool,
    **arguments: Any,
) -> None:
    """Compare the full index with a pruned one: effectiveness, size and latency.

    Pass --index and --pruned, or several --index NAME=FOLDER. Writes report.html, report.json,
    the measures of each query and the runs into the folder --output.
    """
    from ..comparison.compare import compare_indexes

    (first, index), (second, treatment), *further = _named(indexes, pruned)
    if len(topics) != len(qrels):
        raise click.UsageError(
            f"{len(topics)} --topics but {len(qrels)} --qrels: pass one --qrels for each --topics. "
            "Without judgements, 'tdv-lucene learn --topics LOG' shows what pruning changes"
        )
    if (tune_topics is None) != (tune_qrels is None):
        raise click.UsageError("--tune-topics and --tune-qrels go together: pass both")
    arguments["names"] = (first, second)
    report = options.run(
        compare_indexes, index, treatment, topics[0], qrels[0], **arguments,
        further_indexes=dict(further), further_queries=list(zip(topics[1:], qrels[1:])),
        tune=(tune_topics, tune_qrels) if tune_topics else None,
    )  # fmt: skip
    if form != "screen" and not as_json:
        from ..report.tables import comparison_tables, detail_tables, term_tables

        tables = [
            *comparison_tables(report), *detail_tables(report), *term_tables(report["terms"])
        ]  # fmt: skip
        click.echo(to_markdown(tables) if form == "markdown" else to_latex(tables))
        for note in report["notes"]:
            click.echo(f"Note: {note}.", err=True)
        return
    show_comparison(report, Path(arguments["output"]), as_json)


def _named(indexes: tuple[str, ...], pruned: Any) -> list[tuple[str, Any]]:
    """Return (name, folder or shards) of every index, the baseline first."""
    found = partial(options.index_or_shards, click.get_current_context(), None)
    if len(indexes) == 1 and pruned is not None:
        return [*zip(CompareConfig.names, (found(indexes), pruned))]
    if pruned is not None:
        raise click.UsageError("--pruned goes with one --index: pass it as --index NAME=FOLDER")
    if len(indexes) == 1:
        raise click.UsageError("one index is nothing to compare: pass --pruned, or several --index")
    named = [one.partition("=") for one in indexes]
    names = [name for name, _, _ in named]
    for name, _, folder in named:
        if not (name and folder):
            raise click.UsageError(f"--index {name} has no name: pass --index NAME=FOLDER")
        if names.count(name) > 1:
            raise click.UsageError(f"two --index are named '{name}': use different names")
    return [(name, found([folder])) for name, _, folder in named]


def show_comparison(report: dict[str, Any], folder: Path, as_json: bool) -> None:
    """Print a report as tables, or as JSON; ``folder`` is where it was written."""
    if as_json:
        options.show(report, as_json)
        return
    from ..report.tables import comparison_tables

    options.show_tables(*comparison_tables(report))
    for note in report["notes"]:
        options.say(f"Note: {note}.")
    for label, found in report["query_sets"].items():
        for name, ids in found["queries"]["emptied_ids_by"].items():
            where = f"{name}, {label}" if len(report["query_sets"]) > 1 else name
            if ids:
                options.say(f"Emptied by pruning in {where}: {' '.join(ids)}")
    click.echo()
    options.say(f"Queries were analysed as {report['analysis']['described']}.")
    for told in dict.fromkeys(report["defaults"].values()):
        names = ", ".join(name for name, one in report["defaults"].items() if one == told)
        options.say(f"Defaults taken for {names}: {told}.")
    options.say(f"Report: {folder / 'report.html'}")


@options.command("explain", config=ExplainConfig)
@options.index_option
@options.option(
    "--pruned", required=True, metavar="FOLDER",
    help="Explain this index, which 'prune' wrote from --index.",
)  # fmt: skip
@options.option(
    "--query", required=True, metavar="TEXT", help="Explain this query, as a user types it."
)
def explain(as_json: bool, **arguments: Any) -> None:
    """Show what pruning did to one query.

    Lists its terms with their TDVs and document frequencies before and after, and the best
    documents of both indexes side by side.
    """
    from ..comparison.explain import explain_query

    explained = explain_query(**arguments)
    if as_json:
        options.show(explained, as_json)
        return
    _show_terms(explained)
    if any(explained["hits"].values()):
        _show_hits(explained["hits"])


def _show_terms(explained: dict[str, Any]) -> None:
    rows: list[tuple[str, ...]] = [
        (term["term"], str(term["in_query"]), "" if term["tdv"] is None else f"{term['tdv']:.3f}",
         f"{term['df_before']:,}", f"{term['df_after']:,}", _what_happened(term))
        for term in explained["terms"]
    ]  # fmt: skip
    columns = ("term", "in query", "TDV", "df before", "df after", "dropped")
    held, still = (explained["matching"][when] for when in ("before", "after"))
    note = (
        f"{counted(held, 'document')} held a term of the query, {still:,} still do. Analysed as "
        f"{explained['analysis']}."
    )
    options.show_tables(Table("Terms", columns, rows, note, texts=(0, len(columns) - 1)))


def _what_happened(term: dict[str, Any]) -> str:
    if not term["df_before"]:
        return "not in the index"
    if not term["postings_removed"]:
        return "nothing"
    if not term["df_after"]:
        return "all postings"
    return counted(term["postings_removed"], "posting")


def _show_hits(hits: dict[str, list[dict[str, Any]]]) -> None:
    ranks = range(1, max(map(len, hits.values())) + 1)
    columns = [("rank", [str(rank) for rank in ranks])]
    for name, rows, other in (
        ("full", hits["before"], "rank after"),
        ("pruned", hits["after"], "rank before"),
    ):
        others = ["-" if row["other_rank"] is None else str(row["other_rank"]) for row in rows]
        columns += [
            (name, [row["document"] for row in rows]),
            ("score", [f"{row['score']:.4f}" for row in rows]),
            (other, others),
        ]
        if any(row["lost"] for row in rows):
            columns.append(("dropped", [" ".join(row["lost"]) for row in rows]))
    heads, cells = zip(*columns)
    note = "The scores of the two indexes are on different scales."
    if "dropped" in heads:
        note = f"Dropped: terms of the query whose posting in the document was dropped. {note}"
    texts = tuple(at for at, head in enumerate(heads) if head in ("full", "pruned", "dropped"))
    lines = [*zip_longest(*cells, fillvalue="")]
    options.show_tables(Table("Best documents", heads, lines, note, texts=texts))


@options.command("demo", config=DemoConfig)
@options.option(
    "--output", default="tdv-lucene-demo", show_default=True, metavar="FOLDER",
    help="Write the collection, the indexes and the report to this folder.",
)  # fmt: skip
def demo(as_json: bool, **arguments: Any) -> None:
    """Run the whole job on a demonstration collection: 4,000 Wikipedia articles.

    Downloads nothing. People asked the 600 queries and judged the answers. Learns from half of the
    queries and measures on the other half. Then shows a catalogue of short texts, which bear no
    pruning.
    """
    from tqdm import tqdm

    from ..demo.run import run_demo

    above_a_bar = partial(tqdm.write, file=sys.stderr)  # which may stand there
    report = options.run(run_demo, announce=above_a_bar, **arguments)
    folder = Path(arguments["output"]) / "report"
    show_comparison(report, folder, as_json)
    if as_json:
        return
    from ..demo.collection import DemoCollection
    from ..demo.run import CATALOGUE
    from ..demo.words import NEXT_STEPS, catalogue_table, example_tables, kinds_table
    from ..report.tables import read_report

    click.echo("It begins with a picture of all this, and lists every query.")
    collection = DemoCollection.at(folder.parent / "collection")
    kinds = kinds_table(folder, without=report["parameters"]["tier_of"])
    options.show_tables(kinds, *example_tables(collection, folder))
    options.show_tables(catalogue_table(read_report(folder.parent / CATALOGUE / "report")))
    click.echo(f"\n{NEXT_STEPS}", nl=False)
