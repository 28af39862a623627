"""The processes of one scheduler: started, found with all that they started, and ended."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from infra.local.places import StackError, environment

#: How long a program may take to answer after its start.
_START_S: Final = 60

#: How long a program may take to end before it is killed.
_STOP_S: Final = 5


class Processes:
    """The processes of one run. Each has a process group of its own, and its output in a file of `logs`."""

    def __init__(self, logs: Path, env: Mapping[str, str]) -> None:
        self._logs = logs
        self._env = env
        self._started: list[subprocess.Popen[bytes]] = []

    def start(
        self, name: str, command: Sequence[object], answers: str | Callable[[], bool], **more: str
    ) -> subprocess.Popen[bytes]:
        """Start a program with these variables more, and return when it answers. StackError otherwise.

        If `answers` is a text, the program answers when its output has that text.
        """
        log = self._logs / f"{name}.log"
        with log.open("ab") as output:
            before = output.tell()
            process = subprocess.Popen(
                [str(word) for word in command],
                env={**environment(), **self._env, **more},
                cwd=self._logs,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._started.append(process)
        deadline = time.monotonic() + _START_S
        while not (answers.encode() in log.read_bytes()[before:] if isinstance(answers, str) else answers()):
            if process.poll() is not None or time.monotonic() > deadline:
                end = "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-20:])
                raise StackError(f"{name} did not start; the end of {log}:\n{end}")
            time.sleep(0.02)
        return process

    def pids(self) -> Sequence[int]:
        """The living processes, with all that they have started."""
        return with_children([each.pid for each in self._started if each.poll() is None])

    def stop(self) -> None:
        """End all, the last one first. What does not end within seconds is killed."""
        for process in reversed(self._started):
            group = with_children([process.pid]) if process.poll() is None else []
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGCONT)
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(_STOP_S)
            for pid in group:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            process.wait()
        self._started.clear()


def with_children(pids: Sequence[int]) -> Sequence[int]:
    """These processes, with their children and those of their children."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with suppress(OSError):
                # The name of a program, in parentheses, may have spaces.
                state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
                if state != "Z":
                    children.setdefault(int(parent), []).append(int(folder.name))
    found = list(pids)
    for pid in found:
        found.extend(children.get(pid, ()))
    return found


def resident_mb(pids: Sequence[int]) -> float:
    """The resident memory of these processes, in MB. A page that several share counts once (PSS)."""
    kb = 0
    for pid in pids:
        with suppress(OSError):
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            kb += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return kb / 1_000
