"""Where the triggers of a sweep go: into the line of a policy, or into a lane of the delivery queue."""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeAlias

from sweephand.base.errors import StoreError
from sweephand.model.definition import Definition
from sweephand.model.job import Job, JobBrief, JobKey
from sweephand.model.policy_names import PRIORITY_DEFAULT, PolicyKey, Priority
from sweephand.model.trigger import DeadlineMessage, TriggerMessage

#: Triggers by the policy and the priority of their jobs.
Lined: TypeAlias = Mapping[tuple[PolicyKey, Priority], list[TriggerMessage]]

#: Triggers that one call puts into a line: a few entries of a hundred, written one after the other.
LINED_AT_ONCE: Final = 200


class PolicyReads(NamedTuple):
    """What a sweeper knows of the policies of due jobs.

    `partitions` has how many each line has. `unreadable` has the jobs whose policy cannot be read, each with
    the reason.
    """

    partitions: Mapping[PolicyKey, int]
    unreadable: Mapping[JobKey, Exception]


def policies_of(
    jobs: Mapping[JobKey, Job | JobBrief], partitions_of: Callable[[PolicyKey], int]
) -> PolicyReads:
    """Read the policies of those jobs, each once. StoreError if the store does not answer."""
    partitions: dict[PolicyKey, int] = {}
    reasons: dict[PolicyKey, Exception] = {}
    policies = {key: place[0] for key, job in jobs.items() if (place := _place(job)) is not None}
    for policy in dict.fromkeys(policies.values()):
        try:
            partitions[policy] = partitions_of(policy)
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 - one policy's item must not keep a whole shard waiting
            error.add_note(f"policy {policy.name} of namespace {policy.namespace} cannot be read")
            reasons[policy] = error
    return PolicyReads(
        partitions, {key: reasons[policy] for key, policy in policies.items() if policy in reasons}
    )


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
