"""Writing flow policies: which are valid, and that what waits is looked after once more of it may leave."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, NoReturn

from sweephand.base.errors import ConflictError, NotFoundError, UnavailableError, Violation
from sweephand.base.instants import Instant
from sweephand.base.limits import (
    LABEL_LENGTH_MAX,
    POLICY_CONCURRENT_MAX,
    POLICY_RATE_MAX,
    POLICY_RATE_PER_DAYS_MAX,
    POLICY_RATE_PER_S_MIN,
)
from sweephand.base.names import text_schema
from sweephand.base.timing import API_LIMIT_MS, POLICY_CHANGE_MS
from sweephand.jobs.fields.field import DURATION_RULE, Duration, Field, Judged, Number, Object, Text
from sweephand.jobs.policy_check import POLICIES_OFF
from sweephand.jobs.preconditions import check_revision, check_time_limit
from sweephand.jobs.validation import object_violations
from sweephand.model.change import Change, changes_between
from sweephand.model.gate_message import GateMessage
from sweephand.model.policy import Policy, PolicyKey, Rate
from sweephand.model.policy_names import BY_HOST, BY_JOB, BY_LABEL
from sweephand.ports.clock import Clock, Ids
from sweephand.ports.flow import FlowQueue, PolicyStore
from sweephand.ports.jobs import ChangeStore
from sweephand.schedules import duration_text, parse_duration_ms

MAX_CONCURRENT: Final = Field(
    "maxConcurrent",
    Number(1, POLICY_CONCURRENT_MAX),
    "How many requests of the policy's jobs may be open at any instant, asynchronous runs that are not over "
    f"included; a whole number from 1 to {POLICY_CONCURRENT_MAX}.",
)
RATE_LIMIT: Final = Field(
    "limit",
    Number(1, POLICY_RATE_MAX),
    "How many requests of the policy's jobs may leave within any `per`; a whole number from 1 to "
    f"{POLICY_RATE_MAX}.",
    is_required=True,
)
PER_MEANING: Final = (
    f"The time in which `limit` counts, {POLICY_RATE_PER_S_MIN}s at least, {POLICY_RATE_PER_DAYS_MAX}d at "
    "most."
)
_PER: Final = Field(
    "per",
    Duration("policyRatePerDaysMax", "policyRatePerSecondsMin"),
    f"{PER_MEANING} {DURATION_RULE}",
    is_required=True,
)
RATE: Final = Object("PolicyRateRequest", (RATE_LIMIT, _PER))
_BY_RULE: Final = (
    f"Give host, job, or label: and the name of a label, of 1 to {LABEL_LENGTH_MAX} characters and no colon."
)


def _is_key_source(at: str, by: object, _: Judged) -> list[Violation]:
    """A text says by what a policy counts."""
    if not isinstance(by, str) or by in (BY_HOST, BY_JOB):
        return []
    label = by.removeprefix(BY_LABEL)
    is_label = label != by and 0 < len(label) <= LABEL_LENGTH_MAX and ":" not in label
    return [] if is_label else [Violation(at, _BY_RULE)]


BY: Final = Field(
    "by",
    Text(text_schema(r"^(?:host|job|label:[^:]+)$", LABEL_LENGTH_MAX + len(BY_LABEL))),
    "By what the policy counts: `label:` and the name of a label of the jobs, `host` (of an HTTP target), or "
    "`job`. Then each value has the limits of the policy by itself. It can be changed while nothing waits "
    "and nothing is open.",
    (_is_key_source,),
)
POLICY: Final = Object(
    "PolicyRequest",
    (
        MAX_CONCURRENT,
        Field(
            "rate",
            RATE,
            "How many requests may leave within a time: an object. Requests leave evenly spaced, so "
            "that no window of that length has more. About 95% of the rate can be used.",
        ),
        BY,
    ),
)
_NO_LIMIT: Final = "Give maxConcurrent, or rate, or both: a policy without either limits nothing."

#: How often a write starts over that another write has overtaken.
_TRIES_MAX: Final = 5


@dataclass(frozen=True, slots=True)
class PolicyLimits:
    """What a caller writes of a policy: at least one of the first two."""

    concurrent_max: int | None
    rate: Rate | None
    by: str | None = None


def policy_violations(written: Mapping[str, Any]) -> list[Violation]:
    """What is wrong with a policy beside the shapes of its fields, none of which is null."""
    found = object_violations(POLICY, written)
    return [*found, Violation("", _NO_LIMIT)] if written.keys() <= {BY.name} else found


def limits_of(written: Mapping[str, Any]) -> PolicyLimits:
    """The limits in the fields of a valid policy."""
    rate: Mapping[str, Any] | None = written.get("rate")
    return PolicyLimits(
        written.get("maxConcurrent"),
        None if rate is None else Rate(rate["limit"], parse_duration_ms(rate["per"])),
        written.get("by"),
    )


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
        for _ in range(_TRIES_MAX):
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
            if self._commit(policy, stored, requested_at):
                return PolicyWritten(policy, "created" if present is None else "replaced")
        raise UnavailableError(_BUSY)

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
        for _ in range(_TRIES_MAX):
            present, now = self._existing(key, if_match), self._clock.now()
            if present.paused_at is not None:
                raise ConflictError(f"The policy {key.name} is paused. Resume it before you delete it.")
            token = self._ids.token()
            change = Change(now, who, "deleted", token)
            check_time_limit(self._clock, requested_at)
            self._file_change_of(present)
            deleted = replace(present, version=token, updated_at=now, deleted_at=now, change=change)
            if self._policies.put(deleted, present.version):
                return
        raise UnavailableError(_BUSY)

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
        for _ in range(_TRIES_MAX):
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
            if self._commit(switched, present, requested_at):
                return switched
        raise UnavailableError(_BUSY)

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
        is_written = self._policies.put(policy, stored.version if stored else None)
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
    return PolicyLimits(policy.concurrent_max, policy.rate, policy.by)


def shown_limits(limits: PolicyLimits | Policy) -> dict[str, Any]:
    """The limits that are set, as the API shows them."""
    rate = limits.rate
    shown = {
        "maxConcurrent": limits.concurrent_max,
        "rate": None if rate is None else {"limit": rate.limit, "per": duration_text(rate.per_ms)},
        "by": limits.by,
    }
    return {name: value for name, value in shown.items() if value is not None}


def _change(present: Policy | None, limits: PolicyLimits, token: str, now: Instant, who: str) -> Change:
    if present is None:
        return Change(now, who, "created", token)
    fields = changes_between(shown_limits(present), shown_limits(limits))
    return Change(now, who, "replaced", token, fields=tuple(fields))
