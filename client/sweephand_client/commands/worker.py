"""The command `worker`: runs the commands of this machine's own file."""

import datetime as dt
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Final

import typer
import urllib3

from sweephand_client.api.client import Client
from sweephand_client.commands.output import Output
from sweephand_client.commands.session import UNREACHABLE, Session
from sweephand_client.http import exact_json
from sweephand_client.http.errors import InputError
from sweephand_client.http.operation import Repetition
from sweephand_client.http.transport import Transport
from sweephand_client.receive.signatures import FixedSecrets, Secrets, StackSecrets
from sweephand_client.worker.commands_file import load_commands_file, seconds

if sys.platform != "win32":  # Windows has neither groups of processes nor locks as POSIX has them
    from sweephand_client.worker.listener import Listener
    from sweephand_client.worker.queue import Queue, sqs_client
    from sweephand_client.worker.signals import Signals
    from sweephand_client.worker.slots import Slots
    from sweephand_client.worker.surroundings import check_users
    from sweephand_client.worker.turns import locks_directory
    from sweephand_client.worker.work import Shared
    from sweephand_client.worker.worker import Worker

#: A heartbeat that is not answered soon is sent again.
_TIMEOUT: Final = urllib3.Timeout(connect=5, read=10)
_CONCURRENCY: Final = 20


def worker(
    session: Session,
    *,
    commands: Annotated[str, typer.Option(help="The file that names the command of each job.")],
    queue: Annotated[str | None, typer.Option(help="Take deliveries from the SQS queue of this URL.")] = None,
    listen: Annotated[
        str | None, typer.Option(help="Take deliveries by HTTP at this address, as 127.0.0.1:8090.")
    ] = None,
    concurrency: Annotated[
        int, typer.Option(min=1, max=500, help="How many commands run at once.")
    ] = _CONCURRENCY,
    grace: Annotated[
        str, typer.Option(help="How long commands may take to end when the worker stops.")
    ] = "30s",
    health: Annotated[
        Path | None, typer.Option(help="The file that the worker writes every ten seconds.")
    ] = None,
) -> None:
    """Run the commands of a file, each when its job is due. Nothing that travels is executed."""
    if sys.platform == "win32":
        raise InputError("A worker needs Linux or macOS. On Windows, run it in WSL.")
    if (queue is None) == (listen is None):
        raise InputError("Give --queue URL or --listen HOST:PORT.")
    if not seconds(grace):
        raise InputError(f"--grace {grace} is no duration. Give at least a second, as in 30s or 10m.")
    file = load_commands_file(commands)
    check_users(file)
    session.take_namespace(file.namespace)
    namespace = session.asked_namespace or session.stack.namespace
    if namespace is None:
        raise InputError(
            f"Say whose deliveries run commands: `namespace: NAME` in {commands}, or --namespace."
        )
    say = _log(session.output)
    shared = Shared(_callbacks(session), Slots(concurrency), locks_directory(), os.environ, say)
    taker = Worker(file, namespace, concurrency, shared, health)
    if queue is not None:
        intake: Callable[[], None] = Queue(queue, sqs_client(queue), taker, say).run
    else:
        listener = Listener(*_address(listen or ""), taker, _secrets(session, namespace))
        intake = listener.run
    say(f"takes deliveries of the namespace {namespace} from {queue or listener.url}")
    with Signals() as signals:
        if not taker.run(intake, signals.came, seconds(grace)):
            session.output.note("The worker takes nothing more because of an error. Start it again.")
            raise typer.Exit(UNREACHABLE)


def _callbacks(session: Session) -> Client:
    """The client of the callbacks, which run tokens prove. A worker repeats them itself."""
    once = Repetition(attempts_max=1, connects_max=1)
    pool = urllib3.PoolManager(maxsize=_CONCURRENCY, timeout=_TIMEOUT, retries=False)
    return Client(session.stack.url, transport=Transport(session.stack.url, None, repetition=once, pool=pool))


def _secrets(session: Session, namespace: str) -> Secrets:
    """The secrets that may have signed: of the environment, or as the stack has them."""
    if given := os.environ.get("SWEEPHAND_SIGNING_SECRET"):
        return FixedSecrets(given)
    found = StackSecrets(lambda: session.client, namespace, time.time)
    found.known()
    return found


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal():
        raise InputError(f"--listen {text} is no address. Give a host and a port, as in 127.0.0.1:8090.")
    return host, int(port)


def _log(output: Output) -> Callable[[str], None]:
    """A function that writes lines of the log, from any thread. With --json they are in an object."""
    lock = threading.Lock()

    def say(text: str) -> None:
        at = dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        plain = text.replace("\n", "").replace("\t", "").isprintable()
        shown = text if plain else exact_json.terminal_safe(text)
        try:
            with lock:
                if output.is_data:
                    output.line({"at": at, "text": text})
                else:
                    sys.stdout.write(f"{at} " + shown.replace("\n", f"\n{at} ") + "\n")
                    sys.stdout.flush()
        except OSError:
            # The reader of the log has gone. The commands go on.
            pass

    return say
