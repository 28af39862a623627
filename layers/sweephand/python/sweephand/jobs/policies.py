"""Writing flow policies, and that what waits is looked after once more of it may leave."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, NoReturn

from sweephand.base.errors import ConflictError, NotFoundError
from sweephand.base.instants import Instant
from sweephand.base.timing import API_LIMIT_MS, POLICY_CHANGE_MS
from sweephand.jobs.policy_check import POLICIES_OFF
from sweephand.jobs.policy_fields import PolicyLimits, shown_limits
from sweephand.jobs.preconditions import check_revision, check_time_limit, until_written
from sweephand.model.change import Change, changes_between
from sweephand.model.gate_message import GateMessage
from sweephand.model.policy import Policy, PolicyKey
from sweephand.ports.clock import Clock, Ids
from sweephand.ports.flow import FlowQueue, PolicyStore
from sweephand.ports.jobs import ChangeStore


@dataclass(frozen=True, slots=True)
class PolicyWritten:
    """The policy after the write, and what the write did."""

    policy: Policy
    outcome: Literal["created", "replaced", "unchanged"]


class PolicyWriter:
    """Creates, changes, pauses and deletes policies. Without preconditions, the last write wins.

    `is_in_use` says whether triggers wait under a policy, or requests are open.
    """

    def __init__(
        self,
        *,
        policies: PolicyStore,
        is_in_use: Callable[[Policy], bool],
        changes: ChangeStore,
        flow_queue: FlowQueue,
        clock: Clock,
        ids: Ids,
    ) -> None:
        self._policies = policies
        self._is_in_use = is_in_use
        self._changes = changes
        self._flow_queue = flow_queue
        self._clock = clock
        self._ids = ids

    def put(
        self,
        key: PolicyKey,
        limits: PolicyLimits,
        *,
        who: str,
        requested_at: Instant,
        if_match: tuple[str, ...] | None = None,
        if_absent: bool = False,
    ) -> PolicyWritten:
        """Create or change a policy. Equal limits change nothing. A paused policy stays paused.

        A message is sent before the commit, delayed past it, and another one after it. So whatever crashes,
        one comes when no function acts by the old limit any more, and has each gate looked after. `if_match`
        are the versions of which the stored policy must have one. With `if_absent`, there must be no policy.
        Raises PreconditionError, ConflictError for another `by` while the policy is in use, and
        UnavailableError after 20 s; then nothing was committed. Raises StoreError, after which the write may
        be committed. The caller may safely ask again.
        """

        def write() -> PolicyWritten | None:
            stored, now = self._policies.get(key), self._clock.now()
            present = _present(stored)
            version = None if present is None else present.version
            check_revision(f"policy {key.name}", version, if_match, if_absent=if_absent)
            if present is not None and _limits(present) == limits:
                return PolicyWritten(present, "unchanged")
            # A trigger that comes at this moment goes on to a gate of the new `by`.
            if stored is not None and stored.by != limits.by and self._is_in_use(stored):
                raise ConflictError(_IN_USE)
            policy = self._policy(key, stored, limits, now, who)
            if not self._commit(policy, stored, requested_at):
                return None
            return PolicyWritten(policy, "created" if present is None else "replaced")

        return until_written(write, _BUSY)

    def pause(
        self,
        key: PolicyKey,
        *,
        reason: str | None,
        who: str,
        requested_at: Instant,
        if_match: tuple[str, ...] | None = None,
    ) -> Policy:
        """Pause a policy: until it is resumed, its triggers wait. Functions read it once a second.

        A policy that is paused already is not changed: it keeps the instant and the reason of its pause.
        Raises NotFoundError, PreconditionError, and UnavailableError after 20 s; then nothing was committed.
        Raises StoreError, after which the pause may be committed. The caller may safely ask again.
        """
        return self._switch(
            key, "paused", reason=reason, who=who, requested_at=requested_at, if_match=if_match
        )

    def resume(
        self, key: PolicyKey, *, who: str, requested_at: Instant, if_match: tuple[str, ...] | None = None
    ) -> Policy:
        """Resume a policy: what waits goes on within seconds. A policy that is not paused is not changed.

        Raises as pause() does.
        """
        return self._switch(
            key, "resumed", reason=None, who=who, requested_at=requested_at, if_match=if_match
        )

    def delete(
        self, key: PolicyKey, *, who: str, requested_at: Instant, if_match: tuple[str, ...] | None = None
    ) -> None:
        """Delete a policy: it closes. Its limit holds for the jobs that name it, and no other job may.

        Raises NotFoundError, PreconditionError, and UnavailableError after 20 s. Raises ConflictError if the
        policy is paused: its triggers would wait for ever, and no list would show why.
        """

        def write() -> Policy | None:
            present, now = self._existing(key, if_match), self._clock.now()
            if present.paused_at is not None:
                raise ConflictError(f"The policy {key.name} is paused. Resume it before you delete it.")
            token = self._ids.token()
            change = Change(now, who, "deleted", token)
            check_time_limit(self._clock, requested_at)
            self._file_change_of(present)
            deleted = replace(present, version=token, updated_at=now, deleted_at=now, change=change)
            return deleted if self._policies.put(deleted, present.version, seen=present) else None

        until_written(write, _BUSY)

    def _switch(
        self,
        key: PolicyKey,
        what: Literal["paused", "resumed"],
        *,
        reason: str | None,
        who: str,
        requested_at: Instant,
        if_match: tuple[str, ...] | None,
    ) -> Policy:
        def write() -> Policy | None:
            present, now = self._existing(key, if_match), self._clock.now()
            pauses = what == "paused"
            if (present.paused_at is not None) == pauses:
                return present
            token = self._ids.token()
            switched = replace(
                present,
                version=token,
                updated_at=max(now, present.updated_at),
                paused_at=now if pauses else None,
                pause_reason=reason,
                change=Change(now, who, what, token, reason),
            )
            return switched if self._commit(switched, present, requested_at) else None

        return until_written(write, _BUSY)

    def _existing(self, key: PolicyKey, if_match: tuple[str, ...] | None) -> Policy:
        """The policy in one of those revisions; NotFoundError if it does not exist or was deleted."""
        present = _present(self._policies.get(key))
        if present is None:
            raise NotFoundError(f"There is no policy {key.name} in namespace {key.namespace}.")
        check_revision(f"policy {key.name}", present.version, if_match)
        return present

    def _commit(self, policy: Policy, stored: Policy | None, requested_at: Instant) -> bool:
        """Write a policy in the place of the stored one; return whether it did.

        A message has each gate looked after once no function acts by the stored one any more. A pause of a
        policy with `by` needs none: functions read the policy, and there may be very many keys.
        """
        check_time_limit(self._clock, requested_at)
        announces = policy.by is None or policy.paused_at is None
        if announces:
            self._announce(stored, policy.key, API_LIMIT_MS)
        self._file_change_of(stored)
        is_written = self._policies.put(policy, stored.version if stored else None, seen=stored)
        if is_written and announces:
            self._announce(stored, policy.key, 0)
        return is_written

    def _policy(
        self, key: PolicyKey, stored: Policy | None, limits: PolicyLimits, now: Instant, who: str
    ) -> Policy:
        present = _present(stored)
        token = self._ids.token()
        return Policy(
            key=key,
            version=token,
            concurrent_max=limits.concurrent_max,
            rate=limits.rate,
            created_at=now if present is None else present.created_at,
            updated_at=now if stored is None else max(now, stored.updated_at),
            paused_at=None if present is None else present.paused_at,
            pause_reason=None if present is None else present.pause_reason,
            change=_change(present, limits, token, now, who),
            by=limits.by,
            breaker=limits.breaker,
            **_breaker_state(present, limits),
        )

    def _file_change_of(self, stored: Policy | None) -> None:
        """File the change of the version that is about to be replaced. Every filed change was committed."""
        if stored is not None and stored.change is not None:
            self._changes.put(stored.key, stored.change)

    def _announce(self, stored: Policy | None, key: PolicyKey, delay_ms: int) -> None:
        """Have each gate of both limits looked after, once no function acts by the earlier limit."""
        delay_ms += POLICY_CHANGE_MS
        # The gates of keys are found in the list of those that wait.
        gates = 0 if stored is None or stored.by is not None else stored.gates
        message = GateMessage("change", *key, gates, self._clock.now() + delay_ms)
        self._flow_queue.send(message, delay_ms)


class PolicyRemover(PolicyWriter):
    """The PolicyWriter of a stack without flow policies: there, policies can only be resumed and deleted."""

    def __init__(
        self, *, policies: PolicyStore, changes: ChangeStore, flow_queue: FlowQueue, clock: Clock, ids: Ids
    ) -> None:
        """What it sends waits in `flow_queue` until the stack has flow policies again."""
        super().__init__(
            policies=policies,
            is_in_use=lambda _: False,
            changes=changes,
            flow_queue=flow_queue,
            clock=clock,
            ids=ids,
        )

    def put(self, *_: Any, **__: Any) -> NoReturn:
        """Raise ConflictError."""
        raise ConflictError(POLICIES_OFF)

    def pause(self, *_: Any, **__: Any) -> NoReturn:
        """Raise ConflictError."""
        raise ConflictError(POLICIES_OFF)


_IN_USE: Final = (
    "Triggers wait under the policy, or requests are open. Its `by` can be changed when nothing waits and "
    "nothing is open."
)
_BUSY: Final = "The policy keeps changing. Nothing was written. Try again."


def _present(stored: Policy | None) -> Policy | None:
    return None if stored is None or stored.deleted_at is not None else stored


def _limits(policy: Policy) -> PolicyLimits:
    return PolicyLimits(policy.concurrent_max, policy.rate, policy.by, policy.breaker)


def _breaker_state(present: Policy | None, limits: PolicyLimits) -> dict[str, Any]:
    """What a policy keeps of its breaker when its limits change: an open one stays open if there is one."""
    if present is None or limits.breaker is None:
        return {}
    return {"broken_at": present.broken_at, "probe": present.probe, "probe_at": present.probe_at}


def _change(present: Policy | None, limits: PolicyLimits, token: str, now: Instant, who: str) -> Change:
    if present is None:
        return Change(now, who, "created", token)
    fields = changes_between(shown_limits(present), shown_limits(limits))
    return Change(now, who, "replaced", token, fields=tuple(fields))
