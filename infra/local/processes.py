"""Starting and ending the stack's processes. Each holds a lock on its pid file for as long as it runs."""

import fcntl
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from infra.local.places import StackError

#: How long a process may take to end, in seconds. None has data to save: the next start removes its files.
STOP_S = 3

#: The signals that end a program.
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def end_on_signals() -> None:
    """Let SIGINT, SIGTERM and SIGHUP raise KeyboardInterrupt, so that a program ends what it started.

    SIGINT is set too: a shell without job control starts background commands with SIGINT ignored.
    """
    for number in ENDING:
        signal.signal(number, signal.default_int_handler)


def start(command: Sequence[object], env: Mapping[str, str], log: Path, pid_file: Path) -> None:
    """Start the command in a session of its own, with its output in `log` and its pid in `pid_file`.

    The system ends the lock on that file when the process ends, however it ends.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output, pid_file.open("w", encoding="utf-8") as record:
        fcntl.flock(record, fcntl.LOCK_EX)
        process = subprocess.Popen(
            [str(word) for word in command],
            env=dict(env),
            cwd=log.parent,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=[record.fileno()],
        )
        record.write(str(process.pid))
    # This program must fetch the exit code, unless it ends first.
    threading.Thread(target=process.wait, daemon=True).start()


def start_until(
    command: Sequence[object],
    env: Mapping[str, str],
    pid_file: Path,
    answers: Callable[[], bool],
    within_s: float,
) -> None:
    """Start the command, and return when it answers. Its output goes to a file beside `pid_file`.

    StackError, with the end of the output, if it ends or does not answer in time. Then it is ended.
    """
    log = pid_file.with_suffix(".log")
    start(command, env, log, pid_file)
    deadline = time.monotonic() + within_s
    while not answers():
        if recorded(pid_file) is None or time.monotonic() > deadline:
            stop(pid_file)
            end = "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-20:])
            raise StackError(f"{' '.join(map(str, command))} did not start; the end of {log}:\n{end}")
        time.sleep(0.05)


def recorded(pid_file: Path) -> int | None:
    """The pid in the file, if its process still runs; otherwise None.

    Another process may have that pid now. It does not hold the lock.
    """
    try:
        with pid_file.open(encoding="utf-8") as record:
            fcntl.flock(record, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return None
    except BlockingIOError:
        return int(pid_file.read_text(encoding="utf-8"))
    return None


def stop(pid_file: Path, *, patience_s: float = STOP_S) -> bool:
    """End the process that a file names, with its children. Returns whether there was one to end.

    The process gets SIGTERM. If it still runs after `patience_s` seconds, it gets SIGKILL.
    """
    pid = recorded(pid_file)
    if pid is not None:
        os.kill(pid, signal.SIGTERM)
        deadline = time.monotonic() + patience_s
        while recorded(pid_file) is not None and time.monotonic() < deadline:
            time.sleep(0.05)
        # `start` made the process the leader of a group, so the rest of the group are its children.
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        while recorded(pid_file) is not None:
            time.sleep(0.05)
    pid_file.unlink(missing_ok=True)
    return pid is not None
