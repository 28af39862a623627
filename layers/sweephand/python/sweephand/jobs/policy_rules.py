"""Which flow policies are valid: the bounds of their fields, and that they limit something."""

from collections.abc import Mapping
from typing import Any, Final

from sweephand.base.errors import Violation
from sweephand.base.field_bounds import NumberBounds
from sweephand.base.limits import (
    POLICY_CONCURRENT_MAX,
    POLICY_RATE_MAX,
    POLICY_RATE_PER_DAYS_MAX,
    POLICY_RATE_PER_S_MIN,
)
from sweephand.jobs.fields.field import Duration
from sweephand.jobs.policies import PolicyLimits
from sweephand.model.policy import Rate
from sweephand.schedules import parse_duration_ms

MAX_CONCURRENT: Final = NumberBounds(
    1,
    POLICY_CONCURRENT_MAX,
    "How many requests of the policy's jobs may be open at any instant, asynchronous runs that are not over "
    f"included; a whole number from 1 to {POLICY_CONCURRENT_MAX}.",
)
RATE_LIMIT: Final = NumberBounds(
    1,
    POLICY_RATE_MAX,
    "How many requests of the policy's jobs may leave within any `per`; a whole number from 1 to "
    f"{POLICY_RATE_MAX}.",
)
PER_MEANING: Final = (
    f"The time in which `limit` counts, {POLICY_RATE_PER_S_MIN}s at least, {POLICY_RATE_PER_DAYS_MAX}d at "
    "most."
)
_PER: Final = Duration("policyRatePerDaysMax", "policyRatePerSecondsMin")
_NO_LIMIT: Final = "Give maxConcurrent, or rate, or both: a policy without either limits nothing."


def policy_violations(written: Mapping[str, Any]) -> list[Violation]:
    """What is wrong with the fields of a policy, whose shapes are right; empty if they can be accepted."""
    found: list[Violation] = []
    if written.get("maxConcurrent") is None and written.get("rate") is None:
        found.append(Violation("", _NO_LIMIT))
    found += MAX_CONCURRENT.violations("/maxConcurrent", written.get("maxConcurrent"))
    rate: Mapping[str, Any] = written.get("rate") or {}
    found += RATE_LIMIT.violations("/rate/limit", rate.get("limit"))
    return found + _PER.violations("/rate/per", rate.get("per"))


def limits_of(written: Mapping[str, Any]) -> PolicyLimits:
    """The limits in the fields of a valid policy."""
    rate: Mapping[str, Any] | None = written.get("rate")
    return PolicyLimits(
        written.get("maxConcurrent"),
        None if rate is None else Rate(rate["limit"], parse_duration_ms(rate["per"])),
    )
