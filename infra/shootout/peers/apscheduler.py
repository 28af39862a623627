"""APScheduler 3 as a peer, with its jobs in memory and in SQLite."""

from collections.abc import Mapping, Sequence
from multiprocessing.connection import Client
from typing import Any

from infra.shootout.peer import Trigger
from infra.shootout.programs import PYTHON, Programs, version_of


class Apscheduler(Programs):
    """A process with scheduler and executor, which adds the jobs too, as its documentation demands."""

    delivers = "a function in its process; a failed job is not tried again"

    def __init__(self, *, has_file: bool) -> None:
        self.name = "apscheduler-file" if has_file else "apscheduler"
        jobs = "SQLAlchemy on SQLite, WAL, `synchronous=NORMAL`" if has_file else "memory"
        self.setting = f"{jobs}, `misfire_grace_time=None`"
        self._has_file = has_file
        self.lacks: Mapping[str, str] = {} if has_file else {"kill": "its state ends with the process"}

    def versions(self) -> Mapping[str, str]:
        """The packages of the scheduler and its store."""
        return version_of("apscheduler", "sqlalchemy")

    def launch(self) -> None:
        """Start the process."""
        file = [self.run.home / "jobs.db"] if self._has_file else []
        command = [PYTHON, "-m", "infra.shootout.clients.apscheduler", self.run.home, *file]
        self.processes.start("scheduler", command, "ready")

    def create(self, triggers: Sequence[Trigger]) -> float:
        """Add jobs with a date."""
        return self._ask({"once": [tuple(each) for each in triggers]})

    def recur(self, keys: Sequence[str]) -> float:
        """Add jobs of each second."""
        return self._ask({"each_second": list(keys)})

    def _ask(self, wanted: Any) -> float:
        with Client(str(self.run.home / "socket")) as process:
            process.send(wanted)
            seconds: float = process.recv()
            return seconds
