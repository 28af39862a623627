"""What a request to a consumer carries beside the job's `data`: its headers, names and event attributes.

The adapters send what these tables say. The `webhooks` of the OpenAPI document are made from the same tables.
Sources: Standard Webhooks 1.0; CloudEvents 1.0.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, Final, NamedTuple, get_args

from sweephand.base.instants import SECOND_MS, rfc3339
from sweephand.model.attempt import Attempt, Event
from sweephand.model.run_id import batch_id

EVENTS: Final[tuple[Event, ...]] = get_args(Event)
_OF_A_RUN: Final[tuple[Event, ...]] = ("trigger", "end", "alert")
_OF_A_BATCH: Final[tuple[Event, ...]] = ("batch-end",)
_NOTIFICATIONS: Final[tuple[Event, ...]] = ("end", "batch-end", "alert")

TEXT: Final = {"type": "string"}
TIME: Final = {"type": "string", "format": "date-time"}
WHOLE: Final = {"type": "integer", "minimum": 0}

_SIGNATURE: Final = "v1a?,[A-Za-z0-9+/]+=*"


class Fact(NamedTuple):
    """One field of what is sent. `value` makes its value, which is None if an optional fact is left out.

    `events` are the events whose requests have the field. `schema` may differ from event to event.
    """

    name: str
    schema: Mapping[str, Any] | Callable[[Event], Mapping[str, Any]]
    meaning: str
    value: Callable[[Any], Any]
    events: tuple[Event, ...] = EVENTS
    is_optional: bool = False

    def schema_of(self, event: Event) -> dict[str, Any]:
        """The JSON Schema in a request of the event, with the meaning."""
        schema = self.schema(event) if callable(self.schema) else self.schema
        return {**schema, "description": self.meaning}


def values_of(facts: Iterable[Fact], source: object, event: Event) -> dict[str, Any]:
    """The values of those facts that a request of the event has."""
    values: dict[str, Any] = {}
    for name, _, _, make, events, is_optional in facts:
        if event in events:
            value = make(source)
            if value is not None or not is_optional:
                values[name] = value
    return values


def object_of(facts: Iterable[Fact], event: Event, title: str, meaning: str) -> dict[str, Any]:
    """The JSON Schema of an object that has these facts, in a request of the event."""
    of_event = [each for each in facts if event in each.events]
    return {
        "title": title,
        "type": "object",
        "description": meaning,
        "properties": {each.name: each.schema_of(event) for each in of_event},
        "required": [each.name for each in of_event if not each.is_optional],
    }


class Signed(NamedTuple):
    """An attempt with the signatures of its body."""

    attempt: Attempt
    signatures: str


def _batch(attempt: Attempt) -> str:
    return batch_id(attempt.trigger.due_at, attempt.trigger.demand)


#: The headers of Standard Webhooks.
SIGNED_HEADERS: Final = (
    Fact(
        "webhook-id",
        TEXT,
        "The same at every attempt and in every duplicate. For a trigger it is the trigger's id.",
        lambda signed: signed.attempt.id,
    ),
    Fact(
        "webhook-timestamp",
        WHOLE,
        "When this attempt was sent, in seconds since 1970.",
        lambda signed: signed.attempt.sent_at // SECOND_MS,
    ),
    Fact(
        "webhook-signature",
        {"type": "string", "pattern": f"^{_SIGNATURE}(?: {_SIGNATURE})*$"},
        "A `v1` signature by each signing secret and a `v1a` one by each ed25519 key, separated by spaces.",
        lambda signed: signed.signatures,
    ),
)

_CONTEXT: Final = {"type": "string", "pattern": "^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$"}
_TRACEPARENT: Final = Fact(
    "traceparent",
    _CONTEXT,
    "The trace context of this attempt, if the request that asked for the trigger had one.",
    lambda attempt: attempt.context.traceparent,
    is_optional=True,
)
_TRACE_ORIGIN: Final = Fact(
    "traceOrigin",
    _CONTEXT,
    "The trace context of that request, if this attempt links to it and does not continue its trace.",
    lambda attempt: attempt.context.link,
    is_optional=True,
)

#: What names an attempt. A message has these names beside its `id`, and HTTP has a header for each.
NAMES: Final = (
    Fact("namespace", TEXT, "The namespace of the job.", lambda attempt: attempt.trigger.key.namespace),
    Fact("job", TEXT, "The name of the job.", lambda attempt: attempt.trigger.key.name),
    Fact("run", TEXT, "The id of the run.", lambda attempt: attempt.trigger.run_id, _OF_A_RUN),
    Fact(
        "batchIndex",
        WHOLE,
        "The trigger's index in its batch; 0 for a job without one.",
        lambda attempt: attempt.trigger.index,
        _OF_A_RUN,
    ),
    Fact("batch", TEXT, "The id of the batch.", _batch, _OF_A_BATCH),
    Fact(
        "due",
        TIME,
        "When the trigger was due. For a batch it is when the batch's occurrence was due.",
        lambda attempt: rfc3339(attempt.trigger.due_at),
    ),
    Fact("attempt", {**WHOLE, "minimum": 1}, "1 for the first attempt.", lambda attempt: attempt.number),
    Fact(
        "sequence",
        WHOLE,
        "The occurrence's number within its series; 0 for a trigger by hand.",
        lambda attempt: attempt.trigger.sequence,
    ),
    Fact(
        "event",
        lambda event: {"const": event},
        "What the notification is about.",
        lambda attempt: attempt.event,
        _NOTIFICATIONS,
    ),
    Fact(
        "runToken",
        {"type": "string", "pattern": "^shr_"},
        "With `completion: async`: the token for the consumer's callbacks.",
        lambda attempt: attempt.run_token,
        ("trigger",),
        is_optional=True,
    ),
    Fact(
        "labels",
        {"type": "object", "additionalProperties": TEXT},
        "The labels of the job, if it has some. The header is compact JSON.",
        lambda attempt: attempt.labels or None,
        is_optional=True,
    ),
    _TRACEPARENT,
    _TRACE_ORIGIN,
)

#: The attributes of a CloudEvent. Names of extensions have lower-case letters only.
EVENT_ATTRIBUTES: Final = (
    Fact("specversion", {"const": "1.0"}, "The version of CloudEvents.", lambda _: "1.0"),
    Fact("id", TEXT, "The same as `webhook-id`.", lambda attempt: attempt.id),
    Fact(
        "source",
        TEXT,
        "`/sweephand/` and the namespace of the job.",
        lambda attempt: f"/sweephand/{attempt.trigger.key.namespace}",
    ),
    Fact(
        "type",
        lambda event: {"const": f"sweephand.{event}"},
        "What the request is about.",
        lambda attempt: f"sweephand.{attempt.event}",
    ),
    Fact("subject", TEXT, "The name of the job.", lambda attempt: attempt.trigger.key.name),
    Fact("time", TIME, "The same as `sweephand-due`.", lambda attempt: rfc3339(attempt.trigger.due_at)),
    Fact("sweephandrun", TEXT, "The id of the run.", lambda attempt: attempt.trigger.run_id, _OF_A_RUN),
    Fact("sweephandbatch", TEXT, "The id of the batch.", _batch, _OF_A_BATCH),
    Fact(
        "sweephandattempt",
        {"type": "string", "pattern": "^[1-9][0-9]*$"},
        "1 for the first attempt.",
        lambda attempt: str(attempt.number),
    ),
    _TRACEPARENT,
    _TRACE_ORIGIN._replace(name="sweephandtraceorigin"),
)

#: What the event of structured mode has beside its attributes and its `data`.
CONTENT_TYPE: Final = Fact(
    "datacontenttype", {"const": "application/json"}, "The type of `data`.", lambda _: "application/json"
)


@cache
def header_of(name: str) -> str:
    """The header that has the name of an attempt."""
    if name == "traceparent":  # the standard's own (W3C Trace Context, 3.2.1)
        return name
    return "sweephand-" + "".join(f"-{each.lower()}" if each.isupper() else each for each in name)
