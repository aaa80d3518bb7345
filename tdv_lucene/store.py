"""Results on disk: arrays, and a manifest that says what they are and lists every file.

:mod:`.output` puts them in their place. What a manifest lists is checked when a result is read
(:func:`read_manifest`, :func:`check_files`) and before it is replaced.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np

from .errors import TdvError

MANIFEST = "manifest.json"
FORMAT = 2
"""The format of all folders with a manifest, from 1.0 on (``FORMATS.md``)."""
_LOCK = "write.lock"
_PACKAGES = ("tdv-lucene", "pyserini", "jax", "optax", "numpy", "scipy", "gensim", "trectools")


def check_format(what: str, found: Any, known: int, remedy: str) -> None:
    """Refuse a format of ``what`` that this version does not read.

    Raises :class:`TdvError`, which names a newer format, and for any other the ``remedy``.
    """
    if type(found) is int and found > known:
        raise TdvError(
            f"{what} has format {found}, and this tdv-lucene reads up to {known}: install a newer "
            f"tdv-lucene, or {remedy}"
        )
    if type(found) is not int or found != known:
        raise TdvError(
            f"{what} has format {found!r}, which only development versions before 1.0 wrote; this "
            f"one reads {known}: {remedy}"
        )


def save_array(path: Path, array: np.ndarray) -> None:
    """``np.save``, except that a full disk is noticed.

    NumPy writes to files with C's ``fwrite`` and ignores what closing says, so a small array on a
    full disk is cut short. To other objects it writes with their ``write``. Raises
    :class:`TdvError` for NaN, which no result or plan may hold.
    """
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise TdvError(f"{path.name} would hold numbers that are none (NaN): nothing is written")
    with open(path, "wb") as file:
        np.lib.format.write_array(SimpleNamespace(write=file.write), array, allow_pickle=False)


def map_array(path: Path) -> np.ndarray:
    """Map one of our ``.npy`` files into memory, read-only.

    Raises :class:`TdvError` when there is no such file, or it is damaged or truncated.
    """
    try:
        mapped: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise TdvError(
            f"cannot read {path} ({error}): it is damaged or truncated; make it again"
        ) from error
    return mapped


def write_manifest(
    folder: Path,
    kind: str,
    content: Mapping[str, Any],
    name: str = MANIFEST,
    known: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Write ``content`` with the kind, format, time, versions in use and files of a result.

    ``files`` lists all that lies in ``folder``: relative path -> ``bytes`` and ``sha256``. Those
    that are ``known`` from an earlier manifest, and still have that size, are not read again.
    """
    own, new = folder / name, folder / f".{MANIFEST}.new"
    new.unlink(missing_ok=True)  # of a command that was killed
    files = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path != own and path.name != _LOCK:
            relative = path.relative_to(folder).as_posix()
            is_same = _size(known.get(relative)) == path.stat().st_size
            files[relative] = known[relative] if is_same else describe_file(path)
    manifest = {
        "kind": kind,
        "format": FORMAT,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": versions(),
        **content,
        "files": files,
    }
    manifest["sha256"] = _digest(manifest)
    text = json.dumps(manifest, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    new.write_text(text, encoding="utf-8")
    os.replace(new, own)


def describe_file(path: Path) -> dict[str, Any]:
    """Return ``bytes`` and ``sha256`` of a file, as manifests list it."""
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"bytes": path.stat().st_size, "sha256": digest}


def read_manifest(folder: str | os.PathLike[str], kind: str, made_by: str) -> dict[str, Any]:
    """Return the manifest of a result of ``kind``; ``made_by`` is the command to suggest.

    Raises :class:`TdvError` when the folder holds none, one of another kind or format, or one that
    was edited.
    """
    path = Path(folder) / MANIFEST
    if not Path(folder).is_dir():
        raise TdvError(f"no such folder: {folder} (make it with '{made_by}')")
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise TdvError(
            f"{folder} is not a '{kind}' folder: {path.name} is missing or unreadable ({why}); "
            f"make one with '{made_by}'"
        ) from error
    if not isinstance(manifest, dict) or manifest.get("kind") != kind:
        found = manifest.get("kind") if isinstance(manifest, dict) else type(manifest).__name__
        raise TdvError(f"{folder} holds '{found}', expected '{kind}': make one with '{made_by}'")
    check_format(str(folder), manifest.get("format"), FORMAT, f"make it again with '{made_by}'")
    if manifest.pop("sha256", None) != _digest(manifest):
        raise _damaged(folder, f"{MANIFEST} was edited, or cut short", made_by)
    return manifest


def _digest(manifest: Mapping[str, Any]) -> str:
    content = {name: value for name, value in manifest.items() if name != "sha256"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def check_files(
    folder: str | os.PathLike[str],
    manifest: Mapping[str, Any],
    made_by: str,
    *,
    digests_up_to: int | None = None,
) -> None:
    """Compare a result's files with what its manifest lists.

    Compares sizes always, digests of files of at most ``digests_up_to`` bytes (None: of all).

    Raises :class:`TdvError` when a file is missing, has another size or other bytes, or an array is
    not listed.
    """
    listed = manifest["files"]
    for name, described in listed.items():
        path, size = Path(folder) / name, _size(described)
        if not path.is_file():
            raise _damaged(folder, f"{name}: it is missing", made_by)
        found = path.stat().st_size
        if found != size:
            raise _damaged(folder, f"{name}: it has {found:,} bytes, {size:,} are listed", made_by)
        if (digests_up_to is None or size <= digests_up_to) and describe_file(path) != described:
            raise _damaged(folder, f"{name}: its bytes do not match their checksum", made_by)
    for path in sorted(Path(folder).glob("*.npy")):
        if path.name not in listed:
            raise _damaged(folder, f"{path.name}: it is not listed", made_by)


def unlisted_files(folder: Path, listed: Mapping[str, Any]) -> list[str]:
    """Return what lies in ``folder`` and is not as ``listed``, as sorted relative paths.

    That is every link, every folder without a listed file, and every file that is not listed or has
    another size (None: any size). Lucene's empty ``write.lock`` does not count.
    """
    found = []
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            is_listed = False
        elif path.is_dir():
            is_listed = any(other.startswith(f"{name}/") for other in listed)
        else:
            size = path.stat().st_size if path.is_file() else None
            is_any = name in listed and listed[name] is None
            is_lock = path.name == _LOCK and size == 0
            is_listed = is_any or is_lock or size == _size(listed.get(name))
        if not is_listed:
            found.append(name)
    return sorted(found)


def _size(described: Any) -> int:
    """Return the bytes of a file in a manifest; -1 if it has none."""
    size = described.get("bytes") if isinstance(described, Mapping) else -1
    return size if isinstance(size, int) else -1


def _damaged(folder: str | os.PathLike[str], what: str, made_by: str) -> TdvError:
    return TdvError(f"{folder} is damaged ({what}): make it again with '{made_by}'")


@cache
def versions() -> dict[str, str]:
    """Return the versions of this package and of what it computes with, of those installed."""
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found
