"""Commands that make TDVs: learn, peers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from ..learning.config import FEWEST_QUERIES, LearnConfig
from ..learning.selection import ABOVE, MOST_LOST, NO_RECALL, RECALL, TOO_FEW, doubts, most_loss_of
from ..ranking import MODELS, ranking_function
from ..report.table import Table
from ..values.peers import PEERS, PeersConfig
from . import common as options

if TYPE_CHECKING:
    from ..values.term_values import TermValues

_UNMOVED = 1e-4  # of TDVs in the mean: rounding


@options.command("learn", config=LearnConfig)
@options.shards_option
@options.option("--topics", metavar="TOPICS", help=options.TOPICS_HELP)
@options.option("--qrels", metavar="QRELS", help=options.QRELS_HELP)
@options.output_option("the TDVs to this folder")
@options.scheduler_option
def learn(as_json: bool, **arguments: Any) -> None:
    """Learn term discrimination values (TDVs) from judged queries.

    A TDV says how well a term separates relevant documents from others; 'prune' weights term
    frequencies by it. Learning starts from the built-in prior. By cross-validation, prints what
    each reduction (share of the postings dropped) gains or loses against the tuned full index, and
    recommends one. Without --qrels, --topics is a query log: the TDVs are the prior's, and the log
    only recommends a reduction, as with 'prune --queries'.
    """
    from ..learning.from_index import learn_from_index

    values = options.run(learn_from_index, **arguments)
    if as_json:
        options.show({"output": arguments["output"], **values.summary()}, as_json)
    elif arguments.get("no_judgements"):
        _show_unmeasured(arguments["output"], values)
    elif "log" in values.manifest:
        _print_log_points(values)
    else:
        print_points(values)
    if not as_json:
        output = arguments["output"]
        click.echo(f"\nNext: tdv-lucene prune --index INDEX --tdv {output} --output PRUNED")
        options.show_network(values.manifest)


def _show_unmeasured(output: str, values: TermValues) -> None:
    """Print what the prior alone gives: it has measured no points."""
    model, recommended = values.manifest["model"], values.manifest["recommended_reduction"]
    parameters = {name: values.parameters[name] for name in MODELS[model]}
    shown = {"output": output, "model": model, **parameters, "reduction": recommended}
    options.show(shown, as_json=False)
    options.say(
        f"'tdv-lucene prune' drops {recommended:.0%} of the postings by default. "
        "Nothing was measured on this index: run 'tdv-lucene compare' before you serve the result."
    )


def _print_log_points(values: TermValues) -> None:
    log = values.manifest["log"]
    title = f"What the pruned index returns for {log['queries']:,} queries without judgements"
    head = ("dropped", "MB", "visited", "bound", "in 10", "in 100", "in 1000")
    rows = [
        (*_costs(point, values), f"{-most_loss_of(point) + 0:+.1%}",
         *(f"{share:.1%}" for share in point["kept"].values()))
        for point in values.points
    ]  # fmt: skip
    options.show_tables(Table(title, head, rows))
    options.say(
        "All against the re-weighted index with nothing dropped. bound: change of nDCG@5 if its "
        "first answers are the only relevant ones (worse end of the 95 % interval of other "
        "queries). in 10, 100, 1000: the share of its ten best among so many first answers."
    )
    options.say(
        f"* recommended: the largest reduction whose bound is not below {-log['max_loss']:.1%}, "
        f"with {1 - log['max_loss']:.1%} in 1000, or to drop nothing. 'tdv-lucene prune' uses it "
        "by default."
    )


def print_points(values: TermValues) -> None:
    """Print the operating points, and notes below them."""
    full = values.manifest["full"]
    # What points are chosen by, and another.
    measures = [*dict.fromkeys((values.measure, "R@1000", "nDCG@5"))][:2]
    whole = [cell for name in measures for cell in (f"{values.points[0]['full'][name]:.4f}", "")]
    rows = [("full-tuned", _size(full), f"{full['visited']:,.0f}", *whole)]
    rows += [
        (*_costs(point, values), *(cell for name in measures for cell in _measured(point, name)))
        for point in values.points
    ]
    head = ("dropped", "MB", "visited", *(h for m in measures for h in (m, "change")))
    title = "Effectiveness of the pruned index (predicted, cross-validated)"
    options.show_tables(Table(title, head, rows))
    for note in _notes(values):
        options.say(note)


def _costs(point: Mapping[str, Any], values: TermValues) -> tuple[str, str, str]:
    """Return share dropped, size and postings visited; * marks the recommended point, + that of
    the first ten."""
    first_ten: Any = values.manifest.get("first_ten", {})
    marks = {first_ten.get("reduction"): " +", values.manifest["recommended_reduction"]: " *"}
    mark = marks.get(point["reduction"], "")
    return f"{point['removed']:.0%}{mark}", _size(point), f"{point['visited']:,.0f}"


def _size(point: Mapping[str, Any]) -> str:
    return options.megabytes(point.get("index_bytes", point["posting_bytes"]))


def _measured(point: Mapping[str, Any], name: str) -> tuple[str, str]:
    difference, (low, high) = point["difference"][name], point["difference"][name]["ci95"]
    return f"{point['measures'][name]:.4f}", f"{difference['mean']:+.3f} ±{(high - low) / 2:.3f}"


def _notes(values: TermValues) -> Iterator[str]:
    manifest = values.manifest
    full, recipe, model = manifest["full"], manifest["recipe"], manifest["model"]
    whole = "the index, predicted" if "index_bytes" in full else "posting lists, estimated"
    yield (
        f"dropped: share of the postings. MB: {whole}. visited: postings in the lists of a query's "
        "terms, on average."
    )
    yield "full-tuned: the full index, with tuned parameters. change: from it, ± 95 % interval."
    yield from _judged(values)
    if pool := manifest.get("pool"):
        yield (
            f"Measured in a pool of {pool['documents']:,} of {pool['of']:,} documents, with the "
            "statistics of all. R@1000 and sizes are estimates."
        )
    if names := MODELS.get(model, ()):
        pruned, tuned = (
            ", ".join(f"{name} {chosen[name]:g}" for name in names)
            for chosen in (values.parameters, full["parameters"])
        )
        yield f"Ranked with {pruned}; full-tuned with {tuned}."
    lead = manifest.get("lead") or {}
    if "boost" in lead and values.position_boost is not None:
        first = values.position_boost.largest_factor
        yield (
            f"First-position boost: a term counts x{first:g} at the beginning of a document. The "
            f"added part falls to a quarter by position {lead['span']:g}."
        )
    elif (
        recipe.get("lead")
        and not manifest.get("positions")
        and not ranking_function(model).of_weights
    ):
        yield (
            "Learned without positions. Index with -storePositions to allow a first-position "
            "boost: it improves rankings."
        )
    if finest := recipe.get("finest"):
        yield f"Where postings are dropped, the scale is {finest:g} at most, to keep more of them."
    if prior := manifest.get("prior"):
        yield _moved(prior, values)
    yield from _recommended(values)
    yield from _expected(values.measure, manifest.get("choice", {}))


def _judged(values: TermValues) -> Iterator[str]:
    """Yield how much of the ten best is judged, and nDCG@10 without the rest if most is not."""
    from ..simulation.retrieval import JUDGED

    forms = (
        (JUDGED[0], "Judged documents among the ten best: {}.", "{:.0%}"),
        (JUDGED[1], "Most are not judged. nDCG@10 with the others left out: {}.", "{:.4f}"),
    )
    named = {"full-tuned": values.manifest["full"]}
    named |= {f"{point['reduction']:.0%} dropped": point for point in values.points}
    for name, said, form in forms:
        if name in named["full-tuned"].get("judged", ()):
            told = (f"{of} {form.format(each['judged'][name])}" for of, each in named.items())
            yield said.format(", ".join(told))


def _recommended(values: TermValues) -> Iterator[str]:
    """Yield which point pruning takes by default and why, that of those who show the first answers
    and no more if it drops more, and which points were not trusted."""
    measure, recommended = values.measure, values.manifest["recommended_reduction"]
    because = values.manifest.get("recommended_because")
    prior: Any = values.manifest.get("prior")
    drop = f"drop {recommended:.0%}" if recommended else "drop nothing"
    if because == TOO_FEW:
        yield (
            f"* recommended: {drop}, of these reductions the largest that does not exceed the "
            f"prior's ({prior['reduction']:.0%}). So few judged queries cannot choose. To choose "
            "by a query log without judgements, pass --queries to 'tdv-lucene prune'."
        )
        return
    more = (
        "pass --reduction, --max-loss or --max-bytes to 'tdv-lucene prune', or learn from more "
        "judged queries."
    )
    if because == NO_RECALL:
        yield (
            "* recommended: drop nothing. At every reduction R@1000 is significantly below that of "
            f"the tuned full index. To drop postings nevertheless, {more}"
        )
        yield from _first_page(values)
        return
    if because == ABOVE:
        yield (
            f"* recommended: the smallest index whose {measure} is above the tuned full index's by "
            "a standard error or more. 'tdv-lucene prune' uses it by default."
        )
    else:
        yield (
            f"* recommended: {drop}, which ranks best. No index has {measure} above the tuned full "
            f"index's by a standard error. To drop more, {more}"
        )
    yield from _first_page(values)
    against: dict[str, list[str]] = {}
    for point in values.points:
        for name in sorted(doubts(point, measure, prior["reduction"] if prior else 0.0)):
            against.setdefault(name, []).append(f"{point['reduction']:.0%}")
    for name, points in against.items():
        most = f"more than {MOST_LOST:.0%} may be lost"
        if name == RECALL:
            most = f"significantly below the tuned full index's, or {MOST_LOST:.0%} is lost"
        yield f"Held back by {name} ({most}): {', '.join(points)}."


def _first_page(values: TermValues) -> Iterator[str]:
    """Yield what the + of the table means, if there is one."""
    if first_ten := values.manifest.get("first_ten"):
        measure, at = values.measure, first_ten["reduction"]
        point = next(point for point in values.points if point["reduction"] == at)
        yield (
            f"+ for the first page alone (--reduction {at:g}): the smallest index whose "
            f"{measure} is no less than the tuned full index's, and at most {MOST_LOST:.0%} less "
            f"if a standard error is taken off. R@1000 changes by {_measured(point, RECALL)[1]}."
        )
        yield from _expected(measure, first_ten, "+")


def _expected(measure: str, choice: Mapping[str, Any], mark: str = "*") -> Iterator[str]:
    """Yield what other queries will see, if the folds told."""
    if "ci95" in choice:
        low, high = choice["ci95"]
        yield (
            f"At {mark} expect of as many other queries a change of {choice['mean']:+.3f} in "
            f"{measure} (95 % interval {low:+.3f} to {high:+.3f}): each fold, measured at what the "
            "other folds choose."
        )


def _moved(prior: Mapping[str, Any], values: TermValues) -> str:
    manifest, name, before = values.manifest, prior["name"], prior["parameters"]
    if manifest.get("recommended_because") == TOO_FEW:
        return (
            f"TDVs and parameters are those of the prior {name}: learning needs {FEWEST_QUERIES} "
            f"judged queries, and there are {manifest['queries']}. They only measure what the "
            "prior gives."
        )
    changes = [
        f"{each} {before[each]:g} -> {values.parameters[each]:g}"
        for each in MODELS.get(manifest["model"], ())
        if before[each] != values.parameters[each]
    ]
    if prior["lead"] != manifest["lead"]:
        changes.append("the first-position boost")
    if prior["values"] > _UNMOVED:
        changes.append(f"TDVs by {prior['values']:.2f} on average")
    if not changes:
        return f"Learning kept the prior {name}: no change ranked out-of-fold queries better."
    gain, interval = prior["gain"]["mean"], prior["gain"]["interval"]
    between = "" if interval is None else " (95 % interval {:+.4f} to {:+.4f})".format(*interval)
    return (
        f"Changed from the prior {name}: {', '.join(changes)}. Gain on out-of-fold queries: "
        f"{gain:+.4f} of {prior['gain']['measure']}{between}."
    )


_HELP = """Write the TDVs of a peer: a pruning method that learns nothing, to compare with.

\b
What each drops first:
{}

All TDVs are 1. Pass the folder to 'prune --tdv'. Add --tf original to keep positions.
"""


@options.command(
    "peers",
    config=PeersConfig,
    help=_HELP.format("\n".join(f"  {name:<15} {about}" for name, about in PEERS.items())),
)
@options.index_option
@options.option(
    "--name", type=click.Choice([*PEERS]), required=True, metavar="NAME", help="Choose the peer."
)
@options.output_option("the TDVs to this folder")
def peers(as_json: bool, **arguments: object) -> None:
    from ..values.peers import make_peer_values

    values = options.run(make_peer_values, **arguments)
    manifest = values.manifest
    shown = {
        "output": arguments["output"],
        "name": manifest["recipe"]["name"],
        "about": manifest["recipe"]["about"],
        "field": manifest["field"],
        "terms": len(values.vocabulary),
        "postings": int(values.doc_freq.sum()),
    }
    options.show(shown, as_json)
