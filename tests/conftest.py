"""Fixtures shared by all tests: the JVM, and small indexes made at run time."""

from __future__ import annotations

import gc
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from lucene_indexes import Doc, Layout, write_index
from small_jvm import make_jvm_small
from tiny_collection import tiny_segments

from tdv_lucene.errors import TdvError
from tdv_lucene.jvm import _start, lucene_version, pyserini_jar
from tdv_lucene.jvm.named import importing_pyserini

# What runs in the background ignores Ctrl-C, under nohup also SIGHUP, and that is inherited: tests
# that send them would wait for ever.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


LONGEST = [
    "test_demo_run.py",
    "test_options.py",
    "test_shards.py",
    "test_other_lucene.py",
    "test_fuzz.py",
    "test_reproduce.py",
    "test_analysis.py",
    "test_cli_fuzz.py",
    "test_compare.py",
    "test_plain_pyserini.py",
]
"""Files to begin with: two processes end together only if what they end with is short."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first and keep the order of the others; Pyserini's tests are slow."""
    places = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path.name, len(LONGEST)))
    for item in items:
        if item.get_closest_marker("pyserini"):
            item.add_marker(pytest.mark.slow)  # its Python imports PyTorch, for eight seconds


@pytest.fixture(scope="session", autouse=True)
def _small_jvm() -> Iterator[None]:
    """Start small JVMs, here and in processes of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAVA_TOOL_OPTIONS", "")  # puts it back
        patch.setattr(_start, "_options", _start._options)  # puts it back
        make_jvm_small()
        yield


@pytest.fixture(scope="session", autouse=True)
def _imported_modules_stay() -> None:
    """Spare the garbage collector what importing left: a million objects that stay to the end."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(scope="module", autouse=True)
def _compiled_code_goes() -> Iterator[None]:
    """Free what JAX compiled once this process is large: megabytes a function, found again in its
    cache on disk.
    """
    yield
    if "jax" in sys.modules and _resident_bytes() > _LARGE:
        sys.modules["jax"].clear_caches()


_LARGE = 1 << 30


def _resident_bytes() -> int:
    """What this process holds in memory; as good as too much where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return _LARGE + 1
    return pages * resource.getpagesize()


@pytest.fixture(autouse=True)
def _pyserini_can_be_imported(request: pytest.FixtureRequest) -> None:
    """Skip tests of Pyserini's own Python where a 2.x cannot be imported, as without network."""
    if not request.node.get_closest_marker("pyserini") or lucene_version(pyserini_jar())[0] < 10:
        return
    try:
        with importing_pyserini():
            import pyserini.search.lucene  # noqa: F401
    except (TdvError, ImportError) as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def tiny_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten documents in three segments, as Anserini writes them; do not change it."""
    return write_index(tmp_path_factory.mktemp("tiny") / "index", tiny_segments())


@pytest.fixture
def make_index(tmp_path: Path) -> Callable[..., Path]:
    """``make_index(segments, name="index", **layout)`` writes an index under ``tmp_path``."""

    def make(segments: list[list[Doc]], name: str = "index", **layout: object) -> Path:
        return write_index(tmp_path / name, segments, Layout(**layout))

    return make
