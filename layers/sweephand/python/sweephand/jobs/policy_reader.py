"""Reading flow policies: their limits, the permits in use, and how many triggers wait in their lines."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

from sweephand.base.concurrency import Concurrently
from sweephand.base.errors import NotFoundError
from sweephand.base.instants import Instant
from sweephand.model.gate import GateName, server_slots_of
from sweephand.model.gate_line import LineCount
from sweephand.model.page import Page
from sweephand.model.policy import Policy, PolicyKey
from sweephand.ports.flow import GateLines, GateStore, PolicyStore

#: About so many entries of a line are counted. An entry is one trigger or up to twenty.
COUNTED_ENTRIES_MAX: Final = 1_000


class PolicyUse(NamedTuple):
    """How much of a policy is in use, and what waits under it.

    `in_use` counts the slots that functions and asynchronous runs hold. `waiting` counts the triggers in the
    lines; unless it `is_exact`, there are at least so many. An entry leaves its line when all of its triggers
    are over, so open requests count too. `waiting_since` is the earliest time at which one of them could have
    been delivered; None if none waits.
    """

    in_use: int
    waiting: int
    is_exact: bool
    waiting_since: Instant | None


@dataclass(frozen=True, slots=True)
class PolicyView:
    """A policy as its reader sees it. `effective_max` is how many slots the stack can use at once."""

    policy: Policy
    effective_max: int
    use: PolicyUse | None = None


class PolicyReader:
    """Reads policies. `functions_max` is how many flow functions may run at once; 0 if the stack has none."""

    def __init__(
        self,
        *,
        policies: PolicyStore,
        gates: GateStore,
        lines: GateLines,
        functions_max: int,
        concurrently: Concurrently,
    ) -> None:
        self._policies = policies
        self._gates = gates
        self._lines = lines
        self._functions_max = functions_max
        self._concurrently = concurrently

    def get(self, key: PolicyKey, now: Instant) -> PolicyView:
        """The policy and its use; NotFoundError if there is none.

        It makes one read and one query for each gate. The numbers are read one after the other while
        functions go on, so they do not belong to one instant.
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
        return min(policy.slots, server_slots_of(policy.slots) * self._functions_max)

    def _use(self, policy: Policy, now: Instant) -> PolicyUse:
        names = [GateName(policy.key, number) for number in range(policy.gates)]
        gates = self._concurrently([partial(self._gates.get, name) for name in names])
        limit = -(-COUNTED_ENTRIES_MAX // len(names))
        counts = list(self._concurrently([partial(self._lines.count, name, limit) for name in names]))
        return PolicyUse(
            sum(each.slots for gate in gates for each in gate.holders.values() if each.until >= now),
            sum(each.triggers for each in counts),
            all(each.is_all for each in counts),
            _earliest(counts),
        )


def _earliest(counts: Iterable[LineCount]) -> Instant | None:
    return min((each.first_at for each in counts if each.first_at is not None), default=None)
