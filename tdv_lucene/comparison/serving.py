"""A local page on which one types a query and sees the rankings of several indexes side by side.

Only this machine's browser can reach it, and of its pages only those that know the token: the
server listens on 127.0.0.1, every address begins with the token, and a request must name the
server as its host, so that no other site's name can be led here. Nothing is ever written.
"""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import TdvError, argument
from ..indexes.inspection import inspect_index
from .excerpts import WHOLE_LENGTH, excerpt, mark
from .side_by_side import Answer, SideBySide, explain_terms, lost_terms

if TYPE_CHECKING:
    from flask import Flask

HOST = "127.0.0.1"
DEPTH = 100
"""How deep the rank of a document is looked up in the other rankings."""

MOST_HITS = 50
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}

Ask = Callable[[str, int], dict[str, Any]]
"""Query and number of hits -> what :func:`answer` returns."""


def serve_indexes(
    indexes: Mapping[str, str | os.PathLike],
    *,
    port: int = 0,
    model: str | None = None,
    field: str = "contents",
    values: Mapping[str, str | os.PathLike] | None = None,
    hits: int = 10,
    ready: Callable[[str], None] = print,
) -> None:
    """Serve the page until interrupted by Ctrl-C, and return then.

    Parameters
    ----------
    indexes
        Name -> index; the first is the one the others are compared with.
    port
        0 takes any that is free.
    model
        None for what the further indexes record.
    values
        Name -> the term values this index was made with.
    hits
        Best documents shown, where the page's address does not say otherwise.
    ready
        Called with the page's address, once it answers.

    Raises
    ------
    TdvError
        When an index or values cannot be read, fewer than two are given, or the port is taken.
    """
    if len(indexes) < 2:
        raise TdvError(
            f"one index is nothing to compare: give a second one in {argument('indexes')}"
        )
    _check_hits(hits)
    # Java is called from one thread: requests wait in line, and none is left attached to the JVM.
    with ThreadPoolExecutor(1, "java") as java:
        opened = java.submit(SideBySide, indexes, model=model, field=field, values=values)
        with opened.result() as session:
            about = java.submit(_describe, session).result()

            def ask(query: str, number: int) -> dict[str, Any]:
                return java.submit(answer, session, query, number).result()

            _serve(about, ask, port, hits, ready)


def _serve(
    about: dict[str, Any], ask: Ask, port: int, hits: int, ready: Callable[[str], None]
) -> None:
    from werkzeug.serving import WSGIRequestHandler, make_server

    class Quiet(WSGIRequestHandler):
        """Without a line for each request: the addresses hold the token."""

        def log_request(self, *_: Any) -> None:
            pass

    token = secrets.token_urlsafe(24)
    app = make_app(about, ask, token, hits)
    with _listen(port) as listening:
        port = listening.getsockname()[1]
        app.config["HOSTS"] = frozenset({f"{HOST}:{port}", f"localhost:{port}"})
        server = make_server(
            HOST, port, app, threaded=True, request_handler=Quiet, fd=listening.fileno()
        )
        server.daemon_threads = True
        try:
            ready(f"http://{HOST}:{port}/{token}/")
            server.serve_forever()  # returns on Ctrl-C
        finally:
            server.server_close()


def _listen(port: int) -> socket.socket:
    try:
        return socket.create_server((HOST, port))
    except (OSError, OverflowError) as error:
        raise TdvError(
            f"cannot listen on port {port} of {HOST} ({error}): choose another "
            f"{argument('port')}, or give none for any that is free"
        ) from error


def make_app(about: dict[str, Any], ask: Ask, token: str, hits: int = 10) -> Flask:
    """The application; who serves it sets ``app.config["HOSTS"]``, the names it answers to."""
    import flask

    from ..report.serve_page import asset, render

    app = flask.Flask("tdv_lucene", static_folder=None)
    app.json.sort_keys = False  # the first index stays the first

    @app.before_request
    def guard() -> None:
        request = flask.request
        if request.host not in app.config.get("HOSTS", ()):
            flask.abort(403, "not for this host")
        given = request.path.split("/")[1].encode("utf-8", "replace")
        if not secrets.compare_digest(given, token.encode()):
            flask.abort(403, "use the address that 'tdv-lucene serve' printed")
        if request.method not in ("GET", "HEAD"):
            flask.abort(405)

    @app.after_request
    def headers(response: flask.Response) -> flask.Response:
        response.headers.update(_HEADERS)
        return response

    def asked() -> tuple[dict[str, Any] | None, str, int]:
        """(answer, what is wrong, status) of the request."""
        query = flask.request.args.get("q", "").strip()
        if not query:
            return None, "", 200
        try:
            return ask(query, _number(flask.request.args.get("hits"), hits)), "", 200
        except TdvError as error:
            return None, str(error), 400

    @app.get(f"/{token}/")
    def page() -> tuple[str, int]:
        found, wrong, status = asked()
        query = flask.request.args.get("q", "").strip()
        return render(about, query, found, wrong), status

    @app.get(f"/{token}/search.json")
    def search() -> tuple[flask.Response, int]:
        found, wrong, status = asked()
        if found is None and not wrong:
            wrong, status = "no query: ask search.json?q=...", 400
        return flask.jsonify({"error": wrong} if wrong else found), status

    @app.get(f"/{token}/serve.<kind>")
    def file(kind: str) -> flask.Response:
        if kind not in ("css", "js"):
            flask.abort(404)
        mime = {"css": "text/css", "js": "text/javascript"}[kind]
        return flask.Response(asset(f"serve.{kind}"), mimetype=mime)

    return app


