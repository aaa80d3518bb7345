"""Commands on an index itself: index, inspect, extract, embed, export."""

from __future__ import annotations

from typing import Any

import click

from ..index.build import BuildConfig
from ..index.inspection import InspectConfig
from ..index.record import SEGMENTS
from ..matrix.config import EmbedConfig, ExportConfig, ExtractConfig
from ..report.table import Table
from . import common as options


class _WithHelp(options.Command):
    """Show help on -h alone: click would find an option -h among the letters of -threads."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, ["--help" if word == "-h" else word for word in args])


@click.command(
    "index",
    cls=_WithHelp,
    config=BuildConfig,
    context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]},
)
@options.option(
    "--index", "-index", "output", required=True, metavar="FOLDER",
    help="Write the index to this folder.",
)  # fmt: skip
@click.argument("flags", nargs=-1, type=click.UNPROCESSED)
def index(output: str, as_json: bool, flags: tuple[str, ...], **given: Any) -> None:
    """Index a collection with Anserini's IndexCollection. Passes all other flags to it.

    \b
    tdv-lucene index --collection JsonCollection --input DOCS \\
      --generator DefaultLuceneDocumentGenerator --threads 2 --index INDEX
    """
    from ..index.build import build_index

    options.show(options.run(build_index, output, flags, **given), as_json)


_SEGMENT_COLUMNS = (
    "name", "documents", "deleted", "soft_deleted", "lucene_version", "codec", "compound", "sort",
)  # fmt: skip
_FIELD_COLUMNS = (
    "name", "index_options", "norms", "frequencies", "vectors", "payloads", "doc_values",
    "point_dimensions", "knn_dimensions",
)  # fmt: skip
_COUNT_COLUMNS = ("name", "documents", "terms", "postings", "tokens")
_SHOWN_SEGMENTS = 20


@options.command("inspect", config=InspectConfig)
@options.index_option
def inspect(index: str, as_json: bool, **given: Any) -> None:
    """Show what an index holds, where its bytes are, and whether it can be pruned."""
    from ..index.inspection import inspect_index

    found = options.run(inspect_index, index, **given)
    if as_json:
        options.show(found, as_json)
    else:
        _print(found)


def _print(found: dict[str, Any]) -> None:
    fields, segments = found["fields"], found["segments"]
    head = {name: found[name] for name in ("path", "lucene_version", "commit")}
    head |= {name: f"{found[name]:,}" for name in ("documents", "deleted", "bytes")}
    if soft := sum(segment["soft_deleted"] for segment in segments):
        head["deleted"] += f", {soft:,} of them soft-deleted"
    head["stored fields"] = ", ".join(found["stored_fields"]) or "none"
    ids = ", ".join(found["id_fields"])
    head["ids"] = found["named_by"] + (f"; --id-field could be {ids}" if ids else "")
    if found["defaults"]:
        head["defaults"] = found["defaults"]
    checksums = "none cut short; checksums not verified (pass --check)"
    if found["checked"]["checksums"]:
        checksums = "all checksums verified"
    head["files"] = f"{found['checked']['files']}, {checksums}"
    prunable = ", ".join(field["name"] for field in fields if not field["why_not_pruned"])
    can_be = f"yes: {prunable}" if found["can_be_pruned"] else f"no: {found['why_not']}"
    lines = [*head.items(), ("can be pruned", can_be)]
    for name, analysed in found["analyses"].items():
        why = "; ".join(filter(None, (analysed["described"], analysed["evidence"])))
        lines.append(("analysis", f"{name}: {why}"))
    lines += [("note", note) for note in found["notes"]]
    for name, value in lines:
        options.say(f"{name:<14}  {value}")
    _show("Fields", _FIELD_COLUMNS, fields)
    _show("Indexed", _COUNT_COLUMNS, [field for field in fields if "postings" in field])
    for field in fields:
        # Every index has ids without frequencies; that they stay is no news where others are pruned
        is_news = field["index_options"] not in ("NONE", "DOCS") or not prunable
        if field["why_not_pruned"] and is_news:
            options.say(f"{field['name']} cannot be pruned: {field['why_not_pruned']}")
    _show("Segments", _SEGMENT_COLUMNS, segments[:_SHOWN_SEGMENTS])
    if len(segments) > _SHOWN_SEGMENTS:
        options.say(f"... and {len(segments) - _SHOWN_SEGMENTS} more segments (see --json)")
    kinds = [{"kind": kind, "bytes": size} for kind, size in found["bytes_by_kind"].items() if size]
    _show("Bytes by kind of file", ("kind", "bytes"), kinds)
    # The segments recorded are long, and for programs.
    told = {name: value for name, value in found["user_data"].items() if name != SEGMENTS}
    data = [{"name": name, "value": value} for name, value in told.items()]
    _show("User data of the commit", ("name", "value"), data)


def _show(title: str, columns: tuple[str, ...], rows: list[dict[str, Any]]) -> None:
    """Print a table without its empty columns; nothing if there are no rows."""
    if not rows:
        return
    used = [name for name in columns if any(row.get(name) for row in rows)]
    texts = tuple(
        at for at, name in enumerate(used) if not all(_is_number(row.get(name, 0)) for row in rows)
    )
    cells = [tuple(_cell(row.get(name)) for name in used) for row in rows]
    heads = tuple(name.replace("_", " ") for name in used)
    options.show_tables(Table(title, heads, cells, texts=texts))


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _cell(value: Any) -> str:
    if _is_number(value):
        return f"{value:,}"
    return {None: "", True: "yes", False: "no"}.get(value, str(value))


@options.command("extract", config=ExtractConfig)
@options.shards_option
@options.output_option("the matrix to this folder")
def extract(output: str, as_json: bool, **arguments: Any) -> None:
    """Write a field's term-document matrix as memory-mapped NumPy arrays.

    Needs postings only, no term vectors and no stored text.
    """
    from ..matrix.extract import extract_matrix
    from ..matrix.term_document_matrix import describe_matrix

    summary = describe_matrix(options.run(extract_matrix, output=output, **arguments))
    options.show({"output": output, **{k: v for k, v in summary.items() if k != "source"}}, as_json)


@options.command("embed", config=EmbedConfig)
@options.index_option
@options.output_option("the vectors to this folder")
def embed(as_json: bool, **arguments: object) -> None:
    """Make word vectors for an index's terms, for 'learn --vectors'.

    Matches the words of a file to the index's stems by running them through its analyzer.
    """
    from ..matrix.embed import embed_terms

    made = options.run(embed_terms, **arguments)
    terms, dimensions = made.vectors.shape
    sizes = {"terms_with_a_vector": terms, "dimensions": dimensions}
    options.show({"output": arguments["output"], **sizes, **made.origin}, as_json)


@options.command("export", config=ExportConfig)
@options.index_option
@options.output_option("this file")
@options.option(
    "--format", "form", type=click.Choice(["ciff"]), default="ciff", show_default=True,
    help="Write the Common Index File Format, which PISA, JASSv2, Terrier and others read.",
)  # fmt: skip
def export(output: str, form: str, as_json: bool, **arguments: Any) -> None:
    """Write a field of a full or pruned index as one file that other engines read.

    Frequencies are those in the index. A document's length is their sum. Rank a pruned index with
    the parameters in the file's description: unlike Lucene's norms, lengths cannot hold k1.
    """
    from ..matrix.ciff import export_ciff

    written = options.run(export_ciff, output=output, **arguments)
    options.show({"output": output, "format": form, **written}, as_json)
