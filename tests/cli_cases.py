"""Random command lines: valid and broken options, and files of every sort of damage.

Options are read from the commands themselves, so that a new command or option is tried without a
word here. ``VALUES`` and ``FILES`` know what makes a valid one; anything else is guessed by type.
"""

from __future__ import annotations

import random
import shutil
from dataclasses import dataclass
from pathlib import Path

import click
from commands import COMMANDS
from impact_documents import LAYOUT as IMPACT
from impact_documents import impact_documents
from lucene_indexes import Layout, bytes_that_are_no_text, features, write_documents, write_index
from tiny_collection import TINY_TEXTS, tiny_segments

from tdv_lucene.matrix.embed import embed_terms
from tdv_lucene.matrix.extract import extract_matrix
from tdv_lucene.output import Output
from tdv_lucene.pruning.prune import prune_index
from tdv_lucene.searching.search import search_index
from tdv_lucene.values.peers import make_peer_values

WEIGHTS = {
    "search": 18, "prune": 18, "extract": 12, "embed": 10, "peers": 10, "verify": 8, "explain": 8,
    "inspect": 6, "compare": 3, "learn": 4, "index": 2, "paper reproduce": 1, "demo": 1,
}  # fmt: skip
"""How often a command is tried; others, 4."""

RESULTS = ("matrix", "run")
LONG = {"paper reproduce", "demo"}
"""Take minutes where all is well, so one thing is wrong at least."""

ENDLESS = {"update"}
"""Does not end by itself, and is not tried."""

FILES = {
    "index": "index", "indexes": "index", "pruned": "pruned", "topics": "topics.tsv",
    "qrels": "qrels.txt", "tune_topics": "topics.tsv", "tune_qrels": "qrels.txt",
    "matrix": "matrix", "output": None,
    "queries": "log.tsv", "train_topics": "topics.tsv", "train_qrels": "qrels.txt",
}  # fmt: skip
"""What options are files: those of ``make_home``; None for what is written."""

ODD = {
    "index": ("twice", "vectors-only", "impact", "features", "bytes", "positions"),
    "topics.tsv": ("documents.tsv", "empty.jsonl"),
}
"""What other programs write in place of these; every command serves it, or refuses it by name."""

VALUES: dict[str, tuple[str, ...]] = {
    "vectors": ("lsa", "vectors", "words.vec", "train"),
    "values": ("values", "postings"),
    "field": ("contents", "title"),
    "query": ("quick fox", "term", "index of documents", "zebra"),
    "max_bytes": ("25MB", "9kB", "900"),
    "scale": ("auto", "4", "0.5"),
    "models": ("bm25", "tfidf"),
    "neural": ("drmm", "all"),
    "seed": ("0", "1", "17"),
    "threads": ("1", "2"),
    "hits": ("1", "10", "1000"),
    "reduction": ("0", "0.3", "0.45"),
    "max_loss": ("0.01",),
    "dimensions": ("2", "100"),
    "min_doc_freq": ("1", "2"),
    "latency_budget_seconds": ("0.2",),
    "folds": ("2", "5"),
    "b": ("0", "0.4", "1"),
    "search_as": ("anserini", "lucene", "recorded", "0.9,0.4"),
    "fidelity": ("0", "0.5"),
    "margin": ("0", "0.8"),
    "max_terms": ("1", "1000"),
    "stopwords": ("none",),
    "language": ("en",),
    "analyzer": ("org.apache.lucene.analysis.core.WhitespaceAnalyzer",),
    "id_field": ("id",),
}
WAYS: dict[str, tuple[tuple[str, ...], ...]] = {
    "prune": (
        ("values",), ("values", "reduction"), ("values", "reduction", "tf"),
        ("values", "max_bytes"),
        ("values", "reduction", "tiers"), ("values", "reduction", "tiers", "depth"),
        ("values", "reduction", "tiers", "margin"),
        ("values", "queries", "tiers", "fidelity"),
        ("reduction",), ("reduction", "tiers"), ("expect",), (),
    ),
}  # fmt: skip
"""Options that go together: what is to go well has those of one way, and none of another's."""
UNLIKELY = {"field", "scheduler", "pretokenized", "analyzer", "language", "stemmer", "stopwords"}
"""Most lines are refused with them, for what indexes record or for not being of shards."""
ALWAYS = {"compare": ["--latency-budget", "0.2"]}
_POSITIONS = "DOCS_AND_FREQS_AND_POSITIONS"
NUMBERS = ("0", "-1", "1", "3", "0.5", "1e308", "-1e-9", "nan", "inf", "99999999999999999999", "")
WORDS = ("", " ", "-", "--", "x", "ü\u202e", "[b]", "a\nb", "x" * 300, "=", "a=b", "..", "%s", "\t")


@dataclass(frozen=True)
class Case:
    """A command line, run in ``place``.

    Attributes
    ----------
    inputs
        What must be as before: ``make_home``'s folder and that of the damaged copies.
    outputs
        What it may write to; those of them that existed before are inputs as well.
    interrupted
        Seconds after which the command is interrupted; None for not at all.
    """

    command: str
    arguments: list[str]
    place: Path
    inputs: tuple[Path, ...]
    outputs: tuple[Path, ...]
    interrupted: float | None


