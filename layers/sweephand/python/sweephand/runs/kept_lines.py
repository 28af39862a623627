"""Keeping what waits in the line of a policy, for as long as the policy is missing or the stack is off."""

from collections.abc import Callable, Iterator
from typing import Final

from sweephand.base.instants import Instant
from sweephand.base.timing import LINE_EXTENDED_AFTER_MS, LINE_RETENTION_MS
from sweephand.model.policy import PARTITIONS_MAX
from sweephand.model.policy_line import KeptEntries, LinePlace
from sweephand.model.policy_names import PRIORITIES, PolicyKey
from sweephand.ports.flow import PolicyLines, PolicyStore

#: So many entries are looked at in one step, and written if they need it.
_ENTRIES_MAX: Final = 500


def keep_partition(lines: PolicyLines, place: LinePlace, now: Instant) -> Iterator[KeptEntries]:
    """Keep what has waited for days in a partition, in several steps, and yield what each step has kept.

    A caller that stops in between can begin again: what was kept is passed over.
    """
    before, until = now - LINE_EXTENDED_AFTER_MS, now + LINE_RETENTION_MS
    after: str | None = ""
    while after is not None:
        kept = lines.extend(place, after, before, until, _ENTRIES_MAX)
        after = kept.next
        yield kept


class KeptLines:
    """Moves the end of the entries of lines, which DynamoDB would remove after 14 days.

    `count` is how many entries it has kept. Each policy is looked at once by one object.
    """

    def __init__(self, *, policies: PolicyStore, lines: PolicyLines) -> None:
        self._policies = policies
        self._lines = lines
        self._done: set[PolicyKey] = set()
        self.count = 0

    def keep(self, key: PolicyKey, now: Instant, is_over: Callable[[], bool]) -> bool | None:
        """Keep what has waited for days in the line of a policy; return whether all of it was kept.

        False: the time was over before. None: this object has looked at the policy before, and looks no more.
        """
        if key in self._done:
            return None
        policy = self._policies.get(key)
        # The record of a policy that was deleted long ago is gone.
        partitions = PARTITIONS_MAX if policy is None else policy.partitions
        for priority in PRIORITIES:
            for partition in range(partitions):
                for kept in keep_partition(self._lines, LinePlace(key, priority, partition), now):
                    self.count += kept.entries
                    if is_over():
                        return False
        self._done.add(key)
        return True
