"""Taking permits of a policy: a worker takes a holder, if the policy has not too many workers yet."""

from collections.abc import Iterable, Sequence
from contextlib import suppress

from sweephand.base.errors import StoreError
from sweephand.base.instants import Instant
from sweephand.flow_ports import PermitStore, PolicyStore
from sweephand.model.policy import PermitHolder, Policy
from sweephand.ports import Clock, Ids
from sweephand.runs.flow.permits import Permits


def take_permits(
    policy: Policy,
    until: Instant,
    *,
    workers_max: int,
    policies: PolicyStore,
    permits: PermitStore,
    clock: Clock,
    ids: Ids,
) -> Permits | None:
    """Take a holder of the policy with at least one free permit, until then; None if there is none.

    It is also None if `workers_max` workers have holders of the policy already. Workers that begin together
    look again when they have taken theirs, and the last ones release them. One that took its holder a moment
    later may not have been seen. A worker that calls others finds that.

    The search begins at a random place, so that workers that begin together do not meet at one holder.
    StoreError: no holder is taken, unless its release failed too.
    """
    owner = ids.token()
    first_group = int(ids.fraction() * policy.groups)
    numbers = [(first_group + number) % policy.groups for number in range(policy.groups)]
    groups: Iterable[Sequence[PermitHolder]] = (permits.holders(policy.key, each) for each in numbers)
    is_bounded = policy.holders > workers_max
    if is_bounded:
        groups = list(groups)
        if sum(each.is_owned(clock.now()) for group in groups for each in group) >= workers_max:
            return None
    for group in groups:
        first = int(ids.fraction() * len(group))
        for seen in (*group[first:], *group[:first]):
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
                again = (each for number in numbers for each in permits.holders(policy.key, number))
                is_last = has_free and is_bounded and is_surplus(held, again, workers_max, clock.now())
                keeps = has_free and not is_last
            finally:
                if not keeps:
                    held.release()
            if has_free:
                return held if keeps else None
    return None


def is_surplus(held: Permits, holders: Iterable[PermitHolder], workers_max: int, now: Instant) -> bool:
    """Whether too many workers have holders of a policy, and this one is among those that began last."""
    workers = sorted((each.until, each.slot) for each in holders if each.is_owned(now))
    return (held.until, held.slot) in workers[workers_max:]
