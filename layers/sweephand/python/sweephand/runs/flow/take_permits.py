"""Taking permits of a policy: a worker takes a holder, if the policy has not too many workers yet.

A policy that may have more holders than workers is bounded. Its workers take holders of the first groups that
have free ones. So all workers are found in a few reads, however many holders the policy has.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Final, NamedTuple

from sweephand.base.concurrency import Concurrently
from sweephand.base.errors import StoreError
from sweephand.base.instants import Instant
from sweephand.model.policy import GROUP_SIZE, PermitHolder, Policy
from sweephand.ports.clock import Clock, Ids
from sweephand.ports.flow import PermitStore, PolicyStore
from sweephand.runs.flow.permits import Permits

#: Behind a batch of groups without other workers, nobody looks for more if so many holders are free. A worker
#: calls up to four others at once, and some begin without a call.
_SPARE: Final = 8


def take_permits(
    policy: Policy,
    until: Instant,
    *,
    workers_max: int,
    policies: PolicyStore,
    permits: PermitStore,
    clock: Clock,
    ids: Ids,
    concurrently: Concurrently,
) -> Permits | None:
    """Take a holder of the policy with at least one free permit, until then; None if there is none.

    It is also None if `workers_max` workers have holders of the policy already. Workers that begin together
    look again when they have taken theirs, and the surplus ones release them. One that took its holder a
    moment later may not have been seen. A worker that calls others finds that.

    If the policy is not bounded, the search begins with a random group. In a group, it begins at a random
    holder, so that workers that begin together do not meet at one. StoreError: no holder is taken, unless its
    release failed too.
    """
    owner = ids.token()
    holders = HoldersInUse(policy, workers_max, permits, clock, concurrently)
    batches = holders.batches(0 if holders.is_bounded else int(ids.fraction() * policy.groups))
    while found := holders.with_room(batches) if holders.is_bounded else next(batches, ()):
        if holders.is_bounded and sum(each.is_owned(clock.now()) for each in found) >= workers_max:
            return None
        for seen in _mixed(found, ids):
            now = clock.now()
            if not seen.is_takeable(policy, now):
                continue
            try:
                taken = permits.take(policy.key, seen, owner, now, until)
            except StoreError:
                # It may be taken all the same, with only the answer lost.
                with suppress(StoreError):
                    permits.enter(policy.key, seen.slot, owner, {}, releasing=True)
                raise
            if taken is None:
                continue
            held = Permits(policy, taken, owner, policies=policies, permits=permits, clock=clock)
            # There is none if its last worker left requests open since the holder was read.
            has_free, keeps = held.free() > 0, False
            try:
                is_last = (
                    has_free
                    and holders.is_bounded
                    and is_surplus(held, holders.read(held), workers_max, clock.now())
                )
                keeps = has_free and not is_last
            finally:
                if not keeps:
                    held.release()
            if has_free:
                return held if keeps else None
    return None


def is_surplus(held: Permits, holders: Iterable[PermitHolder], workers_max: int, now: Instant) -> bool:
    """Whether too many workers have holders of a policy, and this one is among the last of them.

    The order of workers is that of their groups. In a group, those that began first come first. So a worker
    knows its place without the groups behind its own.
    """
    workers = sorted(_rank(each.slot, each.until) for each in holders if each.is_owned(now))
    return _rank(held.slot, held.until) in workers[workers_max:]


class HoldersInUse(NamedTuple):
    """Reads the holders of a policy that its workers have, and some that are free for others."""

    policy: Policy
    workers_max: int
    permits: PermitStore
    clock: Clock
    concurrently: Concurrently

    @property
    def is_bounded(self) -> bool:
        """Whether the policy has more holders than it may have workers."""
        return self.policy.holders > self.workers_max

    def read(self, held: Permits) -> Sequence[PermitHolder]:
        """The holders of a bounded policy among which its workers are: those of its first groups.

        They reach to the group of `held` at least, so is_surplus() can decide. If more workers may come, some
        of the holders are free for them, as far as the policy has any.
        """
        return self.with_room(self.batches(0), held.slot)

    def batches(self, first: int) -> Iterator[Sequence[PermitHolder]]:
        """The holders of all groups from that one on. The groups of a batch are read at the same time.

        Each batch has twice as many groups as the one before, and the first one has a single group.
        """
        groups = self.policy.groups
        numbers, size = [(first + number) % groups for number in range(groups)], 1
        while numbers:
            reads = [partial(self.permits.holders, self.policy.key, each) for each in numbers[:size]]
            yield [each for group in self.concurrently(reads) for each in group]
            numbers, size = numbers[size:], 2 * size

    def with_room(
        self, batches: Iterator[Sequence[PermitHolder]], own: int | None = None
    ) -> Sequence[PermitHolder]:
        """The next holders, until all workers are among them that there may be. `own` is the caller's holder.

        They end where so many workers have holders or find free ones. They also end with a batch that has no
        other worker, since workers take what lies behind it later. They do not end before `own`.
        """
        found: list[PermitHolder] = []
        for batch in batches:
            found += batch
            now = self.clock.now()
            free = sum(each.is_takeable(self.policy, now) for each in found)
            workers = sum(each.is_owned(now) for each in found)
            is_alone = not any(each.is_owned(now) and each.slot != own for each in batch)
            has_room = workers + free >= self.workers_max or (is_alone and free >= _SPARE)
            if has_room and (own is None or found[-1].slot >= own):
                break
        return found


def _mixed(found: Sequence[PermitHolder], ids: Ids) -> Iterator[PermitHolder]:
    """The holders group by group. Each group begins with a random one."""
    for start in range(0, len(found), GROUP_SIZE):
        group = found[start : start + GROUP_SIZE]
        first = int(ids.fraction() * len(group))
        yield from (*group[first:], *group[:first])


def _rank(slot: int, until: Instant) -> tuple[int, Instant, int]:
    return slot // GROUP_SIZE, until, slot
