"""`sweephand dev` as a peer, in memory and with a file. It calls the harness's consumer over HTTP."""

import re
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

import urllib3
from infra.local import dev
from infra.local.client import Client, write_jobs
from infra.local.places import free_port
from infra.shootout.peer import Run, Trigger
from infra.shootout.processes import Processes

from sweephand import __version__
from sweephand.base.instants import rfc3339

_NAMESPACE: Final = "shootout"
_EXPORT: Final = re.compile(r"export (API|KEY)=(\S+)")


class Dev:
    """`sweephand dev`. It needs no installation: the repository's own code runs."""

    delivers = "HTTP requests to a consumer"

    def __init__(self, *, has_file: bool) -> None:
        self._has_file = has_file
        self.name = "sweephand-file" if has_file else "sweephand-memory"
        self.setting = "one SQLite file" if has_file else "memory"
        self.lacks: Mapping[str, str] = {} if has_file else {"kill": "its state ends with the process"}

    def versions(self) -> Mapping[str, str]:
        """The version of the package."""
        return {"sweephand": __version__}

    def install(self) -> None:
        """Nothing is installed."""

    def start(self, run: Run) -> None:
        """Start the process on any free port, which a restart keeps."""
        self._run = run
        self._port = free_port()
        self._processes = Processes(run.home, run.env)
        self._launch()

    def restart(self) -> None:
        """Start the process on the same port and file."""
        self._processes.stop()
        self._launch()

    def _launch(self) -> None:
        store = ["--store", self._run.home / "jobs.db"] if self._has_file else []
        self._processes.start(
            "dev", dev.command("--port", self._port, *store), self._answers, **dev.own_environment()
        )

    def _answers(self) -> bool:
        told = (self._run.home / "dev.log").read_text(encoding="utf-8")
        exports = dict(_EXPORT.findall(told))
        if len(exports) == 2:  # noqa: PLR2004 - API and KEY
            self.client = Client(exports["API"], exports["KEY"])
            try:
                return self.client.call("GET", "/v1/limits").status == 200  # noqa: PLR2004 - OK
            except urllib3.exceptions.HTTPError:
                return False
        return False

    def create(self, triggers: Sequence[Trigger]) -> float:
        """Write one-offs by bulk calls, as many as a call takes."""
        return write(self.client, self._run.url, {key: {"dueTime": rfc3339(at)} for key, at in triggers})

    def recur(self, keys: Sequence[str]) -> float:
        """Write cron jobs of each second."""
        return write(self.client, self._run.url, {key: {"schedule": "* * * * * *"} for key in keys})

    def pids(self) -> Sequence[int]:
        """The process."""
        return self._processes.pids()

    def stop(self) -> None:
        """End the process."""
        self._processes.stop()


def write(client: Client, url: str, times: Mapping[str, Mapping[str, Any]]) -> float:
    """Write jobs with these times, and return the seconds that it took."""
    target = {"type": "http", "url": url}
    jobs = [{"name": key, "target": target, **each} for key, each in times.items()]
    began_s = time.monotonic()
    write_jobs(client, _NAMESPACE, jobs)
    return time.monotonic() - began_s
