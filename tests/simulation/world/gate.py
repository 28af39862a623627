"""What happens to a process at every call of a port: time passes, and sometimes more than that."""

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

from sweephand.base.errors import StoreError
from sweephand.base.instants import SECOND_MS, Instant

Port = TypeVar("Port")

#: A call that is slow takes so long at most.
_SLOW_MAX_MS: Final = 12 * SECOND_MS

#: Where writes are throttled, the SDK tries for so long at most; so many fail all the same.
_TRYING_MS_MAX: Final = 9 * SECOND_MS
_REFUSED: Final = 1 / 2
_WRITES: Final = ("put", "delete", "PutItem", "DeleteItem")

#: The methods of stores that write. The SDK makes such a request again if its answer is lost.
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
    }
)

#: The SDK makes a request again after so long at most: two tries that get no answer within their 4 s, and
#: the waits after them (storage/connect.py). A connection that is cut costs milliseconds.
_REPEATED_AFTER_MS_MAX: Final = 9 * SECOND_MS

#: Latencies are drawn once and used in turn: a prime number of them, so that no rhythm comes of it.
_LATENCIES: Final = 509

#: An answer is under way for this long after what was asked has been done, as often as the list has it.
_ANSWERS_MS: Final = (0, 0, 0, 0, 1, 2, 5, 20)


#: What a delivery process begins with, as the story tells it.
RECEIVES: Final = "receives"


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a port as the story tells it."""

    at: Instant
    process: str
    where: str
    arguments: tuple[Any, ...]
    result: Any


class Slowness(NamedTuple):
    """Until when each request to those ports takes so long; of one function's role, if it is given."""

    until: Instant
    request_ms: int
    ports: frozenset[str]
    roles: frozenset[Role] | None = None


class Gate:
    """Between a process and its ports.

    `down` says until when each port is not there at all, `short` until when its writes are throttled.
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
        # Mostly a few milliseconds, now and then some thirty.
        self._latencies = [1 + int(30 * random.random() ** 3) for _ in range(_LATENCIES)]
        self._answers = [random.choice(_ANSWERS_MS) for _ in range(_LATENCIES)]
        self._is_calm = False
        self.down: dict[str, Instant] = {}
        self.slow: Slowness | None = None
        self.short: dict[str, Instant] = {}
        self.calls: list[Call] | None = [] if is_telling else None

    def wrapped(self, port: Port, called: str) -> Port:
        """The port with the gate before and after each of its calls."""
        return cast("Port", _Gated(self, port, called))

    def enter(self, where: str, *, may_fail: bool = True) -> tuple[CallKind, ...]:
        """Before a call, named `jobs.get`: StoreError or Killed, or what is to happen after it."""
        scheduler = self._scheduler
        process = scheduler.strand.process
        if process.is_dead:
            raise Killed
        kinds = () if self._is_calm else process.faults.at_next_call()
        process.turn += 1
        latency_ms = self._latencies[process.turn % _LATENCIES] + self._slow_ms(where, process.role)
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
        """Where writes are throttled, the SDK tries again and again; StoreError if that was in vain."""
        port, _, operation = where.partition(".")
        if self.short.get(port, 0) > self._scheduler.now and operation in _WRITES:
            self._scheduler.strand.process.is_held_up = True
            self._scheduler.sleep(self.random.randrange(_TRYING_MS_MAX))
            if self.random.random() < _REFUSED:
                self._chronicle.figures["refusal"] += 1
                raise StoreError(f"{where}: throttled, try after try")

    def _slow_ms(self, where: str, role: Role) -> int:
        slow = self.slow
        if slow is None or slow.until <= self._scheduler.now or where.partition(".")[0] not in slow.ports:
            return 0
        return slow.request_ms if slow.roles is None or role in slow.roles else 0

    def leave(self, where: str, kinds: tuple[CallKind, ...], *, may_fail: bool = True) -> None:
        """After a call: StoreError or Killed, or nothing."""
        scheduler = self._scheduler
        strand = scheduler.strand
        if strand.is_leaving:
            # What comes between the last look at a job and its request, nobody can promise anything about.
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
        """The answer to a write was lost: the SDK makes it again later, and others write meanwhile."""
        self._mishap("repeat", where)
        random = self.random
        self._scheduler.sleep(int(_REPEATED_AFTER_MS_MAX * random.random() ** random.choice((1, 1, 4))))

    def part(self, where: str, entries: Iterable[Port], kinds: tuple[CallKind, ...]) -> list[Port] | None:
        """Those entries of a call that are accepted if not all are; None if all are."""
        if "part" not in kinds:
            return None
        self._mishap("part", where)
        return [each for each in entries if self.random.random() < 1 / 2]

    @property
    def random(self) -> Random:
        """The chance of the running process."""
        return self._scheduler.strand.process.faults.random

    def sleep(self, duration_ms: int) -> None:
        """Let so much time pass in the running process."""
        self._scheduler.sleep(duration_ms)

    @property
    def is_telling(self) -> bool:
        """Whether a story is being told."""
        return self.calls is not None

    def told(self, where: str, arguments: tuple[Any, ...], result: object) -> None:
        """Keep a call for the story."""
        if self.calls is not None:
            process = self._scheduler.strand.process.name
            self.calls.append(Call(self._scheduler.now, process, where, arguments, result))

    def calm(self) -> None:
        """Let nothing go wrong any more."""
        self._is_calm = True
        self.down.clear()
        self.slow = None
        self.short.clear()

    def faults(self, role: Role, *purpose: int) -> CallFaults:
        """What goes wrong in a process of that role that is there for that purpose."""
        return CallFaults(mixed(self._seed, *map(ord, role), *purpose), self._roles[role])

    def _mishap(self, kind: str, where: str) -> None:
        self._chronicle.mishap(kind, f"{self._scheduler.strand.process.name} {where}")

    def kill(self, where: str) -> None:
        """End the running process here."""
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
    """A port whose every call passes the gate. Its methods are made once, since they are called often."""

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
