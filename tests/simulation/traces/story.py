"""The story of a seed: in order, what happened to the subject of the first complaint, and the faults."""

import datetime as dt
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tests.simulation.simulation import Result
from tests.simulation.traces.rare_events import BulkWriteAnswered
from tests.simulation.traces.trace import (
    Answered,
    Buried,
    Concluded,
    Deleted,
    Dropped,
    Event,
    InLine,
    LineStored,
    ManyAnswered,
    Mishap,
    Removed,
    Requested,
    RunAnswered,
    RunAsked,
    RunStored,
    TimerStored,
    Told,
    Written,
)
from tests.simulation.world.gate import RECEIVES, Call

from sweephand.base.instants import MINUTE_MS, Instant, from_datetime, rfc3339
from sweephand.model.job import Job, JobKey
from sweephand.model.run import Run
from sweephand.model.timer import Cursor, DeadlineTimer, Lease, OccurrenceTimer, RetryTimer, TimerPack
from sweephand.model.trigger import (
    DeadlineMessage,
    FailureMessage,
    NotifyMessage,
    RangeMessage,
    TriggerMessage,
)

#: A longer story is cut to its last lines, because a complaint is about the end.
LINES_MAX: Final = 200

#: The story ends this long after the trigger of the complaint was due, or with the last event about it.
AFTER_MS: Final = 3 * MINUTE_MS

COMPLAINTS_MAX: Final = 10

#: How a complaint may name an instant.
_INSTANT: Final = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")

#: The uid of a simulated job, and a trigger's due time after one.
_UID: Final = re.compile(r"\b(\d{16})(?:-(?:[a-z]+-)?(\d{13})-\d+)?\b")

_ERROR_LENGTH_MAX: Final = 90


@dataclass(frozen=True, slots=True)
class Subject:
    """What a complaint is about: jobs by uid and name, their shards, and due times if it names any.

    Without a uid, the subject is everything.
    """

    uids: frozenset[str]
    names: frozenset[str]
    shards: frozenset[int]
    dues: frozenset[Instant]

    @classmethod
    def of(cls, complaints: Iterable[str], events: Iterable[Event]) -> "Subject":
        """Return the subject of the first complaint that names a job."""
        uids: set[str] = set()
        dues: set[Instant] = set()
        for complaint in complaints:
            for uid, due_at in _UID.findall(complaint):
                uids.add(uid)
                dues |= {int(due_at)} if due_at else set()
            if uids:
                named = _INSTANT.findall(complaint)
                dues = dues or {from_datetime(dt.datetime.fromisoformat(each)) for each in named}
                break
        names, shards = set(), set()
        for each in events:
            if isinstance(each, Written) and each.uid in uids:
                names.add(each.name)
            if isinstance(each, TimerStored) and each.uid in uids:
                shards.add(each.shard)
        return cls(frozenset(uids), frozenset(names), frozenset(shards), frozenset(dues))

    def has_job(self, uid: str) -> bool:
        """Whether the subject has the job with that uid."""
        return not self.uids or uid in self.uids

    def has_name(self, name: str) -> bool:
        """Whether the subject has a job of that name."""
        return not self.uids or name in self.names

    def has_trigger(self, uid: str, due_at: Instant) -> bool:
        """Whether the subject has a trigger of that job and due time."""
        return self.has_job(uid) and (not self.dues or due_at in self.dues)

    def has_trigger_id(self, trigger_id: str | None) -> bool:
        """Whether the subject has the trigger with that id."""
        found = _UID.search(trigger_id or "")
        return found is not None and self.has_trigger(found[1], int(found[2] or 0))

    def has_shard(self, shard: int) -> bool:
        """Whether the subject has jobs in that shard."""
        return not self.uids or shard in self.shards


def story(result: Result) -> str:
    """Return the story of a seed's first complaint. The result has to come from a run with `is_telling`."""
    subject = Subject.of(result.complaints, result.events)
    calls = list(_concerning(result.calls, subject))
    lines = [(each.at, 1, line) for each in result.events for line in _lines(each, subject)]
    lines += [(each.at, 0, line) for each in calls for line in _lines(each, subject)]
    # Events of one instant stay in their order: the sort is stable, and a call comes before its effects.
    lines.sort(key=lambda each: each[:2])
    if subject.dues:
        ends_at = max(subject.dues) + AFTER_MS
        ends_at = max([ends_at, *(each.at for each in result.events if _is_of_trigger(each, subject))])
        lines = [each for each in lines if each[0] <= ends_at]
    told = [f"{_time(at)}  {line}" for at, _, line in lines]
    if len(told) > LINES_MAX:
        told = [f"… {len(told) - LINES_MAX} lines before this …", *told[-LINES_MAX:]]
    return "\n".join([*told, "", *(f"✗ {each}" for each in result.complaints[:COMPLAINTS_MAX])])


