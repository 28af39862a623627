"""A stack that takes callbacks, and what the works of a worker share."""

import datetime as dt
import threading
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from sweephand_client.api.client import Client
from sweephand_client.http.errors import GoneError, Problem, UnreachableError
from sweephand_client.receive.run import Run
from sweephand_client.worker.commands_file import Command, CommandsFile
from sweephand_client.worker.heart import Nothing
from sweephand_client.worker.slots import Slots
from sweephand_client.worker.work import Shared, Work
from sweephand_client.worker.worker import Worker

#: The time of the stack. The worker's clock is another one.
AT = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)
TOKEN = "shr_0123456789abcdef"
GONE = GoneError(Problem(410, "", "The run is cancelled: stop."))
LOST = UnreachableError("https://api.example.com", "no answer")


def run_of(job: str = "backup", **fields: Any) -> Run:
    """An attempt of a run that reports by callbacks."""
    given = {
        "id": f"{job}-1",
        "namespace": "web1",
        "job": job,
        "run_id": "1795262400000-0",
        "due_at": dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC),
        "attempt": 1,
        "sequence": 7,
        "batch_index": 0,
        "event": "trigger",
        "labels": {},
        "data": None,
        "token": TOKEN,
    }
    return Run(**{**given, **fields})


@dataclass
class Stack:
    """Takes callbacks. The next heartbeats get `answers`, and later ones are accepted for `left_s`."""

    left_s: float = 300
    answers: deque[Any] = field(default_factory=deque)
    reports: deque[Exception] = field(default_factory=deque)
    beats: int = 0
    ends: list[tuple[str, Any]] = field(default_factory=list)

    @property
    def runs(self) -> "Stack":
        return self

    @property
    def client(self) -> Client:
        return cast("Client", self)

    def heartbeat(self, _namespace: str, _job: str, _run: str, *, token: str) -> dict[str, Any]:
        assert token == TOKEN
        self.beats += 1
        by = AT + dt.timedelta(seconds=self.left_s)
        accepted = {"heartbeatBy": by.isoformat(), "answeredAt": AT.isoformat()}
        answer = self.answers.popleft() if self.answers else accepted
        if isinstance(answer, threading.Event):
            assert answer.wait(60)
            raise LOST
        if isinstance(answer, Exception):
            raise answer
        return cast("dict[str, Any]", answer)

    def complete(self, _namespace: str, _job: str, _run: str, result: Any, *, token: str) -> None:
        self._end(("complete", result), token)

    def fail(
        self, _namespace: str, _job: str, _run: str, reason: str, *, token: str, retry: bool = True
    ) -> None:
        self._end(("fail" if retry else "give up", reason), token)

    def _end(self, end: tuple[str, Any], token: str) -> None:
        assert token == TOKEN
        if self.reports:
            raise self.reports.popleft()
        self.ends.append(end)


class Held(Nothing):
    """A message of a queue, and what became of it."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def extend(self) -> None:
        self.seen.append("extend")

    def keep(self) -> None:
        self.seen.append("keep")

    def put_back(self) -> None:
        self.seen.append("put back")


@dataclass
class Machine:
    """The machine of a worker, and the stack that it reports to."""

    stack: Stack
    shared: Shared
    log: list[str]
    home: Path

    def work(self, command: Command, run: Run | None = None, held: Nothing | None = None) -> Work:
        """The work of one delivery."""
        return Work(run or run_of(), b'{"n":1.10}', command, held or Nothing(), self.shared)

    def worker(self, commands: dict[str, Command], concurrency: int = 10) -> Worker:
        """A worker with these commands."""
        file = CommandsFile("commands.yaml", commands)
        return Worker(file, "web1", concurrency, self.shared, self.home / "health.json")


def shell(text: str, **fields: Any) -> Command:
    """A command for the shell."""
    return Command(("/bin/sh", "-c", text), **fields)


@pytest.fixture
def stack() -> Stack:
    return Stack()


@pytest.fixture
def machine(stack: Stack, tmp_path: Path) -> Machine:
    log: list[str] = []
    environment = {"PATH": "/usr/bin:/bin", "SWEEPHAND_KEY": "sh_admin_secret", "AWS_REGION": "eu-west-1"}
    return Machine(stack, Shared(stack.client, Slots(10), tmp_path, environment, log.append), log, tmp_path)
