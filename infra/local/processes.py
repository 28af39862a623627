"""Which processes are ours to end: the ones recorded when they were started, by pid and start time."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

#: Nothing that is started here has anything to save: what it wrote is removed at its next start.
_STOP_S = 3

#: Started by this very program, which has to fetch their exit codes; others' are fetched by init.
_children: dict[int, subprocess.Popen[bytes]] = {}


def start(command: Sequence[str | Path], env: Mapping[str, str], log: Path, pid_file: Path) -> int:
    """The pid of the command in a session of its own, its output in `log`, itself recorded in `pid_file`."""
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


def recorded(pid_file: Path) -> int | None:
    """The pid in the file, if that very process still runs; None for one that ended or was never there.

    After a restart of the machine the pid may belong to somebody else: the start time tells.
    """
    try:
        record = json.loads(pid_file.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    pid = int(record["pid"])
    return pid if runs(pid) and _started_at(pid) == record["startedAt"] else None


def runs(pid: int) -> bool:
    """Whether the process is there, and not only because nobody has fetched its exit code."""
    if pid in _children:
        if _children[pid].poll() is None:
            return True
        del _children[pid]
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return _state(pid) != "Z"


def stop(pid_file: Path) -> bool:
    """Whether there was something to end. First asks, then, after 3 s, insists; its children go with it."""
    pid = recorded(pid_file)
    if pid is not None:
        os.kill(pid, signal.SIGTERM)
        deadline = time.monotonic() + _STOP_S
        while runs(pid) and time.monotonic() < deadline:
            time.sleep(0.05)
        # `start` made it the leader of a group: whatever is left of the group came from it.
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        while runs(pid):
            time.sleep(0.05)
    pid_file.unlink(missing_ok=True)
    return pid is not None


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat after the command's name, which may hold spaces; none without /proc."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return []
    return text.rpartition(")")[2].split()


def _state(pid: int) -> str:
    fields = _stat(pid)
    return fields[0] if fields else _ps(pid, "stat")[:1]


def _started_at(pid: int) -> str:
    """What tells this process from another one of the same pid: clock ticks since boot, or a date (macOS)."""
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
