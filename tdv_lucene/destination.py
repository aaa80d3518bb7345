"""Where a result may be written: what is read, and what exists, is protected from it.

- What is read is never written to: a destination that is, holds, lies in or links to an input is
  refused, and so is one inside a Lucene index's folder.
- Nothing that exists is touched, unless replacing it was asked for. Then only a result of the same
  kind is replaced whose manifest lists all that is there, each file with its size. A single file
  has its manifest beside it, and must still be what that says.
- Where several commands make a kind, each replaces only its own results.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from .errors import TdvError, argument
from .source import Source
from .store import FORMAT, MANIFEST, describe_file, unlisted_files

_COMMIT = re.compile(r"segments_[0-9a-z]+")
_OVERWRITE = argument("overwrite", True)
_NAMED = 3  # files named in a refusal
FIRST_MAKERS = {"term-values": "learn", "run": "search", "pruned-index": "prune"}
"""Kinds that several commands make -> the one whose results take longest to make again."""


class Destination:
    """The place of one result; made, it is legal, and :meth:`check` says whether it still is.

    Parameters
    ----------
    inputs
        All that is read: paths and shards; those that do not exist are passed over, as is anything
        else (None, values in memory). Also the outputs beside this one.
    option
        What the user calls ``path``.
    made_by
        The command that makes it, where several make this kind.

    Attributes
    ----------
    path : Path
        Absolute.
    kind : str or None
        What the manifest calls the result; None for what has no manifest and is never replaced.
    made_by : str or None
        The command, or the Python function, whose results it may replace; None where all of the
        kind are.
    manifest : str
        The manifest's file name: inside a folder; beside a file, ``NAME.manifest.json``.
    is_folder : bool
    """

    path: Path

    def __init__(
        self,
        path: str | os.PathLike[str],
        kind: str | None,
        *,
        inputs: Sequence[Any],
        overwrite: bool = False,
        option: str = "output",
        is_folder: bool = True,
        manifest: str = MANIFEST,
        made_by: str | None = None,
    ) -> None:
        self._option = argument(option)
        self.kind = kind
        self.made_by = made_by or FIRST_MAKERS.get(kind or "")
        self._beside = [i.path for i in inputs if isinstance(i, Destination)]
        sources = [Source.of(i) for i in inputs if isinstance(i, (str, os.PathLike))]
        read = [Path(folder) for source in sources for folder in source.folders]
        self._inputs = [*read, *self._beside]
        self._overwrite = overwrite
        self._refuse_name(path)
        self.path = Path(os.path.abspath(path))
        self.is_folder = is_folder
        self.manifest = manifest if is_folder else f"{self.path.name}.{MANIFEST}"
        self.check()

    def check(self) -> None:
        """Raise :class:`TdvError` when the result cannot, or may not, be written."""
        self._refuse_place()
        for place in self.places():
            self._refuse_overlap(place)
        self._refuse_index()
        if self.is_folder:
            self._refuse_existing_folder()
        else:
            self._refuse_existing_file()

    def _refuse_name(self, path: str | os.PathLike[str]) -> None:
        if not os.fspath(path):
            raise TdvError(f"{self._option} is empty: name the place to write to")
        try:
            os.fspath(path).encode()
        except UnicodeEncodeError as error:
            raise TdvError(
                f"{self._option} {os.fspath(path)!a} is not UTF-8, as Java wants paths: choose "
                "another name"
            ) from error

    def _refuse_place(self) -> None:
        parent = self.path.parent
        if not parent.is_dir():
            raise TdvError(f"cannot write {self.path}: the folder {parent} does not exist")
        if not os.access(parent, os.W_OK):
            raise TdvError(f"cannot write {self.path}: the folder {parent} is not writable")
        here = Path.cwd()
        if self.path in (here, *here.parents):
            raise TdvError(
                f"{self.path} is the folder you are in, or holds it: choose another {self._option}"
            )

    def _refuse_index(self) -> None:
        for folder in _real_place(self.path).parents:
            if _is_index(folder):
                raise TdvError(
                    f"{self.path} lies in the Lucene index {folder}, and nothing is added to that: "
                    f"choose another {self._option}"
                )

    def places(self) -> list[Path]:
        """All that is written."""
        beside = [] if self.is_folder else [self.path.with_name(self.manifest)]
        return [self.path, *beside]

    def _refuse_overlap(self, place: Path) -> None:
        for given in self._inputs:
            if (os.path.lexists(given) or given in self._beside) and _overlap(place, given):
                raise TdvError(
                    f"output {place} overlaps the input {given}, and inputs are never written to: "
                    f"choose another {self._option}"
                )

    def _refuse_existing(self, place: Path) -> None:
        """Refuse what exists unless replacing was asked for, and what is not a thing of its own."""
        if not self._overwrite:
            raise TdvError(f"{place} exists: choose another {self._option}, or pass {_OVERWRITE}")
        if place.is_symlink():
            raise TdvError(
                f"{place} is a symbolic link, and {_OVERWRITE} does not replace one: name what it "
                "points to, or remove it yourself"
            )

    def _refuse_existing_folder(self) -> None:
        """Refuse what is not, as a whole, an earlier result of this kind."""
        if not os.path.lexists(self.path):
            return
        self._refuse_existing(self.path)
        if not self.path.is_dir():
            raise self._not_ours(self.path, f"is a file, not a folder with a '{self.kind}'")
        entries = sorted(entry.name for entry in self.path.iterdir())
        if not entries:
            return
        listed = self.listed(self.path / self.manifest)
        if listed is None:
            wanted = f"is not a '{self.kind}'" if self.kind else "is not empty"
            raise self._not_ours(self.path, f"{wanted}: it holds {_some(entries)}")
        found = unlisted_files(self.path, {**listed, self.manifest: None})
        if found:
            raise self._not_ours(
                self.path, f"holds other files than its {self.manifest} lists ({_some(found)})"
            )

    def _refuse_existing_file(self) -> None:
        target, beside = self.places()
        for place in (target, beside):
            if os.path.lexists(place):
                if place.is_dir() and not place.is_symlink():
                    raise TdvError(f"{place} is a folder: choose a file name as {self._option}")
                self._refuse_existing(place)
        ours = (self.listed(beside) or {}).get(target.name)
        if os.path.lexists(beside) and ours is None:
            raise self._not_ours(beside, f"is not the manifest of a '{self.kind}'")
        if os.path.lexists(target) and ours is None:
            raise self._not_ours(target, f"has no manifest of a '{self.kind}' beside it")
        if os.path.lexists(target) and describe_file(target) != ours:
            raise self._not_ours(target, f"is not the '{self.kind}' that its manifest describes")

    def listed(self, path: Path) -> dict[str, Any] | None:
        """The files that a manifest of this kind lists; None where there is none such."""
        if self.kind is None or path.is_symlink() or not path.is_file():
            return None
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        if not isinstance(found, dict) or found.get("kind") != self.kind:
            return None
        if found.get("format") != FORMAT:
            raise self._not_ours(path, "was written by a development version")
        self._refuse_of_others(path, found.get("made_by"))
        listed = found.get("files")
        return listed if isinstance(listed, dict) else None

    def _refuse_of_others(self, manifest: Path, made_by: object) -> None:
        """Refuse what another command made."""
        if self.made_by in (None, made_by):
            return
        raise TdvError(
            f"{manifest.parent if self.is_folder else self.path} was made by '{made_by}', and "
            f"{_OVERWRITE} of '{self.made_by}' replaces only what that made: choose another "
            f"{self._option}, or remove it yourself"
        )

    def _not_ours(self, path: Path, why: str) -> TdvError:
        return TdvError(
            f"{path} {why}, and {_OVERWRITE} would delete it: choose another {self._option}, or "
            "remove it yourself"
        )


def _overlap(place: Path, given: Path) -> bool:
    """Whether one is or holds the other, by name, link, hard link or mount."""
    read = Path(os.path.realpath(given))
    return any(
        _known_as(read) & _known_as(path, *path.parents)
        or _known_as(path) & _known_as(read, *read.parents)
        for path in (Path(os.path.realpath(place)), _real_place(place))
    )


def _real_place(path: Path) -> Path:
    """The path without the links in its parents."""
    return Path(os.path.realpath(path.parent)) / path.name


def _known_as(*paths: Path) -> set[object]:
    """The paths, and what the system knows by them."""
    found: set[object] = {*paths}
    for path in paths:
        with suppress(OSError):
            told = os.stat(path)
            found.add((told.st_dev, told.st_ino))
    return found


def _is_index(folder: Path) -> bool:
    try:
        return any(_COMMIT.fullmatch(name) for name in os.listdir(folder))
    except OSError:
        return False


def _some(names: list[str]) -> str:
    more = f", and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
