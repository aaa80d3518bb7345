"""An index as one file to pass on: a tar archive as Pyserini's prebuilt indexes are."""

from __future__ import annotations

import gzip
import hashlib
import os
import tarfile
from pathlib import Path
from typing import Any

from ..errors import TdvError, argument
from ..jvm.index import identify
from ..output import Output
from ..progress import Progress, silent
from .config import PackConfig

KIND = "packed-index"
SUFFIX = ".tar.gz"
_LOCK = "write.lock"


def pack_index(
    index: str | os.PathLike[str],
    output: str | os.PathLike[str],
    config: PackConfig | None = None,
    *,
    progress: Progress = silent,
    **options: Any,
) -> dict[str, Any]:
    """Write ``index`` as the archive ``output``, ``NAME.tar.gz``: it unpacks to folder ``NAME``.

    The folder holds Lucene's files and, of a pruned index, its manifest. The same files give the
    same bytes. Pyserini's ``download_and_unpack_index`` reads the archive, with the MD5 of
    what is returned.

    Returns
    -------
    dict
        ``output``, ``bytes``, ``bytes_unpacked``, ``files``, ``md5`` and ``sha256``. The same is in
        ``NAME.tar.gz.manifest.json``.

    Raises
    ------
    TdvError
        When ``index`` is no Lucene index, or ``output`` exists or has another suffix.
    """
    config = PackConfig.of(config, options)
    file = os.path.basename(os.path.abspath(output))
    name = file.removesuffix(SUFFIX)
    place = Output(output, KIND, is_folder=False, inputs=[index], overwrite=config.overwrite)
    if name in ("", file):
        raise TdvError(f"{argument('output')} must be a file NAME{SUFFIX}, got '{output}'")
    identify(index)
    files = sorted(
        path for path in Path(index).iterdir()
        if path.is_file() and path.name != _LOCK and not path.name.startswith(".")
    )  # fmt: skip
    with place as path:
        _write(path, name, files, progress)
        report = {
            "bytes": path.stat().st_size,
            "bytes_unpacked": sum(file.stat().st_size for file in files),
            "files": len(files),
            **{kind: _digest(path, kind) for kind in ("md5", "sha256")},
        }
        place.write_manifest(report)
    return {"output": str(place.path), **report}


def _write(path: Path, name: str, files: list[Path], progress: Progress) -> None:
    with (
        open(path, "wb") as raw,
        gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        folder = tarfile.TarInfo(name)
        folder.type, folder.mode = tarfile.DIRTYPE, 0o755
        archive.addfile(folder)
        for number, file in enumerate(files):
            progress("pack", number, len(files))
            entry = tarfile.TarInfo(f"{name}/{file.name}")
            entry.size, entry.mode = file.stat().st_size, 0o644
            with open(file, "rb") as content:
                archive.addfile(entry, content)


def _digest(path: Path, kind: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, kind).hexdigest()
