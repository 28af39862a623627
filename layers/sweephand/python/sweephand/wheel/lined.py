"""Where the triggers of a sweep go: into the line of a policy, or into a lane of the delivery queue."""

from collections.abc import Mapping
from typing import Final, TypeAlias

from sweephand.model.definition import Definition
from sweephand.model.job import Job, JobBrief, JobKey
from sweephand.model.policy_names import PRIORITY_DEFAULT, PolicyKey, Priority
from sweephand.model.trigger import DeadlineMessage, TriggerMessage

#: Triggers by the policy and the priority of their jobs.
Lined: TypeAlias = Mapping[tuple[PolicyKey, Priority], list[TriggerMessage]]

#: Triggers that one call puts into a line: a few entries of a hundred, written one after the other.
LINED_AT_ONCE: Final = 200


def taken_out(
    messages: list[TriggerMessage | DeadlineMessage], jobs: Mapping[JobKey, Job | JobBrief]
) -> Lined:
    """Take the triggers of jobs with a policy out of `messages`, and return them in their order.

    A stale brief does no harm. The worker of the line and the delivery function read the job again.
    """
    places = {key: place for key, job in jobs.items() if (place := _place(job)) is not None}
    if not places:
        return {}
    lined: dict[tuple[PolicyKey, Priority], list[TriggerMessage]] = {}
    others: list[TriggerMessage | DeadlineMessage] = []
    for message in messages:
        place = places.get(message.trigger.key)
        if place is None or isinstance(message, DeadlineMessage):
            others.append(message)
        else:
            lined.setdefault(place, []).append(message)
    messages[:] = others
    return {place: sorted(found, key=lambda each: each.not_before) for place, found in lined.items()}


def put_into_lanes(
    messages: list[TriggerMessage | DeadlineMessage], jobs: Mapping[JobKey, Job | JobBrief]
) -> None:
    """Give each trigger the priority of its job, which decides on its lane if the stack has lanes."""
    priorities = {key: _of(job).priority for key, job in jobs.items()}
    if all(each == PRIORITY_DEFAULT for each in priorities.values()):
        return
    for number, message in enumerate(messages):
        priority = priorities.get(message.trigger.key, PRIORITY_DEFAULT)
        if isinstance(message, TriggerMessage) and priority != message.priority:
            messages[number] = message._replace(priority=priority)


def _of(job: Job | JobBrief) -> JobBrief | Definition:
    return job if isinstance(job, JobBrief) else job.definition


def _place(job: Job | JobBrief) -> tuple[PolicyKey, Priority] | None:
    of = _of(job)
    return None if of.policy is None else (PolicyKey(job.key.namespace, of.policy), of.priority)
