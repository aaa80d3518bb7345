"""Where a stage writes: the one way a result comes into being, or takes the place of another.

Every stage function makes an :class:`Output` before any work, with all that it reads. A result is
built under a hidden name beside its place and moved there in one rename, so that what fails or is
killed leaves nothing that can be taken for a result. What holds, whatever the caller does:

- What is read is never written to: an output that is, holds, lies in or links to an input is
  refused, and so is one inside a Lucene index's folder.
- Nothing that exists is touched, unless replacing it was asked for. Then only a result of the same
  kind is replaced whose manifest lists all that is there, each file with its size. A single file
  has its manifest beside it, and must still be what that says.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .errors import TdvError, argument
from .interruption import check, deferred
from .store import MANIFEST, describe_file, unlisted_files, write_manifest

_COMMIT = re.compile(r"segments_[0-9a-z]+")
_MARK = "unfinished"
_MARK_TEXT = "tdv-lucene makes {} here. Once no such run is at work, this folder can be removed.\n"
_OVERWRITE = argument("overwrite", True)
_NAMED = 3  # files named in a refusal
_finished: list[Path] = []
_log = logging.getLogger(__name__)


def finished() -> list[Path]:
    """The results that this process has finished, in order; for a command that is interrupted."""
    return list(_finished)


class Output:
    """A place for one result; use :meth:`folder` or :meth:`file`, then ``with``.

    The block is given the path to write to: an empty folder, or a file that does not exist yet.
    It ends with :meth:`write_manifest`.
    """

    @classmethod
    def folder(
        cls,
        path: str | os.PathLike,
        kind: str | None,
        *,
        inputs: Sequence[Any],
        overwrite: bool = False,
        manifest: str = MANIFEST,
        option: str = "output",
    ) -> Output:
        """A folder with its manifest inside.

        Parameters
        ----------
        kind
            What the manifest calls the result; None for what has no manifest and is never
            replaced.
        inputs
            All that is read: paths, of which those that do not exist are passed over, as is
            anything that is no path (None, values in memory). Also the outputs beside this one.
        manifest
            The manifest's file name.
        option
            What the user calls ``path``.

        Raises
        ------
        TdvError
            When nothing can, or may, be written there.
        """
        return cls(path, kind, inputs, overwrite, option, manifest, is_folder=True)

    @classmethod
    def file(
        cls,
        path: str | os.PathLike,
        kind: str,
        *,
        inputs: Sequence[Any],
        overwrite: bool = False,
        option: str = "output",
    ) -> Output:
        """A file, with its manifest beside it as ``NAME.manifest.json``; else as :meth:`folder`."""
        manifest = f"{os.path.basename(os.path.abspath(path))}.manifest.json"
        return cls(path, kind, inputs, overwrite, option, manifest, is_folder=False)

    def __init__(
        self,
        path: str | os.PathLike,
        kind: str | None,
        inputs: Sequence[Any],
        overwrite: bool,
        option: str,
        manifest: str,
        *,
        is_folder: bool,
    ) -> None:
        self._option = argument(option)
        self._kind = kind
        given = [i.path if isinstance(i, Output) else i for i in inputs]
        self._inputs = [Path(i) for i in given if isinstance(i, (str, os.PathLike))]
        self._beside = [i.path for i in inputs if isinstance(i, Output)]
        self._overwrite = overwrite
        self._manifest = manifest
        self._is_folder = is_folder
        self._refuse_name(path)
        self.path = Path(os.path.abspath(path))
        self._aside: Path | None = None
        self._mark: int | None = None
        self.check()

    def check(self) -> None:
        """Raise :class:`TdvError` when the result cannot, or may not, be written."""
        self._refuse_place()
        for place in self._places():
            self._refuse_overlap(place)
        self._refuse_index()
        if self._is_folder:
            self._refuse_existing_folder()
        else:
            self._refuse_existing_file()

    def __enter__(self) -> Path:
        self.check()
        try:
            with deferred():
                self._remove_abandoned()
                self._make_aside()
        except BaseException as error:
            self._clear()
            if isinstance(error, OSError):
                raise explain_os_error(error, self.path) from error
            raise
        return self._unfinished if self._is_folder else self._unfinished / self.path.name

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        with deferred():
            aside = self._aside
            try:
                if error is None:
                    self._finish()
            except OSError as met:
                error = met
            finally:
                self._clear()
            if isinstance(error, OSError):
                raise explain_os_error(error, self.path, aside) from error

    @contextmanager
    def in_place(self) -> Iterator[Path]:
        """Yield the folder itself, empty, for stages that record the paths they work on.

        When the block fails the folder goes, and what it should have replaced is back.
        """
        self.check()
        with self._set_aside():
            try:
                self.path.mkdir()
            except OSError as error:
                raise explain_os_error(error, self.path) from error
            try:
                yield self.path
                self._refuse_unlisted(self.path)
            except BaseException as error:
                with deferred():
                    shutil.rmtree(self.path, ignore_errors=True)
                if isinstance(error, OSError):
                    raise explain_os_error(error, self.path, self.path) from error
                raise
        self._tell()

    def write_manifest(self, content: dict[str, Any]) -> None:
        """Describe the result; its files must all be written."""
        folder = self.path if self._aside is None else self._unfinished
        write_manifest(folder, self._kind, content, self._manifest)

    # what is refused ------------------------------------------------------------------------

    def _refuse_name(self, path: str | os.PathLike) -> None:
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
        for folder in self._real_place().parents:
            if _is_index(folder):
                raise TdvError(
                    f"{self.path} lies in the Lucene index {folder}, to which nothing is added: "
                    f"choose another {self._option}"
                )

    def _places(self) -> list[Path]:
        """All that is written."""
        beside = [] if self._is_folder else [self.path.with_name(self._manifest)]
        return [self.path, *beside]

    def _real_place(self) -> Path:
        """The path without the links in its parents."""
        return Path(os.path.realpath(self.path.parent)) / self.path.name

    def _refuse_overlap(self, place: Path) -> None:
        for given in self._inputs:
            if (os.path.lexists(given) or given in self._beside) and _overlap(place, given):
                raise TdvError(
                    f"output {place} overlaps the input {given}, which is never written to: "
                    f"choose another {self._option}"
                )

    def _refuse_existing(self, place: Path) -> None:
        """Refuse what exists unless replacing was asked for, and what is not a thing of its own."""
        if not self._overwrite:
            raise TdvError(f"{place} exists: choose another {self._option}, or pass {_OVERWRITE}")
        if place.is_symlink():
            raise TdvError(
                f"{place} is a symbolic link, which {_OVERWRITE} does not replace: name what it "
                "points to, or remove it yourself"
            )

    def _refuse_existing_folder(self) -> None:
        if not os.path.lexists(self.path):
            return
        self._refuse_existing(self.path)
        if not self.path.is_dir():
            raise self._not_ours(self.path, f"is a file, not a folder with a '{self._kind}'")
        if any(self.path.iterdir()):
            self._refuse_foreign(self.path)

    def _refuse_foreign(self, folder: Path) -> None:
        """Refuse a folder that is not, as a whole, an earlier result of this kind."""
        listed = self._listed(folder / self._manifest)
        if listed is None:
            entries = _some(sorted(entry.name for entry in folder.iterdir()))
            raise self._not_ours(folder, f"holds files tdv-lucene did not write ({entries})")
        found = unlisted_files(folder, {**listed, self._manifest: None})
        if found:
            raise self._not_ours(folder, f"holds files tdv-lucene did not write ({_some(found)})")

    def _refuse_existing_file(self) -> None:
        target, beside = self._places()
        for place in (target, beside):
            if os.path.lexists(place):
                if place.is_dir() and not place.is_symlink():
                    raise TdvError(f"{place} is a folder: choose a file name as {self._option}")
                self._refuse_existing(place)
        listed = self._listed(beside) if os.path.lexists(beside) else None
        ours = (listed or {}).get(target.name)
        if os.path.lexists(beside) and ours is None:
            raise self._not_ours(beside, f"is not the manifest of a '{self._kind}'")
        if os.path.lexists(target) and ours is None:
            raise self._not_ours(target, f"has no manifest of a '{self._kind}' beside it")
        if os.path.lexists(target) and describe_file(target) != ours:
            raise self._not_ours(target, f"is not the '{self._kind}' that its manifest describes")

    def _listed(self, path: Path) -> dict[str, Any] | None:
        """The files that a manifest of this kind lists; None where there is none such."""
        if self._kind is None or path.is_symlink() or not path.is_file():
            return None
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        if not isinstance(found, dict) or found.get("kind") != self._kind:
            return None
        if not isinstance(found.get("files"), dict):
            raise self._not_ours(
                path, "lists no files, as an earlier version made it: what else lies there is "
                "not known",
            )  # fmt: skip
        return found["files"]

    def _not_ours(self, path: Path, why: str) -> TdvError:
        return TdvError(
            f"{path} {why}, which {_OVERWRITE} would delete: choose another {self._option}, or "
            "remove it yourself"
        )

    # the hidden place -----------------------------------------------------------------------

    @property
    def _unfinished(self) -> Path:
        return self._aside / "result"

    def _make_aside(self) -> None:
        self._aside = Path(tempfile.mkdtemp(prefix=self._prefix("unfinished"), dir=self._parent))
        self._mark = os.open(self._aside / _MARK, os.O_CREAT | os.O_RDWR, 0o600)
        self._unfinished.mkdir()
        try:
            fcntl.flock(self._mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # a file system without locks: nobody may take it for abandoned
            return
        os.write(self._mark, _MARK_TEXT.format(self.path).encode())

    def _clear(self) -> None:
        """Remove the hidden place, if it is there."""
        if self._aside is not None:
            shutil.rmtree(self._aside, ignore_errors=True)
        if self._mark is not None:
            os.close(self._mark)
        self._aside = self._mark = None

    def _remove_abandoned(self) -> None:
        """Remove what a killed run left: only that whose lock nobody holds."""
        for left in self._parent.glob(f"{_escape(self._prefix('unfinished'))}*/{_MARK}"):
            try:
                with open(left, "rb+") as mark:
                    fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    if mark.read().decode(errors="replace") == _MARK_TEXT.format(self.path):
                        shutil.rmtree(left.parent, ignore_errors=True)
            except OSError:
                continue  # another run's, at work

    def _finish(self) -> None:
        """Move the whole result into its place."""
        made = self._unfinished
        self._refuse_unlisted(made)
        _sync(made)
        check()
        self.check()  # the place may have changed since
        if self._is_folder:
            with self._set_aside():
                os.rename(made, self.path)
        else:
            for place in reversed(self._places()):  # the manifest first: no file without one
                os.replace(made / place.name, place)
        self._tell()

    def _tell(self) -> None:
        _finished.append(self.path)
        _log.info("wrote %s (%s)", self.path, self._kind or "index")

    def _refuse_unlisted(self, folder: Path) -> None:
        """What a stage writes and does not list could not be replaced: a defect of ours."""
        if self._kind is not None:
            listed = self._listed(folder / self._manifest)
            if listed is None or unlisted_files(folder, {**listed, self._manifest: None}):
                raise RuntimeError(f"the '{self._kind}' for {self.path} was written without a list")

    @contextmanager
    def _set_aside(self) -> Iterator[None]:
        """Keep what stands in the folder's place until the block has put something there."""
        if not os.path.lexists(self.path):
            yield
            return
        old = Path(tempfile.mkdtemp(prefix=self._prefix("replaced"), dir=self._parent))
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

    @property
    def _parent(self) -> Path:
        return self.path.parent

    def _prefix(self, what: str) -> str:
        return f".{self.path.name[:100]}.{what}-"


