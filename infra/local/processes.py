"""Starting and ending the stack's processes. They are recorded by pid and start time when they start."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from infra.local.places import StackError

#: How long a process may take to end, in seconds. None has data to save: the next start removes its files.
STOP_S = 3

#: The signals that end a program.
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

#: Processes that this program started. It must fetch their exit codes; init fetches those of others.
_children: dict[int, subprocess.Popen[bytes]] = {}


def end_on_signals() -> None:
    """Let SIGINT, SIGTERM and SIGHUP raise KeyboardInterrupt, so that a program ends what it started.

    SIGINT is set too: a shell without job control starts background commands with SIGINT ignored.
    """
    for number in ENDING:
        signal.signal(number, signal.default_int_handler)


def start(command: Sequence[object], env: Mapping[str, str], log: Path, pid_file: Path) -> int:
    """Start the command in a session of its own and return its pid.

    Its output goes to `log`, and its pid and start time to `pid_file`.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        process = subprocess.Popen(
            [str(word) for word in command],
            env=dict(env),
            cwd=log.parent,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    _children[process.pid] = process
    record = {"pid": process.pid, "startedAt": _started_at(process.pid)}
    pid_file.write_text(json.dumps(record), encoding="utf-8")
    return process.pid


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
    pid = start(command, env, log, pid_file)
    deadline = time.monotonic() + within_s
    while not answers():
        if not runs(pid) or time.monotonic() > deadline:
            stop(pid_file)
            end = "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-20:])
            raise StackError(f"{' '.join(map(str, command))} did not start; the end of {log}:\n{end}")
        time.sleep(0.05)


def recorded(pid_file: Path) -> int | None:
    """The pid in the file, if that very process still runs; otherwise None.

    After a restart of the machine the pid may belong to another process. The start time shows that.
    """
    try:
        record = json.loads(pid_file.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    pid = int(record["pid"])
    return pid if runs(pid) and _started_at(pid) == record["startedAt"] else None


def runs(pid: int) -> bool:
    """Whether the process runs, and is not just waiting for its exit code to be fetched."""
    child = _children.get(pid)
    if child is None:
        return _state(pid) not in ("", "Z")
    if child.poll() is None:
        return True
    del _children[pid]
    return False


def stop(pid_file: Path, *, patience_s: float = STOP_S) -> bool:
    """End the process that a file names, with its children. Returns whether there was one to end.

    The process gets SIGTERM. If it still runs after `patience_s` seconds, it gets SIGKILL.
    """
    pid = recorded(pid_file)
    if pid is not None:
        os.kill(pid, signal.SIGTERM)
        deadline = time.monotonic() + patience_s
        while runs(pid) and time.monotonic() < deadline:
            time.sleep(0.05)
        # `start` made the process the leader of a group, so the rest of the group are its children.
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        while runs(pid):
            time.sleep(0.05)
    pid_file.unlink(missing_ok=True)
    return pid is not None


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat after the command's name, which may hold spaces. Empty without /proc."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return []
    return text.rpartition(")")[2].split()


def _state(pid: int) -> str:
    fields = _stat(pid)
    return fields[0] if fields else _ps(pid, "stat")[:1]


def _started_at(pid: int) -> str:
    """The start time, which tells two processes with one pid apart: clock ticks, or a date on macOS."""
    fields = _stat(pid)
    return fields[19] if fields else _ps(pid, "lstart")


def _ps(pid: int, column: str) -> str:
    try:
        answer = subprocess.run(
            ["ps", "-o", f"{column}=", "-p", str(pid)], capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        return ""
    return answer.stdout.strip()
