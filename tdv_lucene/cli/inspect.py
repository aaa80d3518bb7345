"""``tdv-lucene inspect``."""

from __future__ import annotations

from typing import Any

from ..indexes.config import InspectConfig
from ..indexes.shards.record import SEGMENTS
from . import _options as options

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
def command(index: str, as_json: bool, **given: Any) -> None:
    """Show what an index holds, where its bytes are, and whether it can be pruned."""
    from ..indexes.inspection import inspect_index

    found = options.run(inspect_index, index, **given)
    if as_json:
        options.show(found, as_json)
    else:
        _print(found)


def _print(found: dict[str, Any]) -> None:
    head = {name: found[name] for name in ("path", "lucene_version", "commit")}
    for name in ("documents", "deleted", "bytes"):
        head[name] = f"{found[name]:,}"
    if soft := sum(segment["soft_deleted"] for segment in found["segments"]):
        head["deleted"] += f", {soft:,} of them soft-deleted"
    head["stored fields"] = ", ".join(found["stored_fields"]) or "none"
    head["ids"] = found["named_by"] + (
        f"; --id-field could be {', '.join(found['id_fields'])}" if found["id_fields"] else ""
    )
    if found["defaults"]:
        head["defaults"] = found["defaults"]
    head["files"] = f"{found['checked']['files']}, " + (
        "all checksums verified"
        if found["checked"]["checksums"]
        else "none cut short; checksums not verified (pass --check)"
    )
    prunable = ", ".join(f["name"] for f in found["fields"] if not f["why_not_pruned"])
    head["can be pruned"] = (
        f"yes: {prunable}" if found["can_be_pruned"] else f"no: {found['why_not']}"
    )
    for name, value in head.items():
        options.say(f"{name:<14}  {value}")
    for name, analysed in found["analyses"].items():
        options.say(
            f"{'analysis':<14}  {name}: {analysed['described']}; {analysed['evidence']}".rstrip(
                "; "
            )
        )
    for note in found["notes"]:
        options.say(f"{'note':<14}  {note}")
    indexed = [field for field in found["fields"] if "postings" in field]
    _show("Fields", _FIELD_COLUMNS, found["fields"])
    _show("Indexed", _COUNT_COLUMNS, indexed)
    for field in found["fields"]:
        # Every index has ids without frequencies; that they stay is no news where others are pruned
        is_news = field["index_options"] not in ("NONE", "DOCS") or not prunable
        if field["why_not_pruned"] and is_news:
            options.say(f"{field['name']} cannot be pruned: {field['why_not_pruned']}")
    segments = found["segments"]
    _show("Segments", _SEGMENT_COLUMNS, segments[:_SHOWN_SEGMENTS])
    if len(segments) > _SHOWN_SEGMENTS:
        options.say(f"... and {len(segments) - _SHOWN_SEGMENTS} more segments (see --json)")
    kinds = [{"kind": kind, "bytes": size} for kind, size in found["bytes_by_kind"].items() if size]
    _show("Bytes by kind of file", ("kind", "bytes"), kinds)
    if found["user_data"]:
        data = [
            {"name": name, "value": value}
            for name, value in found["user_data"].items()
            if name != SEGMENTS  # long, and for programs
        ]
        _show("User data of the commit", ("name", "value"), data)


def _show(title: str, columns: tuple[str, ...], rows: list[dict[str, Any]]) -> None:
    """Print a table without the columns that are empty throughout; nothing where an empty index has
    no rows for it."""
    from ..report.table import Table

    if not rows:
        return
    used = [name for name in columns if any(row.get(name) for row in rows)]
    texts = [
        at for at, name in enumerate(used)
        if not all(_is_number(row.get(name, 0)) for row in rows)
    ]  # fmt: skip
    cells = [tuple(_cell(row.get(name)) for name in used) for row in rows]
    headings = tuple(name.replace("_", " ") for name in used)
    options.show_tables([Table(title, headings, cells, texts=tuple(texts))])


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _cell(value: Any) -> str:
    if _is_number(value):
        return f"{value:,}"
    return {None: "", True: "yes", False: "no"}.get(value, str(value))
