"""Keeping what waits in the lines of policies, whether or not a job names the policy any more."""

from collections.abc import Callable

from sweephand.base.timing import POLICY_RETENTION_MS
from sweephand.model.keep_round import KeepPlace, Kept
from sweephand.ports.clock import Clock
from sweephand.ports.flow import NamespaceStore, PolicyLines, PolicyStore
from sweephand.runs.job_walk import PAGE_MAX, namespaces_from
from sweephand.runs.kept_lines import KeptLines


class PolicyKeeper:
    """Keeps the lines of all policies that have a record, deleted ones too, and the records of these.

    Jobs lead to the lines of other policies.
    """

    def __init__(
        self, *, policies: PolicyStore, lines: PolicyLines, namespaces: NamespaceStore, clock: Clock
    ) -> None:
        self._policies = policies
        self._lines = lines
        self._namespaces = namespaces
        self._clock = clock

    def keep(self, place: KeepPlace, kept: Kept, is_over: Callable[[], bool]) -> KeepPlace | None:
        """Keep the lines of the policies after that place, until the time is over.

        Returns the place that was reached; None after the last policy.
        """
        lines = KeptLines(policies=self._policies, lines=self._lines)
        try:
            for namespace in namespaces_from(self._namespaces, place.name, None):
                begun = place if namespace == place.name else KeepPlace("policies", namespace)
                if is_over():
                    return begun
                reached = self._keep_some(begun, lines, is_over)
                if reached is not None:
                    return reached
        finally:
            kept.entries += lines.count
        return None

    def _keep_some(self, begun: KeepPlace, lines: KeptLines, is_over: Callable[[], bool]) -> KeepPlace | None:
        """Keep the lines of one namespace; None if that is done."""
        done = begun.after
        after: str | None = begun.after
        while after is not None:
            page = self._policies.page(begun.name, after, PAGE_MAX, with_deleted=True)
            for policy in page.items:
                if lines.keep(policy.key, self._clock.now(), is_over) is False:
                    return begun._replace(after=done)
                if policy.deleted_at is not None:
                    # The record says how many partitions the line has. If this is refused, the policy was
                    # created again.
                    self._policies.keep(policy, self._clock.now() + POLICY_RETENTION_MS)
                done = policy.key.name
            after = page.next
        return None
