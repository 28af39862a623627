"""The one encoding of messages and dead letters, and the reading of messages."""

import json
from collections.abc import Mapping
from typing import Any, Final

from sweephand.base.errors import NewerError, PoisonError
from sweephand.model.definition import Payload
from sweephand.model.job import JobKey
from sweephand.model.run_id import Demand
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
from sweephand.model.wire_bundles import bundle_to_json, read_bundle
from sweephand.model.wire_fields import Fields
from sweephand.model.wire_parts import (
    batch_to_json,
    demand_to_json,
    ends_to_json,
    failure_to_json,
    lane_to_json,
    permit_to_json,
    redrive_to_json,
)
from sweephand.schedules import Occurrence, Series

#: The version of the messages that this code writes, and the newest one that it reads. It is raised for a new
#: kind of message, and when a message changes its meaning. After an upgrade, messages of the old version wait
#: for minutes, so the new version reads them. After a rollback, messages of the new version wait; the old
#: version keeps them until the new version runs again.
VERSION: Final = 1

_POISON_EXCERPT_MAX: Final = 80

#: Made once, because `json.dumps` makes an encoder for each call that does not use the defaults.
_ENCODER: Final = json.JSONEncoder(separators=(",", ":"))


def encode(message: Sendable) -> str:
    """The message as compact JSON in ASCII, which every queue accepts unchanged."""
    if isinstance(message, NewerMessage):
        return message.body
    return _compact({"v": VERSION, **_of_message(message)})


def _of_message(message: Readable) -> dict[str, Any]:
    match message:
        case BundleMessage():
            fields = {"kind": "bundle", **bundle_to_json(message)}
        case TriggerMessage():
            return _of_trigger_message(message)
        case DeadlineMessage():
            fields = _of_attempt("deadline", message)
            fields |= {"owner": message.owner, "shard": message.shard, "faults": message.faults}
            if message.permit is not None:
                fields["permit"] = permit_to_json(message.permit)
            fields |= lane_to_json(message.priority)
        case FailureMessage():
            fields = _of_attempt("failure", message)
            fields |= {"reason": message.reason, "final": message.is_final, "faults": message.faults}
        case NotifyMessage():
            fields = _of_notice(message)
        case RangeMessage():
            fields = _of_range(message)
        case WatchMessage():
            fields = _of_watch(message)
    return fields


def _of_notice(message: NotifyMessage) -> dict[str, Any]:
    fields = {"kind": "notice", **_of_trigger(message.trigger), "at": message.not_before}
    fields |= {
        "state": message.state,
        "attempts": message.attempts,
        "started": message.started_at,
        "ended": message.ended_at,
        "code": message.response_code,
        "reason": message.reason,
        "attempt": message.attempt,
        "first": message.first_attempt_at,
        "faults": message.faults,
    }
    if message.result is not None:
        fields["result"] = message.result
    if message.batch_end is not None:
        total, counts, overran = message.batch_end
        fields["batchEnd"] = [total, *counts, int(overran)]
    if message.alert is not None:
        fields["alert"] = list(message.alert)
    return fields


def _of_range(message: RangeMessage) -> dict[str, Any]:
    fields = {
        "kind": "span",
        **_of_revision(message.key, message.uid, message.rev, message.armed_at),
        "series": message.series.to_item(),
        "first": list(message.first[:2]),
        "until": message.until,
        "faults": message.faults,
    }
    fields |= _of_demand(message.demand)
    if message.series.batch is not None:
        fields["begin"] = list(message.first[2:])
    if message.last is not None:
        fields["last"] = list(message.last)
    if message.payload is not None:
        fields["data"] = _of_payload(message.payload)
    for name, is_set in (("skipped", message.are_skipped), ("owed", message.is_owed)):
        if is_set:
            fields[name] = True
    return fields | lane_to_json(message.priority)


def _of_watch(message: WatchMessage) -> dict[str, Any]:
    return {
        "kind": "watch",
        **_of_revision(message.key, message.uid, message.rev, message.armed_at),
        "series": message.series.to_item(),
        "first": list(message.first[:2]),
        "until": message.through,
        "since": message.since,
        "after": message.after_ms,
        "at": message.check_at,
        "faults": message.faults,
    }


