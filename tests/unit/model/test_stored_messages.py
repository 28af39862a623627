"""Every kind of message, with each of its fields missing, unknown, mistyped and oversized."""

import json
from collections.abc import Iterator
from typing import Any, Final

import pytest
from tests.fakes.messages import KEY, MESSAGE, NOON, SPAN

from sweephand.base.errors import PoisonError
from sweephand.model.calendar import CalendarMessage
from sweephand.model.definition import Payload
from sweephand.model.failed_attempt import FailedAttempt
from sweephand.model.gate_message import _LAYOUT, GateMessage, decode_gate_message, encode_gate_message
from sweephand.model.orders import ResumeMessage
from sweephand.model.policy_names import PermitName
from sweephand.model.run_id import BatchEnd, Counts, Demand
from sweephand.model.trace import Origin
from sweephand.model.trigger import (
    BatchPlace,
    BundleMessage,
    DeadlineMessage,
    Failure,
    FailureMessage,
    NotifyMessage,
    Passage,
    Readable,
    Redrive,
    Trigger,
    TriggerMessage,
)
from sweephand.model.watch import Alert, WatchMessage
from sweephand.model.wire import _LAYOUTS, decode, encode
from sweephand.schedules import Batch, Occurrence, Series

TRACEPARENT: Final = f"00-{'a' * 32}-{'b' * 16}-01"
PAYLOAD: Final = Payload("d" * 64, 3_000, None, "ref", NOON)
TRIGGER: Final = Trigger(
    KEY,
    "u" * 16,
    "r-1",
    NOON,
    7,
    NOON - 1,
    index=3,
    demand=Demand("chained", "token", 2, Origin(TRACEPARENT, is_parent=True)),
    batch=BatchPlace(9, 60_000, 20_000, is_counted=False),
)
SERIES: Final = Series(
    "0 30 2 * * MON-FRI", "Europe/Paris", NOON, repeats=5, batch=Batch(9, 60_000, is_counted=False)
)
FIRST: Final = Occurrence(1_795_483_800_000, 1, 2, 3)

#: A message of each kind, with every field other than its default.
MESSAGES: Final[tuple[Readable, ...]] = (
    TriggerMessage(
        TRIGGER,
        NOON,
        2,
        NOON,
        1,
        Redrive(2, NOON, (1,)),
        PAYLOAD,
        1,
        is_owed=True,
        had_token=True,
        last_failure=Failure(1, "\ud800 no", 503, is_final=True),
        passage=Passage("stack", NOON, 60, 2),
        held_ms=5,
        failed_attempts=(FailedAttempt(1, NOON, 7, 503, "\ud800 no"),),
        lane="policy",
    ),
    DeadlineMessage(TRIGGER, 2, "o" * 16, 3, NOON, 1, PermitName("mailer", 4, "id", "host:"), "low"),
    FailureMessage(TRIGGER, 2, "no", True, NOON, 1, PermitName("mailer", 4, "id", "host:")),
    NotifyMessage(
        TRIGGER,
        "failed",
        2,
        NOON,
        NOON,
        503,
        "no",
        NOON,
        2,
        NOON,
        1,
        '{"n": 1.10}',
        BatchEnd(9, Counts(1, 2, 3), overran=True),
        Alert(NOON, 2, NOON, NOON),
        TRACEPARENT,
    ),
    SPAN._replace(
        series=SERIES,
        first=FIRST,
        faults=1,
        demand=TRIGGER.demand,
        are_skipped=True,
        last=FIRST,
        payload=PAYLOAD,
        lane="low",
    ),
    CalendarMessage("team", "works", NOON, "job-099", is_last=True, faults=1, job="job-100"),
    WatchMessage(KEY, "uid", "r-1", SERIES, FIRST, NOON, NOON, 60_000, NOON, NOON, 1, NOON),
    ResumeMessage(KEY, "uid", NOON, NOON - 1, 1),
    BundleMessage(
        (
            TriggerMessage(MESSAGE.trigger, MESSAGE.trigger.at, is_owed=True),
            TriggerMessage(Trigger(KEY, "v" * 16, "r-2", NOON + 900, 1, NOON), NOON + 900),
        )
    ),
)
ABOUT_GATE: Final = GateMessage(
    "guard", "default", "mailer", 3, NOON, "guard000000000001", 2, "1#behind", "label:tenant:\ud800"
)

#: No field of any message may hold one of these.
WRONG: Final[tuple[Any, ...]] = (None, -1, 1.5, 10**16, "x" * 5_000, [[]], list(range(11)), {"": 0})


def paths(stored: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path to each field of a JSON value, at any depth."""
    children = stored.items() if isinstance(stored, dict) else ()
    for name, child in children:
        yield (*before, name)
        yield from paths(child, (*before, name))


def changed(text: str, path: tuple[Any, ...], **change: Any) -> str:
    """The JSON text with another value at that path; without one, it lacks the field."""
    whole = json.loads(text)
    within = whole
    for name in path[:-1]:
        within = within[name]
    if "to" in change:
        within[path[-1]] = change["to"]
    else:
        del within[path[-1]]
    return json.dumps(whole)


def test_there_is_a_message_of_each_kind_and_none_of_its_fields_has_its_default() -> None:
    assert {type(each) for each in MESSAGES} == {*_LAYOUTS, BundleMessage}
    for message in MESSAGES:
        if type(message) in _LAYOUTS:
            layout = _LAYOUTS[type(message)][1]
            assert layout.write(message).keys() == {each.stored for each in layout.fields}
    assert _LAYOUT.write(ABOUT_GATE).keys() == {each.stored for each in _LAYOUT.fields}


@pytest.mark.parametrize("message", MESSAGES, ids=lambda each: type(each).__name__)
def test_a_message_with_every_field_reads_back_and_unknown_fields_are_ignored(message: Readable) -> None:
    text = encode(message)
    assert decode(text) == message
    for path in paths(json.loads(text)):
        if len(path) == 1 or path[0] not in {"series", "revs", "due"}:
            assert decode(changed(text, (*path[:-1], "later"), to=1)) == message


@pytest.mark.parametrize("message", MESSAGES, ids=lambda each: type(each).__name__)
def test_a_message_that_lacks_a_field_is_another_message_or_poison(message: Readable) -> None:
    text = encode(message)
    for path in paths(json.loads(text)):
        try:
            found = decode(changed(text, path))
        except PoisonError:
            continue
        # Only a field with a default may be missing. It then has that default.
        assert found != message
        assert decode(encode(found)) == found


@pytest.mark.parametrize("message", MESSAGES, ids=lambda each: type(each).__name__)
def test_a_message_with_a_mistyped_or_oversized_field_is_poison(message: Readable) -> None:
    text = encode(message)
    for path in paths(json.loads(text)):
        if path[0] == "series" and len(path) > 1:
            continue  # test_wire.py states what a series of a message may be
        for wrong in WRONG:
            with pytest.raises(PoisonError):
                decode(changed(text, path, to=wrong))


def test_a_message_about_a_gate_with_a_mistyped_or_oversized_field_is_poison() -> None:
    text = encode_gate_message(ABOUT_GATE)
    assert decode_gate_message(changed(text, ("later",), to=1)) == ABOUT_GATE
    for path in paths(json.loads(text)):
        for wrong in WRONG:
            with pytest.raises(PoisonError):
                decode_gate_message(changed(text, path, to=wrong))
