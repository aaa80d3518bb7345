"""Options: each is one field of one config. Functions, commands, help and checks are made of it.

    class PruneConfig(OfField, Threads, Overwrite):
        scale: float | str = option("auto", "Multiply frequencies by this.", metavar="NUMBER")

A field's type, default and text are the option's. A rule for several options is the method
``validate``; what an option needs beside it stands in ``EFFECTS``. A config has its bases' options.
"""

from __future__ import annotations

import difflib
import inspect
import re
import textwrap
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any, ClassVar, Self, cast, dataclass_transform

from .arguments import LARGEST_SEED, MOST_THREADS, within
from .errors import TdvError, argument

PYTHON_ONLY = ""
"""The flag of an option that the command line does not have, or writes otherwise."""

INPUT, RESOURCES, TRAINING, VECTORS = "Input", "Resources", "Training", "Word vectors"


@dataclass(frozen=True)
class Option:
    """An option: what its field says, and what :func:`option` was told of it.

    Attributes
    ----------
    help
        Verb first; ends with the default in brackets where that is not ``default``.
    flag
        Without dashes, where it is not the name; :data:`PYTHON_ONLY` for none.
    choices, least, most, remedy
        The texts, or the range of numbers, that are legal; what to try in place of others.
    check
        Called with a value and the option's name; raises :class:`TdvError`.
    group
        The heading in ``--help-all``; None for options that ``--help`` shows.
    multiple
        Whether the flag may be repeated.
    name, kind, default
        The field's name, its annotation, and its default.
    """

    help: str
    flag: str | None = None
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    remedy: str = ""
    check: Callable[[Any, str], object] | None = None
    group: str | None = None
    metavar: str | None = None
    multiple: bool = False
    name: str = ""
    kind: str = ""
    default: Any = None

    def refuse(self, value: Any) -> None:
        """Raise :class:`TdvError` when the option cannot have this value."""
        if value is None and self.default is None:
            return
        if self.choices and isinstance(value, str) and value not in self.choices:
            raise TdvError(
                f"{argument(self.name)} must be one of {', '.join(self.choices)}, got '{value}'"
            )
        if self.least is not None:
            within(self.name, value, self.least, self.most, self.remedy)
        if self.check is not None:
            self.check(value, self.name)


def option(default: Any, help: str, **told: Any) -> Any:  # noqa: A002 - click's and argparse's word
    """Return the field of an option; ``told`` is the rest of what :class:`Option` takes."""
    return field(default=default, metadata={"option": Option(help, **told)})


