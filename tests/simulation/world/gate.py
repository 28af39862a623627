"""The gate between a process and its ports: each call takes time, and some calls meet a fault."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from random import Random
from typing import Any, Final, NamedTuple, TypeVar, cast

from tests.simulation.traces.chronicle import Chronicle
from tests.simulation.world.faults import (
    PAUSES_MS,
    CallFaults,
    CallKind,
    Role,
    RoleFaults,
    Troubles,
    mixed,
    stream,
)
from tests.simulation.world.processes import LIMITS_MS, Killed, Scheduler
from tests.simulation.world.staleness import Staleness

from sweephand.base.errors import StoreError
from sweephand.base.instants import SECOND_MS, Instant

Port = TypeVar("Port")

#: How long a slow call takes at most.
_SLOW_MAX_MS: Final = 12 * SECOND_MS

#: While writes are throttled, the SDK retries for at most this long. This share of the writes then fails.
_TRYING_MS_MAX: Final = 9 * SECOND_MS
_REFUSED: Final = 1 / 2
_WRITES: Final = ("put", "delete", "PutItem", "DeleteItem")

#: The methods of stores that write. If their answer is lost, the SDK makes the request again.
_REPEATED: Final = frozenset(
    {
        "put",
        "delete",
        "claim",
        "record",
        "move",
        "release",
        "commit",
        "beat",
        "raise_shards",
        "discard",
        "save_position",
        "advance",
        "mark",
    }
)

#: When the SDK makes a request again, at most. This is two tries without an answer within 4 s each, and the
#: waits after them (storage/connect.py). After a cut connection it takes milliseconds.
_REPEATED_AFTER_MS_MAX: Final = 9 * SECOND_MS

#: Latencies are drawn once and used in turn. Their number is a prime, so that no rhythm arises.
_LATENCIES: Final = 509

#: How long an answer is on its way after the call took effect. A value that is listed more often is more
#: frequent.
_ANSWERS_MS: Final = (0, 0, 0, 0, 1, 2, 5, 20)


#: The first call of a delivery process, for the story.
RECEIVES: Final = "receives"


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a port, for the story."""

    at: Instant
    process: str
    where: str
    arguments: tuple[Any, ...]
    result: Any


class Slowness(NamedTuple):
    """How long each request to those ports takes, until when, and for which role if it is given."""

    until: Instant
    request_ms: int
    ports: frozenset[str]
    roles: frozenset[Role] | None = None


