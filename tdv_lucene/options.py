"""Options: each is one field of one config. Functions, commands, help and checks are made of it.

    @dataclass(frozen=True, kw_only=True)
    class PruneConfig(OfField, Threads, Overwrite):
        scale: float | str = option("auto", "Multiply frequencies by this.", metavar="NUMBER")

A field's type, default and text are the option's. Rules for several options are the method
``validate`` and, for an option that is useless beside another, ``EFFECTS``.
"""

from __future__ import annotations

import difflib
import inspect
import re
import textwrap
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, ClassVar, Self

from .arguments import LARGEST_SEED, MOST_THREADS, within
from .errors import TdvError

PYTHON_ONLY = ""
"""The flag of an option that the command line does not have, or writes otherwise."""

INPUT, RESOURCES, TRAINING, VECTORS = "Input", "Resources", "Training", "Word vectors"


@dataclass(frozen=True)
class Option:
    """An option: its field, and what :func:`option` was given."""

    help: str  # verb first; ends with the default in brackets where that is not ``default``
    flag: str | None = None  # without dashes, where it is not the name; PYTHON_ONLY for none
    choices: tuple[str, ...] = ()  # the legal texts
    least: float | None = None  # the legal range of numbers
    most: float | None = None
    remedy: str = ""  # what to try instead of others
    check: Callable[[Any, str], object] | None = None  # of a value and the name; raises TdvError
    group: str | None = None  # heading in --help-all; None for options that --help shows
    metavar: str | None = None
    multiple: bool = False  # the flag may be repeated
    name: str = ""  # of the field, with its annotation and default
    kind: str = ""
    default: Any = None

    def refuse(self, value: Any) -> None:
        """Raise :class:`TdvError` when the option cannot have this value."""
        if value is None and self.default is None:
            return
        if self.choices and isinstance(value, str) and value not in self.choices:
            raise TdvError(f"{self.name} must be one of {', '.join(self.choices)}, got '{value}'")
        if self.least is not None:
            within(self.name, value, self.least, self.most, self.remedy)
        if self.check is not None:
            self.check(value, self.name)


def option(default: Any, help: str, **more: Any) -> Any:  # noqa: A002 - click's and argparse's word
    """Return the field of an option; ``more`` are the other attributes of :class:`Option`."""
    return field(default=default, metadata={"option": Option(help, **more)})


@dataclass(frozen=True)
class Effect:
    """The values of another option with which options have an effect. Without, they are refused."""

    options: tuple[str, ...]  # names
    beside: str  # name of the other one
    reason: str  # why there is no effect
    only: tuple[Any, ...] = ()  # values of the other with an effect; None: it is not given
    unless: tuple[Any, ...] = ()  # or those without one; (None,) where the other must be given


@dataclass(frozen=True, kw_only=True)
class Config:
    """The options of a stage, checked when it is made. Derive frozen dataclasses from it.

    ``OPTIONS``, name -> :class:`Option`, has those of the class itself before those of its bases.
    ``EFFECTS`` of the class and its bases may also be about the inputs of the stage's function.
    """

    OPTIONS: ClassVar[Mapping[str, Option]] = {}
    EFFECTS: ClassVar[tuple[Effect, ...]] = ()

    def __init_subclass__(cls, numbers: Mapping[str, Any] = MappingProxyType({})) -> None:
        """Collect the options; ``numbers`` are further fields, by names known at run time only."""
        super().__init_subclass__()
        for name, each in numbers.items():
            setattr(cls, name, each)
            cls.__annotations__[name] = "float | None"
        own = {}
        for name, kind in vars(cls).get("__annotations__", {}).items():
            each = vars(cls)[name]  # a field, until the class is made a dataclass
            own[name] = replace(each.metadata["option"], name=name, kind=kind, default=each.default)
        bases = [base for base in cls.__mro__[1:] if issubclass(base, Config)]
        order = dict.fromkeys(name for base in bases for name in base.OPTIONS)
        inherited = {name: each for base in reversed(bases) for name, each in base.OPTIONS.items()}
        cls.OPTIONS = {**own, **{name: inherited[name] for name in order if name not in own}}
        effects = [each for base in (cls, *bases) for each in vars(base).get("EFFECTS", ())]
        cls.EFFECTS = tuple(dict.fromkeys(effects))
        cls.__doc__ = _documented(cls)

    def __post_init__(self) -> None:
        for name, each in self.OPTIONS.items():
            each.refuse(getattr(self, name))
        self.validate()
        refuse_idle(self.EFFECTS, self.changed(), vars(self))

    def validate(self) -> None:
        """Raise :class:`TdvError` when options do not go together."""

    def changed(self) -> dict[str, Any]:
        """Return the options that are not at their defaults."""
        return {n: x for n, x in vars(self).items() if x != self.OPTIONS[n].default}

    @classmethod
    def of(cls, config: Self | None, options: Mapping[str, Any], **inputs: Any) -> Self:
        """Return the config that a public function was given, as ``config`` or by name.

        Programs pass on what they were not given: of ``options``, None, and False where that is the
        default, ask for nothing. ``inputs`` are what else the function takes and :attr:`EFFECTS`
        name. Raises :class:`TdvError` when there is no such option, one is out of its range, has no
        effect with others, or is given beside a config.
        """
        for name in options.keys() - cls.OPTIONS.keys():
            close = difflib.get_close_matches(name, cls.OPTIONS, 1)
            known = (
                f"did you mean '{close[0]}'?" if close else f"choose from {', '.join(cls.OPTIONS)}"
            )
            raise TdvError(f"no option '{name}': {known}")
        given = [name for name, value in options.items() if cls.OPTIONS[name].default != value
                 or not (value is None or value is False)]  # fmt: skip
        if config is None:
            made = cls(**options)
        elif not isinstance(config, cls):
            raise TdvError(f"config must be a {cls.__name__}, got {config!r}")
        elif given:
            raise TdvError(f"{given[0]} is given beside config: put it into the {cls.__name__}")
        else:
            made, given = config, [*config.changed()]
        given += [name for name, value in inputs.items() if value is not None]
        refuse_idle(cls.EFFECTS, given, {**vars(made), **inputs})
        return made


