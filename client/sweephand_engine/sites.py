"""What the servers on loopback show: an inbox, and beside it the API with its console."""

import json
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final

from sweephand_engine.foreign_pages import refusal
from sweephand_engine.gateway import Gateway, Response
from sweephand_engine.inbox import HEAD, NOTHING, Arrival, Inbox
from sweephand_engine.server import TEXT

#: How long GET of `next` waits for a delivery, in seconds. curl and browsers wait that long by default.
WAIT_S: Final = 60

_OPEN: Final = "/open/"


@dataclass(frozen=True)
class InboxSite:
    """An inbox at `path`. GET of it lists what came, and GET of `next` waits. All else is a delivery.

    `secrets_of` returns the signing secrets of a namespace. No page of another site gets an answer.
    """

    inbox: Inbox
    secrets_of: Callable[[str], Iterable[str]]
    path: str = ""
    wait_s: float = WAIT_S

    def answer(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Response:
        """As Site.answer()."""
        why = refusal(headers)
        if why is not None:
            return Response(HTTPStatus.FORBIDDEN, TEXT, why.encode())
        if method == "GET" and target == (self.path or "/"):
            return _page(self.inbox.arrivals())
        if method == "GET" and target == f"{self.path}/next":
            return _page(self.inbox.next(self.wait_s))
        self.inbox.take(target, headers, body, self.secrets_of)
        return Response(HTTPStatus.OK, TEXT, b"")


@dataclass
class DevSite:
    """What `sweephand dev` shows.

    `key` signs a browser in that opens the page of `opened_at`, once. That page's address is a secret.
    """

    gateway: Gateway
    inbox: InboxSite
    key: str
    token: str = field(default_factory=secrets.token_urlsafe)

    @property
    def opened_at(self) -> str:
        """The path of the page that opens the console signed in."""
        return f"{_OPEN}{self.token}"

    def answer(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Response:
        """As Site.answer()."""
        path = target.partition("?")[0]
        if path == self.inbox.path or path.startswith(f"{self.inbox.path}/"):
            return self.inbox.answer(method, target, headers, body)
        why = refusal(headers)
        if why is not None:
            return Response(HTTPStatus.FORBIDDEN, TEXT, why.encode())
        if method == "GET" and path == "/":
            return Response(HTTPStatus.FOUND, {"location": "/console"}, b"")
        if method == "GET" and path == self.opened_at:
            self.token = secrets.token_urlsafe()
            return _signed_in(self.key)
        return self.gateway.answer(method, target, headers, body)


def _page(arrivals: list[Arrival]) -> Response:
    lines = [HEAD, *(each.line() for each in arrivals)] if arrivals else [NOTHING]
    return Response(HTTPStatus.OK, TEXT, "".join(f"{each}\n" for each in lines).encode())


def _signed_in(key: str) -> Response:
    """A page that gives the key to the console of this tab, and opens the console."""
    script = f'sessionStorage.setItem("sweephand-key", {json.dumps(key)}); location.replace("/console");'
    page = f"<!doctype html><title>Sweephand</title><script>{script}</script>"
    headers = {"content-type": "text/html; charset=utf-8", "cache-control": "no-store"}
    return Response(HTTPStatus.OK, headers, page.encode())