class Gate:
    """Stands between a process and its ports.

    `down` says until when a port does not answer at all. `short` says until when its writes are throttled.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        chronicle: Chronicle,
        troubles: Troubles,
        seed: int,
        *,
        is_telling: bool = False,
    ) -> None:
        self._scheduler = scheduler
        self._chronicle = chronicle
        self._seed = seed
        random = stream(seed, "latencies")
        self._roles = {role: RoleFaults(role, troubles) for role in LIMITS_MS}
        # Most latencies are a few milliseconds, and some are about thirty.
        self._latencies = [1 + int(30 * random.random() ** 3) for _ in range(_LATENCIES)]
        self._answers = [random.choice(_ANSWERS_MS) for _ in range(_LATENCIES)]
        self._is_calm = False
        self.staleness = Staleness(scheduler, seed)
        self.down: dict[str, Instant] = {}
        self.slow: Slowness | None = None
        self.short: dict[str, Instant] = {}
        self.calls: list[Call] | None = [] if is_telling else None

    def wrapped(self, port: Port, called: str) -> Port:
        """Return the port with the gate before and after each of its calls."""
        return cast("Port", _Gated(self, port, called))

    def enter(self, where: str, *, may_fail: bool = True) -> tuple[CallKind, ...]:
        """Enter a call, named as in `jobs.get`.

        Raises StoreError or Killed, or returns the fault for after the call.
        """
        scheduler = self._scheduler
        process = scheduler.strand.process
        if process.is_dead:
            raise Killed
        kinds = () if self._is_calm or process.is_spared else process.faults.at_next_call()
        may_fail = may_fail and not process.is_spared
        process.turn += 1
        latency_ms = self._latencies[process.turn % _LATENCIES]
        if self.slow is not None and (slow_ms := self._slow_ms(self.slow, where, process.role)):
            process.slowed_ms += slow_ms
            latency_ms += slow_ms
        if kinds:
            process.is_held_up = True
            if "slow" in kinds:
                latency_ms += self.random.randrange(_SLOW_MAX_MS)
            if "pause" in kinds:
                self._pause(f"before {where}")
            scheduler.sleep(latency_ms)
            if "kill" in kinds:
                self.kill(f"before {where}")
            if "throttle" in kinds and may_fail:
                self._mishap("throttle", where)
                raise StoreError(f"{where} was throttled")
        else:
            scheduler.sleep(latency_ms)
        if self.down and may_fail and self.down.get(where.partition(".")[0], 0) > scheduler.now:
            self._chronicle.figures["refusal"] += 1
            process.is_held_up = True
            raise StoreError(f"{where}: nobody there")
        if self.short and may_fail:
            self._try_for_long(where)
        return kinds

    def _try_for_long(self, where: str) -> None:
        """Let the SDK retry while writes are throttled. Raises StoreError if it gives up."""
        port, _, operation = where.partition(".")
        if self.short.get(port, 0) > self._scheduler.now and operation in _WRITES:
            self._scheduler.strand.process.is_held_up = True
            self._scheduler.sleep(self.random.randrange(_TRYING_MS_MAX))
            if self.random.random() < _REFUSED:
                self._chronicle.figures["refusal"] += 1
                raise StoreError(f"{where}: throttled, try after try")

    def _slow_ms(self, slow: Slowness, where: str, role: Role) -> int:
        if slow.until <= self._scheduler.now or where.partition(".")[0] not in slow.ports:
            return 0
        return slow.request_ms if slow.roles is None or role in slow.roles else 0

    def leave(self, where: str, kinds: tuple[CallKind, ...], *, may_fail: bool = True) -> None:
        """Leave a call. Raises StoreError or Killed if a fault asks for it."""
        scheduler = self._scheduler
        strand = scheduler.strand
        if strand.is_leaving:
            # No promise can cover the time between the last read of a job and the request.
            return
        if kinds:
            if "kill after" in kinds:
                self.kill(f"after {where}")
            if "pause after" in kinds:
                self._pause(f"after {where}")
        answer_ms = self._answers[strand.process.turn % _LATENCIES]
        if answer_ms or kinds:
            scheduler.sleep(answer_ms)
        if "loss" in kinds and may_fail:
            self._mishap("loss", where)
            raise StoreError(f"{where} was not answered")

    def wait_for_repeat(self, where: str) -> None:
        """Let time pass until the SDK repeats a write whose answer was lost. Others write meanwhile."""
        self._mishap("repeat", where)
        random = self.random
        self._scheduler.sleep(int(_REPEATED_AFTER_MS_MAX * random.random() ** random.choice((1, 1, 4))))

    def part(self, where: str, entries: Iterable[Port], kinds: tuple[CallKind, ...]) -> list[Port] | None:
        """Return the entries of a call that are accepted, or None if all are."""
        if "part" not in kinds:
            return None
        self._mishap("part", where)
        return [each for each in entries if self.random.random() < 1 / 2]

    @property
    def random(self) -> Random:
        """The random numbers of the running process."""
        return self._scheduler.strand.process.faults.random

    def sleep(self, duration_ms: int) -> None:
        """Let time pass in the running process."""
        self._scheduler.sleep(duration_ms)

    @property
    def is_telling(self) -> bool:
        """Whether calls are kept for a story."""
        return self.calls is not None

    def told(self, where: str, arguments: tuple[Any, ...], result: object) -> None:
        """Keep a call for the story."""
        if self.calls is not None:
            process = self._scheduler.strand.process.name
            self.calls.append(Call(self._scheduler.now, process, where, arguments, result))

    def calm(self) -> None:
        """Let no fault happen any more."""
        self._is_calm = True
        self.down.clear()
        self.slow = None
        self.short.clear()

    def faults(self, role: Role, *purpose: int) -> CallFaults:
        """Return the faults of a process with that role and purpose."""
        return CallFaults(mixed(self._seed, *map(ord, role), *purpose), self._roles[role])

    def _mishap(self, kind: str, where: str) -> None:
        self._chronicle.mishap(kind, f"{self._scheduler.strand.process.name} {where}")

    def kill(self, where: str) -> None:
        """Kill the running process at this point."""
        process = self._scheduler.strand.process
        self._mishap("kill", where)
        self._scheduler.kill(process, f"killed {where}")
        raise Killed

    def _pause(self, where: str) -> None:
        random = self.random
        longest_ms = random.choice(PAUSES_MS[self._scheduler.strand.process.role])
        pause_ms = int(longest_ms * random.random() ** random.choice((1, 1, 4)))
        self._mishap(f"pause of {pause_ms} ms", where)
        self._scheduler.freeze(pause_ms)


class _Gated:
    """A port whose every call passes the gate. Its methods are made once, because they are called often."""

    def __init__(self, gate: Gate, port: object, called: str) -> None:
        for name in dir(port):
            method = getattr(port, name)
            if not name.startswith("_") and callable(method):
                setattr(self, name, _gated(gate, method, f"{called}.{name}"))


def _gated(gate: Gate, method: Callable[..., object], where: str) -> Callable[..., object]:
    is_write = where.partition(".")[2] in _REPEATED

    if gate.calls is None:

        def passed(*args: object, **kwargs: object) -> object:
            kinds = gate.enter(where)
            result = method(*args, **kwargs)
            if kinds and is_write and "repeat" in kinds:
                gate.wait_for_repeat(where)
                result = method(*args, **kwargs)
            gate.leave(where, kinds)
            return result

        return passed

    def told(*args: object, **kwargs: object) -> object:
        kinds = gate.enter(where)
        result = method(*args, **kwargs)
        if kinds and is_write and "repeat" in kinds:
            gate.told(where, (*args, *kwargs.values()), f"{result}, and the answer is lost")
            gate.wait_for_repeat(where)
            result = method(*args, **kwargs)
        gate.told(where, (*args, *kwargs.values()), result)
        gate.leave(where, kinds)
        return result

    return told