def refuse_idle(
    effects: Iterable[Effect], given: Collection[str], values: Mapping[str, Any]
) -> None:
    """Refuse an option that was ``given`` and has no effect with all ``values``."""
    for effect in effects:
        idle = [name for name in effect.options if name in given]
        if not idle or effect.beside not in values:
            continue
        beside, value = effect.beside, values[effect.beside]
        if value not in effect.unless if effect.unless else value in effect.only:
            continue
        has, it = ("has", "it") if len(idle) == 1 else ("have", "them")
        state = f"with {beside} {value}" if isinstance(value, str) else f"with {beside}"
        if value in (None, (), False):
            state = f"without {beside}"
        raise TdvError(
            f"{' and '.join(idle)} {has} no effect {state}: {effect.reason}; leave {it} out"
        )


def _documented(cls: type[Config]) -> str:
    lines = [inspect.cleandoc(cls.__doc__ or ""), "", "Attributes", "----------"]
    for each in cls.OPTIONS.values():
        lines.append(f"{each.name} : {each.kind}, default {each.default!r}")
        told = re.sub(r"--([a-z][a-z-]*)", lambda flag: flag[1].replace("-", "_"), each.help)
        lines += textwrap.wrap(told, 92, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines)


@dataclass(frozen=True, kw_only=True)
class OfField(Config):
    """The field."""

    field: str = option("contents", "Use this field.")


@dataclass(frozen=True, kw_only=True)
class Named(Config):
    """The field of document ids."""

    id_field: str | None = option(
        None,
        "Take document ids from this field, stored or with doc values. none: use Lucene's document "
        "numbers.  "
        "[default: as the index records, else 'id', else none]",
        metavar="NAME", group=INPUT,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class TopicField(Config):
    """Reading of topics."""

    topic_field: str = option(
        "title", "Use this part of each TREC topic or JSON line as the query.",
        choices=("title", "desc", "narr"), group=INPUT,
    )  # fmt: skip
    topic_reader: str | None = option(
        None, "Read topics with Anserini's class NAMETopicReader.  [default: by their content]",
        metavar="NAME", group=INPUT,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class OwnDocuments(Config):
    """Queries that are documents themselves."""

    remove_query: bool = option(
        False,
        "Leave out the document whose id is the query's, as Pyserini does: for queries that are "
        "documents themselves (ArguAna, Quora).",
        group=INPUT,
    )


@dataclass(frozen=True, kw_only=True)
class Seed(Config):
    """Random seed."""

    seed: int = option(0, "Set the random seed.", least=0, most=LARGEST_SEED, group=TRAINING)


@dataclass(frozen=True, kw_only=True)
class Threads(Config):
    """Number of threads."""

    threads: int | None = option(
        None, "Use this many threads.  [default: all cores]",
        least=1, most=MOST_THREADS, group=RESOURCES,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Overwrite(Config):
    """Replacing a result."""

    overwrite: bool = option(False, "Replace an existing result of this command.")
