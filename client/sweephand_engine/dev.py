"""`sweephand dev`: a whole Sweephand in this process, for trying it out and for developing against it."""

import errno
import gc
import logging
import os
import signal
import threading
import webbrowser
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import Any, Final

from sweephand.access.key_making import keep_admin_key
from sweephand.base.errors import StoreError, SweephandError
from sweephand.base.names import is_name
from sweephand.delivery.adapter import AwsClients, Service, Stack
from sweephand.delivery.checked_clients import SqsClients
from sweephand.delivery.registry import TargetsByType
from sweephand.model.api_key import ADMIN_KEY_ID, digest_of, format_key
from sweephand.runtime.machine import SystemClock, SystemIds
from sweephand.targets.destinations import Destinations
from sweephand.targets.url import embedded_ipv4
from sweephand.web.http.app import build_handler
from sweephand_engine.engine import Engine
from sweephand_engine.gateway import Gateway
from sweephand_engine.inbox import Inbox
from sweephand_engine.journal import FileJournal, Journal
from sweephand_engine.journal import StoreFileError as StoreFileError  # noqa: PLC0414 - the command needs it
from sweephand_engine.server import Server
from sweephand_engine.sites import DevSite, InboxSite
from sweephand_engine.threads import Threads

#: The signals that end the process. Windows has only some of them.
_ENDING: Final = ("SIGINT", "SIGTERM", "SIGHUP")

#: The inbox tries so many named secrets of a namespace on a delivery.
_NAMED_MAX: Final = 100


class StartError(SweephandError):
    """The process cannot start with these options. The message says what to do."""


class StoppedError(SweephandError):
    """The process had to stop. The message says why, and what to do."""


class ThisMachine(Destinations):
    """The destinations of an engine that delivers to loopback addresses and nowhere else."""

    def address_refusal(self, address: IPv4Address | IPv6Address) -> str | None:
        """As Destinations.address_refusal()."""
        if (embedded_ipv4(address) or address).is_loopback:
            return None
        return "not this machine: only `sweephand dev --allow-outbound` delivers elsewhere"


class Development:
    """An engine with its server. `journal` keeps its state. `serve` begins to answer and to deliver."""

    def __init__(self, server: Server, journal: Journal, *, allow_outbound: bool) -> None:
        clock, ids = SystemClock(), SystemIds()
        self._journal = journal
        inbox = Inbox(clock.now)
        sqs: Any = inbox.client(Service("sqs", None))
        self.server = server
        self._threads = Threads()
        self.engine = Engine(
            journal=journal,
            clock=clock,
            ids=ids,
            make_targets=lambda reach, read_secrets: TargetsByType(
                Stack(clock, SqsClients(lambda _: sqs), AwsClients(inbox.client), reach, read_secrets)
            ),
            destinations=None if allow_outbound else ThisMachine(),
            concurrently=self._threads.concurrently,
            start=self._threads.start,
        )
        secret = journal.setting("admin secret", ids.secret)
        keys = self.engine.stores.keys
        if keys.get(ADMIN_KEY_ID) is None:
            keep_admin_key(keys, ids, digest_of(secret), "sweephand dev", clock.now())
        self.key = format_key(ADMIN_KEY_ID, secret)
        gateway = Gateway(build_handler(self.engine.services), keys, clock, ids)
        self.site = DevSite(gateway, InboxSite(inbox, self._secrets_of, "/inbox"), self.key)
        server.site = self.site

    def _secrets_of(self, namespace: str) -> Sequence[str]:
        """What may sign a delivery of a namespace: its signing secrets, and those that a target can name.

        A request that anybody sends to the inbox makes none.
        """
        if not is_name(namespace):
            return ()
        stores, services = self.engine.stores, self.engine.services
        own = () if stores.secrets.get(namespace) is None else services.signing.active(namespace)
        briefs = stores.named_secrets.page(namespace, "", _NAMED_MAX).items
        names = [each.key.name for each in briefs if each.scheme is not None]
        named = stores.named_secrets.get_many(namespace, names)
        return [*own, *(value for each in named.values() for value in each.active(self.engine.clock.now()))]

    def serve(self) -> None:
        """Begin to answer and to deliver, in threads."""
        self._threads.run(self.engine)
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self) -> None:
        """Answer and deliver no more, and close the journal."""
        self.server.shutdown()
        self.server.server_close()
        self._threads.stop()
        self._journal.close()


def run(
    *,
    port: int,
    store: Path | None,
    opens: bool,
    allow_outbound: bool,
    say: Callable[[str], None],
    describing: Callable[[str, str], AbstractContextManager[None]],
) -> None:
    """Run until a signal ends the process. `say` prints the lines to paste.

    `describing` tells other commands the address and the key, as long as the stack runs.

    Raises StartError and StoppedError.
    """
    # Powertools writes a line for each request otherwise.
    os.environ.setdefault("POWERTOOLS_LOG_LEVEL", "ERROR")
    is_over = threading.Event()
    failures: list[str] = []

    def fail(sentence: str) -> None:
        # The sentence says it all. Each thread that writes would print a traceback besides.
        logging.disable()
        failures.append(sentence)
        is_over.set()

    for name in _ENDING:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda *_: is_over.set())
    server = _server(port)
    journal = Journal() if store is None else FileJournal(store, fail)
    try:
        development = Development(server, journal, allow_outbound=allow_outbound)
        development.serve()
    except StoreError as error:
        raise StoppedError(str(error)) from error
    # What the imports and the file have made stays. The collector would look through it again and again.
    gc.freeze()
    with describing(server.url, development.key):
        say(first_steps(server.url, development.key, store))
        if opens:
            with suppress(webbrowser.Error):
                webbrowser.open(f"{server.url}{development.site.opened_at}")
        is_over.wait()
        development.stop()
    if failures:
        raise StoppedError(failures[0])


def _server(port: int) -> Server:
    try:
        return Server(port)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise StartError(
                f"Port {port} of 127.0.0.1 is in use: give another one with --port, or end that program."
            ) from error
        raise StartError(
            f"Port {port} of 127.0.0.1 cannot be used: {error.strerror}. Give another one with --port."
        ) from error
    except OverflowError as error:
        raise StartError(f"--port must be from 0 to 65535, not {port}.") from error


def first_steps(url: str, key: str, store: Path | None) -> str:
    """The lines that a newcomer pastes."""
    state = "ends with this process (--store FILE keeps it)" if store is None else f"is in {store}"
    return f"""
Sweephand runs at {url}. Its state {state}. Paste these lines:

export API={url}
export KEY={key}
export INBOX={url}/inbox
export SWEEPHAND_URL=$API SWEEPHAND_KEY=$KEY SWEEPHAND_NAMESPACE=demo

Then deliver something in a second. The inbox waits for it and shows it:

curl -X PUT $API/v1/namespaces/demo/jobs/hello \\
  -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
  -d '{{"dueTime": "1s", "data": {{"hello": "world"}},
       "target": {{"type": "http", "url": "'$INBOX'/hello"}}}}'
curl $INBOX/next

The console is at {url}/console. Sign in with the key.
Every call is described at {url}/docs
Ctrl-C ends it."""
