"""The layouts of the values that messages, timers, runs and lines have in common.

A message has the same parts in a queue, in a timer and in a line. A run's item stores the demand, payload and
failure of its trigger. So a field that is added to one of these layouts is carried everywhere. Stored names
are short where an item holds the part, because DynamoDB bills by the KB.
"""

import json
from typing import Any, Final, get_args

from sweephand.base.instants import Instant
from sweephand.base.layouts import (
    NAME,
    OBJECT,
    SENTENCE,
    TRUTH,
    WHOLE,
    Field,
    Form,
    Layout,
    Part,
    choice_of,
    list_of,
    text_of,
)
from sweephand.base.limits import (
    ATTEMPT_TEXT_MAX,
    DATA_INLINE_BYTES_MAX,
    GATE_KEY_LENGTH_MAX,
    REDRIVES_KEPT,
    RESULT_BYTES_MAX,
)
from sweephand.model.definition import CatchUpMode, CatchUpPolicy, Payload
from sweephand.model.failed_attempt import FailedAttempt
from sweephand.model.job import JobKey
from sweephand.model.policy_names import LANES, PermitName
from sweephand.model.run_id import BatchEnd, Counts, Demand, DemandKind
from sweephand.model.trace import Origin, read_traceparent
from sweephand.model.trigger import (
    BatchPlace,
    Failure,
    Passage,
    PassageLevel,
    Redrive,
    Trigger,
)
from sweephand.model.watch import Alert
from sweephand.schedules import Occurrence, Series

KEY: Final = Layout(JobKey, Field("namespace", "ns", NAME), Field("name", "job", NAME))


def _is_traceparent(stored: Any) -> bool:
    return isinstance(stored, str) and read_traceparent(stored) == stored


TRACEPARENT: Final = Form("a traceparent of version 00", _is_traceparent, "text")

ORIGIN: Final = Layout(
    Origin, Field("traceparent", "t", TRACEPARENT), Field("is_parent", "p", TRUTH, default=False)
)

DEMAND: Final = Layout(
    Demand,
    Field("kind", "k", choice_of(*get_args(DemandKind))),
    Field("token", "t", NAME),
    Field("link", "l", WHOLE, 0),
    Field("origin", "o", ORIGIN.form, None),
)

FAILURE: Final = Layout(
    Failure,
    Field("attempt", "a", WHOLE),
    Field("reason", "r", SENTENCE),
    Field("response_code", "c", WHOLE, None),
    Field("is_final", "f", TRUTH, default=False),
)

#: The last attempts of a trigger that failed. Values that all of them share are stored once.
FAILED_ATTEMPTS: Final = Layout(
    FailedAttempt,
    Field("attempt", "n", WHOLE),
    Field("began_at", "b", WHOLE),
    Field("took_ms", "ms", WHOLE),
    Field("response_code", "c", WHOLE, None),
    Field("text", "t", text_of(ATTEMPT_TEXT_MAX), ""),
).columns

#: The numbers of the attempts that ended earlier rounds.
ROUND_ENDS: Final = list_of(WHOLE, 1, REDRIVES_KEPT)

REDRIVE: Final = Layout(
    Redrive,
    Field("attempt", "a", WHOLE),
    Field("started_at", "s", WHOLE, None),
    Field("ends", "e", ROUND_ENDS, None),
)

BATCH_PLACE: Final = Layout(
    BatchPlace,
    Field("size", "n", WHOLE),
    Field("window_ms", "w", WHOLE, 0),
    Field("after_ms", "a", WHOLE, 0),
    Field("is_counted", "c", TRUTH, default=True),
)

PERMIT: Final = Layout(
    PermitName,
    Field("policy", "p", NAME),
    Field("gate", "g", WHOLE),
    Field("id", "i", NAME),
    Field("key", "k", text_of(GATE_KEY_LENGTH_MAX), None),
)

PASSAGE: Final = Layout(
    Passage,
    Field("level", "l", choice_of(*get_args(PassageLevel))),
    Field("slot_at", "s", WHOLE, 0),
    Field("per_minute", "m", WHOLE, 0),
    Field("epoch", "e", WHOLE, 0),
)

OCCURRENCE: Final = Layout(
    Occurrence,
    Field("due_at", "d", WHOLE),
    Field("sequence", "q", WHOLE),
    Field("batch_index", "i", WHOLE, 0),
    Field("after_ms", "o", WHOLE, 0),
)

COUNTS: Final = Layout(
    Counts,
    Field("succeeded", "s", WHOLE, 0),
    Field("failed", "f", WHOLE, 0),
    Field("cancelled", "c", WHOLE, 0),
)

BATCH_END: Final = Layout(
    BatchEnd, Field("total", "n", WHOLE), Part("counts", COUNTS), Field("overran", "o", TRUTH, default=False)
)

ALERT: Final = Layout(
    Alert,
    Field("window_at", "w", WHOLE),
    Field("missed", "n", WHOLE),
    Field("first_due_at", "f", WHOLE),
    Field("last_due_at", "l", WHOLE),
)

CATCH_UP_MODE: Final = choice_of(*get_args(CatchUpMode))

CATCH_UP: Final = Layout(CatchUpPolicy, Field("mode", "m", CATCH_UP_MODE), Field("window_ms", "w", WHOLE))

#: A series is read by its own room. That raises errors of several kinds if the object is no series.
SERIES: Final = OBJECT._replace(read=Series.from_item, write=Series.to_item)

LANE: Final = choice_of(*LANES)


def _kept(digest: str, size: int, ref: str, kept_until: Instant | None) -> Payload:
    return Payload(digest, size, None, ref, kept_until)


#: Data that lies in the payload store.
_KEPT_PAYLOAD: Final = Layout(
    _kept,
    Field("digest", "d", NAME),
    Field("size", "s", WHOLE),
    Field("ref", "r", SENTENCE),
    Field("kept_until", "u", WHOLE, None),
)


def _is_payload(stored: Any) -> bool:
    is_short = isinstance(stored, str) and len(stored.encode(errors="replace")) <= DATA_INLINE_BYTES_MAX
    return is_short or isinstance(stored, dict)


def _read_payload(stored: Any) -> Payload:
    return Payload.of(stored) if isinstance(stored, str) else _KEPT_PAYLOAD.read(stored)


def _write_payload(payload: Payload) -> Any:
    return payload.text if payload.ref is None else _KEPT_PAYLOAD.write(payload)


#: The data of a job or a trigger: its text, or where it is stored.
PAYLOAD: Final = Form(
    f"a text of at most {DATA_INLINE_BYTES_MAX} bytes, or an object that says where the data is stored",
    _is_payload,
    read=_read_payload,
    write=_write_payload,
)


def _read_result(stored: str) -> str:
    json.loads(stored)
    return stored


#: The JSON text with which a consumer completed its run.
RESULT: Final = text_of(RESULT_BYTES_MAX)._replace(read=_read_result)

#: What names a revision of a job.
OF_REVISION: Final = (Part("key", KEY), Field("uid", "uid", NAME), Field("rev", "rev", NAME))

TRIGGER: Final = Layout(
    Trigger,
    *OF_REVISION,
    Field("armed_at", "armed", WHOLE),
    Field("due_at", "due", WHOLE),
    Field("sequence", "seq", WHOLE),
    Field("index", "index", WHOLE, 0),
    Field("demand", "demand", DEMAND.form, None),
    Field("batch", "batch", BATCH_PLACE.form, None),
)
