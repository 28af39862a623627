"""Where deliveries of one run arrive: the consumer, and the files of workers."""

import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, Self

from infra.bench.consumer import Consumer, Request
from infra.shootout.peer import Run


class Came(NamedTuple):
    """A delivery that was accepted: its key, its due time if it was told, and when it came, in epoch ms."""

    key: str
    due_at: int | None
    arrived_at: int


class Sink:
    """The consumer and the folder of a run. Entering the context starts the consumer, and leaving ends it."""

    def __init__(self, home: Path, env: dict[str, str]) -> None:
        self._consumer = Consumer()
        self._home, self._env = home, env
        self._read: dict[Path, int] = {}
        self._came: list[Came] = []
        self._requests = 0
        #: Turns the monotonic clock of this machine into epoch time.
        self._epoch_ns = time.time_ns() - time.monotonic_ns()

    def __enter__(self) -> Self:
        self._consumer.__enter__()
        self.run = Run(self._home, self._consumer.url, self._env)
        self.run.arrivals.mkdir(parents=True)
        return self

    def __exit__(self, *_: object) -> None:
        self._consumer.__exit__()

    def refuse(self, *, refuses: bool) -> None:
        """Refuse all deliveries from now on, or accept them again."""
        if refuses:
            self._consumer.refusing.set()
            self.run.refusing.touch()
        else:
            self._consumer.refusing.clear()
            self.run.refusing.unlink()

    def came(self) -> Sequence[Came]:
        """The deliveries so far. Those of one worker are in their order."""
        requests = self._consumer.requests()
        self._came += map(_of_request, requests[self._requests :])
        self._requests = len(requests)
        for file in self.run.arrivals.iterdir():
            with file.open("rb") as lines:
                lines.seek(self._read.get(file, 0))
                new = lines.read().rpartition(b"\n")[0]
            if new:
                self._read[file] = self._read.get(file, 0) + len(new) + 1
                self._came += map(self._of_line, new.decode().split("\n"))
        return self._came

    def _of_line(self, line: str) -> Came:
        key, due, came = line.split(" ")
        return Came(key, None if due == "-" else int(due), (int(came) + self._epoch_ns) // 1_000_000)


def _of_request(request: Request) -> Came:
    first, *lines = request.head.decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in lines)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    due = headers.get("sweephand-due")
    return Came(
        key=headers.get("sweephand-job") or first.split(" ")[1].removeprefix("/"),
        due_at=None if due is None else round(datetime.fromisoformat(due).timestamp() * 1_000),
        arrived_at=request.from_ns // 1_000_000,
    )
