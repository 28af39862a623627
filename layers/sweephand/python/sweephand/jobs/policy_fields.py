"""The fields of a flow policy: which are valid, what they mean, and how they are shown."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sweephand.base.errors import Violation
from sweephand.base.limits import (
    LABEL_LENGTH_MAX,
    POLICY_BREAKER_FAILURES_MAX,
    POLICY_CONCURRENT_MAX,
    POLICY_PROBE_AFTER_DAYS_MAX,
    POLICY_PROBE_AFTER_S_MIN,
    POLICY_RATE_MAX,
    POLICY_RATE_PER_DAYS_MAX,
    POLICY_RATE_PER_S_MIN,
)
from sweephand.base.names import text_schema
from sweephand.jobs.fields.field import DURATION_RULE, Duration, Field, Judged, Number, Object, Text
from sweephand.jobs.validation import object_violations
from sweephand.model.policy import Breaker, Policy, Rate
from sweephand.model.policy_names import BY_HOST, BY_JOB, BY_LABEL
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
BREAKER: Final = Object(
    "PolicyBreakerRequest",
    (
        Field(
            "failures",
            Number(1, POLICY_BREAKER_FAILURES_MAX),
            "After so many failed attempts in a row, over a second at least, triggers wait; a whole number "
            f"from 1 to {POLICY_BREAKER_FAILURES_MAX}.",
            is_required=True,
        ),
        Field(
            "probeAfter",
            Duration("policyProbeAfterDaysMax", "policyProbeAfterSecondsMin"),
            f"While triggers wait, one request leaves after each such time, {POLICY_PROBE_AFTER_S_MIN}s at "
            f"least, {POLICY_PROBE_AFTER_DAYS_MAX}d at most. If the consumer answers, all go on. "
            f"{DURATION_RULE}",
            is_required=True,
        ),
    ),
)
BREAKER_MEANING: Final = (
    "When triggers wait instead of failing, because the consumer is out of order: an object. These attempts "
    "count as failed: those that end in a time-out, in an error of the connection, or with 429 or a status "
    "from 500 on."
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
        Field("breaker", BREAKER, f"{BREAKER_MEANING} A policy with `by` has none."),
    ),
)
_NO_BREAKER: Final = "A policy with `by` has no breaker: leave one of them out."
_NO_LIMIT: Final = "Give maxConcurrent, or rate, or both: a policy without either limits nothing."


@dataclass(frozen=True, slots=True)
class PolicyLimits:
    """What a caller writes of a policy: at least one of the first two."""

    concurrent_max: int | None
    rate: Rate | None
    by: str | None = None
    breaker: Breaker | None = None


def policy_violations(written: Mapping[str, Any]) -> list[Violation]:
    """What is wrong with a policy beside the shapes of its fields, none of which is null."""
    found = list(object_violations(POLICY, written))
    if "breaker" in written and BY.name in written:
        found.append(Violation("/breaker", _NO_BREAKER))
    if written.keys() <= {BY.name, "breaker"}:
        found.append(Violation("", _NO_LIMIT))
    return found


def limits_of(written: Mapping[str, Any]) -> PolicyLimits:
    """The limits in the fields of a valid policy."""
    rate: Mapping[str, Any] | None = written.get("rate")
    breaker: Mapping[str, Any] | None = written.get("breaker")
    return PolicyLimits(
        written.get("maxConcurrent"),
        None if rate is None else Rate(rate["limit"], parse_duration_ms(rate["per"])),
        written.get("by"),
        None if breaker is None else Breaker(breaker["failures"], parse_duration_ms(breaker["probeAfter"])),
    )


def shown_limits(limits: PolicyLimits | Policy) -> dict[str, Any]:
    """The limits that are set, as the API shows them."""
    rate, breaker = limits.rate, limits.breaker
    shown = {
        "maxConcurrent": limits.concurrent_max,
        "rate": None if rate is None else {"limit": rate.limit, "per": duration_text(rate.per_ms)},
        "by": limits.by,
        "breaker": None
        if breaker is None
        else {"failures": breaker.failures, "probeAfter": duration_text(breaker.probe_after_ms)},
    }
    return {name: value for name, value in shown.items() if value is not None}
