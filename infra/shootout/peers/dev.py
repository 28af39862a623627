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
#: As often as all others try again, for two minutes at least. Half of a delay is random.
_RETRY: Final = {"initialDelay": "5s", "multiplier": 1, "maxAttempts": 50}

_EXPORT: Final = re.compile(r"export (API|KEY)=(\S+)")


class Sweephand:
    """What both kinds of Sweephand have in common: the API, and the consumer."""

    delivers = "HTTP requests to a consumer"
    client: Client
    run: Run

    def versions(self) -> Mapping[str, str]:
        """The version of the package."""
        return {"sweephand": __version__}

    def install(self) -> None:
        """The repository's own code runs, with what `make shootout` has installed."""

    def create(self, triggers: Sequence[Trigger]) -> float:
        """Write one-offs by bulk calls, as many as a call takes."""
        return self._write({key: {"dueTime": rfc3339(at)} for key, at in triggers})

    def recur(self, keys: Sequence[str]) -> float:
        """Write cron jobs of each second."""
        return self._write({key: {"schedule": "* * * * * *"} for key in keys})

    def _write(self, times: Mapping[str, Mapping[str, Any]]) -> float:
        target = {"type": "http", "url": self.run.url}
        jobs = [{"name": key, "target": target, "retry": _RETRY, **each} for key, each in times.items()]
        began_s = time.monotonic()
        write_jobs(self.client, _NAMESPACE, jobs)
        return time.monotonic() - began_s


class Dev(Sweephand):
    """`sweephand dev`, in memory or with a file."""

    def __init__(self, *, has_file: bool) -> None:
        self._has_file = has_file
        self.name = "sweephand-file" if has_file else "sweephand-memory"
        self.setting = "`sweephand dev`, " + ("`--store`" if has_file else "memory")
        self.lacks: Mapping[str, str] = {} if has_file else {"kill": "its state ends with the process"}

    def start(self, run: Run) -> None:
        """Start the process on any free port, which a restart keeps."""
        self.run = run
        self._port = free_port()
        self._processes = Processes(run.home, run.env)
        self._launch()

    def restart(self) -> None:
        """Start the process on the same port and file."""
        self._processes.stop()
        self._launch()

    def _launch(self) -> None:
        store = ["--store", self.run.home / "jobs.db"] if self._has_file else []
        self._processes.start(
            "dev", dev.command("--port", self._port, *store), self._answers, **dev.own_environment()
        )

    def _answers(self) -> bool:
        told = (self.run.home / "dev.log").read_text(encoding="utf-8")
        exports = dict(_EXPORT.findall(told))
        if len(exports) == 2:  # noqa: PLR2004 - API and KEY
            self.client = Client(exports["API"], exports["KEY"])
            try:
                return self.client.call("GET", "/v1/limits").status == 200  # noqa: PLR2004 - OK
            except urllib3.exceptions.HTTPError:
                return False
        return False

    def pids(self) -> Sequence[int]:
        """The process."""
        return self._processes.pids()

    def stop(self) -> None:
        """End the process."""
        self._processes.stop()