@dataclass(frozen=True)
class Effect:
    """Beside what an option has an effect: only with some values of another.

    What has no effect is refused, not ignored.

    Attributes
    ----------
    options, beside
        Names: of the options, and of the other one.
    reason
        Why, after "--this has no effect with --that: ".
    only
        The values of the other beside which they have one; None stands for one that is not given.
    unless
        In place of ``only``: the values beside which they have none; ``(None,)`` where the other
        must be given.
    """

    options: tuple[str, ...]
    beside: str
    reason: str
    only: tuple[Any, ...] = ()
    unless: tuple[Any, ...] = ()

    def is_had(self, other: Any) -> bool:
        """Whether the options have their effect beside this value."""
        return other not in self.unless if self.unless else other in self.only


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Config:
    """The options of a stage: a frozen dataclass, checked when it is made.

    Attributes
    ----------
    OPTIONS : name -> :class:`Option`
        Those of the class itself before those of its bases.
    EFFECTS : tuple of :class:`Effect`
        A class names its own, and has those of its bases too. They may also be about the inputs
        that the stage's function takes.
    """

    OPTIONS: ClassVar[Mapping[str, Option]] = {}
    EFFECTS: ClassVar[tuple[Effect, ...]] = ()

    def __init_subclass__(cls, numbers: Mapping[str, Any] = MappingProxyType({})) -> None:
        """Take ``numbers``, fields by name that are not known before, as if they stood in it."""
        super().__init_subclass__()
        for name, each in numbers.items():
            setattr(cls, name, each)
            cls.__annotations__[name] = "float | None"
        dataclass(frozen=True, kw_only=True)(cls)
        found: dict[str, Option] = {
            each.name: replace(
                each.metadata["option"], name=each.name, kind=str(each.type), default=each.default
            )
            for each in fields(cast(Any, cls))
        }
        order = [name for base in cls.__mro__ for name in vars(base).get("__annotations__", ())]
        cls.OPTIONS = {name: found[name] for name in dict.fromkeys(order) if name in found}
        effects = [each for base in cls.__mro__ for each in vars(base).get("EFFECTS", ())]
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
        """The options that are not at their defaults."""
        return {n: x for n, x in vars(self).items() if x != self.OPTIONS[n].default}

    @classmethod
    def of(cls, config: Self | None, options: Mapping[str, Any], **inputs: Any) -> Self:
        """Return what a public function was given as one config.

        Raises :class:`TdvError` when there is no such option, one is out of its range, has no
        effect beside others, or is given beside a config.

        Parameters
        ----------
        config
            What the caller passed as ``config``.
        options
            What the caller passed by name in its place. One that is None, or False where that is
            the default, asks for nothing: programs pass on what they were not given.
        inputs
            What else the function takes and :attr:`EFFECTS` name.
        """
        for name in options.keys() - cls.OPTIONS.keys():
            raise TdvError(f"no option '{name}'{_meant(name, cls.OPTIONS)}")
        given = [name for name, value in options.items() if cls.OPTIONS[name].default != value
                 or not (value is None or value is False)]  # fmt: skip
        if config is None:
            made = cls(**options)
        elif not isinstance(config, cls):
            raise TdvError(f"{argument('config')} must be a {cls.__name__}, got {config!r}")
        elif given:
            raise TdvError(
                f"{argument(given[0])} is given beside {argument('config')}: put it into the "
                f"{cls.__name__}"
            )
        else:
            made, given = config, [*config.changed()]
        given += [name for name, value in inputs.items() if value is not None]
        refuse_idle(cls.EFFECTS, given, {**vars(made), **inputs})
        return made


def refuse_idle(
    effects: Iterable[Effect], given: Collection[str], values: Mapping[str, Any]
) -> None:
    """Refuse an option that was ``given`` and has no effect beside all ``values``."""
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


def _meant(name: str, known: Collection[str]) -> str:
    """A remedy for an option that does not exist."""
    close = difflib.get_close_matches(name, known, 1)
    return f": did you mean '{close[0]}'?" if close else f": choose from {', '.join(known)}"


def _documented(cls: type[Config]) -> str:
    """The docstring of a config: its own, then its options."""
    lines = [inspect.cleandoc(cls.__doc__ or ""), "", "Attributes", "----------"]
    for each in cls.OPTIONS.values():
        lines.append(f"{each.name} : {each.kind}, default {each.default!r}")
        told = re.sub(r"--([a-z][a-z-]*)", lambda flag: flag[1].replace("-", "_"), each.help)
        lines += textwrap.wrap(told, 92, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines)


class OfField(Config):
    """Of what works on a field."""

    field: str = option("contents", "Use this field.")


class Named(Config):
    """Of what names documents."""

    id_field: str | None = option(
        None,
        "Take document ids from this field, stored or with doc values. none: use Lucene's document "
        "numbers.  "
        "[default: as the index records, else 'id', else none]",
        metavar="NAME", group=INPUT,
    )  # fmt: skip


class TopicField(Config):
    """Of what reads topics."""

    topic_field: str = option(
        "title", "Use this part of each TREC topic or JSON line as the query.",
        choices=("title", "desc", "narr"), group=INPUT,
    )  # fmt: skip
    topic_reader: str | None = option(
        None, "Read topics with Anserini's class NAMETopicReader.  [default: by their content]",
        metavar="NAME", group=INPUT,
    )  # fmt: skip


class Seed(Config):
    """Of what is random."""

    seed: int = option(0, "Set the random seed.", least=0, most=LARGEST_SEED, group=TRAINING)


class Threads(Config):
    """Of what several threads do."""

    threads: int | None = option(
        None, "Use this many threads.  [default: all cores]",
        least=1, most=MOST_THREADS, group=RESOURCES,
    )  # fmt: skip


class Overwrite(Config):
    """Of what writes a result."""

    overwrite: bool = option(False, "Replace an existing result of this command.")
