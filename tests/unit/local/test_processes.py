"""A process is ended only if it was started here, even if another process has its pid now."""

import json
import os
import sys
from pathlib import Path

from infra.local import processes

FOREVER = [sys.executable, "-c", "import signal; signal.pause()"]
STUBBORN = [sys.executable, "-c", "import signal as s; s.signal(s.SIGTERM, s.SIG_IGN); s.pause()"]


def test_a_started_process_is_found_by_its_file_and_ended(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid.json"
    pid = processes.start(FOREVER, os.environ, tmp_path / "log", pid_file)
    assert processes.recorded(pid_file) == pid
    assert processes.stop(pid_file)
    assert not processes.runs(pid)
    assert not pid_file.exists()


def test_a_process_that_ignores_the_signal_to_end_is_killed(tmp_path: Path) -> None:
    pid = processes.start(STUBBORN, os.environ, tmp_path / "log", tmp_path / "pid.json")
    assert processes.stop(tmp_path / "pid.json", patience_s=0.2)
    assert not processes.runs(pid)


def test_a_pid_file_whose_process_has_ended_names_no_process(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid.json"
    pid = processes.start([sys.executable, "-c", ""], os.environ, tmp_path / "log", pid_file)
    while processes.runs(pid):
        pass
    assert processes.recorded(pid_file) is None
    assert not processes.stop(pid_file)


def test_a_process_that_has_taken_over_the_pid_of_an_ended_one_is_left_alone(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid.json"
    pid_file.write_text(json.dumps({"pid": os.getpid(), "startedAt": "another time"}))
    assert processes.recorded(pid_file) is None
    assert not processes.stop(pid_file)


def test_a_missing_or_damaged_pid_file_names_no_process(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid.json"
    assert processes.recorded(pid_file) is None
    pid_file.write_text("{")
    assert processes.recorded(pid_file) is None