def _concerning(calls: Iterable[Call], subject: Subject) -> Iterator[Call]:
    """Leave out calls of batches that have nothing of the subject: they read its job for other triggers."""
    concerned: set[str] = set()
    for call in calls:
        if call.where == RECEIVES and any(_touched(call.arguments, subject)):
            concerned.add(call.process)
        if call.process in concerned or not call.process.startswith("deliver"):
            yield call


def _is_of_trigger(event: Event, subject: Subject) -> bool:
    match event:
        case Requested() | Concluded() | Dropped() | Told() | Buried():
            return subject.has_trigger_id(event.trigger_id)
        case RunAsked():
            return _is_of_run(event, subject)
        case _:
            return False


def _time(at: Instant) -> str:
    return rfc3339(at)[5:23].replace("T", " ")


def _lines(thing: object, subject: Subject) -> Iterator[str]:
    teller = _TELLERS.get(type(thing))
    line = teller(thing, subject) if teller else None
    if line is not None:
        yield line


def _mishap(event: Mishap, _: Subject) -> str:
    return f"! {event.kind}: {event.where}"


def _written(event: Written, subject: Subject) -> str | None:
    if not subject.has_name(event.name):
        return None
    shown = {name: each for name, each in event.definition.items() if name not in ("target", "data")}
    paused = f", paused at {_time(event.paused_at)}" if event.paused_at is not None else ""
    return (
        f"* {event.name} {event.verb}: uid {event.uid} rev {event.rev} since {_time(event.since)} "
        f"cut {_time(event.cut)}{paused} {shown}"
    )


def _deleted(event: Deleted, subject: Subject) -> str | None:
    return f"* {event.name} deleted: uid {event.uid}" if subject.has_name(event.name) else None


def _removed(event: Removed, subject: Subject) -> str | None:
    if not subject.has_job(event.uid) or event.item == "timer":
        return None
    if event.run_id and not subject.has_trigger_id(f"{event.uid}-{event.run_id}"):
        return None
    return f"* time to live over: {event.item} {event.run_id or event.name} of uid {event.uid} is removed"


def _answered(event: Answered, subject: Subject) -> str | None:
    if not subject.has_name(event.name):
        return None
    what = f"done, rev {event.rev}" if event.error is None else event.error[:_ERROR_LENGTH_MAX]
    return f"< client told of {event.verb} {event.name}: {what}"


def _many_answered(event: ManyAnswered, subject: Subject) -> str | None:
    if subject.uids and not subject.uids & set(event.changed):
        return None
    labels = "".join(f" {name}={value}" for name, value in event.chosen.labels.items())
    what = f"{event.verb} {event.chosen.prefix}*{labels} after {event.chosen.after!r}"
    return f"< client told of {what}: {event.count}, up to {event.reached}, asked {_time(event.asked_at)}"


def _requested(event: Requested, subject: Subject) -> str | None:
    if not subject.has_trigger(event.uid, event.due_at):
        return None
    return f"> request {event.trigger_id} due {_time(event.due_at)} attempt {event.attempt} rev {event.rev}"


def _concluded(event: Concluded, subject: Subject) -> str | None:
    if not subject.has_trigger_id(event.trigger_id):
        return None
    return f"> request {event.trigger_id} attempt {event.attempt}: {event.outcome}"


def _dropped(event: Dropped, subject: Subject) -> str | None:
    if not subject.has_trigger_id(event.trigger_id):
        return None
    return f"> dropped by its queue: {event.trigger_id} attempt {event.attempt}"


def _told(event: Told, subject: Subject) -> str | None:
    if not subject.has_trigger_id(event.trigger_id):
        return None
    return f"> told of {event.trigger_id}: {event.state} after attempt {event.attempts}, as {event.notice_id}"


def _run_asked(event: RunAsked, subject: Subject) -> str | None:
    if not _is_of_run(event, subject):
        return None
    return f"< {event.verb} run {event.run_id} attempt {event.attempt}"


def _run_answered(event: RunAnswered, subject: Subject) -> str | None:
    if not _is_of_run(event.asked, subject):
        return None
    what = f"{event.state} attempt {event.attempts}" if event.error is None else event.error
    return f"< {event.asked.verb} run {event.asked.run_id} attempt {event.asked.attempt}: {what}"


def _is_of_run(event: RunAsked, subject: Subject) -> bool:
    return not event.run_id or subject.has_trigger_id(f"{event.uid}-{event.run_id}")


def _buried(event: Buried, subject: Subject) -> str | None:
    if not subject.has_trigger_id(event.trigger_id):
        return None
    return f"> buried {event.trigger_id} ({event.of}): {event.reason}"


def _run_stored(event: RunStored, subject: Subject) -> str | None:
    if not subject.has_trigger_id(f"{event.uid}-{event.run_id}"):
        return None
    return f"  run {event.run_id}: {event.before} → {event.state} attempt {event.attempts}"