def make_home(home: Path) -> None:
    """Write a small one of everything."""
    write_index(home / "index", tiny_segments())
    segments = tiny_segments(5)
    write_index(home / "positions", segments, Layout(options=_POSITIONS))
    write_index(home / "empty-index", [])
    write_index(home / "twice", [*segments, *segments])
    write_index(home / "vectors-only", segments, Layout(options=_POSITIONS, vectors="v"))
    write_index(home / "impact", [impact_documents()], IMPACT)
    for name, document in (("features", features), ("bytes", bytes_that_are_no_text)):
        write_documents(home / name, [document(number) for number in range(12)])
    extract_matrix(home / "index", home / "matrix")
    embed_terms(home / "index", home / "vectors", dimensions=2, min_doc_freq=1)
    make_peer_values(home / "index", home / "values", "ridf")
    make_peer_values(home / "index", home / "postings", "carmel-delta")
    prune_index(home / "index", home / "values", home / "pruned", reduction=0.3)
    topics = {f"q{i}": " ".join(text.split()[:3]) for i, text in enumerate(TINY_TEXTS)}
    lines = [f"{qid}\t{text}\n" for qid, text in topics.items()]
    (home / "topics.tsv").write_text("".join(lines))
    log = [f"{again}-{line}" for again in range(3) for line in lines]
    (home / "log.tsv").write_text("".join(log))
    (home / "qrels.txt").write_text("".join(f"q{i} 0 d{i} 1\n" for i in range(len(topics))))
    (home / "words.vec").write_text("3 2\nquick 0.1 0.2\nindex 0.3 0.1\nterm 0.2 0.2\n")
    search_index(home / "index", topics, home / "run")
    (home / "documents.tsv").write_text("d0\tquick fox\nd1\tbrown dog\nempty\t\n")
    (home / "empty.jsonl").write_text(
        '{"id": "q0", "vector": {"all": 2}}\n{"id": "q1", "vector": {}}'
    )
    (home / "docs").mkdir()
    (home / "docs" / "docs.jsonl").write_text('{"id": "d0", "contents": "quick fox"}\n')
    (home / "nothing").write_bytes(b"")
    (home / "noise").write_bytes(random.Random(0).randbytes(3000))
    (home / "latin").write_bytes("1\tcafé\n".encode("latin-1"))
    (home / "folder").mkdir()
    (home / "folder" / "thesis.tex").write_text("years of work")
    (home / "loop").symlink_to(home / "loop")


def random_case(seed: int, home: Path, place: Path, share_interrupted: float) -> Case:
    """Make the case of this seed; damaged copies and outputs lie in ``place`` (existing, empty)."""
    return _Maker(random.Random(seed), home, place).case(share_interrupted)


