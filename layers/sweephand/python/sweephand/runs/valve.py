"""The valve: it limits the triggers a minute of the stack and of each namespace (decision 045)."""

from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from sweephand.base.instants import MINUTE_MS, Instant
from sweephand.base.timing import QUEUE_DELAY_MAX_MS
from sweephand.model.counters import US_PER_MS, Slots, minute_us_of, slice_of, step_us_of
from sweephand.model.trigger import Passage, PassageLevel, TriggerMessage
from sweephand.ports.clock import Clock
from sweephand.runs.received import OutcomeName

if TYPE_CHECKING:
    # Every delivery has a valve. It starts without the values of the other ports of flow.
    from sweephand.ports.flow import AllowanceStore

#: The outcome of a trigger that waits, by the limit for which it waits.
OUTCOMES: Final[dict[PassageLevel, OutcomeName]] = {
    "namespace": "namespace_limited",
    "stack": "stack_limited",
}

#: Namespaces whose uncounted triggers one process remembers. When there are more, it forgets all of them.
REMEMBERED_MAX: Final = 1_000

#: The allowance of the stack has this name. No namespace has an empty name.
_STACK: Final = ""


class Limited(NamedTuple):
    """A trigger that is over a limit: its message as it is to be sent again, and for which slot it waits."""

    message: TriggerMessage
    slot_at: Instant
    outcome: OutcomeName


class _Taken(NamedTuple):
    """Slots in µs that a process has taken at once in that minute, and has not given to a trigger yet."""

    minute_us: int
    epoch: int
    slots: deque[int]


class Valve:
    """Admits triggers up to the limits of their namespace and of the stack. Threads may share one object.

    A process takes several slots at once and gives them to its threads. Slots that it has not given by the
    end of the minute in which it took them are lost.

    Processes may know different limits, for a minute or so after a change. Then each of them begins epochs of
    the allowance, and the slots of other epochs do not count. So whatever they do, no more triggers leave in
    a minute than the larger limit allows.
    """

    def __init__(
        self,
        *,
        allowances: "AllowanceStore",
        clock: Clock,
        stack_limit: int,
        namespace_limit: Callable[[str], int],
        namespace_default: int = 0,
    ) -> None:
        """The limits are triggers a minute; 0 stands for none. Without a limit nothing is read or written.

        `namespace_default` is for namespaces without a limit. A process asks the store about it only beyond
        the first slice of its minute, so it costs nothing where little is delivered. A minute may thus have
        as many triggers more as the running functions have in their first slices.
        """
        self._allowances = allowances
        self._clock = clock
        self._stack_limit = stack_limit
        self._namespace_limit = namespace_limit
        self._namespace_default = namespace_default
        self._uncounted: dict[str, tuple[Instant, int]] = {}
        self._taken: dict[tuple[str, int], _Taken] = {}
        #: Of each allowance, an epoch that held at some time in the minute that begins then, in µs.
        self._epochs: dict[str, tuple[int, int]] = {}

    def admit(self, message: TriggerMessage) -> TriggerMessage | Limited:
        """The message if its trigger may be delivered now, marked as admitted; or why it has to wait.

        Each trigger counts once, when its first attempt is about to begin. Its retries do not count, and a
        redrive counts as a trigger. A trigger that waits keeps its slot, unless the limit is changed: then it
        takes another slot when it comes again, which is after 15 minutes at most.

        StoreError: no slot is known to be taken, and the message must come again.
        """
        if message.attempt_of_round > 1:
            return message
        namespace = message.trigger.key.namespace
        if message.passage is None or message.passage.level == "namespace":
            limited = self._wait(message, "namespace", namespace, self._limit_of(message))
            if limited is not None:
                return limited
        if message.passage is None or message.passage.level != "passed":
            limited = self._wait(message, "stack", _STACK, self._stack_limit)
            if limited is not None:
                return limited
        if not self._stack_limit and message.passage is None and not self._namespace_limit(namespace):
            return message
        return message._replace(passage=Passage("passed"))

    def _limit_of(self, message: TriggerMessage) -> int:
        """The limit of the trigger's namespace; 0 if it has none, or while the default is not asked about."""
        namespace = message.trigger.key.namespace
        limit = self._namespace_limit(namespace)
        if limit or not self._namespace_default:
            return limit
        now = self._clock.now()
        minute, count = self._uncounted.get(namespace, (0, 0))
        count = count if minute == now - now % MINUTE_MS else 0
        if message.passage is None and count < slice_of(self._namespace_default):
            if len(self._uncounted) >= REMEMBERED_MAX:
                self._uncounted.clear()
            self._uncounted[namespace] = now - now % MINUTE_MS, count + 1
            return 0
        return self._namespace_default

    def _wait(
        self, message: TriggerMessage, level: PassageLevel, bucket: str, per_minute: int
    ) -> Limited | None:
        """How the trigger waits for that limit; None if its slot has come, or if there is no limit."""
        if not per_minute:
            return None
        now, passage = self._clock.now(), message.passage
        has_slot = passage is not None and (passage.level, passage.per_minute) == (level, per_minute)
        if passage is not None and has_slot and self._holds(bucket, passage.epoch, now):
            slot_at, epoch = passage.slot_at, passage.epoch
        else:
            slot = self._slot(bucket, per_minute, now)
            slot_at, epoch = -(-slot.first_us // US_PER_MS), slot.epoch
        if slot_at < now - now % MINUTE_MS + MINUTE_MS:
            return None
        waiting = message.waiting()._replace(
            passage=Passage(level, slot_at, per_minute, epoch),
            not_before=min(slot_at, now + QUEUE_DELAY_MAX_MS),
        )
        return Limited(waiting, slot_at, OUTCOMES[level])

    def _holds(self, bucket: str, epoch: int, now: Instant) -> bool:
        """Whether the slots of that epoch count. One read a minute, as long as the limit is unchanged.

        An epoch that held at some time in this minute is enough: a later one gives no slot of this minute
        again.
        """
        minute_us = minute_us_of(now)
        if self._epochs.get(bucket) == (minute_us, epoch):
            return True
        stored = self._allowances.get(bucket)
        if stored is None:
            return False
        self._epochs[bucket] = (minute_us, stored.epoch)
        return stored.epoch == epoch

    def _slot(self, bucket: str, per_minute: int, now: Instant) -> Slots:
        """The next slot of this process. Several threads may take slots from the store at once."""
        taken, minute_us = self._taken.get((bucket, per_minute)), minute_us_of(now)
        if taken is not None and taken.minute_us == minute_us:
            # popleft() of a deque is atomic.
            with suppress(IndexError):
                return Slots(taken.slots.popleft(), taken.epoch)
        count, step_us = slice_of(per_minute), step_us_of(per_minute)
        first = self._allowances.take(bucket, now, per_minute, count)
        others = deque(first.first_us + number * step_us for number in range(1, count))
        self._taken[bucket, per_minute] = _Taken(minute_us, first.epoch, others)
        return first
