"""How many units of reads and writes each partition key takes in a second, under a large policy.

DynamoDB serves at most 1,000 units of writes and 3,000 units of reads a second for one partition key.
"""

import zlib
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from tests.simulation.flow.platform import NOON
from tests.simulation.flow.world import FlowWorld

from sweephand.base.instants import MINUTE_MS, SECOND_MS
from sweephand.jobs.policy_fields import PolicyLimits
from sweephand.model.gate import GateName
from sweephand.model.gate_line import Entry, LineTop
from sweephand.model.policy import Policy, PolicyKey
from sweephand.model.wire import encode
from sweephand.storage import gates, policies

#: The bytes of a unit.
_WRITE: Final = 1_024
_READ: Final = 4_096

#: An item has about so many bytes beside its messages.
_ITEM: Final = 250

#: Triggers that come together. They stand in entries of twenty at most.
_PACK: Final = 100


class Used(NamedTuple):
    """Units that one call takes of a partition key. It `is_write`, or it reads."""

    key: str
    is_write: bool
    units: int = 1


class Hottest(NamedTuple):
    """The most units of a second that any key took, with the key, and how many triggers were delivered."""

    writes: int
    written: str
    reads: int
    read: str
    triggers: int


def hottest(seed: int, limit: int, functions: int, seconds: int, consumer_ms: int = 500) -> Hottest:
    """Deliver a backlog of so many seconds under a policy, while nothing goes wrong."""
    world = FlowWorld(
        seed, mishaps=0, consumer_ms=(consumer_ms * 4 // 5, consumer_ms * 6 // 5), functions_max=functions
    )
    world.watch_limits()
    used = _Counting(world).used
    world.change(PolicyLimits(limit, None))
    scheduler, consumer = world.scheduler, world.consumer
    scheduler.run(NOON + SECOND_MS)
    for _ in range(limit * seconds * SECOND_MS // consumer_ms // _PACK):
        world.put([consumer.trigger(scheduler.now) for _ in range(_PACK)], "normal", world.ids.token())
    while any(consumer.undelivered()):
        scheduler.run(scheduler.now + SECOND_MS)
        assert scheduler.now < NOON + 10 * MINUTE_MS, "work waits for ever"
    # Functions look at the line once more before they leave.
    scheduler.run(scheduler.now + 10 * SECOND_MS)
    assert not world.complaints, world.complaints
    scheduler.end()
    by_kind = {
        is_write: max((units, key) for (each, key, _), units in used.items() if each == is_write)
        for is_write in (True, False)
    }
    return Hottest(*by_kind[True], *by_kind[False], len(consumer.begun_at))


class _Counting:
    """Calls of stores in memory, which take what the same calls of DynamoDB would take."""

    def __init__(self, world: FlowWorld) -> None:
        self.used: Counter[tuple[bool, str, int]] = Counter()
        self._scheduler = world.scheduler
        self._is_within = False
        for store, calls in (
            (world.memory_policies, _POLICIES),
            (world.memory_gates, _GATES),
            (world.memory_lines, _LINES),
        ):
            for name, of in calls.items():
                setattr(store, name, self._counted(getattr(store, name), of))

    def _counted(self, call: Callable[..., Any], of: Callable[..., Used]) -> Callable[..., Any]:
        def counted(*arguments: Any, **named: Any) -> Any:
            if self._is_within:
                # A store in memory may use one of its calls for another one.
                return call(*arguments, **named)
            self._is_within = True
            try:
                answer = call(*arguments, **named)
            finally:
                self._is_within = False
            key, is_write, units = of(answer, *arguments)
            self.used[is_write, key, self._scheduler.now // SECOND_MS] += units
            return answer

        return counted


def _of_policy(*, is_write: bool) -> Callable[..., Used]:
    def of(_: object, policy: Policy | PolicyKey, *__: object) -> Used:
        key = policy.key if isinstance(policy, Policy) else policy
        return Used(policies._policies_partition(key.namespace), is_write)

    return of


def _of_gate(*, is_write: bool) -> Callable[..., Used]:
    # A gate with the holders of all its slots takes less than a unit.
    return lambda _, name, *__: Used(gates._gate_key(name)[0], is_write)


def _of_new_entry(_: object, name: GateName, entry: Entry) -> Used:
    return Used(gates._line(name), is_write=True, units=-(-_size(entry) // _WRITE))


def _of_entry(_: object, name: GateName, seen: Entry, entry: Entry | None) -> Used:
    largest = max(_size(each) for each in (seen, entry) if each is not None)
    return Used(gates._line(name), is_write=True, units=-(-largest // _WRITE))


def _of_top(top: LineTop, name: GateName, *_: object) -> Used:
    read = sum(_size(each) for each in top.entries)
    return Used(gates._line(name), is_write=False, units=max(1, -(-read // _READ)))


def _size(entry: Entry) -> int:
    return _ITEM + len(zlib.compress("\n".join(encode(each) for each in entry.messages).encode(), 1))


#: What each call takes.
_POLICIES: Final[Mapping[str, Callable[..., Used]]] = {
    "get": _of_policy(is_write=False),
    "put": _of_policy(is_write=True),
}
_GATES: Final[Mapping[str, Callable[..., Used]]] = {
    "get": _of_gate(is_write=False),
    "change": _of_gate(is_write=True),
}
_LINES: Final[Mapping[str, Callable[..., Used]]] = {
    "put": _of_new_entry,
    "replace": _of_entry,
    "top": _of_top,
}
