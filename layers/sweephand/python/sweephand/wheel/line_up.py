"""Putting triggers into the line of their policy, each with the work message that has it looked after."""

from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING

from sweephand.base.instants import SECOND_MS, Instant
from sweephand.base.timing import QUEUE_DELAY_MAX_MS
from sweephand.model.policy import PARTITIONS_MIN, PRIORITIES, PolicyKey, Priority
from sweephand.model.trigger import TriggerMessage
from sweephand.ports import Clock

if TYPE_CHECKING:
    from sweephand.flow_ports import PolicyLines, PolicyStore, WorkQueue
    from sweephand.model.policy_line import LineEntry, LinePlace
    from sweephand.model.work_message import WorkMessage


class LineUp:
    """Writes entries and sends work messages. Several threads may share one object."""

    def __init__(
        self, *, policies: "PolicyStore", lines: "PolicyLines", work: "WorkQueue", clock: Clock
    ) -> None:
        self._policies = policies
        self._lines = lines
        self._work = work
        self._clock = clock

    def partitions_of(self, key: PolicyKey) -> int:
        """How many partitions the line of that policy has. A policy that is missing has a line too."""
        policy = self._policies.get(key)
        return PARTITIONS_MIN if policy is None else policy.partitions

    def put(
        self,
        key: PolicyKey,
        priority: Priority,
        messages: Iterable[TriggerMessage],
        source: str,
        partitions: int | None = None,
    ) -> None:
        """Put triggers into the line of that policy. When this returns, their messages may be acknowledged.

        `source` says where they come from. Repeating the call with the same source and the same triggers
        writes the same entries. A policy that is missing has a line too. Its triggers wait until the policy
        is created. `partitions` is what partitions_of() has just returned; None if nobody has asked.
        """
        # Tick and the sweeper start without lines, because most stacks have no policies.
        from sweephand.model.policy_line import LinePlace, entries_of, partition_of  # noqa: PLC0415

        partitions = self.partitions_of(key) if partitions is None else partitions
        now = self._clock.now()
        entries = entries_of(messages, source, now)
        # A worker waits for an entry for a second. So one message suffices for all entries of a second.
        seconds: dict[int, tuple[Instant, LinePlace]] = {}
        for entry in entries:
            place = LinePlace(key, priority, partition_of(entry.name, partitions))
            self._lines.put(place, entry)
            seconds.setdefault(max(entry.at, now) // SECOND_MS, (entry.at, place))
        for at, place in seconds.values():
            self.wake(key, at, place=place)

    def put_all(self, waits: Iterable[tuple[PolicyKey, Priority, TriggerMessage]], source: str) -> None:
        """Put triggers into the lines of their policies, those of each line as put() does."""
        lines: dict[tuple[PolicyKey, Priority], list[TriggerMessage]] = defaultdict(list)
        for key, priority, message in waits:
            lines[key, priority].append(message)
        for (key, priority), messages in lines.items():
            self.put(key, priority, messages, source)

    def put_down(self, place: "LinePlace", entry: "LineEntry") -> None:
        """Write an entry into a partition, and have it looked after at its time."""
        self._lines.put(place, entry)
        self.wake(place.policy, entry.at, place=place)

    def wake(
        self,
        key: PolicyKey,
        at: Instant,
        *,
        clears_mark: bool = False,
        place: "LinePlace | None" = None,
        until: Instant | None = None,
    ) -> None:
        """Send a work message for that instant, which nobody needs after `until`.

        Its worker looks at `place` first.
        """
        # As in put(): the wheel starts without it.
        from sweephand.model.work_message import WorkMessage  # noqa: PLC0415

        delay_ms = min(max(at - self._clock.now(), 0), QUEUE_DELAY_MAX_MS)
        hint = None if place is None else (PRIORITIES.index(place.priority), place.partition)
        self._work.send(WorkMessage(key.namespace, key.name, at, clears_mark, hint, until), delay_ms)

    def send_again(self, message: "WorkMessage", at: Instant) -> None:
        """Send a work message so that it comes at that instant, whatever its own time is."""
        self._work.send(message, min(max(at - self._clock.now(), 0), QUEUE_DELAY_MAX_MS))