def explain_os_error(error: OSError, output: Path, within: Path | None = None) -> TdvError:
    """Turn an operating-system error met while making ``output`` into the user's words.

    ``within`` is the folder where it was made: an error of another place is told as that.
    """
    reason = error.strerror or str(error)
    elsewhere = error.filename if isinstance(error.filename, (str, os.PathLike)) else None
    if elsewhere is not None and within is not None:
        place = Path(os.path.abspath(elsewhere))
        if within not in (place, *place.parents) and place != output:
            return TdvError(f"{elsewhere}: {reason}; {output} was not written")
    return TdvError(f"cannot write {output}: {reason}; nothing was left there")


def _overlap(place: Path, given: Path) -> bool:
    """Whether one is or holds the other, by name, link, hard link or mount."""
    read = Path(os.path.realpath(given))
    real = [Path(os.path.realpath(place)), Path(os.path.realpath(place.parent)) / place.name]
    for path in real:
        if path == read or read in path.parents or path in read.parents:
            return True
        within, held = _identity(read), _identity(path)
        if within is not None and within in map(_identity, (path, *path.parents)):
            return True
        if held is not None and held in map(_identity, (read, *read.parents)):
            return True
    return False


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _is_index(folder: Path) -> bool:
    try:
        return any(_COMMIT.fullmatch(name) for name in os.listdir(folder))
    except OSError:
        return False


def _some(names: list[str]) -> str:
    more = f", and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _escape(prefix: str) -> str:
    return re.sub(r"([*?\[])", r"[\1]", prefix)


def _sync(folder: Path) -> None:
    """Force the files to disk before the rename makes them a result."""
    for path in folder.rglob("*"):
        if stat.S_ISREG(path.lstat().st_mode):
            with open(path, "rb") as file:
                os.fsync(file.fileno())
