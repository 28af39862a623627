"""What the harness asks of a scheduler that it measures.

A scheduler delivers in one of two ways. It calls the harness's consumer: POST `Run.url`. The trigger's key
is the header Sweephand-Job, or follows the URL. A scheduler that knows the occurrence sends its due time
(RFC 3339) as the header Sweephand-Due. Any other status than 2xx is a refusal.

Or its own worker appends a line to a file of its own in `Run.arrivals` as soon as it has the trigger. The
worker writes without a buffer: key, due time in epoch ms or `-`, and the machine's monotonic clock in ns.
Workers in Python use `infra.shootout.worker.arrive`. While the file `Run.refusing` exists, a worker fails
instead, so that its scheduler tries again. Whoever can be told how often tries again about every 5 s.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol


class Trigger(NamedTuple):
    """A one-off: its key, without spaces, and when it is due, in epoch ms."""

    key: str
    due_at: int


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a scheduler, on an empty folder. `env` goes to each process that reads the clock."""

    home: Path
    url: str
    env: Mapping[str, str]

    @property
    def arrivals(self) -> Path:
        """The folder in which workers append arrivals. It exists."""
        return self.home / "arrivals"

    @property
    def refusing(self) -> Path:
        """While this file exists, workers fail."""
        return self.home / "refusing"


class Peer(Protocol):
    """A scheduler in one setting."""

    @property
    def name(self) -> str:
        """The name of the option --peers and of the tables, such as `celery-durable`."""

    @property
    def setting(self) -> str:
        """What it is set to, and what survives a crash, in words."""

    @property
    def delivers(self) -> str:
        """Who is called, in words."""

    @property
    def lacks(self) -> Mapping[str, str]:
        """Why it takes no part in a scenario, by the scenario's name (`recurring`, `kill`, `clock` ...)."""

    def versions(self) -> Mapping[str, str]:
        """The versions of its programs and client, by their names."""

    def install(self) -> None:
        """Install its locked packages, unless they are there."""

    def start(self, run: Run) -> None:
        """Start its processes and return when they take triggers."""

    def create(self, triggers: Sequence[Trigger]) -> float:
        """Create one-offs as fast as its documented client does. Returns the seconds, without its start."""

    def recur(self, keys: Sequence[str]) -> float:
        """Create jobs that fire at each whole second from now on. Returns the seconds as `create` does."""

    def restart(self) -> None:
        """Start its processes again, on the same folder, after the harness has killed them."""

    def pids(self) -> Sequence[int]:
        """All its living processes, those that deliver and those that store. They are measured and killed."""

    def stop(self) -> None:
        """End its processes, whatever state they are in."""
