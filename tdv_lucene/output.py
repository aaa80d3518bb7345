"""Where results go: a folder or a file that appears at once, or not at all.

A stage makes an :class:`Output` before any work, with all that it reads. The result is built under
a hidden name beside its place and renamed when it is whole.

- What is read is never written to: a place that is, holds, lies in or links to an input is refused,
  and so is one inside a Lucene index.
- What exists stays, unless ``overwrite`` is asked for. Then only a result of the same kind and the
  same command is replaced whose manifest lists all that is there.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import Any

from .errors import TdvError, explain_os_error
from .interruption import check, deferred
from .source import Source
from .store import FORMAT, MANIFEST, describe_file, unlisted_files, write_manifest

_LOCK = "tdv-lucene.lock"
_NAMED = 3  # files named in a refusal
finished: list[Path] = []
"""The results that this process, or another for it, has finished, in order."""
_log = logging.getLogger(__name__)


class Output:
    """The place of one result; a ``with`` block is given a hidden path, and writes to that.

    The path is an empty folder, or a file that does not exist yet. The block ends with
    :meth:`write_manifest`. A file has its manifest beside it, as ``NAME.manifest.json``.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        # What the manifest calls the result; None for what has no manifest and is never replaced
        kind: str | None,
        *,
        # All that is read: paths and sources; others (None, values in memory) are passed over.
        # Also the outputs beside this one
        inputs: Sequence[Any],
        overwrite: bool = False,
        option: str = "output",  # what the user calls ``path``
        is_folder: bool = True,
        manifest: str = MANIFEST,  # its file name in a folder
        # The command, where several make this kind: each replaces only its own results
        made_by: str | None = None,
    ) -> None:
        self.path = Path(os.path.abspath(path))
        self.kind, self.made_by = kind, made_by
        self._is_folder, self._overwrite, self._option = is_folder, overwrite, option
        self._manifest = manifest if is_folder else f"{self.path.name}.{MANIFEST}"
        paths = [Source.of(each) for each in inputs if isinstance(each, (str, os.PathLike))]
        self._inputs = [Path(folder) for source in paths for folder in source.folders]
        self._beside = [each.path for each in inputs if isinstance(each, Output)]
        self._made: Path | None = None  # while it is written
        self.check()

    # what is legal --------------------------------------------------------------------------

    def check(self) -> None:
        """Raise :class:`TdvError` when the result cannot, or may not, be written."""
        parent, here = self.path.parent, Path.cwd()
        if not (parent.is_dir() and os.access(parent, os.W_OK)):
            raise TdvError(f"cannot write {self.path}: {parent} is not a folder, or not writable")
        if self.path in (here, *here.parents):
            raise self._refused(f"{self.path} is the folder you are in, or holds it")
        for place in self._places:
            for given in [*filter(os.path.lexists, self._inputs), *self._beside]:
                if _overlap(place, given):
                    raise self._refused(
                        f"{place} overlaps the input {given}, and inputs are never written to"
                    )
        for folder in Path(os.path.realpath(parent), self.path.name).parents:
            if any(folder.glob("segments_*")):
                raise self._refused(f"{self.path} lies in the Lucene index {folder}")
        if existing := [*filter(os.path.lexists, self._places)]:
            first, problem = existing[0], self._why_not_ours(existing)
            if not self._overwrite:
                raise self._refused(f"{first} exists", "" if problem else ", or pass overwrite")
            if problem:
                why = f"{first} {problem} and would be deleted"
                raise self._refused(why, ", or remove it yourself")

    @property
    def _places(self) -> list[Path]:
        return [self.path] if self._is_folder else [self.path, self.path.with_name(self._manifest)]

    def _refused(self, why: str, remedy: str = "") -> TdvError:
        return TdvError(f"{why}: choose another {self._option}{remedy}")

    def _why_not_ours(self, existing: Sequence[Path]) -> str | None:
        """Return why what exists is not an earlier result of this command; None if it is."""
        if any(place.is_symlink() for place in existing):
            return "is a symbolic link"
        if any(place.is_dir() != self._is_folder for place in existing):
            return f"is no {'folder' if self._is_folder else 'file'}"
        if self._is_folder and not os.listdir(self.path):
            return None
        manifest = self.path / self._manifest if self._is_folder else self._places[1]
        try:
            found = json.loads(manifest.read_text(encoding="utf-8"))
            listed = dict(found["files"])
            maker = found.get("made_by")
            if (found["kind"], found["format"]) != (self.kind, FORMAT) or manifest.is_symlink():
                raise ValueError
        except (OSError, ValueError, TypeError, KeyError):
            if self.kind is None:
                return "is not empty"
            return f"has no manifest of a '{self.kind}' made by this version"
        if maker != self.made_by:
            return f"was made by '{maker}', not '{self.made_by}',"
        if self._is_folder:
            others = unlisted_files(self.path, {**listed, self._manifest: None})
        else:
            name = self.path.name
            there = describe_file(self.path) if self.path.exists() else listed.get(name)
            others = [] if name in listed and there == listed[name] else [name]
        if not others:
            return None
        more = " ..." if len(others) > _NAMED else ""
        return f"is not as {manifest.name} lists it ({', '.join(others[:_NAMED])}{more})"

    # how it is written ----------------------------------------------------------------------

    def __enter__(self) -> Path:
        self._writing: AbstractContextManager[Path] = self._write()
        return self._writing.__enter__()

    def __exit__(self, *error: Any) -> None:
        self._writing.__exit__(*error)

    @contextmanager
    def _write(self) -> Iterator[Path]:
        self.check()
        aside = lock = None
        try:
            with deferred():
                remove_abandoned(self.path)
                aside = Path(tempfile.mkdtemp(prefix=_hidden(self.path), dir=self.path.parent))
                lock = _lock(aside)
                self._made = aside / "result"
                self._made.mkdir()
            yield self._made if self._is_folder else self._made / self.path.name
            with deferred():
                for path in self._made.rglob("*"):  # on disk before the rename makes it a result
                    if stat.S_ISREG(path.lstat().st_mode):
                        with open(path, "rb") as file:
                            os.fsync(file.fileno())
                check()
                self.check()  # the place may have changed since
                if self._is_folder:
                    with self._set_aside():
                        os.rename(self._made, self.path)
                else:
                    for place in reversed(self._places):  # the manifest first: no file without one
                        os.replace(self._made / place.name, place)
        except OSError as error:
            raise explain_os_error(error, self.path, aside) from error
        finally:
            self._made = None
            if aside is not None:
                with deferred():
                    shutil.rmtree(aside, ignore_errors=True)
                    if lock is not None:
                        os.close(lock)
        self._tell()

    @contextmanager
    def in_place(self) -> Iterator[Path]:
        """Yield the folder itself, empty, for stages that record the paths they work on.

        When the block fails the folder goes, and what it should have replaced is back.
        """
        self.check()
        with self._set_aside():
            try:
                self.path.mkdir()
                yield self.path
            except BaseException as error:
                with deferred():
                    shutil.rmtree(self.path, ignore_errors=True)
                if isinstance(error, OSError):
                    raise explain_os_error(error, self.path, self.path) from error
                raise
        self._tell()

    def write_manifest(self, content: Mapping[str, Any]) -> None:
        """Describe the result; its files must all be written."""
        assert self.kind is not None  # what has none has no manifest
        folder = self.path if self._made is None else self._made
        write_manifest(folder, self.kind, {**content, "made_by": self.made_by}, self._manifest)

    def _tell(self) -> None:
        finished.append(self.path)
        _log.info("wrote %s (%s)", self.path, self.kind or "index")

    @contextmanager
    def _set_aside(self) -> Iterator[None]:
        """Keep what stands in the folder's place until the block has put something there."""
        if not os.path.lexists(self.path):
            yield
            return
        hidden = _hidden(self.path, "replaced")
        old = Path(tempfile.mkdtemp(prefix=hidden, dir=self.path.parent))
        os.rename(self.path, old / self.path.name)
        try:
            yield
        except BaseException:
            with deferred():
                os.rename(old / self.path.name, self.path)
                os.rmdir(old)
            raise
        with deferred():
            shutil.rmtree(old, ignore_errors=True)