def _line_stored(event: LineStored, subject: Subject) -> str | None:
    if not subject.has_job(event.uid):
        return None
    if event.holder is None:
        return "  line free"
    # Of a long line, the story shows the places before those of the subject.
    told = [_in_line(each, subject) for each in event.waiting]
    return f"  line held by {_in_line(event.holder, subject)}, {len(told)} wait: {' '.join(told[:8])}"


def _in_line(place: InLine, subject: Subject) -> str:
    mark = "*" if subject.dues and place.due_at in subject.dues else ""
    by_hand = " asked for" if place.is_asked_for else ""
    return f"{mark}{_time(place.due_at)[6:]}{by_hand}/{place.attempt}"


def _called(call: Call, subject: Subject) -> str | None:
    """Return the line of a call that concerns the subject."""
    touched = "; ".join(_touched(call.arguments, subject))
    if not touched:
        return None
    if call.where in ("leases.commit", "leases.release"):
        cursors = (each for each in call.arguments if isinstance(each, Cursor))
        touched += "".join(f" {_cursor(each)}" for each in cursors)
    answer = f" → {call.result}" if isinstance(call.result, bool) else ""
    return f"  {call.process} {call.where}: {touched}{answer}"


def _touched(value: Any, subject: Subject) -> Iterator[str]:
    yield from _lines(value, subject)
    if isinstance(value, list | TimerPack) or type(value) is tuple:
        for each in value.timers if isinstance(value, TimerPack) else value:
            yield from _touched(each, subject)


def _key(key: JobKey, subject: Subject) -> str | None:
    return str(key) if subject.has_name(key.name) else None


def _trigger(message: TriggerMessage, subject: Subject) -> str | None:
    trigger = message.trigger
    if not subject.has_trigger(trigger.uid, trigger.due_at):
        return None
    faults = f" after {message.faults} faults" if message.faults else ""
    return f"trigger due {_time(trigger.due_at)} rev {trigger.rev} attempt {message.attempt}{faults}"


def _following(message: DeadlineMessage | FailureMessage | NotifyMessage, subject: Subject) -> str | None:
    trigger = message.trigger
    if not subject.has_trigger(trigger.uid, trigger.due_at):
        return None
    attempt = message.attempts if isinstance(message, NotifyMessage) else message.attempt
    kind = type(message).__name__.removesuffix("Message").lower()
    return (
        f"{kind} of attempt {attempt} of trigger due {_time(trigger.due_at)}, at {_time(message.not_before)}"
    )


def _range(message: RangeMessage, subject: Subject) -> str | None:
    if not subject.has_job(message.uid):
        return None
    return f"range {_time(message.first.due_at)} to {_time(message.until)} rev {message.rev}"


def _occurrence_timer(timer: OccurrenceTimer, subject: Subject) -> str | None:
    if not subject.has_job(timer.uid):
        return None
    return f"timer of {timer.rev} from {_time(timer.first.due_at)} at {_time(timer.due_at)}"


def _other_timer(timer: RetryTimer | DeadlineTimer, subject: Subject) -> str | None:
    of = timer.message
    told = _trigger(of, subject) if isinstance(of, TriggerMessage) else _following(of, subject)
    return told and f"timer at {_time(timer.due_at)} of {told}"


def _cursor(cursor: Cursor) -> str:
    within = f" within, up to {_time(cursor.within.due_at)}" if cursor.within is not None else ""
    return f"to {cursor.key}{cursor.entry and f' at {cursor.entry}'}{within}"


def _job(job: Job, subject: Subject) -> str | None:
    return f"rev {job.rev} version {job.version}" if subject.has_name(job.key.name) else None


def _run(run: Run, subject: Subject) -> str | None:
    if not subject.has_trigger(run.uid, run.due_at):
        return None
    return f"run {run.run_id} {run.state} attempt {run.attempts}"


def _lease(lease: Lease, subject: Subject) -> str | None:
    return f"shard {lease.shard} fence {lease.fence}" if subject.has_shard(lease.shard) else None


#: How the story tells each kind of event and message. It leaves out the kinds that are not here.
_TELLERS: Final[Mapping[type, Callable[[Any, Subject], str | None]]] = {
    Mishap: _mishap,
    Written: _written,
    Deleted: _deleted,
    Removed: _removed,
    Answered: _answered,
    ManyAnswered: _many_answered,
    BulkWriteAnswered: lambda event, _: event.told(),
    Requested: _requested,
    Concluded: _concluded,
    Dropped: _dropped,
    Told: _told,
    RunAsked: _run_asked,
    RunAnswered: _run_answered,
    Buried: _buried,
    RunStored: _run_stored,
    LineStored: _line_stored,
    Call: _called,
    JobKey: _key,
    TriggerMessage: _trigger,
    DeadlineMessage: _following,
    FailureMessage: _following,
    NotifyMessage: _following,
    RangeMessage: _range,
    OccurrenceTimer: _occurrence_timer,
    RetryTimer: _other_timer,
    DeadlineTimer: _other_timer,
    Job: _job,
    Run: _run,
    Lease: _lease,
}
