"""The one encoding of messages and dead letters: a layout for each kind of message, and its versions."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeVar

from sweephand.base.errors import FormError, NewerError, PoisonError
from sweephand.base.instants import Instant
from sweephand.base.layouts import NAME, SENTENCE, TRUTH, WHOLE, Field, Layout, Part
from sweephand.model.calendar import CalendarMessage
from sweephand.model.job import JobKey
from sweephand.model.orders import ResumeMessage
from sweephand.model.policy_names import LANE_DEFAULT, Lane
from sweephand.model.trigger import (
    BatchPlace,
    BundleMessage,
    DeadLetter,
    DeadlineMessage,
    FailureMessage,
    NewerMessage,
    NotifyMessage,
    RangeMessage,
    Readable,
    Sendable,
    Trigger,
    TriggerMessage,
)
from sweephand.model.watch import WatchMessage
from sweephand.model.wire_parts import (
    ALERT,
    BATCH_END,
    BATCH_PLACE,
    DEMAND,
    FAILED_ATTEMPTS,
    FAILURE,
    KEY,
    LANE,
    OCCURRENCE,
    OF_REVISION,
    PASSAGE,
    PAYLOAD,
    PERMIT,
    REDRIVE,
    RESULT,
    SERIES,
    TRACEPARENT,
    TRIGGER,
)


class _Revision(NamedTuple):
    """A revision of a bundle. With a `batch`, it is one of its occurrences, which is due at `due_at`."""

    name: str
    uid: str
    rev: str
    armed_at: Instant
    due_at: Instant | None = None
    batch: BatchPlace | None = None


class _Place(NamedTuple):
    """A trigger of a bundle: the number of its revision, and how long after the first one it is due."""

    revision: int
    after_ms: int
    sequence: int
    batch_index: int
    is_owed: bool


class _Bundle(NamedTuple):
    """A bundle as it is stored."""

    namespace: str
    first_at: Instant
    revisions: tuple[_Revision, ...]
    places: tuple[_Place, ...]
    lane: Lane


_REVISION: Final = Layout(
    _Revision,
    Field("name", "job", NAME),
    Field("uid", "uid", NAME),
    Field("rev", "rev", NAME),
    Field("armed_at", "armed", WHOLE),
    Field("due_at", "due", WHOLE, None),
    Field("batch", "batch", BATCH_PLACE.form, None),
)

_PLACE: Final = Layout(
    _Place,
    Field("revision", "n", WHOLE, 0),
    Field("after_ms", "after", WHOLE, 0),
    Field("sequence", "seq", WHOLE),
    Field("batch_index", "index", WHOLE, 0),
    Field("is_owed", "owed", TRUTH, default=False),
)

_BUNDLE_LAYOUT: Final = Layout(
    _Bundle,
    Field("namespace", "ns", NAME),
    Field("first_at", "at", WHOLE),
    Field("revisions", "revs", _REVISION.columns),
    Field("places", "due", _PLACE.columns),
    Field("lane", "lane", LANE, LANE_DEFAULT),
)


def fits_bundle(message: TriggerMessage) -> bool:
    """Whether a bundle can carry all that the message says.

    That holds for the first attempt at an occurrence that has not waited, failed or been redriven.
    """
    trigger = message.trigger
    plain = TriggerMessage(trigger, trigger.at, is_owed=message.is_owed, lane=message.lane)
    return trigger.demand is None and message == plain


def bundle_to_json(bundle: BundleMessage) -> dict[str, Any]:
    """The fields of a bundle whose messages all fit (fits_bundle()).

    A trigger takes about 15 bytes, and a revision about 80.
    """
    first = bundle.triggers[0]
    namespace, lane, first_at = first.trigger.key.namespace, first.lane, bundle.not_before
    revisions: dict[_Revision, int] = {}
    places = []
    for message in bundle.triggers:
        key, uid, rev, due_at, sequence, armed_at, index, _, batch = message.trigger
        assert key.namespace == namespace, "a bundle has one namespace"
        assert message.lane == lane, "a bundle has one lane"
        revision = _Revision(key.name, uid, rev, armed_at)
        if batch is not None:
            revision = revision._replace(due_at=due_at, batch=batch._replace(after_ms=0))
        number = revisions.setdefault(revision, len(revisions))
        places.append(_Place(number, message.not_before - first_at, sequence, index, message.is_owed))
    return _BUNDLE_LAYOUT.write(_Bundle(namespace, first_at, tuple(revisions), tuple(places), lane))


def read_bundle(stored: Any) -> BundleMessage:
    """The bundle that bundle_to_json() wrote; an error if it cannot be read.

    It may have any number of triggers. A later version may put more into a bundle, and this version must not
    make them dead letters.
    """
    bundle = _BUNDLE_LAYOUT.read(stored)

    def message(place: _Place) -> TriggerMessage:
        revision, at = bundle.revisions[place.revision], bundle.first_at + place.after_ms
        due_at, batch = at, None
        if revision.batch is not None and revision.due_at is not None:
            due_at, batch = revision.due_at, revision.batch._replace(after_ms=at - revision.due_at)
        trigger = Trigger(
            key=JobKey(bundle.namespace, revision.name),
            uid=revision.uid,
            rev=revision.rev,
            due_at=due_at,
            sequence=place.sequence,
            armed_at=revision.armed_at,
            index=place.batch_index,
            batch=batch,
        )
        return TriggerMessage(trigger, trigger.at, is_owed=place.is_owed, lane=bundle.lane)

    return BundleMessage(tuple(map(message, bundle.places)))


#: The version of the messages that this code writes, and the newest one that it reads. It is raised for a new
#: kind of message, and when a message changes its meaning. After an upgrade, messages of the old version wait
#: for minutes, so the new version reads them. After a rollback, messages of the new version wait; the old
#: version keeps them until the new version runs again.
VERSION: Final = 1

_Message = TypeVar("_Message")

_POISON_EXCERPT_MAX: Final = 80

#: Made once, because `json.dumps` makes an encoder for each call that does not use the defaults.
_ENCODER: Final = json.JSONEncoder(separators=(",", ":"))

_TRIGGER_MESSAGE: Final = Layout(
    TriggerMessage,
    Part("trigger", TRIGGER),
    Field("not_before", "at", WHOLE),
    Field("attempt", "attempt", WHOLE, 1),
    Field("first_attempt_at", "first", WHOLE, None),
    Field("faults", "faults", WHOLE, 0),
    Field("redrive", "redrive", REDRIVE.form, None),
    Field("payload", "data", PAYLOAD, None),
    Field("crashes", "crashes", WHOLE, 0),
    Field("is_owed", "owed", TRUTH, default=False),
    Field("had_token", "hadToken", TRUTH, default=False),
    Field("last_failure", "failed", FAILURE.form, None),
    Field("passage", "valve", PASSAGE.form, None),
    Field("lane", "lane", LANE, LANE_DEFAULT),
    Field("held_ms", "held", WHOLE, 0),
    Field("failed_attempts", "tries", FAILED_ATTEMPTS, ()),
)

_DEADLINE_MESSAGE: Final = Layout(
    DeadlineMessage,
    Part("trigger", TRIGGER),
    Field("not_before", "at", WHOLE),
    Field("attempt", "attempt", WHOLE),
    Field("owner", "owner", NAME),
    Field("shard", "shard", WHOLE),
    Field("faults", "faults", WHOLE, 0),
    Field("permit", "permit", PERMIT.form, None),
    Field("lane", "lane", LANE, LANE_DEFAULT),
)

_FAILURE_MESSAGE: Final = Layout(
    FailureMessage,
    Part("trigger", TRIGGER),
    Field("not_before", "at", WHOLE),
    Field("attempt", "attempt", WHOLE),
    Field("reason", "reason", SENTENCE),
    Field("is_final", "final", TRUTH),
    Field("faults", "faults", WHOLE, 0),
    Field("permit", "permit", PERMIT.form, None),
)

_NOTIFY_MESSAGE: Final = Layout(
    NotifyMessage,
    Part("trigger", TRIGGER),
    Field("not_before", "at", WHOLE),
    Field("state", "state", NAME),
    Field("attempts", "attempts", WHOLE),
    Field("started_at", "started", WHOLE, None),
    Field("ended_at", "ended", WHOLE),
    Field("response_code", "code", WHOLE, None),
    Field("reason", "reason", SENTENCE, None),
    Field("attempt", "attempt", WHOLE, 1),
    Field("first_attempt_at", "first", WHOLE, None),
    Field("faults", "faults", WHOLE, 0),
    Field("result", "result", RESULT, None),
    Field("batch_end", "batchEnd", BATCH_END.form, None),
    Field("alert", "alert", ALERT.form, None),
    Field("traceparent", "trace", TRACEPARENT, None),
)

_RANGE_MESSAGE: Final = Layout(
    RangeMessage,
    *OF_REVISION,
    Field("armed_at", "armed", WHOLE),
    Field("series", "series", SERIES),
    Field("first", "first", OCCURRENCE.form),
    Field("until", "until", WHOLE),
    Field("last", "last", OCCURRENCE.form, None),
    Field("faults", "faults", WHOLE, 0),
    Field("demand", "demand", DEMAND.form, None),
    Field("payload", "data", PAYLOAD, None),
    Field("are_skipped", "skipped", TRUTH, default=False),
    Field("lane", "lane", LANE, LANE_DEFAULT),
)

_WATCH_MESSAGE: Final = Layout(
    WatchMessage,
    *OF_REVISION,
    Field("armed_at", "armed", WHOLE),
    Field("series", "series", SERIES),
    Field("first", "first", OCCURRENCE.form),
    Field("through", "until", WHOLE),
    Field("since", "since", WHOLE),
    Field("after_ms", "after", WHOLE),
    Field("check_at", "at", WHOLE),
    Field("faults", "faults", WHOLE, 0),
    Field("held_from", "held", WHOLE, 0),
)

_CALENDAR_MESSAGE: Final = Layout(
    CalendarMessage,
    Field("namespace", "ns", NAME),
    Field("name", "name", NAME),
    Field("not_before", "at", WHOLE),
    Field("after", "after", SENTENCE, ""),
    Field("is_last", "last", TRUTH, default=False),
    Field("faults", "faults", WHOLE, 0),
    Field("job", "job", SENTENCE, ""),
)

_RESUME_MESSAGE: Final = Layout(
    ResumeMessage,
    Part("key", KEY),
    Field("uid", "uid", NAME),
    Field("not_before", "at", WHOLE),
    Field("armed_at", "armed", WHOLE),
    Field("faults", "faults", WHOLE, 0),
)

#: The stored name of each kind of message, and its layout. A bundle has no layout of this form.
_LAYOUTS: Final[Mapping[type, tuple[str, Layout[Any]]]] = {
    TriggerMessage: ("trigger", _TRIGGER_MESSAGE),
    DeadlineMessage: ("deadline", _DEADLINE_MESSAGE),
    FailureMessage: ("failure", _FAILURE_MESSAGE),
    NotifyMessage: ("notify", _NOTIFY_MESSAGE),
    RangeMessage: ("range", _RANGE_MESSAGE),
    WatchMessage: ("watch", _WATCH_MESSAGE),
    CalendarMessage: ("calendar", _CALENDAR_MESSAGE),
    ResumeMessage: ("resume", _RESUME_MESSAGE),
}

_BY_KIND: Final = dict(_LAYOUTS.values())

_BUNDLE: Final = "bundle"


def encode(message: Sendable) -> str:
    """The message as compact JSON in ASCII, which every queue accepts unchanged."""
    if isinstance(message, NewerMessage):
        return message.body
    if isinstance(message, BundleMessage):
        return _compact({"v": VERSION, "kind": _BUNDLE, **bundle_to_json(message)})
    kind, layout = _LAYOUTS[type(message)]
    return _compact({"v": VERSION, "kind": kind, **layout.write(message)})


def decode(text: str) -> Readable:
    """The message that the text holds.

    Raises NewerError if a newer version wrote it, and PoisonError if it is no message. A text counts as a
    message of a newer version if it is a JSON object that names such a version.
    """
    return decoded(text, _read)


def decoded(text: str, read: Callable[[Any], _Message]) -> _Message:
    """What `read` makes of the JSON value that the text holds. Every error but NewerError is PoisonError."""
    try:
        return read(json.loads(text))
    except (PoisonError, NewerError):
        raise
    except FormError as error:
        raise PoisonError(f"A message cannot be read: {error}") from error
    except Exception as error:
        # Several libraries read the parts of a message, and deeply nested JSON overflows the parser's stack.
        # A text that raises any of their errors is poison.
        shown = text[:_POISON_EXCERPT_MAX]
        raise PoisonError(f"Not a message of Sweephand ({type(error).__name__}): {shown!r}") from error


def kind_of(stored: Any, version: int) -> str:
    """The kind of a message that is read up to that version; NewerError if a newer version wrote it."""
    if not isinstance(stored, dict):
        raise PoisonError("A message must be an object.")
    written: Any = stored.get("v")
    if not WHOLE.accepts(written) or written < 1:
        raise PoisonError(f"`v` must be a version of a message, from 1 to {version}.")
    if written > version:
        raise NewerError(f"This message has version {written}, and this code reads {version}.")
    return str(stored.get("kind"))


def _read(stored: Any) -> Readable:
    kind = kind_of(stored, VERSION)
    if kind == _BUNDLE:
        return read_bundle(stored)
    layout = _BY_KIND.get(kind)
    if layout is None:
        raise PoisonError(f"There is no message of kind {kind[:_POISON_EXCERPT_MAX]!r}.")
    message: Readable = layout.read(stored)
    if isinstance(message, RangeMessage | WatchMessage):
        # This call raises if the series cannot be read. A later error would count as a fault of Sweephand.
        message.series.next_after(message.first.due_at, message.first)
    return message


def encode_letter(letter: DeadLetter) -> str:
    """The dead letter as JSON: what failed and why. Its `message` is the text to send for another try."""
    trigger = letter.trigger
    return _compact(
        {
            "v": VERSION,
            "reason": letter.reason,
            "triggerId": trigger and trigger.id,
            "namespace": trigger and trigger.key.namespace,
            "job": trigger and trigger.key.name,
            "runId": trigger and trigger.run_id,
            "dueAt": trigger and trigger.due_at,
            "attempts": letter.attempts,
            "responseCode": letter.response_code,
            "answer": letter.answer,
            "message": letter.body,
        }
    )


def _compact(value: Mapping[str, Any]) -> str:
    return _ENCODER.encode(value)
