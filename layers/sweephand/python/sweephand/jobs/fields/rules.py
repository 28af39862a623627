"""The rules of a job's fields: what a value must be beside its shape, by itself and beside other fields."""

from collections.abc import Mapping
from typing import Any

from sweephand.base.errors import Violation, pointer
from sweephand.base.names import name_violations
from sweephand.jobs.fields.field import Judged, Rule
from sweephand.schedules.request import IDLE_ON_DEMAND
from sweephand.targets.queue_url import read_queue_url
from sweephand.targets.registry import data_violations
from sweephand.targets.url import UrlError


def takes_data(_: str, target: Mapping[str, Any], job: Judged) -> list[Violation]:
    """A target takes no more data than its type allows."""
    return [] if job.payload is None else data_violations(target, job.payload.size)


def is_queue(at: str, url: str, job: Judged) -> list[Violation]:
    """A text is the URL of an SQS queue that the jobs of the stack may reach."""
    allow_insecure = job.reach.allow_insecure
    try:
        read_queue_url(url, allow_insecure=allow_insecure)
    except UrlError as error:
        return [Violation(at, str(error))]
    return job.reach.queues.violations(at, url, allow_insecure=allow_insecure)


def is_name(at: str, name: str, _: Judged) -> list[Violation]:
    """A text is a name."""
    return name_violations(at, name)


def has_no_colons(at: str, labels: Mapping[str, str], _: Judged) -> list[Violation]:
    """A list can be filtered by each label."""
    detail = "Give a name without a colon: a list is filtered by label=name:value."
    return [Violation(at + pointer(name), detail) for name in labels if ":" in name]


def only_with(other: str, needed: str) -> Rule:
    """A field that has no effect unless `other` has this value.

    A field that was stored before may be without effect, so that a stored job can always be patched.
    """

    def rule(at: str, _: object, job: Judged) -> list[Violation]:
        if at[1:] not in job.asked or job.sound.get(other) == needed:
            return []
        return [Violation(at, f"Give it with {other}: {needed} only: without that it has no effect.")]

    return rule


def needs_times(at: str, value: object, job: Judged) -> list[Violation]:
    """A field that says something about occurrences needs a job that has some.

    schedules/request.py refuses `repeats`, `dst` and `jitter` of a job that has none, with its times.
    """
    has_times = "schedule" in job.written or "dueTime" in job.written
    return [] if has_times or value is False else [Violation(at, IDLE_ON_DEMAND)]


def not_with_batch(why: str, allowed: object = None) -> Rule:
    """A field that a job with a batch cannot have yet, except with the value `allowed`."""

    def rule(at: str, value: object, job: Judged) -> list[Violation]:
        return [Violation(at, why)] if "batch" in job.sound and value != allowed else []

    return rule


def goes_with(other: str, what: str) -> Rule:
    """A field that needs `other`; `what` says what to give there."""

    def rule(at: str, _: object, job: Judged) -> list[Violation]:
        if other in job.written:
            return []
        return [Violation(pointer(other), f"Give it with {at[1:]}: {what}.")]

    return rule


def suits_a_watch(at: str, history: str, job: Judged) -> list[Violation]:
    """A watched job records its successes (decision 110)."""
    if "alertAfter" not in job.sound or history != "failures":
        return []
    detail = "Give outcome or full, or leave it out: a watch needs the records of successes."
    return [Violation(at, detail)]
