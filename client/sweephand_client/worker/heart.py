"""Keeps a run this worker's while its command waits or runs: by heartbeats, and by holding its message."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol, Self

from sweephand_client.api.client import Client
from sweephand_client.http.errors import ConflictError, GoneError, InputError, NotFoundError, SweephandError
from sweephand_client.receive.run import Run, seconds_left

#: A heartbeat is sent three times before it has to come, and at least this often. All in seconds.
_BEATS: Final = 3
_LONGEST_S: Final = 60.0
_SHORTEST_S: Final = 0.5
#: A heartbeat that did not get through is sent again after the first time, and after twice as long each time.
_AGAIN_S: Final = 1.0
_AGAIN_MAX_S: Final = 15.0
#: The wait for the next heartbeat if the stack has not recorded yet that it watches over the run.
_EARLY_S: Final = 0.25
#: After so long without any accepted heartbeat, a delivery goes back.
_GIVE_UP_S: Final = 600.0


class Held(Protocol):
    """What a queue keeps of a delivery until the worker has it for good."""

    #: How often the hold has to be extended.
    extend_s: float

    def extend(self) -> None:
        """Keep the delivery from other workers for a while."""

    def keep(self) -> None:
        """Take the delivery out of its queue: this worker is done with it, or the stack watches over it."""

    def put_back(self) -> None:
        """Give the delivery to any worker at once."""


class Nothing:
    """What a request by HTTP holds."""

    extend_s: float = 3_600.0

    def extend(self) -> None:
        """Do nothing."""

    def keep(self) -> None:
        """Do nothing."""

    def put_back(self) -> None:
        """Do nothing."""


@dataclass(slots=True)
class Beats:
    """When the next heartbeat is sent, and from when on the stack tries the run elsewhere.

    All times are seconds of one monotonic clock.
    """

    next_at: float
    lost_at: float | None = None
    failures: int = 0

    def accepted(self, sent_at: float, left_s: float | None) -> None:
        """A heartbeat was accepted that was sent then. `left_s` later, the next callback has to have come.

        It is None until the stack has recorded that the queue or the worker took the trigger.
        """
        self.failures = 0
        if left_s is None:
            self.next_at = sent_at + _EARLY_S
            return
        self.lost_at = sent_at + left_s
        self.next_at = sent_at + min(max(left_s / _BEATS, _SHORTEST_S), _LONGEST_S)

    def unanswered(self, now: float) -> None:
        """A heartbeat did not get through. The next ones come less and less often."""
        self.next_at = now + min(_AGAIN_S * 2**self.failures, _AGAIN_MAX_S)
        self.failures += 1

    def is_lost(self, now: float) -> bool:
        """Whether the stack tries the run elsewhere by now."""
        return self.lost_at is not None and now >= self.lost_at


class Heart:
    """Sends heartbeats from a thread while its context lasts. It calls `changed` when a property changes.

    A run without a token has no heartbeats. Its message is held until the exit.
    """

    def __init__(
        self,
        run: Run,
        held: Held,
        client: Client,
        *,
        changed: Callable[[], None],
        say: Callable[[str], None],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._run = run
        self._held = held
        self._client = client
        self._changed = changed
        self._say = say
        self._now = now
        self._over = threading.Event()
        self._is_held = True
        self.beats = Beats(now())
        #: Whether the command may begin.
        self.is_taken = run.token is None
        #: Why the command has to stop, or not to begin; None while the run is this worker's.
        self.refusal: str | None = None
        self._thread = threading.Thread(target=self._run_on, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _run_on(self) -> None:
        try:
            self._beat_on()
        except Exception as error:  # noqa: BLE001 - without heartbeats the run is tried elsewhere
            self._refuse(f"the heartbeats failed: {error!r}")

    def _beat_on(self) -> None:
        extend_at, give_up_at = self._now() + self._held.extend_s, self._now() + _GIVE_UP_S
        while True:
            now = self._now()
            if self._is_held and now >= extend_at:
                self._held.extend()
                extend_at = now + self._held.extend_s
            if self._run.token is not None and now >= self.beats.next_at:
                self.beat()
            if not self.is_taken and now >= give_up_at:
                self._held.put_back()
                self._refuse(f"no heartbeat was accepted within {_GIVE_UP_S:g} s")
            if self.why_stop() is not None:
                return
            next_at = [extend_at] if self._is_held else []
            if self._run.token is not None:
                next_at += [self.beats.next_at, *([self.beats.lost_at] if self.beats.lost_at else [])]
            if self._over.wait(max(min(next_at) - self._now(), 0.0)):
                return

    def why_stop(self) -> str | None:
        """Why the command has to stop now. It does not wait for a heartbeat that is under way."""
        if self.beats.is_lost(self._now()):
            self._refuse("no heartbeat got through until heartbeatBy, so the run is tried elsewhere")
        return self.refusal

    def beat(self) -> None:
        """Send a heartbeat."""
        run = self._run
        assert run.run_id is not None, "else the worker has refused it"
        sent_at = self._now()
        try:
            answer = self._client.runs.heartbeat(run.namespace, run.job, run.run_id, token=run.token)
        except (ConflictError, GoneError, NotFoundError) as error:
            if not self._over.is_set():
                self._keep()
                self._refuse(str(error))
            return
        except InputError as error:
            self._refuse(f"this is no delivery of Sweephand: {error}")
            return
        except SweephandError as error:
            self.beats.unanswered(self._now())
            self._say(f"a heartbeat did not get through: {error}")
            return
        left_s = seconds_left(answer)
        self.beats.accepted(sent_at, left_s)
        if left_s is not None and not self.is_taken:
            self._keep()
            self.is_taken = True
            self._changed()

    def _keep(self) -> None:
        if self._is_held:
            self._is_held = False
            self._held.keep()

    def _refuse(self, why: str) -> None:
        if self.refusal is None:
            self.refusal = why
            self._changed()
