"""Reading flow policies: their limits, the permits in use, and how many triggers wait in their lines."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

from sweephand.base.concurrency import Concurrently
from sweephand.base.errors import NotFoundError
from sweephand.base.instants import Instant
from sweephand.model.page import Page
from sweephand.model.policy import PRIORITIES, PermitHolder, Policy, PolicyKey, workers_max_of
from sweephand.model.policy_line import LineCount, LinePlace
from sweephand.ports.flow import PermitStore, PolicyLines, PolicyStore

#: About so many entries of a line are counted. An entry is one trigger or up to a hundred.
COUNTED_ENTRIES_MAX: Final = 1_000


class PolicyUse(NamedTuple):
    """How much of a policy is in use, and what waits under it.

    `in_use` counts the permits that workers and asynchronous runs hold. `waiting` counts the triggers in the
    line that are due; unless it `is_exact`, there are at least so many. A worker takes an entry out of the
    line when all of its triggers are over, so open requests count too. `waiting_since` is the earliest time
    at which one of them could have been delivered; None if none waits.
    """

    in_use: int
    waiting: int
    is_exact: bool
    waiting_since: Instant | None


@dataclass(frozen=True, slots=True)
class PolicyView:
    """A policy as its reader sees it. `effective_max` is how many permits the stack can use at once."""

    policy: Policy
    effective_max: int
    use: PolicyUse | None = None


class PolicyReader:
    """Reads policies. `functions_max` is how many flow functions may run at once; 0 if the stack has none."""

    def __init__(
        self,
        *,
        policies: PolicyStore,
        permits: PermitStore,
        lines: PolicyLines,
        functions_max: int,
        concurrently: Concurrently,
    ) -> None:
        self._policies = policies
        self._permits = permits
        self._lines = lines
        self._functions_max = functions_max
        self._concurrently = concurrently

    def get(self, key: PolicyKey, now: Instant) -> PolicyView:
        """The policy and its use; NotFoundError if there is none.

        It makes one query for each partition of the line, and for each sixteen holders. The numbers are read
        one after the other while workers go on, so they do not belong to one instant.
        """
        policy = self._policies.get(key)
        if policy is None or policy.deleted_at is not None:
            raise NotFoundError(f"There is no policy {key.name} in namespace {key.namespace}.")
        return PolicyView(policy, self._effective_max(policy), self._use(policy, now))

    def view(self, policy: Policy) -> PolicyView:
        """A policy without its use."""
        return PolicyView(policy, self._effective_max(policy))

    def page(self, namespace: str, after: str, limit: int) -> Page[PolicyView]:
        """Policies of a namespace by name, without their use."""
        page = self._policies.page(namespace, after, limit)
        return Page(tuple(map(self.view, page.items)), page.next)

    def _effective_max(self, policy: Policy) -> int:
        # Each worker holds one holder at a time, and walks one partition.
        workers = min(workers_max_of(self._functions_max), policy.partitions)
        return min(policy.permits, policy.holder_size * workers)

    def _use(self, policy: Policy, now: Instant) -> PolicyUse:
        groups = [partial(self._permits.holders, policy.key, group) for group in range(policy.groups)]
        holders = [each for group in self._concurrently(groups) for each in group]
        places = [
            LinePlace(policy.key, priority, partition)
            for priority in PRIORITIES
            for partition in range(policy.partitions)
        ]
        limit = -(-COUNTED_ENTRIES_MAX // len(places))
        counts = list(
            self._concurrently([partial(self._lines.count, place, now + 1, limit) for place in places])
        )
        return PolicyUse(
            sum(_in_use(policy, each, now) for each in holders),
            sum(each.triggers for each in counts),
            all(each.is_all for each in counts),
            _earliest(counts),
        )


def _in_use(policy: Policy, holder: PermitHolder, now: Instant) -> int:
    """The permits of a holder that are in use. Whoever owns it may use its whole share."""
    away = len(holder.in_use(now))
    return max(away, policy.share(holder.slot)) if holder.is_owned(now) else away


def _earliest(counts: Iterable[LineCount]) -> Instant | None:
    return min((each.first_at for each in counts if each.first_at is not None), default=None)
