"""An inbox of a test's own, served as `make up` serves one, which also keeps whole requests."""

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from tests.e2e.schedule import eventually

from sweephand.runtime.machine import SystemClock
from sweephand_engine.gateway import Response
from sweephand_engine.inbox import Inbox
from sweephand_engine.server import Server
from sweephand_engine.sites import InboxSite

#: How long a reader waits for the next delivery.
_WAIT_S: Final = 20

_PATIENCE_S: Final = 90


class Request(NamedTuple):
    """A request to an inbox."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass
class Served:
    """An inbox at an address, and all requests to it."""

    url: str
    site: InboxSite
    requests: list[Request] = field(default_factory=list)

    def answer(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Response:
        """The answer of the inbox, which keeps the request."""
        answer = self.site.answer(method, target, headers, body)
        self.requests.append(Request(method, target, headers, body))
        return answer

    def to(self, path: str) -> Sequence[Request]:
        """The requests to a path so far."""
        return [each for each in self.requests if each.path == path]

    def wait(self, path: str, count: int) -> Sequence[Request]:
        """The requests to a path, as soon as there are so many."""
        found: Sequence[Request] = eventually(
            lambda: [self.to(path)], lambda came: len(came) >= count, within_s=_PATIENCE_S
        )
        return found


@contextmanager
def served(secrets: Iterable[str]) -> Iterator[Served]:
    """An inbox within the context. A delivery is signed with one of the secrets."""
    with Server(0) as server:
        site = InboxSite(Inbox(SystemClock().now), lambda _: secrets, wait_s=_WAIT_S)
        server.site = inbox = Served(server.url, site)
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield inbox
        server.shutdown()
