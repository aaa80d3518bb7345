"""``python -m tdv_lucene``: the same as the ``tdv-lucene`` command."""

from .cli import main

if __name__ == "__main__":  # the processes that work on shards import it under another name
    main()
