"""One started scheduler: creates triggers in time, waits for them, and judges what came."""

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from infra.bench.local_stack import now, sleep_until
from infra.bench.punctuality import Punctuality, judge
from infra.local.places import LOCAL
from infra.shootout.peer import Peer, Trigger
from infra.shootout.processes import resident_mb
from infra.shootout.sink import Sink

from sweephand.base.instants import HOUR_MS, SECOND_MS

#: So many one-offs that are due much later show how fast a scheduler takes them.
_PROBES: Final = 100

#: The first trigger is due so long after the creation is expected to end. A client may take seconds to start.
_LEAD_MS: Final = 4 * SECOND_MS
_SPARE: Final = 1.5

#: A creation that would take longer is not begun.
_CREATION_MAX_S: Final = 60

#: After so long a silence, what is missing counts as lost. A scheduler that still delivers so long after the
#: last due time has too much to do.
_QUIET_S: Final = 10
_PATIENCE_S: Final = 60


class SlowError(Exception):
    """A scheduler cannot take or deliver the triggers in time. The message says how many it can."""


class Bench:
    """A started scheduler. `created_per_s` is its latest rate of creation."""

    def __init__(self, peer: Peer, sink: Sink) -> None:
        self.peer = peer
        self.sink = sink
        self.idle_mb = resident_mb(peer.pids())
        self.created_per_s = 0.0
        self._made = 0

    def probe(self) -> None:
        """Learn how fast the scheduler takes one-offs."""
        self._create(dict.fromkeys(self._keys(_PROBES), now() + HOUR_MS))

    def create(self, after_ms: Sequence[int]) -> Mapping[str, int]:
        """Create a one-off for each of these delays after one instant. Returns when each is due.

        The instant is chosen so that the creation ends before it. SlowError if that would take too long, or
        took longer.
        """
        expected_s = len(after_ms) / self.created_per_s
        if expected_s > _CREATION_MAX_S:
            raise SlowError(f"{len(after_ms):,} at {self.created_per_s:.0f} a second take too long to create")
        start_at = now() + _LEAD_MS + round(expected_s * _SPARE * SECOND_MS)
        due_at = {key: start_at + ms for key, ms in zip(self._keys(len(after_ms)), after_ms, strict=True)}
        self._create(due_at)
        if now() > start_at:
            raise SlowError(f"created at {self.created_per_s:.0f} a second, after the first was due")
        return due_at

    def _create(self, due_at: Mapping[str, int]) -> None:
        took_s = self.peer.create([Trigger(*each) for each in due_at.items()])
        self.created_per_s = len(due_at) / took_s

    def _keys(self, count: int) -> Sequence[str]:
        self._made += count
        return [f"t{number}" for number in range(self._made - count, self._made)]

    def stored_mb(self) -> float:
        """The memory of all its processes now."""
        return resident_mb(self.peer.pids())

    def wait(
        self,
        due_at: Mapping[str, int],
        quiet_s: float = _QUIET_S,
        patience_s: float = _PATIENCE_S,
        clocks_ms: int = 0,
    ) -> Punctuality:
        """Wait until all have come, or nothing comes any more, and judge them.

        SlowError if some still come when patience ends. The scheduler's clock may be ahead by `clocks_ms`.
        """
        last_at = max(due_at.values())
        count, changed_at, owed = 0, 0, set(due_at)
        while now() < last_at + patience_s * SECOND_MS:
            came = self.sink.came()
            owed.difference_update(each.key for each in came[count:])
            if len(came) != count:
                count, changed_at = len(came), now()
            if not owed or now() > max(last_at, changed_at) + quiet_s * SECOND_MS:
                break
            time.sleep(0.2)
        else:
            count = len(due_at) - len(owed)
            raise SlowError(
                f"{count:,} of {len(due_at):,} came until {patience_s:.0f} s after the last was due"
            )
        # What comes twice comes a little later.
        sleep_until(max(now(), last_at) + SECOND_MS)
        came_at = [(each.key, each.arrived_at) for each in self.sink.came()]
        return judge(due_at, came_at, clocks_ms=clocks_ms)


@contextmanager
def running(peer: Peer, env: Callable[[Path], dict[str, str]] | None = None) -> Iterator[Bench]:
    """A scheduler that was started in a new folder on this machine's disk. It is ended with the context.

    `env` makes more variables for its processes, from that folder.
    """
    LOCAL.joinpath("shootout").mkdir(exist_ok=True)
    home = Path(tempfile.mkdtemp(prefix=f"{peer.name}-", dir=LOCAL / "shootout"))
    try:
        with Sink(home, {} if env is None else env(home)) as sink:
            try:
                peer.start(sink.run)
                yield Bench(peer, sink)
            finally:
                peer.stop()
    except BaseException:
        print(f"  its logs are in {home}", flush=True)
        raise
    shutil.rmtree(home)
