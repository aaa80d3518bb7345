"""The templates of the pages, set so that whatever is put into them is shown and does nothing."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from .wording import counted, shortened, visible

_TEMPLATES = Path(__file__).parent / "templates"


@cache
def asset(name: str) -> str:
    """A file of ours that a page loads or holds."""
    return (_TEMPLATES / name).read_text(encoding="utf-8")


@cache  # reading and compiling one takes longer than filling it
def template(name: str) -> jinja2.Template:
    """The template ``name``; a name that it is not given raises when it is rendered."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        finalize=_shown,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"counted": counted, "shortened": shortened}
    return environment.get_template(name)


def _shown(value: Any) -> Any:
    """What stands in for a value on the page, before it is escaped."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value
