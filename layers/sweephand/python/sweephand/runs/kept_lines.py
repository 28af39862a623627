"""Keeping what waits in the line of a policy, for as long as the policy is missing or the stack is off."""

from collections.abc import Callable
from typing import Final

from sweephand.base.instants import Instant
from sweephand.base.timing import LINE_EXTENDED_AFTER_MS, LINE_RETENTION_MS
from sweephand.flow_ports import PolicyLines, PolicyStore
from sweephand.model.policy import PARTITIONS_MAX
from sweephand.model.policy_line import LinePlace
from sweephand.model.policy_names import PRIORITIES, PolicyKey

#: So many entries are written before the time is asked again.
_ENTRIES_MAX: Final = 500


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
        before, until = now - LINE_EXTENDED_AFTER_MS, now + LINE_RETENTION_MS
        for priority in PRIORITIES:
            for partition in range(partitions):
                place, written = LinePlace(key, priority, partition), _ENTRIES_MAX
                while written == _ENTRIES_MAX:
                    if is_over():
                        return False
                    written = self._lines.extend(place, before, until, _ENTRIES_MAX)
                    self.count += written
        self._done.add(key)
        return True
