"""``python -m tdv_lucene``: the same as the ``tdv-lucene`` command."""

from .cli import main

main()
