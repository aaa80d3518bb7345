"""A local page for typing a query and seeing the rankings of several indexes side by side.

Only a browser on this machine can reach it, and only with the token: the server listens on
127.0.0.1, every address begins with the token, and a request must name the server as its host, so
that no other site can send requests here under its own name. Nothing is ever written.
"""

from __future__ import annotations

import logging
import os
import secrets
import socket
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import TdvError, argument
from ..indexes.inspection import inspect_index
from .config import ServeConfig
from .served_answer import answer
from .side_by_side import SideBySide

if TYPE_CHECKING:
    from flask import Flask

_log = logging.getLogger(__name__)

HOST = "127.0.0.1"
_HTTP = 80  # the port that an address without one means
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
    indexes: Mapping[str, str | os.PathLike[str]],
    config: ServeConfig | None = None,
    *,
    ready: Callable[[str], None] = print,
    **options: Any,
) -> None:
    """Serve the page until Ctrl-C, then return.

    Parameters
    ----------
    indexes
        Name -> index; the first is the one the others are compared with.
    config, options
        A :class:`ServeConfig`, or its options by name, as ``port=8000``. The page's address
        may ask for other ``hits``.
    ready
        Called with the page's address once it answers.

    Raises
    ------
    TdvError
        When an index or TDVs cannot be read, fewer than two indexes are given, or the port is
        out of range or taken.
    """
    config = ServeConfig.of(config, options)
    if len(indexes) < 2:
        raise TdvError(f"one index cannot be compared: give a second one ({argument('indexes')})")
    # Java is called from one thread: requests wait in line, and none is left attached to the JVM.
    with ThreadPoolExecutor(1, "java") as java:
        opened = java.submit(
            SideBySide,
            indexes,
            model=config.model,
            field=config.field,
            analysis=config.analysis,
            values=config.values,
            id_field=config.id_field,
        )
        with opened.result() as session:
            about = java.submit(_describe, session).result()
            if session.analysed.others:
                _log.warning(
                    "queries are analysed as %s. %s",
                    session.analysed.describe(), session.analysed.advice,
                )  # fmt: skip

            def ask(query: str, number: int) -> dict[str, Any]:
                return java.submit(answer, session, query, number).result()

            _serve(about, ask, config.port, config.hits, ready)


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
        app.config["HOSTS"] = hosts_of(port)
        server = make_server(
            HOST, port, app, threaded=True, request_handler=Quiet, fd=listening.fileno()
        )
        server.daemon_threads = True  # type: ignore[attr-defined]  # a threaded one has them
        try:
            ready(f"http://{HOST}:{port}/{token}/")
            server.serve_forever()  # returns on Ctrl-C
        finally:
            server.server_close()


def hosts_of(port: int) -> frozenset[str]:
    """How requests may name the server; browsers leave out the port of ``http``."""
    endings = [f":{port}", ""] if port == _HTTP else [f":{port}"]
    return frozenset(name + ending for name in (HOST, "localhost") for ending in endings)


def _listen(port: int) -> socket.socket:
    try:
        return socket.create_server((HOST, port))
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise TdvError(
            f"cannot listen on port {port} of {HOST} ({reason}): choose another "
            f"{argument('port')}, or leave it out to take any that is free"
        ) from error


def make_app(about: dict[str, Any], ask: Ask, token: str, hits: int = 10) -> Flask:
    """The application; who serves it sets ``app.config["HOSTS"]``, the names it answers to."""
    import flask

    from ..report.environment import asset
    from ..report.serve_page import render

    app = flask.Flask("tdv_lucene", static_folder=None)
    app.json.sort_keys = False  # type: ignore[attr-defined]  # the first index stays the first

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

    def asked() -> tuple[str, dict[str, Any] | None, str, int]:
        """(query, answer, what is wrong, status) of the request."""
        given = flask.request.args
        query = given.get("q", "").strip()
        if not query:
            return query, None, "", 200
        try:
            return query, ask(query, _number(given.get("hits"), hits)), "", 200
        except TdvError as error:
            return query, None, str(error), 400

    @app.get(f"/{token}/")
    def page() -> tuple[str, int]:
        query, found, wrong, status = asked()
        return render(about, query, found, wrong), status

    @app.get(f"/{token}/search.json")
    def search() -> tuple[flask.Response, int]:
        _, found, wrong, status = asked()
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


def _describe(session: SideBySide) -> dict[str, Any]:
    """What the page says about the indexes before any query."""
    indexes = {
        name: {
            "folder": Path(os.path.abspath(opened.path)).name,
            "bytes": inspect_index(opened.path)["bytes"],
            "parameters": opened.parameters.describe(),
            "tdv_kind": opened.shown.kind,
        }
        for name, opened in session.opened.items()
    }
    return {
        "indexes": indexes,
        "analysis": session.analysed.describe(),
        "language": session.analysed.analysis.language_tag,
    }


def _number(given: str | None, default: int) -> int:
    try:
        return default if given is None else int(given)
    except ValueError:
        raise TdvError(f"hits={given} is not a whole number") from None