def decode(text: str) -> Readable:
    """The message that the text holds.

    Raises NewerError if a newer version wrote it, and PoisonError if it is no message. A text counts as a
    message of a newer version if it is a JSON object that names such a version.
    """
    try:
        fields = json.loads(text)
        return _read(Fields(fields))
    except (PoisonError, NewerError):
        raise
    except Exception as error:
        # Several libraries read the parts of a message, and deeply nested JSON overflows the parser's stack.
        # A text that raises any of their errors is poison.
        shown = text[:_POISON_EXCERPT_MAX]
        raise PoisonError(f"Not a message of Sweephand ({type(error).__name__}): {shown!r}") from error


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


def _read(fields: Fields) -> Readable:
    version = fields.number("v")
    if version > VERSION:
        raise NewerError(f"This message has version {version}, and this code reads {VERSION}.")
    if version < 1:
        raise PoisonError(f"This message has version {version}, and this code reads {VERSION}.")
    match fields.text("kind"):
        case "trigger":
            return TriggerMessage(
                trigger=fields.trigger(),
                not_before=fields.number("at"),
                attempt=fields.number("attempt"),
                first_attempt_at=fields.number_or_none("first"),
                faults=fields.number("faults"),
                redrive=fields.redrive(),
                payload=fields.payload(),
                crashes=fields.number_or_none("crashes") or 0,
                is_owed=fields.is_set("owed"),
                had_token=fields.is_set("hadToken"),
                last_failure=fields.failure(),
                passage=fields.passage(),
                priority=fields.priority(),
            )
        case "bundle" | "watch" as kind:
            return read_bundle(fields) if kind == "bundle" else _read_watch(fields)
        case "deadline":
            return DeadlineMessage(
                trigger=fields.trigger(),
                attempt=fields.number("attempt"),
                owner=fields.text("owner"),
                shard=fields.number("shard"),
                not_before=fields.number("at"),
                faults=fields.number("faults"),
                permit=fields.permit(),
                priority=fields.priority(),
            )
        case "failure":
            return FailureMessage(
                trigger=fields.trigger(),
                attempt=fields.number("attempt"),
                reason=fields.sentence("reason"),
                is_final=fields.truth("final"),
                not_before=fields.number("at"),
                faults=fields.number("faults"),
            )
        case "notice":
            return NotifyMessage(
                trigger=fields.trigger(),
                state=fields.text("state"),
                attempts=fields.number("attempts"),
                started_at=fields.number_or_none("started"),
                ended_at=fields.number("ended"),
                response_code=fields.number_or_none("code"),
                reason=fields.sentence_or_none("reason"),
                not_before=fields.number("at"),
                attempt=fields.number("attempt"),
                first_attempt_at=fields.number_or_none("first"),
                faults=fields.number("faults"),
                result=fields.json_or_none("result"),
                batch_end=fields.batch_end(),
                alert=fields.alert(),
            )
        case "span":
            series = Series.from_item(fields.item("series"))
            first = Occurrence(*fields.pair("first"), *(fields.numbers_or_none("begin", 2) or ()))
            last = fields.numbers_or_none("last", 4)
            # This call raises if the series cannot be read. A later error would count as a fault of
            # Sweephand.
            series.next_after(first.due_at, first)
            until, faults = fields.number("until"), fields.number("faults")
            uid, rev, armed_at = fields.text("uid"), fields.text("rev"), fields.number("armed")
            return RangeMessage(
                fields.key(),
                uid,
                rev,
                series,
                first,
                until,
                armed_at,
                faults,
                fields.demand(),
                are_skipped=fields.is_set("skipped"),
                is_owed=fields.is_set("owed"),
                last=None if last is None else Occurrence(*last),
                payload=fields.payload(),
                priority=fields.priority(),
            )
        case kind:
            raise PoisonError(f"There is no message of kind {kind[:_POISON_EXCERPT_MAX]!r}.")


