"""Only working processes of functions are killed, and only those that a stack has started."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event

from infra.faults.kills import Kill, kill, plan, workers

_BUSY = "print(flush=True)\nwhile True: pass"
_IDLE = "import time; print(flush=True); time.sleep(60)"


@contextmanager
def process(folder: Path, code: str) -> Iterator[subprocess.Popen[bytes]]:
    """A child of this process, as ministack runs a function whose folder has that name. It has started."""
    folder.mkdir()
    (folder / "_worker.py").write_text(code)
    command = [sys.executable, str(folder / "_worker.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:  # noqa: S603 - this Python
        assert child.stdout is not None, "it was asked for"
        try:
            child.stdout.readline()
            yield child
        finally:
            child.kill()


def test_the_same_seed_plans_the_same_kills_in_the_order_of_time() -> None:
    first, again = (list(plan(random.Random(1), 600)) for _ in range(2))  # noqa: S311 - the same each time

    assert first == again == sorted(first)
    assert {function for _, function in first} == {"Deliver", "Flow", "Api", "Authorizer", "Tick"}


def test_a_working_process_of_the_planned_function_is_killed_and_no_other(tmp_path: Path) -> None:
    with (
        process(tmp_path / "ministack-lambda-sweephand-DeliverFunction-1-a", _BUSY) as busy,
        process(tmp_path / "ministack-lambda-sweephand-DeliverFunction-1-b", _IDLE) as idle,
        process(tmp_path / "ministack-lambda-sweephand-TickFunction-1-a", _BUSY) as other,
        process(tmp_path / "something-else", _BUSY) as foreign,
    ):
        found = kill(iter([(0, "Deliver")]), os.getpid(), time.monotonic(), Event())

        assert next(found).function == "Deliver"
        assert busy.wait(60) == -signal.SIGKILL
        assert [each.poll() for each in (idle, other, foreign)] == [None] * 3


def test_what_does_not_work_until_the_end_stays_alive(tmp_path: Path) -> None:
    with process(tmp_path / "ministack-lambda-sweephand-DeliverFunction-1-a", _IDLE) as idle:
        is_over = Event()
        is_over.set()

        assert list[Kill](kill(iter([(0, "Deliver")]), os.getpid(), time.monotonic(), is_over)) == []
        assert idle.poll() is None


def test_the_children_of_another_process_are_not_found(tmp_path: Path) -> None:
    with process(tmp_path / "ministack-lambda-sweephand-DeliverFunction-1-a", _IDLE) as idle:
        assert [each.pid for each in workers(os.getpid())] == [idle.pid]
        assert list(workers(idle.pid)) == []
