"""What is printed of operating points that a query log measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import _options as options

if TYPE_CHECKING:
    from ..values.term_values import TermValues


def print_log_points(values: TermValues) -> None:
    """Print the table of operating points, and what its columns mean."""
    from ..report.table import Table

    recommended, log = (values.manifest[name] for name in ("recommended_reduction", "log"))
    rows = [
        (
            f"{point['removed']:.0%}{' *' if point['reduction'] == recommended else ''}",
            options.megabytes(point.get("index_bytes", point["posting_bytes"])),
            f"{point['visited']:,.0f}",
            f"{-_bound(point) + 0:+.1%}",
            *(f"{-loss:+.1%}" for loss in point["expected"].values()),
        )
        for point in values.points
    ]
    title = f"nDCG@5 of the pruned index by {log['queries']:,} queries without judgements"
    head = ("dropped", "MB", "visited", "bound", "expected", "careful")
    options.show_tables([Table(title, head, rows, texts=())])
    options.say(
        "bound: change if the first answers of the re-weighted index with nothing dropped are the "
        "only relevant ones (worse end of the 95 % interval). expected: change against the "
        "full index, as seen on judged collections with such a bound and as many changed first "
        "answers. careful: three quarters of them did better."
    )
    options.say(
        f"{log['same_first_answer']:.0%} of the queries have the same first answer in the full "
        "index. * recommended: the largest reduction whose careful figure is at most "
        f"{log['max_loss']:.1%}. 'tdv-lucene prune' uses it by default."
    )


def said_of_log(chosen: Mapping[str, Any]) -> str:
    """What is known of the reduction that was chosen by a log."""
    within = chosen["loss_at_most"] <= chosen["max_loss"]
    return (
        f"Reduction {options.percent(chosen['reduction'])}: "
        f"{'the largest' if within else 'nothing is dropped, for none is'} expected to lose at "
        f"most {options.percent(chosen['max_loss'])} of nDCG@5, by a careful estimate. By the "
        f"first answers to {chosen['log']['queries']:,} queries, pruning loses at most "
        f"{options.percent(max(0, _bound(chosen)))} (bound). Judged collections with such figures "
        f"{_changed(chosen['loss'])} against the full index on average; three "
        f"quarters {_changed(chosen['loss_at_most'])} or did better."
    )


def _changed(loss: float) -> str:
    return f"{'lost' if loss > 0 else 'gained'} {options.percent(abs(loss))}"


def _bound(point: Mapping[str, Any]) -> float:
    """The most that is lost by first answers: the worse end of the 95 % interval."""
    return -float(point["difference"]["nDCG@5"]["ci95"][0])
