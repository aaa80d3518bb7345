"""Arguments that several stages take: what is legal for them, where they have an effect, and how
options become a config.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import wraps
from typing import Any, ClassVar, ParamSpec, Protocol, TypeVar

from .errors import TdvError, argument


class _Dataclass(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Any]]


Config = TypeVar("Config", bound=_Dataclass)
Given = ParamSpec("Given")
Result = TypeVar("Result")

MOST_THREADS = 1024
MOST_HITS = 1_000_000
"""Documents a query: Lucene sets memory aside for as many."""

LARGEST_PORT = 2**16 - 1

LARGEST_SEED = 2**32 - 1
"""The most that every generator in use takes."""

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12,
          "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}  # fmt: skip


SHARD_SEPARATOR = "\x1e"
"""Between the folders of shards in what Java takes for a path: ASCII's record separator."""


@dataclass(frozen=True)
class Shards(os.PathLike[str]):
    """One index in several folders, its shards; most functions take it where they take a path.

    Its documents are those of the first, then those of the second, and so on; its statistics are
    those of all of them. :func:`tdv_lucene.find_shards` makes one and checks it.

    Attributes
    ----------
    folders : tuple of str
        Absolute, each another.
    scheduler : str or None
        Address of the Dask scheduler whose workers do what is done shard by shard; None for
        processes of this machine.
    resources : tuple of str
        Which of Dask's resources the workers have that see each folder; empty where all see them,
        and we.
    """

    folders: tuple[str, ...]
    scheduler: str | None = None
    resources: tuple[str, ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """What users call each: its folder, after the resource if it has one."""
        if not self.resources:
            return self.folders
        return tuple(f"{name}={folder}" for name, folder in zip(self.resources, self.folders))

    @property
    def resources_by_label(self) -> dict[str, str]:
        """Label -> resource; empty where all see the folders."""
        return dict(zip(self.labels, self.resources))

    @property
    def folders_here(self) -> tuple[str, ...]:
        """The folders, to be read in this process.

        Raises
        ------
        TdvError
            When only some workers see them.
        """
        if self.resources:
            names = ", ".join(dict.fromkeys(self.resources))
            raise TdvError(
                f"{self} lie where only workers with the resources {names} see them: 'search', "
                "'prune' and 'verify' with TDVs work there, all else needs folders that are seen "
                "here, without RESOURCE="
            )
        return self.folders

    @property
    def names(self) -> tuple[str, ...]:
        """The folders' own names, in their order."""
        return tuple(os.path.basename(folder) for folder in self.folders)

    def __fspath__(self) -> str:
        return SHARD_SEPARATOR.join(self.folders_here)

    def __str__(self) -> str:
        above = os.path.commonpath([os.path.dirname(folder) for folder in self.folders])
        return f"{len(self.folders)} shards of {above}"


def absolute(index: str | os.PathLike[str]) -> str:
    """How an index is named in records and reports: its absolute path; of shards, their folder."""
    return str(index) if isinstance(index, Shards) else os.path.abspath(index)


def checked_threads(threads: int | None, name: str = "threads") -> int:
    """Return ``threads``; None means one a core.

    Raises
    ------
    TdvError
        When it is not from 1 to :data:`MOST_THREADS`; ``name`` is what the caller calls it.
    """
    if threads is None:
        return os.cpu_count() or 1
    return _within(name, threads, 1, MOST_THREADS)


def checked_hits(hits: int, name: str = "hits") -> int:
    """Return ``hits``, or raise :class:`TdvError` when it is not from 1 to :data:`MOST_HITS`;
    ``name`` is what the caller calls it."""
    return _within(name, hits, 1, MOST_HITS)


def checked_seed(seed: int) -> int:
    """Return ``seed``, or raise :class:`TdvError` when it is not from 0 to :data:`LARGEST_SEED`."""
    return _within("seed", seed, 0, LARGEST_SEED)


def checked_port(port: int) -> int:
    """Return ``port``, 0 for any that is free, or raise :class:`TdvError` when there is no such."""
    return _within("port", port, 0, LARGEST_PORT)


def _within(name: str, value: int, least: int, most: int) -> int:
    if not least <= value <= most:
        raise TdvError(
            f"{argument(name)} must be at least {least}, got {value}, and at most {most}"
        )
    return value


def parse_bytes(text: str | int, name: str = "max_bytes") -> int:
    """Return the number in ``25MB``, ``1.5 GiB``, ``25000000``; k, M, G are powers of 1000.

    Raises
    ------
    TdvError
        When it is not such a number above 0; ``name`` is what the caller calls it.
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?i?)b?\s*", str(text).lower())
    number = float(found[1]) * _UNITS.get(found[2], 0) if found else 0
    if number < 1:
        raise TdvError(f"{argument(name)} must be a size such as 25MB or 1.5GiB, got '{text}'")
    return int(number)


def checked_reduction(reduction: float) -> float:
    """Return ``reduction``, or raise :class:`TdvError` when it is not within [0, 1)."""
    if not 0 <= reduction < 1:
        raise TdvError(f"{argument('reduction')} must lie within [0, 1), got {reduction}: try 0.45")
    return reduction


def gathered(kind: type[Config], config: Config | None, given: Mapping[str, Any]) -> Config:
    """Return the options of a public function as one config.

    Public functions name their options in the signature, for ``help()`` and for editors, and also
    take them together as ``config``.

    Parameters
    ----------
    kind
        A dataclass of options, each with a default.
    config
        What the caller passed as ``config``; None makes one from ``given``.
    given
        All arguments of the function, its ``locals()`` before it does anything else.

    Raises
    ------
    TdvError
        When an option is out of its range, or is given beside ``config``.
    """
    options = {field.name: given[field.name] for field in fields(kind)}
    if config is None:
        return kind(**options)
    for field in fields(kind):
        if options[field.name] != field.default:
            raise TdvError(
                f"{argument(field.name)} is given beside {argument('config')}: put it into the "
                f"{kind.__name__}"
            )
    return config


ANYTHING: Any = object()
"""In :attr:`Effect.only`: whatever the other option is, if it is given."""


@dataclass(frozen=True)
class Effect:
    """Beside what an option has an effect: only with some values of another.

    Each stage has a table of these beside its options; what has no effect is refused, not ignored.

    Attributes
    ----------
    options : tuple of str
    beside : str
        The other option.
    reason : str
        Why, after "--this has no effect with --that: ".
    only : tuple
        The values of the other beside which they have one; None stands for one that is not given.
    unless : tuple
        In place of ``only``: the values beside which they have none.
    """

    options: tuple[str, ...]
    beside: str
    reason: str
    only: tuple[Any, ...] = ()
    unless: tuple[Any, ...] = ()

    def is_had(self, other: Any) -> bool:
        """Whether the options have their effect beside this value."""
        if self.unless:
            return other not in self.unless
        return other in self.only or (ANYTHING in self.only and other is not None)


def refuse_idle(
    effects: Iterable[Effect], given: Collection[str], values: Mapping[str, Any]
) -> None:
    """Raise :class:`TdvError` where an option that was ``given`` has no effect beside the others.

    ``values`` has all options, also those at their defaults.
    """
    for effect in effects:
        idle = [name for name in effect.options if name in given]
        if not idle or effect.beside not in values or effect.is_had(values[effect.beside]):
            continue
        names = [argument(n, values[n] if isinstance(values[n], bool) else None) for n in idle]
        raise TdvError(
            f"{_listed(names)} {'has' if len(names) == 1 else 'have'} no effect "
            f"{_beside(effect.beside, values[effect.beside])}: {effect.reason}; "
            f"leave {'it' if len(names) == 1 else 'them'} out"
        )


def _beside(name: str, value: Any) -> str:
    if value in (None, ()):
        return f"without {argument(name)}"
    return f"with {argument(name, value if isinstance(value, (str, bool)) else None)}"


def _listed(names: list[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def changed(config: _Dataclass) -> dict[str, Any]:
    """The options of a config that are not at their defaults."""
    values = ((field, getattr(config, field.name)) for field in fields(config))
    return {field.name: value for field, value in values if value != field.default}


def refuses_idle(*effects: Effect) -> Callable[[Callable[Given, Result]], Callable[Given, Result]]:
    """Let a public function refuse, before anything else, options that have no effect.

    An option is given if the caller wrote it down, at its default too, or if it is not at its
    default in the ``config``. None, and False where it is the default, ask for nothing.
    """

    def decorate(function: Callable[Given, Result]) -> Callable[Given, Result]:
        signature = inspect.signature(function)
        defaults = {name: each.default for name, each in signature.parameters.items()}

        @wraps(function)
        def refusing(*args: Given.args, **kwargs: Given.kwargs) -> Result:
            bound = signature.bind(*args, **kwargs)
            given = {
                name for name, value in bound.arguments.items()
                if value is not None and not (value is False and defaults[name] is False)
            }  # fmt: skip
            bound.apply_defaults()
            in_config = changed(bound.arguments["config"]) if "config" in given else {}
            refuse_idle(effects, {*given, *in_config}, {**bound.arguments, **in_config})
            return function(*args, **kwargs)

        refusing.effects = effects  # type: ignore[attr-defined]
        return refusing

    return decorate