def remove_abandoned(path: Path) -> None:
    """Remove what killed commands left beside ``path``: only that whose lock nobody holds."""
    for lock in path.parent.glob(f"{escape(_hidden(path))}*/{_LOCK}"):
        with suppress(OSError), open(lock, "rb+") as file:  # another command's, at work
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(lock.parent, ignore_errors=True)


def _hidden(path: Path, what: str = "unfinished") -> str:
    return f".{path.name[:100]}.{what}-"


def _lock(folder: Path) -> int:
    """Lock the folder for as long as the process lives; return what to close."""
    new = folder / f".{_LOCK}"
    lock = os.open(new, os.O_CREAT | os.O_RDWR, 0o600)
    with suppress(OSError):  # a file system without locks: nobody may take it for abandoned
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.rename(new, folder / _LOCK)
    return lock


def _overlap(place: Path, given: Path) -> bool:
    """Return whether one is or holds the other, by name, link, hard link or mount."""
    place, given = Path(os.path.realpath(place)), Path(os.path.realpath(given))
    ours, theirs = ([*map(_identity, (path, *path.parents))] for path in (place, given))
    return ours[0] in theirs or theirs[0] in ours


def _identity(path: Path) -> object:
    """Return what the system knows a path by, where it exists."""
    with suppress(OSError):
        found = os.stat(path)
        return found.st_dev, found.st_ino
    return path
