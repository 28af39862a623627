"""Reading flow policies: their limits, the permits in use, and how many triggers wait in their lines."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Final, NamedTuple

from sweephand.base.concurrency import Concurrently
from sweephand.base.errors import NotFoundError
from sweephand.base.instants import Instant
from sweephand.model.gate import GateName, server_slots_of
from sweephand.model.gate_line import LineCount
from sweephand.model.page import Page
from sweephand.model.policy import Policy, PolicyKey
from sweephand.model.policy_names import key_parts
from sweephand.ports.flow import GateLines, GateStore, PolicyStore

#: About so many entries of a line are counted. An entry is one trigger or up to twenty.
COUNTED_ENTRIES_MAX: Final = 1_000

#: Lines that are counted for all policies of a namespace together.
COUNTED_LINES_MAX: Final = 50


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


class WaitingTriggers(NamedTuple):
    """What waits under some policies together, counted as in PolicyUse."""

    triggers: int
    is_exact: bool
    since: Instant | None


class KeyUse(NamedTuple):
    """What waits under one value of a policy with `by`, counted as in PolicyUse."""

    value: str
    waiting: int
    is_exact: bool
    waiting_since: Instant


@dataclass(frozen=True, slots=True)
class PolicyView:
    """A policy as its reader sees it. `effective_max` is how many slots the stack can use at once.

    A policy with `by` has no `use`: nothing sums up its keys.
    """

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
        policy = self._present(key)
        use = None if policy.by else self._use(_gates(policy), now)
        return PolicyView(policy, self._effective_max(policy), use)

    def view(self, policy: Policy) -> PolicyView:
        """A policy without its use."""
        return PolicyView(policy, self._effective_max(policy))

    def page(self, namespace: str, after: str, limit: int) -> Page[PolicyView]:
        """Policies of a namespace by name, without their use."""
        page = self._policies.page(namespace, after, limit)
        return Page(tuple(map(self.view, page.items)), page.next)

    def keys(self, key: PolicyKey, after: str, limit: int) -> Page[KeyUse]:
        """The values that wait under a policy with `by`, those first that have waited longest.

        It looks at `limit` gates behind the place `after`, by one query of the list and one for each gate. A
        gate whose line is empty by now is left out. A value whose limit has several gates can be on several
        pages. A policy without `by` has no values. NotFoundError if there is no policy.
        """
        self._present(key)
        page = self._gates.waiting(key, after, limit)
        counts = self._counts([each.name for each in page.items])
        by_value: dict[str, list[LineCount]] = defaultdict(list)
        for each, count in zip(page.items, counts, strict=True):
            by_value[key_parts(each.name.key or "")[1]].append(count)
        uses = [
            KeyUse(value, sum(each.triggers for each in some), all(each.is_all for each in some), since)
            for value, some in by_value.items()
            if (since := _earliest(some)) is not None
        ]
        return Page(tuple(sorted(uses, key=attrgetter("waiting_since"))), page.next)

    def waiting(self, policies: Sequence[Policy]) -> WaitingTriggers:
        """What waits under these policies, in the first 50 lines.

        Of a policy with `by`, those lines count that have waited longest. It makes a query for each such
        policy, and one for each line, one after the other. So a caller may ask for several namespaces at
        once.
        """
        names: list[GateName] = []
        is_whole = True
        for policy in policies:
            if len(names) > COUNTED_LINES_MAX:
                break
            if policy.by is None:
                names += _gates(policy)
            else:
                page = self._gates.waiting(policy.key, "", COUNTED_LINES_MAX)
                names += [each.name for each in page.items]
                is_whole = is_whole and page.next is None
        counted = names[:COUNTED_LINES_MAX]
        limit = -(-COUNTED_ENTRIES_MAX // max(1, len(counted)))
        counts = [self._lines.count(name, limit) for name in counted]
        return WaitingTriggers(
            sum(each.triggers for each in counts),
            is_whole and counted == names and all(each.is_all for each in counts),
            _earliest(counts),
        )

    def is_in_use(self, policy: Policy, now: Instant) -> bool:
        """Whether anything waits under a policy, or is open, as far as gates or the list of keys show that.

        Of a key that does not wait, what is open is not known.
        """
        names, has_more = _gates(policy), False
        if policy.by is not None:
            page = self._gates.waiting(policy.key, "", COUNTED_ENTRIES_MAX)
            names, has_more = [each.name for each in page.items], page.next is not None
        use = self._use(names, now)
        return has_more or use.in_use > 0 or use.waiting > 0

    def _present(self, key: PolicyKey) -> Policy:
        policy = self._policies.get(key)
        if policy is None or policy.deleted_at is not None:
            raise NotFoundError(f"There is no policy {key.name} in namespace {key.namespace}.")
        return policy

    def _effective_max(self, policy: Policy) -> int:
        return min(policy.slots, server_slots_of(policy.slots) * self._functions_max)

    def _use(self, names: Sequence[GateName], now: Instant) -> PolicyUse:
        gates = self._concurrently([partial(self._gates.get, name) for name in names])
        counts = self._counts(names)
        return PolicyUse(
            sum(each.slots for gate in gates for each in gate.holders.values() if each.until >= now),
            sum(each.triggers for each in counts),
            all(each.is_all for each in counts),
            _earliest(counts),
        )

    def _counts(self, names: Sequence[GateName]) -> Sequence[LineCount]:
        limit = -(-COUNTED_ENTRIES_MAX // max(1, len(names)))
        return list(self._concurrently([partial(self._lines.count, name, limit) for name in names]))


def _gates(policy: Policy) -> Sequence[GateName]:
    return [GateName(policy.key, number) for number in range(policy.gates)]


def _earliest(counts: Iterable[LineCount]) -> Instant | None:
    return min((each.first_at for each in counts if each.first_at is not None), default=None)
