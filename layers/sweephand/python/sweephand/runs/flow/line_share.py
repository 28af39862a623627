"""Giving the work of one partition to other workers of a line, in entries that they can begin at once."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import Final

from sweephand.base.concurrency import Concurrently, parts
from sweephand.model.policy_line import LineEntry, LinePlace, entries_of
from sweephand.model.trigger import TriggerMessage
from sweephand.ports.clock import Clock
from sweephand.ports.flow import PolicyLines
from sweephand.runs.flow.line_claims import READS_AT_ONCE

#: A worker gives each helper at most so many triggers for each permit of a holder.
TRIGGERS_PER_PERMIT: Final = 40

#: A worker reads at most so many entries to share them.
_ENTRIES_MAX: Final = 100


def entries_to_share(spare: Sequence[LineEntry], helpers: int, size: int) -> int:
    """How many entries a worker with so many permits reads to share them, if all are like `spare`."""
    wanted = (helpers + 1) * TRIGGERS_PER_PERMIT * size
    return min(_ENTRIES_MAX, 1 + wanted * len(spare) // sum(len(each.messages) for each in spare))


class LineShare:
    """Gives entries of a partition that one worker walks to helpers, so that all of them end together."""

    def __init__(self, *, lines: PolicyLines, clock: Clock, concurrently: Concurrently) -> None:
        self._lines = lines
        self._clock = clock
        self._concurrently = concurrently

    def share(
        self, size: int, place: LinePlace, found: Sequence[LineEntry], homes: Sequence[LinePlace]
    ) -> int:
        """Move about as many triggers to each of these partitions as stay here. Returns how many got any.

        `found` are due entries of this partition that the worker has not taken up. A helper gets at least
        `size` triggers, the permits of a holder. Entries of single triggers become packs, and a large pack is
        split. They are written first and deleted here afterwards, so a crash leaves a duplicate and no gap.
        """
        sizes = [len(each.messages) for each in found]
        helpers = homes[: sum(sizes) // size]
        if not helpers:
            return 0
        portion = sum(sizes) // (len(helpers) + 1)
        stays = sum(taken <= portion for taken in accumulate(sizes))
        given = found[stays:]
        messages = [message for entry in given for message in entry.messages]
        # A part of a large pack stays too, if nothing else does.
        targets = helpers if stays else (*helpers, place)
        source = "+".join(each.token for each in given)
        portions = {each: (messages[n :: len(targets)], source) for n, each in enumerate(targets)}
        self.put(portions, may_be_begun=any(each.may_be_begun for each in given))
        self._all([partial(self._lines.delete, place, each) for each in given])
        return len(helpers)

    def put(
        self, portions: Mapping[LinePlace, tuple[Sequence[TriggerMessage], str]], *, may_be_begun: bool
    ) -> None:
        """Write triggers into each partition, with the token of the entry that they were part of.

        `may_be_begun` says whether a worker that has ended may have begun some of them. The claims of those
        partitions do not show that.
        """
        now = self._clock.now()
        self._all(
            [
                partial(self._lines.put, place, entry._replace(may_be_begun=may_be_begun))
                for place, (messages, source) in portions.items()
                for entry in entries_of(messages, source, now)
            ]
        )

    def count_crash(self, place: LinePlace, entry: LineEntry) -> None:
        """The last worker crashed at about this entry: let each of its triggers stand alone, and count it."""
        for message in entry.messages:
            self._lines.put(place, entry.part([message._replace(crashes=message.crashes + 1)]))
        self._lines.delete(place, entry)

    def _all(self, tasks: Sequence[Callable[[], object]]) -> None:
        for some in parts(tasks, READS_AT_ONCE):
            self._concurrently(some)