def _read_watch(fields: Fields) -> WatchMessage:
    series, first = Series.from_item(fields.item("series")), Occurrence(*fields.pair("first"))
    # As for a range, this call raises if the series cannot be read.
    series.next_after(first.due_at, first)
    return WatchMessage(
        key=fields.key(),
        uid=fields.text("uid"),
        rev=fields.text("rev"),
        series=series,
        first=first,
        through=fields.number("until"),
        since=fields.number("since"),
        after_ms=fields.number("after"),
        check_at=fields.number("at"),
        armed_at=fields.number("armed"),
        faults=fields.number("faults"),
    )


def _of_trigger_message(message: TriggerMessage) -> dict[str, Any]:
    fields = _of_attempt("trigger", message)
    fields |= {"first": message.first_attempt_at, "faults": message.faults}
    if message.redrive is not None:
        fields["redrive"] = redrive_to_json(message.redrive)
        fields |= ends_to_json(message.redrive)
    if message.payload is not None:
        fields["data"] = _of_payload(message.payload)
    if message.crashes:
        fields["crashes"] = message.crashes
    if message.is_owed:
        fields["owed"] = True
    if message.had_token:
        fields["hadToken"] = True
    if message.last_failure is not None:
        fields["failed"] = failure_to_json(message.last_failure)
    if message.passage is not None:
        fields["valve"] = list(message.passage)
    return fields | lane_to_json(message.priority)


def _of_attempt(kind: str, message: TriggerMessage | DeadlineMessage | FailureMessage) -> dict[str, Any]:
    of_trigger = _of_trigger(message.trigger)
    return {"kind": kind, **of_trigger, "at": message.not_before, "attempt": message.attempt}


def _of_trigger(trigger: Trigger) -> dict[str, Any]:
    return {
        **_of_revision(trigger.key, trigger.uid, trigger.rev, trigger.armed_at),
        "due": trigger.due_at,
        "seq": trigger.sequence,
        "index": trigger.index,
        **_of_demand(trigger.demand),
        **_of_batch(trigger.batch),
    }


def _of_batch(batch: BatchPlace | None) -> dict[str, Any]:
    return {} if batch is None else {"batch": batch_to_json(batch)}


def _of_demand(demand: Demand | None) -> dict[str, Any]:
    return {} if demand is None else {"demand": demand_to_json(demand)}


def _of_payload(payload: Payload) -> str | dict[str, Any] | None:
    if payload.ref is None:
        return payload.text
    kept = {} if payload.kept_until is None else {"until": payload.kept_until}
    return {"ref": payload.ref, "digest": payload.digest, "size": payload.size, **kept}


def _of_revision(key: JobKey, uid: str, rev: str, armed_at: int) -> dict[str, Any]:
    return {"ns": key.namespace, "job": key.name, "uid": uid, "rev": rev, "armed": armed_at}


def _compact(value: Mapping[str, Any]) -> str:
    return _ENCODER.encode(value)


def encode_in_line(message: TriggerMessage) -> list[Any] | str:
    """A trigger message as a line stores it. The line itself stores the key and the uid.

    Nearly all of them are first attempts that have waited since they were due. Such a message is a list of
    about 60 bytes, so that a thousand fit into an item. Any other message is stored whole, as a queue carries
    it.
    """
    trigger = message.trigger
    short = [trigger.due_at, trigger.sequence, trigger.index, trigger.rev, trigger.armed_at]
    return short if decode_in_line(short, trigger.key, trigger.uid) == message else encode(message)


def decode_in_line(stored: list[Any] | str, key: JobKey, uid: str) -> TriggerMessage:
    """The message that encode_in_line() wrote, for the line of that job; NewerError as by decode()."""
    if isinstance(stored, str):
        message = decode(stored)
        assert isinstance(message, TriggerMessage), "a line holds trigger messages only"
        return message
    due_at, sequence, index, rev, armed_at = stored
    trigger = Trigger(key, uid, rev, due_at, sequence, armed_at, index)
    return TriggerMessage(trigger, not_before=due_at, is_owed=True)
