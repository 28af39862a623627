"""A command is a process with a group of its own. Real processes are the subject here."""

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sweephand_client.worker.process import Account, Process, StartError

PATIENCE_S = 60
SELF = Account(None, None, None)


class Started:
    """A command that was started, and what it said."""

    def __init__(self, text: str | list[str], home: Path, **options: Any) -> None:
        self.lines: list[str] = []
        self._changed = threading.Condition()
        self._is_over = threading.Event()
        words = ["/bin/sh", "-c", text] if isinstance(text, str) else text
        given = {
            "stdin": b"",
            "account": SELF,
            "directory": str(home),
            "environment": {"PATH": "/usr/bin:/bin"},
        }
        self.process = Process(words, **{**given, **options}, say=self._say, ended=self._is_over.set)

    def _say(self, text: str) -> None:
        with self._changed:
            self.lines += text.split("\n")
            self._changed.notify_all()

    def said(self, holds: Callable[[list[str]], bool]) -> list[str]:
        """What it said, as soon as that holds."""
        with self._changed:
            assert self._changed.wait_for(lambda: holds(self.lines), PATIENCE_S), self.lines
            return [*self.lines]

    def ended(self) -> int | None:
        """The exit code, when it has ended by itself and all is read."""
        assert self._is_over.wait(PATIENCE_S)
        self.process.end()
        return self.process.status


def is_alive(pid: int) -> bool:
    """Whether a process runs. One that has ended and whose parent does not look is not alive."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_the_output_comes_line_by_line_and_the_exit_code_tells_the_end(tmp_path: Path) -> None:
    started = Started("echo one; echo two >&2; pwd; printf rest; exit 3", tmp_path)
    assert started.ended() == 3
    assert started.lines == ["one", "two", str(tmp_path), "rest"]
    assert started.process.tail == f"one\ntwo\n{tmp_path}\nrest"


def test_a_list_is_no_shell_and_the_input_is_what_is_given(tmp_path: Path) -> None:
    started = Started(["cat", "-", "/dev/null"], tmp_path, stdin=b"$(id) %\n" * 40_000)
    assert started.ended() == 0
    assert started.lines == ["$(id) %"] * 40_000


@pytest.mark.parametrize(
    "options",
    [{"directory": "/no/such/directory"}, {"text": ["/no/such/program"]}, {"text": ["/etc/passwd"]}],
)
def test_what_cannot_be_started_is_told(options: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(StartError, match=r"The command cannot be started: .*/"):
        Started(**{"text": "true", "home": tmp_path, **options})


def test_the_whole_group_is_ended(tmp_path: Path) -> None:
    started = Started("sleep 1000 & sleep 1000 & echo $! $$; wait", tmp_path)
    pids = [int(each) for each in started.said(bool)[0].split()]
    started.process.end()
    assert started.process.status == -signal.SIGTERM
    assert not any(map(is_alive, pids))


def test_a_command_that_ignores_sigterm_is_killed_with_its_group(tmp_path: Path) -> None:
    started = Started("trap '' TERM; sleep 1000 & echo $!; while :; do sleep 1000; done", tmp_path)
    pid = int(started.said(bool)[0])
    started.process.end(kill_after_s=0.2)
    assert started.process.status == -signal.SIGKILL
    assert not is_alive(pid)


def test_children_have_time_to_end_although_their_shell_is_gone(tmp_path: Path) -> None:
    child = "trap 'echo cleaned > done; exit' TERM; echo ready; while :; do sleep 0.05; done"
    started = Started(f'sh -c "{child}"; true', tmp_path)
    started.said(bool)
    started.process.end()
    assert (tmp_path / "done").read_text("utf-8") == "cleaned\n"


def test_what_a_command_leaves_behind_in_its_group_ends_with_it(tmp_path: Path) -> None:
    started = Started("sleep 1000 > /dev/null 2>&1 & echo $!", tmp_path)
    assert started.ended() == 0
    assert not is_alive(int(started.lines[0]))


def test_a_process_that_has_left_the_group_and_holds_the_output_is_not_waited_for(tmp_path: Path) -> None:
    started = Started(
        "setsid sh -c 'echo $$; exec sleep 1000' & while ! test -e go; do sleep 0.05; done", tmp_path
    )
    pid = int(started.said(bool)[0])
    (tmp_path / "go").touch()
    assert started.ended() == 0
    assert is_alive(pid)
    os.kill(pid, signal.SIGKILL)


def test_a_command_that_closes_its_output_goes_on(tmp_path: Path) -> None:
    started = Started("exec > /dev/null 2>&1; while ! test -e go; do sleep 0.05; done; exit 4", tmp_path)
    assert not started.process.is_over
    (tmp_path / "go").touch()
    assert started.ended() == 4


def test_of_a_large_output_only_the_end_is_kept(tmp_path: Path) -> None:
    started = Started("head -c 30000000 /dev/zero | tr '\\0' x; echo; echo the end", tmp_path)
    assert started.ended() == 0
    assert started.process.tail == "x" * 4_087 + "\nthe end\n"
    assert max(map(len, started.lines)) <= 2 * 65_536
    assert sum(map(len, started.lines)) == 30_000_007
