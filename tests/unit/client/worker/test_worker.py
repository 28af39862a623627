"""A worker stops gracefully, tells of its health, and refuses what it cannot use."""

import json
import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.unit.client.conftest import CommandLine
from tests.unit.client.worker.conftest import LOST, Held, Machine, Stack, run_of, shell
from tests.unit.client.worker.test_work import until

from sweephand_client.worker.heart import Nothing
from sweephand_client.worker.signals import Signals
from sweephand_client.worker.worker import Worker


def signalled(*events: Callable[[], object]) -> Callable[[float], bool]:
    """Each signal comes when the next of the events has happened. Until then none comes."""
    left = [*events]

    def came(within_s: float) -> bool:
        if not left:
            threading.Event().wait(min(within_s, 0.01))
            return False
        until(left.pop(0))
        return True

    return came


def serve(worker: Worker, came: Callable[[float], bool], grace_s: float = 60) -> bool:
    """Run a worker whose intake takes one slow delivery."""

    def intake() -> None:
        worker.take(run_of("slow"), b"", Nothing())
        worker.is_stopping.wait()

    return worker.run(intake, came, grace_s)


@pytest.fixture
def worker(machine: Machine) -> Worker:
    text = "touch begun; until test -e go; do sleep 0.02; done"
    return machine.worker({"slow": shell(text, directory=str(machine.home))})


def test_a_worker_that_stops_waits_for_what_runs(worker: Worker, machine: Machine, stack: Stack) -> None:
    def let_it_end() -> bool:
        (machine.home / "go").touch()
        return True

    came = signalled((machine.home / "begun").exists)
    threading.Thread(target=lambda: worker.is_stopping.wait() and let_it_end()).start()
    assert serve(worker, came)
    assert [kind for kind, _ in stack.ends] == ["complete"]
    assert machine.log[-1] == "stopped"


@pytest.mark.parametrize("is_asked_twice", [True, False])
def test_what_has_not_ended_in_time_or_before_a_second_signal_is_tried_again(
    is_asked_twice: bool,  # noqa: FBT001
    worker: Worker,
    machine: Machine,
    stack: Stack,
) -> None:
    second = [worker.is_stopping.is_set] if is_asked_twice else []
    assert serve(
        worker, signalled((machine.home / "begun").exists, *second), 1_000 if is_asked_twice else 0.1
    )
    assert stack.ends == [("fail", "the worker was stopped before the command had ended.")]


def test_an_intake_that_ends_by_itself_ends_the_worker(worker: Worker) -> None:
    assert not worker.run(lambda: None, lambda _: False, 1)


def test_the_health_file_says_what_runs(worker: Worker, machine: Machine) -> None:
    worker.take(run_of("slow"), b"", Nothing())
    until((machine.home / "begun").exists)
    worker.received("The queue cannot be read: no route")
    until(lambda: health(worker, machine)["runs"][0]["beganAt"])
    found = health(worker, machine)
    assert found["runs"][0].items() >= {"job": "slow", "run": "1795262400000-0", "attempt": 1}.items()
    assert (found["pid"], found["problem"]) == (os.getpid(), "The queue cannot be read: no route")
    (machine.home / "go").touch()
    until(lambda: worker.count == 0)
    assert health(worker, machine)["runs"] == []


def health(worker: Worker, machine: Machine) -> dict[str, Any]:
    """What the health file says now."""
    worker.beat()
    found: dict[str, Any] = json.loads((machine.home / "health.json").read_text("utf-8"))
    return found


def test_a_refusal_that_does_not_get_through_leaves_the_message(worker: Worker, stack: Stack) -> None:
    stack.reports.append(LOST)
    held = Held()
    worker.take(run_of("unknown"), b"", held)
    until(lambda: not stack.reports)
    worker.take(run_of("unknown"), b"", held)
    until(lambda: held.seen)
    assert (held.seen, [kind for kind, _ in stack.ends]) == (["keep"], ["give up"])


def test_two_hundred_deliveries_at_once_are_all_done(machine: Machine, stack: Stack) -> None:
    worker = machine.worker({"many": shell("exit 0")})
    for number in range(200):
        worker.take(run_of("many", id=f"many-{number}"), b"", Nothing())
    until(lambda: worker.count == 0)
    assert [kind for kind, _ in stack.ends] == ["complete"] * 200


def test_a_signal_is_told_once() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with Signals() as signals:
        assert not signals.came(0)
        os.kill(os.getpid(), signal.SIGTERM)
        assert signals.came(60)
        assert not signals.came(0)
    assert signal.getsignal(signal.SIGTERM) == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "Give --queue URL or --listen HOST:PORT."),
        (
            ["--queue", "https://sqs/1/q", "--listen", "127.0.0.1:0"],
            "Give --queue URL or --listen HOST:PORT.",
        ),
        (["--queue", "orders"], "'orders' is no URL of a queue."),
        (["--listen", "8090"], "--listen 8090 is no address. Give a host and a port, as in 127.0.0.1:8090."),
        (["--listen", "127.0.0.1:0", "--grace", "soon"], "--grace soon is no duration."),
        (["--listen", "127.0.0.1:0", "-n", "web2"], "The file is for the namespace ns, not for web2."),
    ],
)
def test_options_that_are_wrong_are_told(words: list[str], said: str, sweephand: CommandLine) -> None:
    path = sweephand.file("commands.yaml", "namespace: ns\ncommands: {a: {command: x}}")
    Path(path).chmod(0o600)
    ran = sweephand.run("worker", "--commands", path, *words)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


def test_a_file_that_cannot_be_used_is_told_before_anything_is_taken(sweephand: CommandLine) -> None:
    ran = sweephand.run("worker", "--commands", "/no/such/file", "--listen", "127.0.0.1:0")
    assert (ran.code, "The file of commands /no/such/file cannot be read" in ran.err) == (2, True)


def test_the_namespace_has_to_be_said(sweephand: CommandLine) -> None:
    path = sweephand.file("commands.yaml", "commands: {a: {command: x}}")
    Path(path).chmod(0o600)
    ran = sweephand.run("worker", "--commands", path, "--listen", "127.0.0.1:0", SWEEPHAND_NAMESPACE=None)
    assert (ran.code, "`namespace: NAME`" in ran.err) == (2, True)
