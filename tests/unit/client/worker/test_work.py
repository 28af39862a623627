"""The work of one delivery ends with a callback that says how the command ended."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from string import ascii_letters

import pytest
from infra.local.places import ROOT
from tests.unit.client.worker.conftest import GONE, LOST, TOKEN, Held, Machine, Stack, run_of, shell
from tests.unit.client.worker.test_process import is_alive

from sweephand_client.worker.slots import Slots
from sweephand_client.worker.turns import Turn, locks_directory
from sweephand_client.worker.work import End, Work

PATIENCE_S = 60


@contextmanager
def going_on(work: Work) -> Iterator[list[End | None]]:
    """Do the work in a thread. The end is there after the block."""
    ends: list[End | None] = []
    thread = threading.Thread(target=lambda: ends.append(work.carry_out()), daemon=True)
    thread.start()
    yield ends
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


def until(holds: Callable[[], object]) -> None:
    """Wait for something that a real process or thread does."""
    pause = threading.Event()
    for _ in range(PATIENCE_S * 100):
        if holds():
            return
        pause.wait(0.01)
    raise AssertionError("it does not hold")


def test_a_command_that_succeeds_completes_its_run(machine: Machine, stack: Stack) -> None:
    held = Held()
    text = "cat; echo; env | grep ^SWEEPHAND_ | sort"
    machine.work(shell(text, stdin="data", environment={"AWS_REGION": None}), held=held).carry_out()
    assert (stack.beats, held.seen) == (1, ["keep"])
    [(kind, result)] = stack.ends
    assert (kind, result["end"]) == ("complete", "exit code 0")
    assert result["output"].splitlines() == [
        '{"n":1.10}',
        "SWEEPHAND_ATTEMPT=1",
        "SWEEPHAND_BATCH_INDEX=0",
        "SWEEPHAND_DUE=2026-11-21T12:00:00.000Z",
        "SWEEPHAND_JOB=backup",
        "SWEEPHAND_NAMESPACE=web1",
        "SWEEPHAND_RUN=1795262400000-0",
        "SWEEPHAND_SEQUENCE=7",
        "SWEEPHAND_TRIGGER_ID=backup-1",
    ]


def test_a_command_that_fails_fails_its_run_with_the_end_of_its_output(
    machine: Machine, stack: Stack
) -> None:
    machine.work(shell("seq 1000; exit 7")).carry_out()
    [(kind, reason)] = stack.ends
    assert kind == "fail"
    assert reason.startswith("exit code 7: ")
    assert reason.endswith("\n999\n1000")
    assert len(reason) <= 512


@pytest.mark.parametrize("character", ["x", "\u20ac", "\x01", "\U0001f600", '"'])
def test_a_result_has_as_much_of_the_output_as_there_is_room_for(character: str) -> None:
    result = End(is_done=True, text="exit code 0", output=character * 4_000).result
    size = len(json.dumps(result, ensure_ascii=False, separators=(",", ":")).encode())
    assert 2_030 <= size <= 2_048


def test_neither_the_token_nor_a_secret_variable_leaves_the_machine_or_reaches_the_command(
    machine: Machine, stack: Stack
) -> None:
    shown = f"env; ps -o args= -p $$,$PPID; echo {TOKEN[:8]}{TOKEN[8:]}"
    command = shell(shown, environment={"DB_PASSWORD": "hunter22"})
    machine.work(command).carry_out()
    [(_, result)] = stack.ends
    assert TOKEN not in result["output"]
    assert "[secret]" in result["output"]
    assert not any("hunter22" in text for _, each in stack.ends for text in each.values())
    before = "\n".join(machine.log).partition("[secret]")[0]
    assert before.count(TOKEN) <= 2, "only the command of this very test has the token in its arguments"
    assert "SWEEPHAND_KEY" not in before


def test_a_command_that_takes_too_long_is_ended(machine: Machine, stack: Stack) -> None:
    machine.work(shell("echo begun; sleep 1000", timeout_s=1)).carry_out()
    assert stack.ends == [("fail", "the command took longer than its timeout of 1 s: begun")]


def test_a_command_that_cannot_be_started_fails(machine: Machine, stack: Stack) -> None:
    machine.work(shell("true", directory="/no/such")).carry_out()
    [(kind, reason)] = stack.ends
    assert (kind, "/no/such" in reason) == ("fail", True)


def test_a_cancelled_run_is_ended_and_nothing_is_reported(machine: Machine, stack: Stack) -> None:
    stack.left_s = 1.5
    work = machine.work(shell("echo $$ > pid; sleep 1000", directory=str(machine.home)))
    with going_on(work) as ends:
        until((machine.home / "pid").exists)
        stack.answers.append(GONE)
    assert (ends, stack.ends) == ([None], [])
    assert machine.log[-1].endswith("stopped: The run is cancelled: stop.")


def test_a_command_does_not_outlive_its_run_while_a_heartbeat_hangs(machine: Machine, stack: Stack) -> None:
    stack.left_s = 1
    hangs = threading.Event()
    work = machine.work(shell("echo $$ > pid; exec sleep 1000", directory=str(machine.home)))
    with going_on(work) as ends:
        until(lambda: (machine.home / "pid").exists() and (machine.home / "pid").read_text("utf-8"))
        stack.answers.append(hangs)
        pid = int((machine.home / "pid").read_text("utf-8"))
        until(lambda: not is_alive(pid))
        hangs.set()
    assert (ends, stack.ends) == ([None], [])
    assert "no heartbeat got through until heartbeatBy" in machine.log[-1]


def test_a_run_that_is_over_before_its_command_begins_is_not_begun(machine: Machine, stack: Stack) -> None:
    stack.answers.append(GONE)
    held = Held()
    assert machine.work(shell("touch ran", directory=str(machine.home)), held=held).carry_out() is None
    assert held.seen == ["keep"]
    assert not (machine.home / "ran").exists()


def test_a_worker_that_stops_fails_what_runs_and_puts_back_what_was_not_accepted(
    machine: Machine, stack: Stack
) -> None:
    running = machine.work(shell("touch begun; sleep 1000", directory=str(machine.home)))
    with going_on(running):
        until((machine.home / "begun").exists)
        running.stop("the worker was stopped")
    assert stack.ends == [("fail", "the worker was stopped.")]
    stack.answers.extend([LOST] * 1_000)
    held = Held()
    waiting = machine.work(shell("true"), run_of("other"), held)
    with going_on(waiting) as ends:
        until(lambda: stack.beats > 1)
        waiting.stop("the worker was stopped")
    assert (ends, held.seen, len(stack.ends)) == ([None], ["put back"], 1)


def test_an_end_that_does_not_get_through_is_reported_again(
    machine: Machine, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sweephand_client.worker.work._REPORT_AGAIN_S", 0.0)
    stack.reports.extend([LOST, LOST])
    machine.work(shell("true")).carry_out()
    assert [kind for kind, _ in stack.ends] == ["complete"]
    stack.reports.append(GONE)
    machine.work(shell("true")).carry_out()
    assert machine.log[-1].endswith("the end was not taken: The run is cancelled: stop.")


def test_without_a_token_the_message_is_deleted_only_after_success(machine: Machine, stack: Stack) -> None:
    for text, seen in (("true", ["keep"]), ("false", [])):
        held = Held()
        machine.work(shell(text), run_of(token=None), held).carry_out()
        assert held.seen == seen
    assert (stack.beats, stack.ends) == (0, [])


def test_a_second_run_of_a_job_is_skipped_or_waits(machine: Machine, stack: Stack) -> None:
    def work(overlap: str, name: str) -> Work:
        text = f"touch {name}; until test -e go; do sleep 0.02; done"
        return machine.work(shell(text, directory=str(machine.home), overlap=overlap), run_of(id=name))

    with going_on(work("wait", "first")):
        until((machine.home / "first").exists)
        work("skip", "second").carry_out()
        assert [result["end"] for _, result in stack.ends] == [
            "skipped, since an earlier run of the job goes on here"
        ]
        with going_on(work("wait", "third")):
            until(lambda: stack.beats == 3)
            assert not (machine.home / "third").exists()
            (machine.home / "go").touch()
    assert (machine.home / "third").exists()
    assert [kind for kind, _ in stack.ends] == ["complete"] * 3


def test_no_more_commands_run_at_once_than_there_are_slots() -> None:
    slots, told = Slots(1), list[str]()
    with ExitStack() as line:
        first = ExitStack()
        running = first.enter_context(slots.wanted(lambda: told.append("a")))
        with slots.wanted(lambda: told.append("b")) as second:
            third = line.enter_context(slots.wanted(lambda: told.append("c")))
            assert (running.is_free, second.is_free, third.is_free) == (True, False, False)
        first.close()
        assert (third.is_free, told) == (True, ["a", "c"])


def test_the_turn_outlives_a_worker_that_is_killed(tmp_path: Path) -> None:
    """A process takes the turn, starts a command that inherits it, and is killed."""
    program = (
        "import subprocess, sys, time; from pathlib import Path\n"
        "from sweephand_client.worker.turns import Turn\n"
        f"turn = Turn(Path({str(tmp_path)!r}), 'web1', 'backup'); assert turn.take()\n"
        "child = subprocess.Popen(['sleep', '1000'], pass_fds=[turn.file]); print(child.pid, flush=True)\n"
        "time.sleep(1000)\n"
    )
    worker = subprocess.Popen(  # noqa: S603 - this interpreter
        [sys.executable, "-c", program],
        env={"PYTHONPATH": str(ROOT / "client")},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert worker.stdout is not None
    with worker.stdout:
        child = int(worker.stdout.readline())
    worker.kill()
    worker.wait(PATIENCE_S)
    with Turn(tmp_path, "web1", "backup") as turn, Turn(tmp_path, "web2", "backup") as other:
        assert (turn.take(), other.take()) == (False, True)
        os.kill(child, signal.SIGKILL)
        until(turn.take)


def test_what_a_command_has_left_behind_does_not_keep_the_turn(machine: Machine, stack: Stack) -> None:
    left = "setsid sh -c 'echo $$ > pid; exec sleep 1000' > /dev/null 2>&1 &"
    text = f"{left} until test -s pid; do sleep 0.02; done; cat pid; rm pid"
    command = shell(text, directory=str(machine.home), overlap="skip")
    for _ in range(2):
        machine.work(command).carry_out()
    assert [result["end"] for _, result in stack.ends] == ["exit code 0"] * 2
    for _, result in stack.ends:
        os.kill(int(result["output"]), signal.SIGKILL)


def test_a_directory_of_locks_that_was_cleaned_away_is_made_again(tmp_path: Path) -> None:
    for directory in (tmp_path / "locks", tmp_path / "locks"):
        with Turn(directory, "web1", "backup") as turn:
            assert turn.take()
        shutil.rmtree(directory)


@pytest.mark.parametrize("length", [40, 400, 3_000])
def test_no_part_of_a_secret_is_shown_where_a_long_output_is_cut(
    machine: Machine, stack: Stack, length: int
) -> None:
    secret = "".join(Random(length).choices(ascii_letters, k=length))  # noqa: S311 - the same in each run
    command = shell('for i in $(seq 200); do echo "k=$API_TOKEN"; done', environment={"API_TOKEN": secret})
    machine.work(command).carry_out()
    [(_, result)] = stack.ends
    assert not set(re.findall("[a-zA-Z]{8,}", result["output"])) - {"secret"}


def test_a_command_that_a_real_time_signal_ends_is_told_with_its_output(
    machine: Machine, stack: Stack
) -> None:
    machine.work(shell("echo out; kill -35 $$")).carry_out()
    assert stack.ends == [("fail", "ended by signal 35: out")]


def test_the_locks_are_in_a_directory_of_this_user_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    path = locks_directory()
    assert path.stat().st_mode & 0o777 == 0o700
    path.chmod(0o777)
    with pytest.raises(Exception, match="is not a directory that only you can write to"):
        locks_directory()
