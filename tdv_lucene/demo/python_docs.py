"""The documentation of the running interpreter as documents: the demonstration's raw material.

Three sources: docstrings in the sources of the standard library (parsed, never imported, since
importing some of it opens browsers or windows), docstrings of the modules written in C (which have
no source to parse), and the language reference behind ``help("topic")``.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
import sysconfig
import warnings
from collections.abc import Iterator
from importlib import util
from importlib.machinery import EXTENSION_SUFFIXES
from itertools import pairwise
from pathlib import Path

from ..progress import Progress, silent

_LABEL = "reading Python's documentation"
# Installed packages are not the standard library's; tests document what is tested, not what is
# offered; pydoc_data holds the language reference as one Python literal, read apart.
_SKIPPED_FOLDERS = frozenset(
    {"site-packages", "dist-packages", "test", "tests", "idle_test", "turtledemo", "pydoc_data"}
)
# C modules that speak to a terminal or a display when imported, or exist to test the interpreter.
_SKIPPED_MODULES = re.compile(r"readline|_tkinter|_curses.*|_test.*|_xx.*|xx.*|_ctypes_test")
_NAMED = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_HEADING = re.compile(r"^\S.*\n[*=\-~^]{3,}$", re.MULTILINE)


def read_documentation(progress: Progress = silent) -> dict[str, str]:
    """Return ``{name: text}`` in order of name; texts are unique and stripped of indentation.

    Names are dotted paths such as ``json.decoder.JSONDecoder.decode``, or ``help:with`` and
    ``help:with.2`` for the sections of a help topic. The same interpreter gives the same answer.
    """
    found: dict[str, str] = {}
    for name, text in _all_entries(progress):
        if text.strip():
            found.setdefault(name, text)
    unique = {text: name for name, text in sorted(found.items(), reverse=True)}
    return {name: text for text, name in sorted(unique.items(), key=lambda item: item[1])}


def _all_entries(progress: Progress) -> Iterator[tuple[str, str]]:
    sources = _source_files()
    modules = _c_modules()
    total = len(sources) + len(modules) + 1
    for done, (name, path) in enumerate(sources):
        progress(_LABEL, done, total)
        yield from _in_source(name, path)
    for done, name in enumerate(modules, len(sources)):
        progress(_LABEL, done, total)
        yield from _in_c_module(name)
    yield from _in_help_topics()
    progress(_LABEL, total, total)


def _source_files() -> list[tuple[str, Path]]:
    """Module names and paths of the standard library's Python sources, in order of name."""
    root = Path(sysconfig.get_path("stdlib"))
    found = []
    for path in root.rglob("*.py"):
        parts = path.relative_to(root).with_suffix("").parts
        if not _SKIPPED_FOLDERS.intersection(parts):
            found.append((".".join(parts).removesuffix(".__init__"), path))
    return sorted(found)


def _in_source(name: str, path: Path) -> Iterator[tuple[str, str]]:
    try:
        with warnings.catch_warnings():  # of the standard library's own escapes
            warnings.simplefilter("ignore")
            tree = ast.parse(path.read_bytes())
    except SyntaxError:  # the library ships samples of broken and of older Python
        return
    yield from _in_tree(tree, name)


def _in_tree(node: ast.AST, name: str) -> Iterator[tuple[str, str]]:
    """Docstrings of a module, class or function and of what is defined inside it."""
    if isinstance(node, (ast.Module, *_NAMED)):
        yield name, ast.get_docstring(node) or ""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.stmt, ast.ExceptHandler)):
            inner = f"{name}.{child.name}" if isinstance(child, _NAMED) else name
            yield from _in_tree(child, inner)


def _c_modules() -> list[str]:
    """Standard modules without Python source, as far as this interpreter has them."""
    compiled = ("built-in", *EXTENSION_SUFFIXES)
    names = (name for name in sys.stdlib_module_names if not _SKIPPED_MODULES.fullmatch(name))
    specs = filter(None, map(util.find_spec, names))
    return sorted(spec.name for spec in specs if (spec.origin or "").endswith(compiled))


def _in_c_module(name: str) -> Iterator[tuple[str, str]]:
    try:
        with warnings.catch_warnings():  # of modules on their way out
            warnings.simplefilter("ignore")
            module = importlib.import_module(name)
    except ImportError:  # an extension whose shared library this machine lacks
        return
    yield name, _doc(module)
    for member, value in vars(module).items():
        # Python functions here are somebody's hooks (sys.breakpointhook), not the module's own.
        if inspect.isbuiltin(value) or isinstance(value, type):
            yield f"{name}.{member}", _doc(value)
        if isinstance(value, type):
            for attribute, part in vars(value).items():
                if inspect.isroutine(part) or inspect.isdatadescriptor(part):
                    yield f"{name}.{member}.{attribute}", _doc(part)


def _doc(value: object) -> str:
    text = getattr(value, "__doc__", None)
    return inspect.cleandoc(text) if isinstance(text, str) else ""


def _in_help_topics() -> Iterator[tuple[str, str]]:
    from pydoc_data.topics import topics

    for topic, text in sorted(topics.items()):
        headings = [match.start() for match in _HEADING.finditer(text)]
        for number, (start, end) in enumerate(pairwise([0, *headings[1:], len(text)]), 1):
            yield f"help:{topic}" + (f".{number}" if number > 1 else ""), text[start:end]
