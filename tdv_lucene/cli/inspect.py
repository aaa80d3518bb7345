"""``tdv-lucene inspect``."""

from __future__ import annotations

from typing import Any

from ..index.config import InspectConfig
from ..index.record import SEGMENTS
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
    texts = [
        at for at, name in enumerate(used) if not all(_is_number(row.get(name, 0)) for row in rows)
    ]
    cells = [tuple(_cell(row.get(name)) for name in used) for row in rows]
    options.show_table(title, [name.replace("_", " ") for name in used], cells, texts=texts)


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _cell(value: Any) -> str:
    if _is_number(value):
        return f"{value:,}"
    return {None: "", True: "yes", False: "no"}.get(value, str(value))
