"""The inbox of a local stack: a receiver in the background that shows what was delivered to it.

`make up` starts it and `make down` ends it. A job may name any path of it as its target.
"""

import json
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path

import urllib3
from infra.local import processes
from infra.local.client import Client, RefusedError
from infra.local.guard import TEXT, refusal
from infra.local.places import PYTHON, ROOT, Place, environment, free_port, write_private
from infra.local.receiver import HEAD, Answer, Delivery, Receiver, line

#: How many deliveries the inbox remembers.
_KEPT_MAX = 1_000

#: How long GET /next waits for a delivery, in seconds. curl and browsers wait that long by default.
_WAIT_S = 60

#: How long the inbox may take to start, in seconds.
_START_S = 20

#: GET /next also shows what came so many seconds before, so that a slow reader misses nothing.
_MISSED_S = 10

#: The path whose first two deliveries of a run are refused. `make run` shows what Sweephand does then.
FAILING = "/fails-twice"

_TEXT = {"content-type": TEXT}


class Inbox(Receiver):
    """A receiver that is read over HTTP: GET / lists the deliveries, and GET /next waits for the next one.

    Every other request is a delivery. GET /next shows each delivery once, to the first reader that asks, and
    none that came long before. `clock` gives seconds. The inbox answers no page of another site, and refuses
    the first two attempts of each run that is delivered to FAILING.
    """

    def __init__(
        self,
        secrets: Callable[[str], Iterable[str]],
        *,
        port: int = 0,
        wait_s: float = _WAIT_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(secrets, port=port, kept_max=_KEPT_MAX)
        self._wait_s = wait_s
        self._clock = clock
        self._unread: deque[tuple[float, Delivery]] = deque(maxlen=_KEPT_MAX)

    def take(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes, arrived_at: int
    ) -> Answer:
        """Answer a reader with text, and a page of another site with 403."""
        why = refusal(headers)
        if why is not None:
            return Answer(403, _TEXT, why.encode())
        if method == "GET" and path == "/":
            return _page(self.deliveries())
        if method == "GET" and path == "/next":
            return _page(self._next())
        if path == FAILING and headers.get("sweephand-attempt") in ("1", "2"):
            self.answer(path, Answer(503))
        return super().take(method, path, headers, body, arrived_at)

    def remember(self, delivery: Delivery) -> None:
        """Keep a delivery, for GET /next too."""
        self._unread.append((self._clock(), delivery))
        super().remember(delivery)

    def _next(self) -> list[Delivery]:
        with self._came:
            since = self._clock() - _MISSED_S
            while self._unread and self._unread[0][0] < since:
                self._unread.popleft()
            self._came.wait_for(lambda: self._unread, self._wait_s)
            unread = [delivery for _, delivery in self._unread]
            self._unread.clear()
            return unread


def start(place: Place) -> str:
    """The address of the stack's running inbox. An inbox that runs already is kept.

    Its port follows the stack's port. If that is taken, it is any free port. Raises StackError.
    """
    if processes.recorded(place.inbox_pid_file) is None or not place.inbox_file.exists():
        stop(place)
        command = [PYTHON, "-m", "infra.local.inbox", str(place.port)]
        env = environment() | {"PYTHONPATH": str(ROOT)}
        processes.start_until(command, env, place.inbox_pid_file, place.inbox_file.exists, _START_S)
    return place.inbox_file.read_text(encoding="utf-8")


def stop(place: Place) -> None:
    """End the inbox of the stack, if it runs."""
    processes.stop(place.inbox_pid_file)
    place.inbox_file.unlink(missing_ok=True)


def _page(deliveries: Iterable[Delivery]) -> Answer:
    lines = [f"{line(each)}  {each.body.decode(errors='replace')}" for each in deliveries]
    text = "\n".join([HEAD, *lines] if lines else ["Nothing has arrived yet."])
    return Answer(headers=_TEXT, body=f"{text}\n".encode())


@cache
def _signing_secrets(stack_file: Path, namespace: str) -> Iterable[str]:
    with Client.of(json.loads(stack_file.read_text(encoding="utf-8"))) as client:
        return client.signing_secrets(namespace)


def _main() -> None:
    place = Place(int(sys.argv[1]))

    def secrets(namespace: str) -> Iterable[str]:
        """The signing secrets of a namespace. The stack is asked once for them."""
        try:
            return _signing_secrets(place.stack_file, namespace)
        except (OSError, RefusedError, urllib3.exceptions.HTTPError) as error:
            print(f"{namespace}: no signing secrets: {error}", file=sys.stderr, flush=True)
            return []

    with Inbox(secrets, port=free_port(place.port + 1)) as inbox:
        write_private(place.inbox_file, inbox.url(""))
        threading.Event().wait()


if __name__ == "__main__":
    _main()