def answer(session: SideBySide, query: str, hits: int) -> dict[str, Any]:
    """What the page shows of one query.

    Returns
    -------
    dict
        ``query``; ``hits``; ``depth``, how deep ranks are looked up; ``terms``: of each term of the
        query ``term``, ``in_query``, ``df`` (index name -> documents with it) and ``tdv`` (name of
        a further index -> value, 0 where dropped, None where unknown); ``indexes.NAME``: ``ms``,
        ``matching`` (documents that hold a term), ``hits`` and ``gone``, the documents that
        the first index has among its best and this one has not, each with ``document``,
        ``first_rank`` and ``rank`` (None below ``depth``). A hit has ``rank``, ``document``,
        ``score``, ``first_rank`` (in the first index), ``ranks`` (name of another index -> rank),
        ``lost`` (terms of which it lost its posting), ``excerpt`` and ``whole`` (lists of
        :class:`Piece` as dicts, None where no text is stored), ``cut`` (whether the whole is cut).

    Raises
    ------
    TdvError
        When nothing is left of the query after analysis, or ``hits`` is out of range.
    """
    _check_hits(hits)
    terms = session.analyze(query)
    answers = session.ask(query, list(terms), hits, DEPTH)
    times = session.time(query, hits)
    first, *others = answers
    explained = {
        name: explain_terms(terms, answers[first], answers[name], session.opened[name].shown.of)
        for name in others
    }
    return {
        "query": query,
        "hits": hits,
        "depth": DEPTH,
        "terms": [
            {
                "term": term,
                "in_query": times_,
                "df": {name: of.counts[term][0] for name, of in answers.items()},
                "tdv": {name: rows[at]["tdv"] for name, rows in explained.items()},
            }
            for at, (term, times_) in enumerate(terms.items())
        ],
        "indexes": {
            name: {
                "ms": times[name],
                "matching": of.matching,
                "hits": _hits(session.field, list(terms), name, answers),
                "gone": _gone(answers[first], of),
            }
            for name, of in answers.items()
        },
    }


def _hits(
    field: str, terms: list[str], name: str, answers: Mapping[str, Answer]
) -> list[dict[str, Any]]:
    from ..jvm.open_index import find_places

    before, *_ = answers.values()
    found = answers[name]
    texts = [hit.text or "" for hit in found.hits]
    rows = []
    for rank, (hit, text, places) in enumerate(
        zip(found.hits, texts, find_places(texts, terms, field)), 1
    ):
        lost = lost_terms(hit.document, before, found)
        shown, whole = excerpt(text, places, lost), mark(text, places, lost, 0, WHOLE_LENGTH)
        rows.append(
            {
                "rank": rank,
                "document": hit.document,
                "score": hit.score,
                "first_rank": before.ranks.get(hit.document),
                "ranks": {n: a.ranks.get(hit.document) for n, a in answers.items() if n != name},
                "lost": lost,
                "excerpt": None if hit.text is None else [asdict(piece) for piece in shown],
                "whole": None if hit.text is None else [asdict(piece) for piece in whole],
                "cut": len(text) > WHOLE_LENGTH,
            }
        )
    return rows


def _gone(before: Answer, after: Answer) -> list[dict[str, Any]]:
    kept = {hit.document for hit in after.hits}
    return [
        {"document": hit.document, "first_rank": rank, "rank": after.ranks.get(hit.document)}
        for rank, hit in enumerate(before.hits, 1)
        if hit.document not in kept
    ]


def _describe(session: SideBySide) -> dict[str, Any]:
    """What the page says of the indexes before any query."""
    indexes = {
        name: {
            "folder": Path(os.path.abspath(of.path)).name,
            "bytes": inspect_index(of.path)["bytes"],
            "parameters": of.parameters.describe(),
            "tdv_kind": of.shown.kind,
        }
        for name, of in session.opened.items()
    }
    return {"indexes": indexes, "field": session.field}


def _number(given: str | None, default: int) -> int:
    try:
        return default if given is None else int(given)
    except ValueError:
        raise TdvError(f"hits={given} is not a whole number") from None


def _check_hits(hits: int) -> None:
    if not 1 <= hits <= MOST_HITS:
        raise TdvError(f"{argument('hits', hits)} is out of range: 1 to {MOST_HITS} can be shown")
