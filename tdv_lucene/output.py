"""Where a stage writes: the one way a result comes into being, or takes the place of another.

Every stage function makes an :class:`Output` before any work, with all that it reads. A result is
built under a hidden name beside its place and moved there in one rename, so that what fails or is
killed leaves nothing that can be taken for a result. What may be written where is told in
:mod:`.destination`.
"""

from __future__ import annotations

import fcntl
import logging
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from glob import escape
from pathlib import Path
from typing import Any

from .destination import Destination
from .errors import explain_os_error
from .interruption import check, deferred
from .store import unlisted_files, write_manifest

_MARK = "unfinished"
_MARK_TEXT = "tdv-lucene makes {} here. Once no such run is at work, this folder can be removed.\n"
_finished: list[Path] = []
_log = logging.getLogger(__name__)


def note_finished(path: Path) -> None:
    """Another process has finished this result for us."""
    _finished.append(path)


def finished() -> list[Path]:
    """The results that this process has finished, in order; for a command that is interrupted."""
    return list(_finished)


class Output(Destination):
    """A place for one result, which a ``with`` block writes to.

    The block is given the path to write to: an empty folder, or a file that does not exist yet.
    It ends with :meth:`write_manifest`.
    """

    _aside: Path | None = None
    _mark: int | None = None

    def __enter__(self) -> Path:
        self.check()
        try:
            with deferred():
                remove_abandoned(self.path)
                self._make_aside()
        except BaseException as error:
            self._clear()
            if isinstance(error, OSError):
                raise explain_os_error(error, self.path) from error
            raise
        return self._unfinished if self.is_folder else self._unfinished / self.path.name

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

    def write_manifest(self, content: Mapping[str, Any]) -> None:
        """Describe the result; its files must all be written."""
        folder = self.path if self._aside is None else self._unfinished
        assert self.kind is not None  # what has none has no manifest
        described = {name: value for name, value in content.items() if name != "made_by"}
        if self.made_by is not None:
            described = {"made_by": self.made_by, **described}
        write_manifest(folder, self.kind, described, self.manifest)

    # the hidden place -----------------------------------------------------------------------

    @property
    def _unfinished(self) -> Path:
        assert self._aside is not None  # only while it is being written
        return self._aside / "result"

    def _make_aside(self) -> None:
        self._aside = Path(
            tempfile.mkdtemp(prefix=_prefix(self.path, "unfinished"), dir=self.path.parent)
        )
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

    def _finish(self) -> None:
        """Move the whole result into its place."""
        made = self._unfinished
        self._refuse_unlisted(made)
        _sync(made)
        check()
        self.check()  # the place may have changed since
        if self.is_folder:
            with self._set_aside():
                os.rename(made, self.path)
        else:
            for place in reversed(self.places()):  # the manifest first: no file without one
                os.replace(made / place.name, place)
        self._tell()

    def _tell(self) -> None:
        note_finished(self.path)
        _log.info("wrote %s (%s)", self.path, self.kind or "index")

    def _refuse_unlisted(self, folder: Path) -> None:
        """What a stage writes and does not list could not be replaced: a defect of ours."""
        if self.kind is not None:
            listed = self.listed(folder / self.manifest)
            if listed is None or unlisted_files(folder, {**listed, self.manifest: None}):
                raise RuntimeError(f"the '{self.kind}' for {self.path} was written without a list")

    @contextmanager
    def _set_aside(self) -> Iterator[None]:
        """Keep what stands in the folder's place until the block has put something there."""
        if not os.path.lexists(self.path):
            yield
            return
        old = Path(tempfile.mkdtemp(prefix=_prefix(self.path, "replaced"), dir=self.path.parent))
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
    for left in path.parent.glob(f"{escape(_prefix(path, 'unfinished'))}*/{_MARK}"):
        try:
            with open(left, "rb+") as mark:
                fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if mark.read().decode(errors="replace") == _MARK_TEXT.format(path):
                    shutil.rmtree(left.parent, ignore_errors=True)
        except OSError:
            continue  # another command's, at work


def _prefix(path: Path, what: str) -> str:
    return f".{path.name[:100]}.{what}-"


def _sync(folder: Path) -> None:
    """Force the files to disk before the rename makes them a result."""
    for path in folder.rglob("*"):
        if stat.S_ISREG(path.lstat().st_mode):
            with open(path, "rb") as file:
                os.fsync(file.fileno())
