"""Options and output shared by the commands; names follow Pyserini's."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from ..errors import TdvError
from ..interruption import check
from ..progress import ProgressBar

_log = logging.getLogger(__name__)

index_option = click.option("--index", required=True, metavar="FOLDER", help="Lucene index.")
output_option = click.option("--output", required=True, metavar="PATH", help="Where to write.")
topics_option = click.option(
    "--topics", required=True, metavar="TOPICS", help="TSV, TREC topics, or a name Pyserini knows."
)
qrels_option = click.option("--qrels", required=True, metavar="FILE", help="TREC qrels.")
field_option = click.option("--field", default="contents", show_default=True, help="Indexed field.")
matrix_option = click.option(
    "--matrix", metavar="FOLDER", help="From 'extract'; without it extracted on the way."
)
seed_option = click.option(
    "--seed", type=int, default=0, show_default=True, help="Of everything random."
)
threads_option = click.option("--threads", type=int, help="Threads to use.  [default: all cores]")
overwrite_option = click.option(
    "--overwrite", is_flag=True, help="Replace an earlier result of this command."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
model_option = click.option(
    "--model",
    type=click.Choice(["bm25", "qld", "tfidf"]),
    default="bm25",
    show_default=True,
    help="Ranking function.",
)


values_of_fields_option = click.option(
    "--tdv",
    "values",
    required=True,
    multiple=True,
    metavar="[FIELD=]FOLDER",
    help="What 'learn' wrote. Again for each further field; the first is the one searched.",
)


def folders_of_fields(given: Sequence[str]) -> dict[str, Any]:
    """The ``values`` and ``others`` that were given as ``values_of_fields_option``."""
    first, *others = map(_folder_of_field, given)
    return {"values": first, "others": others}


def _folder_of_field(given: str) -> str:
    """The folder of FIELD=FOLDER after a look at its field; a folder alone stays as it is."""
    from ..values.term_values import TermValues

    field, separator, folder = given.partition("=")
    if not separator or Path(given).exists():
        return given
    found = TermValues.load(folder).vocabulary.field
    if found != field:
        raise TdvError(
            f"--tdv {given}: {folder} holds values of '{found}', not of '{field}': "
            f"pass {found}={folder}, or the folder of values learned with --field {field}"
        )
    return folder


def run(stage: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a stage function with a progress bar on stderr."""
    given = {name: value for name, value in kwargs.items() if value is not None}
    _log.info("%s %s", stage.__name__, {**dict(enumerate(args)), **given})
    check()  # importing the stage may have taken seconds
    with ProgressBar() as progress:
        return stage(*args, progress=progress, **kwargs)


def show(result: dict[str, Any], as_json: bool) -> None:
    """Print a flat result on stdout: as JSON, or one ``name  value`` line an entry."""
    if as_json:
        click.echo(json.dumps(result, ensure_ascii=False))
        return
    width = max(map(len, result), default=0)
    for name, value in result.items():
        text = f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else value
        click.echo(f"{name:<{width}}  {text}")


def megabytes(size: float) -> str:
    """Megabytes of a number of bytes: three digits that tell something of a small index too."""
    of = size / 1e6
    return f"{of:,.1f}" if of >= 100 else f"{of:.3g}"
