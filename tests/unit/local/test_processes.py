"""A process is ended only if it was started here, even if another process has its pid now."""

import os
import sys
import time
from pathlib import Path

from infra.local import processes

FOREVER = [sys.executable, "-c", "import signal; signal.pause()"]
STUBBORN = [
    sys.executable,
    "-c",
    "import signal as s; s.signal(s.SIGTERM, s.SIG_IGN); print(flush=True); s.pause()",
]


def test_a_started_process_is_found_by_its_file_and_ended(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    processes.start(FOREVER, os.environ, tmp_path / "log", pid_file)
    pid = processes.recorded(pid_file)
    assert pid is not None
    assert os.getpgid(pid) == pid
    assert processes.stop(pid_file)
    assert processes.recorded(pid_file) is None
    assert not pid_file.exists()


def test_a_process_that_ignores_the_signal_to_end_is_killed(tmp_path: Path) -> None:
    pid_file, log = tmp_path / "pid", tmp_path / "log"
    processes.start(STUBBORN, os.environ, log, pid_file)
    while not log.read_text():
        time.sleep(0.01)
    assert processes.stop(pid_file, patience_s=0.2)
    assert processes.recorded(pid_file) is None


def test_a_pid_file_whose_process_has_ended_names_no_process(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    processes.start([sys.executable, "-c", ""], os.environ, tmp_path / "log", pid_file)
    while processes.recorded(pid_file) is not None:
        time.sleep(0.01)
    assert not processes.stop(pid_file)


def test_a_process_that_has_taken_over_the_pid_of_an_ended_one_is_left_alone(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    pid_file.write_text(str(os.getpid()))
    assert processes.recorded(pid_file) is None
    assert not processes.stop(pid_file)


def test_a_missing_pid_file_names_no_process(tmp_path: Path) -> None:
    assert processes.recorded(tmp_path / "pid") is None
