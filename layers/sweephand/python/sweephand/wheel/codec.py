"""How triggers, spans and dead letters are written in messages, and what is read back from one."""

import json
from collections.abc import Mapping
from typing import Any, Final

from sweephand.errors import PoisonError
from sweephand.instants import INSTANT_MAX
from sweephand.jobs.job import JobKey
from sweephand.schedules import Occurrence, Series
from sweephand.wheel.trigger import DeadLetter, Message, Redrive, SpanMessage, Trigger, TriggerMessage

#: Raised when a message means something else than before: messages of an old version may be waiting for
#: minutes when a new one is deployed, and for that long after it was taken back.
VERSION: Final = 1

_WHAT_POISON_SHOWS_MAX: Final = 80

#: Names, uids and revisions are far shorter; what is longer cannot be a key in a store.
_TEXT_LENGTH_MAX: Final = 256


def encode(message: Message) -> str:
    """The message as compact JSON in ASCII, which every queue takes as it is."""
    match message:
        case TriggerMessage():
            fields = {"kind": "trigger", **_of_trigger(message.trigger), "at": message.not_before}
            fields |= {
                "attempt": message.attempt,
                "first": message.first_attempt_at,
                "faults": message.faults,
            }
            if message.redrive is not None:
                fields["redrive"] = list(message.redrive)
        case SpanMessage():
            fields = {
                "kind": "span",
                **_of_revision(message.key, message.uid, message.rev, message.armed_at),
                "series": message.series.to_item(),
                "first": list(message.first),
                "until": message.until,
                "faults": message.faults,
            }
    return _written({"v": VERSION, **fields})


def decode(text: str) -> Message:
    """The message of a text; PoisonError if it is not one, whatever it is."""
    try:
        fields = json.loads(text)
        return _read(_Fields(fields))
    except PoisonError:
        raise
    except Exception as error:
        # A series is read by the schedules, and JSON nested deeply enough ends the parser's stack: what
        # cannot be read is poison, for whatever reason it cannot.
        shown = text[:_WHAT_POISON_SHOWS_MAX]
        raise PoisonError(f"Not a message of Sweephand ({type(error).__name__}): {shown!r}") from error


def encode_letter(letter: DeadLetter) -> str:
    """The dead letter as JSON: what failed and why, and in `message` what to send to try it again."""
    trigger = letter.trigger
    return _written(
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


class _Fields:
    """An object out of JSON whose fields have to be there and of one type."""

    def __init__(self, value: Any) -> None:
        if not isinstance(value, dict):
            raise PoisonError("A message is a JSON object.")
        self._fields: Mapping[str, Any] = value

    def text(self, name: str) -> str:
        value = self._fields.get(name)
        if not isinstance(value, str) or not 0 < len(value) <= _TEXT_LENGTH_MAX:
            raise PoisonError(f"`{name}` in a message is a short text.")
        return value

    def number(self, name: str) -> int:
        return _whole(self._fields.get(name), name)

    def number_or_none(self, name: str) -> int | None:
        return None if self._fields.get(name) is None else self.number(name)

    def pair(self, name: str) -> tuple[int, int]:
        value = self._fields.get(name)
        if not isinstance(value, list) or len(value) != 2:  # noqa: PLR2004 - a pair has two
            raise PoisonError(f"`{name}` in a message is a pair of numbers.")
        return _whole(value[0], name), _whole(value[1], name)

    def redrive(self) -> Redrive | None:
        if self._fields.get("redrive") is None:
            return None
        value = self._fields["redrive"]
        if not isinstance(value, list) or len(value) != 2:  # noqa: PLR2004 - as it was written
            raise PoisonError("`redrive` in a message is a pair.")
        started_at = None if value[1] is None else _whole(value[1], "redrive")
        return Redrive(_whole(value[0], "redrive"), started_at)

    def item(self, name: str) -> Mapping[str, Any]:
        value = self._fields.get(name)
        if not isinstance(value, dict):
            raise PoisonError(f"`{name}` in a message is an object.")
        return value


def _whole(value: Any, name: str) -> int:
    # JSON's true and 1.0 equal 1 in Python; neither was ever written for it.
    if type(value) is not int or not 0 <= value <= INSTANT_MAX:
        raise PoisonError(f"`{name}` in a message is a number from 0 to the last instant.")
    return value


def _read(fields: _Fields) -> Message:
    version = fields.number("v")
    if version != VERSION:
        raise PoisonError(f"A message of version {version}: this code reads {VERSION}.")
    key = JobKey(fields.text("ns"), fields.text("job"))
    uid, rev, armed_at = fields.text("uid"), fields.text("rev"), fields.number("armed")
    match fields.text("kind"):
        case "trigger":
            due_at, sequence, index = fields.number("due"), fields.number("seq"), fields.number("index")
            return TriggerMessage(
                trigger=Trigger(key, uid, rev, due_at, sequence, armed_at, index),
                not_before=fields.number("at"),
                attempt=fields.number("attempt"),
                first_attempt_at=fields.number_or_none("first"),
                faults=fields.number("faults"),
                redrive=fields.redrive(),
            )
        case "span":
            series = Series.from_item(fields.item("series"))
            first = Occurrence(*fields.pair("first"))
            # Asked once, it shows whether it can be read; later that would be our own fault, without end.
            series.next_after(first.due_at, first)
            until, faults = fields.number("until"), fields.number("faults")
            return SpanMessage(key, uid, rev, series, first, until, armed_at, faults)
        case kind:
            raise PoisonError(f"A message of kind {kind[:_WHAT_POISON_SHOWS_MAX]!r}: there is none such.")


def _of_trigger(trigger: Trigger) -> dict[str, Any]:
    return {
        **_of_revision(trigger.key, trigger.uid, trigger.rev, trigger.armed_at),
        "due": trigger.due_at,
        "seq": trigger.sequence,
        "index": trigger.index,
    }


def _of_revision(key: JobKey, uid: str, rev: str, armed_at: int) -> dict[str, Any]:
    return {"ns": key.namespace, "job": key.name, "uid": uid, "rev": rev, "armed": armed_at}


def _written(value: Mapping[str, Any]) -> str:
    return json.dumps(value, separators=(",", ":"))
