"""Procrastinate on PostgreSQL."""

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from subprocess import Popen

from infra.shootout import postgres
from infra.shootout.programs import PYTHON, Programs, version_of


class Procrastinate(Programs):
    """One-offs are jobs with `schedule_at`. Series are periodic tasks, which a worker reads at its start."""

    name = "procrastinate"
    setting = "PostgreSQL's default: each commit is synced; two workers poll each 0.1 s (by default 5 s)"
    delivers = "its own workers"

    def versions(self) -> Mapping[str, str]:
        """The versions of Procrastinate, of its client of PostgreSQL, and of PostgreSQL."""
        return {**version_of("procrastinate", "psycopg"), **postgres.version()}

    def launch(self) -> None:
        """Start PostgreSQL and the workers on the port of the run."""
        postgres.start(self.processes, self.run.home, self.port)
        self._worker = self._start_worker("worker-1")
        self._start_worker("worker-2")

    def client(self) -> Sequence[object]:
        """The program that defers jobs in bulk."""
        return self._command("create")

    def recur(self, keys: Sequence[str]) -> float:
        """Start one worker again, with these periodic tasks.

        If both had them and were late, they would defer some seconds twice.
        """
        file = self.run.home / "each_second.json"
        file.write_text(json.dumps(keys), encoding="utf-8")
        began_s = time.monotonic()
        self._worker.terminate()
        self._worker.wait()
        self._worker = self._start_worker("worker-1", file)
        return time.monotonic() - began_s

    def _start_worker(self, name: str, *periodic: Path) -> Popen[bytes]:
        return self.processes.start(name, self._command("work", self.run.home, *periodic), "ready")

    def _command(self, *arguments: object) -> Sequence[object]:
        address = postgres.address(self.port)
        return [PYTHON, "-m", "infra.shootout.clients.procrastinate", address, *arguments]
