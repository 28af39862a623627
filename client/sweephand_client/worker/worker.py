"""The worker: what it has in hand, what it refuses, how it stops, and its health file."""

import datetime as dt
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from sweephand_client.http import exact_json
from sweephand_client.http.errors import SweephandError
from sweephand_client.receive.run import Run
from sweephand_client.worker.commands_file import CommandsFile
from sweephand_client.worker.heart import Held
from sweephand_client.worker.process import KILL_AFTER_S
from sweephand_client.worker.work import End, Shared, Work

#: How often the health file is written.
HEALTH_S: Final = 10.0
#: How long commands that were ended may take to be reported.
_REPORT_S: Final = 15.0

#: How often a worker that stops looks whether its runs have ended.
_LOOK_S: Final = 0.2

_STOPPED: Final = "the worker was stopped before the command had ended"


class Worker:
    """Carries out deliveries of one namespace by the commands of a file. Threads call it.

    `concurrency` commands run at once.
    """

    def __init__(
        self, file: CommandsFile, namespace: str, concurrency: int, shared: Shared, health: Path | None = None
    ) -> None:
        self.file = file
        self.namespace = namespace
        self.is_stopping = threading.Event()
        self.shared = shared
        self._concurrency = concurrency
        self._health = health
        self._problem: str | None = None
        self._changed = threading.Condition()
        self._works: dict[tuple[str, int], Work] = {}

    @property
    def count(self) -> int:
        """How many deliveries are in hand."""
        with self._changed:
            return len(self._works)

    def refusal(self, run: Run) -> str | None:
        """Why no command runs for a delivery, and never will; None if one does."""
        if run.namespace != self.namespace:
            return f"This worker runs commands for the namespace {self.namespace}, not for {run.namespace}."
        if run.event != "trigger" or run.run_id is None:
            return f"This is a notification ({run.event}). A worker runs commands for triggers only."
        if self.file.command_of(run.job) is None:
            return (
                f"{self.file.path} names no command for the job {run.job}. Add it there, or rename the job."
            )
        return None

    def free(self, for_s: float) -> int:
        """How many deliveries may be taken from a queue now. It waits for the first, so long at most."""
        with self._changed:
            self._changed.wait_for(
                lambda: len(self._works) < self._concurrency or self.is_stopping.is_set(), for_s
            )
            return 0 if self.is_stopping.is_set() else max(self._concurrency - len(self._works), 0)

    def received(self, problem: str | None) -> None:
        """The intake works, or has this problem."""
        if problem is not None and problem != self._problem:
            self.shared.say(problem)
        self._problem = problem

    def take(self, run: Run, body: bytes, held: Held) -> None:
        """Do the work of a delivery in a thread, or refuse it for good."""
        refusal = self.refusal(run)
        if refusal is not None:
            self.shared.say(f"refused {run.run_id}: {refusal}")
            if run.token is not None and run.run_id is not None:
                threading.Thread(target=self._refuse, args=(run, refusal, held), daemon=True).start()
            return
        work = self.begun(run, body, held)
        if work is not None:
            threading.Thread(target=self.carry_out, args=(work,), daemon=True).start()
        elif run.token is not None:
            # This worker does the work of another copy already. So the queue can forget this copy.
            held.keep()

    def begun(self, run: Run, body: bytes, held: Held) -> Work | None:
        """The work of a delivery that is not refused, for carry_out(). None if this attempt is in hand."""
        command = self.file.command_of(run.job)
        assert command is not None, "it is not refused"
        work = Work(run, body, command, held, self.shared)
        with self._changed:
            if self._works.setdefault((run.id, run.attempt), work) is not work:
                return None
        return work

    def carry_out(self, work: Work) -> End | None:
        """Do the work, however long it takes, and report how it ended."""
        try:
            return work.carry_out()
        finally:
            with self._changed:
                del self._works[work.run.id, work.run.attempt]
                self._changed.notify_all()

    def _refuse(self, run: Run, why: str, held: Held) -> None:
        """Give a run up."""
        assert run.run_id is not None, "a run token is for a run"
        try:
            self.shared.client.runs.fail(
                run.namespace, run.job, run.run_id, why, retry=False, token=run.token
            )
        except SweephandError as error:
            # The message comes again.
            self.shared.say(f"{run.run_id} could not be given up: {error}")
            return
        held.keep()

    def run(self, intake: Callable[[], None], came: Callable[[float], bool], grace_s: float) -> bool:
        """Take deliveries by `intake` until `came` tells of a signal, and end gracefully.

        What runs has `grace_s` to end, or until the next signal. Returns False if the intake has ended by
        itself.
        """
        thread = threading.Thread(target=intake, daemon=True)
        thread.start()
        self.beat()
        while not came(HEALTH_S) and thread.is_alive():
            self.beat()
        is_asked = thread.is_alive()
        self.is_stopping.set()
        with self._changed:
            self._changed.notify_all()
        self.shared.say(f"stopping: {self.count} still running, {grace_s:g} s to end")
        deadline = time.monotonic() + grace_s
        while self.count and time.monotonic() < deadline and not came(_LOOK_S):
            self.beat()
        self._end_all()
        # A poll of the queue may still bring messages, which go back.
        thread.join()
        self._end_all()
        self.beat()
        self.shared.say("stopped")
        return is_asked

    def _end_all(self) -> None:
        """End what is in hand, and wait until it is reported."""
        with self._changed:
            for work in self._works.values():
                work.stop(_STOPPED)
            self._changed.wait_for(lambda: not self._works, 2 * KILL_AFTER_S + _REPORT_S)

    def beat(self) -> None:
        """Write the health file, in the place of the former one."""
        if self._health is None:
            return
        with self._changed:
            works = [*self._works.values()]
        written = self._health.with_name(f".{self._health.name}.{os.getpid()}")
        text = exact_json.write(self._state(works), indent=1)
        try:
            written.write_text(text + "\n", encoding="utf-8")
            written.replace(self._health)
        except OSError as error:
            self.shared.say(f"The health file cannot be written: {error}")

    def _state(self, works: list[Work]) -> dict[str, Any]:
        runs = [
            {
                "job": each.run.job,
                "run": each.run.run_id,
                "attempt": each.run.attempt,
                "beganAt": None if each.began_at is None else _time(each.began_at),
            }
            for each in works
        ]
        return {
            "at": _time(time.time()),
            "pid": os.getpid(),
            "isStopping": self.is_stopping.is_set(),
            "problem": self._problem,
            "runs": runs,
        }


def _time(at: float) -> str:
    return dt.datetime.fromtimestamp(at, dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
