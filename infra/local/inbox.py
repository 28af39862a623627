"""The inbox of a local stack, in a process of its own. `make up` starts it and `make down` ends it."""

import json
import sys
from collections.abc import Iterable
from functools import cache, partial
from pathlib import Path
from typing import Final

import urllib3
from infra.local import processes
from infra.local.client import Client, RefusedError
from infra.local.places import PYTHON, ROOT, Place, environment, free_port, write_private

from sweephand.runtime.machine import SystemClock
from sweephand_engine.inbox import Inbox
from sweephand_engine.server import Server
from sweephand_engine.sites import InboxSite

#: How long the inbox may take to start, in seconds.
_START_S: Final = 20

_PYTHONPATH: Final = ":".join(str(ROOT / each) for each in (".", "layers/sweephand/python", "client"))


def start(place: Place) -> str:
    """The address of the stack's running inbox. An inbox that runs already is kept.

    Its port follows the stack's port. If that is taken, it is any free port. Raises StackError.
    """
    if processes.recorded(place.inbox_pid_file) is None or not place.inbox_file.exists():
        stop(place)
        command = [PYTHON, "-m", "infra.local.inbox", str(place.port)]
        env = environment() | {"PYTHONPATH": _PYTHONPATH}
        processes.start_until(command, env, place.inbox_pid_file, place.inbox_file.exists, _START_S)
    return place.inbox_file.read_text(encoding="utf-8")


def stop(place: Place) -> None:
    """End the inbox of the stack, if it runs."""
    processes.stop(place.inbox_pid_file)
    place.inbox_file.unlink(missing_ok=True)


@cache
def _signing_secrets(stack_file: Path, namespace: str) -> Iterable[str]:
    with Client.of(json.loads(stack_file.read_text(encoding="utf-8"))) as client:
        return client.signing_secrets(namespace)


def _secrets_of(place: Place, namespace: str) -> Iterable[str]:
    """The signing secrets of a namespace. The stack is asked once for them."""
    try:
        return _signing_secrets(place.stack_file, namespace)
    except (OSError, RefusedError, urllib3.exceptions.HTTPError) as error:
        print(f"{namespace}: no signing secrets: {error}", file=sys.stderr, flush=True)
        return []


def _main() -> None:
    place = Place(int(sys.argv[1]))
    with Server(free_port(place.port + 1)) as server:
        server.site = InboxSite(Inbox(SystemClock().now), partial(_secrets_of, place))
        write_private(place.inbox_file, server.url)
        server.serve_forever()


if __name__ == "__main__":
    _main()