class _Maker:
    def __init__(self, rng: random.Random, home: Path, place: Path) -> None:
        self._rng, self._home, self._place = rng, home, place
        self._outputs: list[Path] = []
        self._damaged = place / "damaged"
        self._damaged.mkdir()

    def case(self, share_interrupted: float) -> Case:
        rng = self._rng
        names = [name for name in COMMANDS if name not in ENDLESS]
        name = rng.choices(names, [WEIGHTS.get(n, 4) for n in names])[0]
        self._command = name
        wrongness = 1.0 if name in LONG else rng.choice([0, 0, 0, 0.1, 0.3])
        words = [*name.split(), *self._options(name, wrongness), *ALWAYS.get(name, [])]
        if name == "index":
            words += self._flags_of_anserini(wrongness)
        before = self._global(wrongness)
        interrupted = rng.uniform(0, 4) if rng.random() < share_interrupted else None
        return Case(
            name, [*before, *words], self._place, (self._home, self._damaged),
            tuple(self._outputs), interrupted,
        )  # fmt: skip

    def _global(self, wrongness: float) -> list[str]:
        words = ["-v"] if self._rng.random() < 0.1 else []
        if self._rng.random() < 0.02:
            words += ["--heap", self._rng.choice(["300m", "1k", "x", "", "100000g"])]
        return words

    def _options(self, name: str, wrongness: float) -> list[str]:
        rng, words = self._rng, []
        options = [option for option in COMMANDS[name].params if isinstance(option, click.Option)]
        chosen = self._chosen(name, options) if wrongness < 0.2 else None
        for option in options:
            if self._needed(option):
                wanted = rng.random() < 1 - wrongness / 5
            else:
                wanted = option.name in chosen if chosen is not None else rng.random() < 0.2
            if not wanted and option.name != "output":
                continue
            if option.is_flag:
                words.append(rng.choice([*option.opts, *option.secondary_opts]))
                continue
            times = [1] if option.name in ("index", "values") and wrongness < 0.2 else [1, 1, 1, 2]
            for _ in range(rng.choice(times) if option.multiple else 1):
                values = [self._value(option, wrongness) for _ in range(option.nargs)]
                words += [rng.choice(option.opts), *values]
        if rng.random() < wrongness / 10:
            words.append(rng.choice(["--bogus", "extra", *WORDS]))
        return words

    def _chosen(self, name: str, options: list[click.Option]) -> set[str]:
        """Few of the options that a command can do without: many exclude each other."""
        ways = WAYS.get(name, ((),))
        of_ways = {option for way in ways for option in way} | UNLIKELY
        others = [option.name for option in options if option.name not in of_ways]
        few = {option for option in others if self._rng.random() < 1.5 / len(options)}
        if self._rng.random() < 0.1:
            few.add(self._rng.choice(sorted(UNLIKELY)))
        return {*self._rng.choice(ways), *few}

    @staticmethod
    def _needed(option: click.Option) -> bool:
        return option.required or option.name in ("topics", "qrels", "pruned", "output")

    def _value(self, option: click.Option, wrongness: float) -> str:
        rng = self._rng
        wrong = rng.random() < wrongness
        if option.name == "output":
            return self._new_place(wrong)
        if option.name in FILES:
            return self._file(FILES[option.name], wrong)
        if isinstance(option.type, click.Choice) and not wrong:
            return rng.choice(list(option.type.choices))
        if option.name in VALUES and not wrong:
            found = rng.choice(VALUES[option.name])
            return str(self._home / found) if (self._home / found).exists() else found
        if option.name in VALUES and (self._home / VALUES[option.name][0]).exists():
            return self._file(VALUES[option.name][0], wrong=True)
        if option.type.name in ("integer", "float"):
            good = ("1", "2") if option.type.name == "integer" else ("1", "2", "0.5")
            return rng.choice(NUMBERS if wrong else good)
        return rng.choice([*WORDS, *NUMBERS])

    def _file(self, name: str, wrong: bool) -> str:
        rng = self._rng
        if not wrong:
            chosen = rng.choice(ODD[name]) if name in ODD and rng.random() < 0.2 else name
            return str(self._home / chosen)
        others = sorted(path.name for path in self._home.iterdir())
        return rng.choice([self._copy_damaged, self._copy_damaged, self._copy_damaged,
            lambda _: str(self._home / rng.choice(others)),
            lambda _: str(self._place / "missing"),
            lambda _: rng.choice(WORDS),
        ])(name)  # fmt: skip

    def _copy_damaged(self, name: str) -> str:
        """A copy with a file of it changed."""
        source, copy = self._home / name, self._damaged / f"{len(list(self._damaged.iterdir()))}"
        if source.is_dir():
            shutil.copytree(source, copy)
            files = sorted(path for path in copy.rglob("*") if path.is_file())
        else:
            copy = copy.with_suffix(source.suffix)
            shutil.copy(source, copy)
            files = [copy]
        file, damage = self._rng.choice(files), self._rng.choice(DAMAGES)
        if damage is None:
            file.unlink()
        else:
            file.write_bytes(damage(file.read_bytes(), self._rng))
        return str(copy)

    def _new_place(self, wrong: bool) -> str:
        rng = self._rng
        place = self._place / f"out{len(self._outputs)}"
        if wrong:
            if rng.random() < 0.2:
                return rng.choice(["", ".", "/", "..", "/dev/null", "x" * 300])
            home = self._home
            # With --overwrite these two may replace a result of their own, which is no input.
            result = "values" if self._command in ("extract", "search") else rng.choice(RESULTS)
            taken = rng.choice([None, home / "folder", home / "index", home / result,
                home / "index" / "new", self._place / "no" / "where",
                home, home / "loop"])  # fmt: skip
            place = taken or self._old(place)
        self._outputs.append(place)
        return str(place)

    def _old(self, place: Path) -> Path:
        """A result that may be replaced, if the kind is right."""
        kind = self._rng.choice(["matrix", "term-values", "term-vectors", "run", "comparison"])
        old = Output(place, kind, is_folder=kind != "run", inputs=())
        with old as path:
            (path if kind == "run" else path / "content").write_text("x")
            old.write_manifest({})
        return place

    def _flags_of_anserini(self, wrongness: float) -> list[str]:
        rng = self._rng
        documents = self._file("docs", rng.random() < wrongness)
        words = ["-collection", "JsonCollection", "-input", documents, "-threads", "1",
                 "-generator", "DefaultLuceneDocumentGenerator"]  # fmt: skip
        if rng.random() < wrongness:
            words[rng.randrange(len(words))] = rng.choice(WORDS)
        return words


def _flip(content: bytes, rng: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.choice([1, 1, 3]) if content else 0):
        changed[rng.randrange(len(changed))] ^= rng.randrange(1, 256)
    return bytes(changed)


def _cut(content: bytes, rng: random.Random) -> bytes:
    return content[: rng.randrange(len(content) + 1)]


def _lengthen(content: bytes, rng: random.Random) -> bytes:
    return content + rng.randbytes(rng.randrange(1, 40))


def _insert(content: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(content) + 1)
    word = rng.choice([b"\0", b"\n", b"\t", b" ", b"\xff", b"nan", b"-1", b"[b]", b"\xe2\x80\xae"])
    return content[:at] + word + content[at:]


DAMAGES = (_flip, _flip, _cut, _lengthen, _insert, _insert, None)  # None: it is not there
