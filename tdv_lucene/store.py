"""Artefact folders: written aside and renamed when whole, with a manifest; checked when read.

A stage's output is a folder with ``manifest.json`` in it. It is built under a hidden name beside
its place and moved there in one rename, so that a killed run leaves nothing that can be taken for
a result, and an existing result is replaced only by a whole one.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from .errors import TdvError, argument

MANIFEST = "manifest.json"
FORMAT = 1
_PACKAGES = ("tdv-lucene", "pyserini", "jax", "optax", "numpy", "scipy", "gensim", "trectools")


@contextmanager
def new_folder(output: str | os.PathLike, *, overwrite: bool = False) -> Iterator[Path]:
    """Yield an empty folder that becomes ``output`` when the block ends without an exception.

    Raises
    ------
    TdvError
        When ``output`` exists and ``overwrite`` is false, its parent does not exist, or the disk
        is full.
    """
    output = Path(os.path.abspath(output))
    refuse_existing(output, overwrite=overwrite)
    aside = Path(tempfile.mkdtemp(prefix=f".{output.name}.unfinished-", dir=output.parent))
    aside.chmod(0o777 & ~_umask())  # mkdtemp makes it private; a result has ordinary rights
    try:
        yield aside
        _sync(aside)
        _move_into_place(aside, output)
    except OSError as error:
        raise explain_os_error(error, output) from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)


@contextmanager
def new_file(output: str | os.PathLike, *, overwrite: bool = False) -> Iterator[Path]:
    """Yield a path that does not exist yet and becomes the file ``output``, as :func:`new_folder`.

    Raises
    ------
    TdvError
        As :func:`new_folder`, and when ``output`` is a folder.
    """
    output = Path(os.path.abspath(output))
    refuse_existing(output, overwrite=overwrite)
    if output.is_dir():
        raise TdvError(f"{output} is a folder: choose a file name as {argument('output')}")
    aside = Path(tempfile.mkdtemp(prefix=f".{output.name}.unfinished-", dir=output.parent))
    try:
        yield aside / output.name
        _sync(aside)
        os.replace(aside / output.name, output)
    except OSError as error:
        raise explain_os_error(error, output) from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def refuse_existing(output: Path, *, overwrite: bool) -> None:
    """Raise :class:`TdvError` when ``output`` cannot be created, before any work is done."""
    if not output.parent.is_dir():
        raise TdvError(f"cannot write {output}: the folder {output.parent} does not exist")
    if not os.access(output.parent, os.W_OK):
        raise TdvError(f"cannot write {output}: the folder {output.parent} is not writable")
    if os.path.lexists(output) and not overwrite:
        raise TdvError(
            f"{output} exists: choose another {argument('output')}, or "
            f"pass {argument('overwrite', True)}"
        )
    if output.is_dir() and not _is_replaceable(output):
        raise TdvError(
            f"{output} holds files tdv-lucene did not write, which "
            f"{argument('overwrite', True)} would delete: choose another "
            f"{argument('output')}, or remove it yourself"
        )


def _is_replaceable(folder: Path) -> bool:
    """Whether a folder is empty, one of our results, or an index: what a slip may cost."""
    results = ("*manifest.json", "segments_*")
    return any(any(folder.glob(form)) for form in results) or not any(folder.iterdir())


def refuse_overlap(output: str | os.PathLike, *inputs: str | os.PathLike) -> None:
    """Raise :class:`TdvError` when ``output`` is, holds or lies within one of the inputs.

    Symbolic links are followed: replacing ``output`` must never touch what is read.
    """
    place = Path(os.path.realpath(output))
    for given in inputs:
        read = Path(os.path.realpath(given))
        if place == read or read in place.parents or place in read.parents:
            raise TdvError(
                f"output {output} overlaps the input {given}, which is never written to: "
                f"choose another {argument('output')}"
            )


def save_array(path: Path, array: np.ndarray) -> None:
    """``np.save``, except that a full disk is noticed.

    NumPy hands arrays to C's buffered ``fwrite`` and ignores what closing the file says, so a
    small array on a full disk is silently cut short; it uses Python's ``write`` for what is not
    a file.
    """
    with open(path, "wb") as file:
        np.lib.format.write_array(SimpleNamespace(write=file.write), array, allow_pickle=False)


def write_manifest(folder: Path, kind: str, content: dict[str, Any], name: str = MANIFEST) -> None:
    """Write ``content`` with the artefact's kind, format, time and the versions in use."""
    manifest = {
        "kind": kind,
        "format": FORMAT,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": versions(),
        **content,
    }
    text = json.dumps(manifest, indent=2, ensure_ascii=False, allow_nan=False)
    (folder / name).write_text(text + "\n", encoding="utf-8")


def read_manifest(folder: str | os.PathLike, kind: str, made_by: str) -> dict[str, Any]:
    """Return the manifest of an artefact of ``kind``; ``made_by`` is the command to suggest."""
    path = Path(folder) / MANIFEST
    if not Path(folder).is_dir():
        raise TdvError(f"no such folder: {folder} (make it with '{made_by}')")
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise TdvError(
            f"{folder} is not a '{kind}' folder: {path.name} is missing or unreadable "
            f"({error}); make one with '{made_by}'"
        ) from error
    if not isinstance(manifest, dict) or manifest.get("kind") != kind:
        found = manifest.get("kind") if isinstance(manifest, dict) else type(manifest).__name__
        raise TdvError(f"{folder} holds '{found}', expected '{kind}': make one with '{made_by}'")
    if manifest.get("format") != FORMAT:
        raise TdvError(
            f"{folder} has format {manifest.get('format')}, this version reads {FORMAT}: "
            f"make it again with '{made_by}'"
        )
    return manifest


@cache
def versions() -> dict[str, str]:
    """Versions of this package and what it computes with, of those installed."""
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def explain_os_error(error: OSError, output: Path) -> TdvError:
    """Turn an operating-system error met while writing ``output`` into the user's words."""
    reason = error.strerror or str(error)
    return TdvError(f"cannot write {output}: {reason}; nothing was left there")


def _move_into_place(aside: Path, output: Path) -> None:
    """Rename, keeping an old result until the new one stands in its place."""
    if not os.path.lexists(output):
        os.rename(aside, output)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{output.name}.replaced-", dir=output.parent))
    os.rename(output, old / output.name)
    try:
        os.rename(aside, output)
    except OSError:
        os.rename(old / output.name, output)
        raise
    finally:
        shutil.rmtree(old, ignore_errors=True)


def _sync(folder: Path) -> None:
    """Force the files to disk before the rename makes them a result."""
    for path in folder.rglob("*"):
        if path.is_file():
            with open(path, "rb") as file:
                os.fsync(file.fileno())


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
