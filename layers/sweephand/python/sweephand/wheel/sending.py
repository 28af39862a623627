"""How triggers are sent: into the line of a policy, into a lane of the delivery queue, or in a bundle."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from typing import Final, NamedTuple, TypeAlias

from sweephand.base.errors import StoreError
from sweephand.base.instants import SECOND_MS, Instant
from sweephand.base.timing import BUNDLE_SPAN_MAX_MS, QUEUE_DELAY_MAX_MS
from sweephand.model.definition import Definition
from sweephand.model.job import Job, JobBrief, JobKey
from sweephand.model.policy import PARTITIONS_MIN, PRIORITIES, PolicyKey, Priority
from sweephand.model.policy_line import LineEntry, LinePlace, entries_of, partition_of
from sweephand.model.policy_names import PRIORITY_DEFAULT
from sweephand.model.trigger import BundleMessage, DeadlineMessage, Message, Readable, TriggerMessage
from sweephand.model.wire import fits_bundle
from sweephand.model.work_message import WorkMessage
from sweephand.ports.clock import Clock
from sweephand.ports.flow import PolicyLines, PolicyStore, WorkQueue

#: A call takes up to ten bundles. So it delivers up to a hundred triggers, in four rounds of its 32 threads
#: (decision 041).
BUNDLE_TRIGGERS_MAX: Final = 10


def bundled(messages: Iterable[Message], span_ms: int, now: Instant) -> list[Readable]:
    """The same messages, but triggers that fall due within `span_ms` share bundles.

    A bundle has one namespace and one priority. A trigger that is overdue counts as due `now`. A trigger that
    would be alone in its bundle stays a single message. If `span_ms` is 0, all messages stay as they are.
    """
    assert 0 <= span_ms <= BUNDLE_SPAN_MAX_MS, "the delivery function waits no longer"
    if not span_ms:
        return list(messages)
    others: list[Readable] = []
    by_lane: dict[tuple[str, Priority], list[TriggerMessage]] = {}
    for message in messages:
        if isinstance(message, TriggerMessage) and fits_bundle(message):
            lane = message.trigger.key.namespace, message.priority
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


#: Triggers by the policy and the priority of their jobs.
LineTriggers: TypeAlias = Mapping[tuple[PolicyKey, Priority], list[TriggerMessage]]

#: Triggers that one call puts into a line: a few entries of a hundred, written one after the other.
LINE_TRIGGERS_AT_ONCE: Final = 200


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


def take_line_triggers(
    messages: list[TriggerMessage | DeadlineMessage], jobs: Mapping[JobKey, Job | JobBrief]
) -> LineTriggers:
    """Take the triggers of jobs with a policy out of `messages`, and return them in their order.

    A stale brief does no harm. The worker of the line and the delivery function read the job again.
    """
    places = {key: place for key, job in jobs.items() if (place := _place(job)) is not None}
    if not places:
        return {}
    by_line: dict[tuple[PolicyKey, Priority], list[TriggerMessage]] = {}
    others: list[TriggerMessage | DeadlineMessage] = []
    for message in messages:
        place = places.get(message.trigger.key)
        if place is None or isinstance(message, DeadlineMessage):
            others.append(message)
        else:
            by_line.setdefault(place, []).append(message)
    messages[:] = others
    return {place: sorted(found, key=lambda each: each.not_before) for place, found in by_line.items()}


def set_priorities(
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


class LineUp:
    """Writes entries and sends work messages. Several threads may share one object."""

    def __init__(self, *, policies: PolicyStore, lines: PolicyLines, work: WorkQueue, clock: Clock) -> None:
        self._policies = policies
        self._lines = lines
        self._work = work
        self._clock = clock

    def partitions_of(self, key: PolicyKey) -> int:
        """How many partitions the line of that policy has. A policy that is missing has a line too."""
        policy = self._policies.get(key)
        return PARTITIONS_MIN if policy is None else policy.partitions

    def put(
        self,
        key: PolicyKey,
        priority: Priority,
        messages: Iterable[TriggerMessage],
        source: str,
        partitions: int | None = None,
    ) -> None:
        """Put triggers into the line of that policy. When this returns, their messages may be acknowledged.

        `source` says where they come from. Repeating the call with the same source and the same triggers
        writes the same entries. A policy that is missing has a line too. Its triggers wait until the policy
        is created. `partitions` is what partitions_of() has just returned; None if nobody has asked.
        """
        partitions = self.partitions_of(key) if partitions is None else partitions
        now = self._clock.now()
        entries = entries_of(messages, source, now)
        # A worker waits for an entry for a second. So one message suffices for all entries of a second.
        seconds: dict[int, tuple[Instant, LinePlace]] = {}
        for entry in entries:
            place = LinePlace(key, priority, partition_of(entry.name, partitions))
            self._lines.put(place, entry)
            seconds.setdefault(max(entry.at, now) // SECOND_MS, (entry.at, place))
        for at, place in seconds.values():
            self.wake(key, at, place=place)

    def put_all(self, waits: Iterable[tuple[PolicyKey, Priority, TriggerMessage]], source: str) -> None:
        """Put triggers into the lines of their policies, those of each line as put() does."""
        lines: dict[tuple[PolicyKey, Priority], list[TriggerMessage]] = defaultdict(list)
        for key, priority, message in waits:
            lines[key, priority].append(message)
        for (key, priority), messages in lines.items():
            self.put(key, priority, messages, source)

    def put_down(self, place: LinePlace, entry: LineEntry) -> None:
        """Write an entry into a partition, and have it looked after at its time."""
        self._lines.put(place, entry)
        self.wake(place.policy, entry.at, place=place)

    def wake(
        self,
        key: PolicyKey,
        at: Instant,
        *,
        clears_mark: bool = False,
        place: LinePlace | None = None,
        until: Instant | None = None,
    ) -> None:
        """Send a work message for that instant, which nobody needs after `until`.

        Its worker looks at `place` first.
        """
        delay_ms = min(max(at - self._clock.now(), 0), QUEUE_DELAY_MAX_MS)
        hint = None if place is None else (PRIORITIES.index(place.priority), place.partition)
        self._work.send(WorkMessage(key.namespace, key.name, at, clears_mark, hint, until), delay_ms)

    def send_again(self, message: WorkMessage, at: Instant) -> None:
        """Send a work message so that it comes at that instant, whatever its own time is."""
        self._work.send(message, min(max(at - self._clock.now(), 0), QUEUE_DELAY_MAX_MS))
