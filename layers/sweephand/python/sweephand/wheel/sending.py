"""How triggers are sent: into a lane of the delivery queue, alone or in a bundle."""

from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import Final

from sweephand.base.instants import Instant
from sweephand.base.timing import BUNDLE_SPAN_MAX_MS
from sweephand.model.definition import Definition
from sweephand.model.job import Job, JobBrief, JobKey
from sweephand.model.policy_names import LANE_DEFAULT, Lane
from sweephand.model.trigger import BundleMessage, DeadlineMessage, Message, Readable, TriggerMessage
from sweephand.model.wire import fits_bundle

#: A call takes up to ten bundles. So it delivers up to a hundred triggers, in four rounds of its 32 threads
#: (decision 036).
BUNDLE_TRIGGERS_MAX: Final = 10


def bundled(messages: Iterable[Message], span_ms: int, now: Instant) -> list[Readable]:
    """The same messages, but triggers that fall due within `span_ms` share bundles.

    A bundle has one namespace and one lane. A trigger that is overdue counts as due `now`. A trigger that
    would be alone in its bundle stays a single message. If `span_ms` is 0, all messages stay as they are.
    """
    assert 0 <= span_ms <= BUNDLE_SPAN_MAX_MS, "the delivery function waits no longer"
    if not span_ms:
        return list(messages)
    others: list[Readable] = []
    by_lane: dict[tuple[str, Lane], list[TriggerMessage]] = {}
    for message in messages:
        if isinstance(message, TriggerMessage) and fits_bundle(message):
            lane = message.trigger.key.namespace, message.lane
            by_lane.setdefault(lane, []).append(message)
        else:
            others.append(message)
    return [
        *(each for triggers in by_lane.values() for each in _bundled(triggers, span_ms, now)),
        *others,
    ]


def _bundled(triggers: list[TriggerMessage], span_ms: int, now: Instant) -> Iterable[Readable]:
    triggers.sort(key=attrgetter("not_before"))
    begin = 0
    while begin < len(triggers):
        ends_at = max(triggers[begin].not_before, now) + span_ms
        end = begin + 1
        while end < min(len(triggers), begin + BUNDLE_TRIGGERS_MAX) and triggers[end].not_before < ends_at:
            end += 1
        together = triggers[begin:end]
        yield together[0] if len(together) == 1 else BundleMessage(tuple(together))
        begin = end


def set_lanes(
    messages: list[TriggerMessage | DeadlineMessage], jobs: Mapping[JobKey, Job | JobBrief]
) -> None:
    """Give each trigger the lane of its job."""
    lanes = {key: _of(job).lane for key, job in jobs.items()}
    if all(each == LANE_DEFAULT for each in lanes.values()):
        return
    for number, message in enumerate(messages):
        lane = lanes.get(message.trigger.key, LANE_DEFAULT)
        if isinstance(message, TriggerMessage) and lane != message.lane:
            messages[number] = message._replace(lane=lane)


def _of(job: Job | JobBrief) -> JobBrief | Definition:
    return job if isinstance(job, JobBrief) else job.definition
