import json
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweephand.base.errors import NewerError, PoisonError
from sweephand.base.limits import REDRIVES_KEPT
from sweephand.model.batch_end import BatchEnd, Counts
from sweephand.model.definition import Payload
from sweephand.model.job import JobKey
from sweephand.model.policy import PermitName
from sweephand.model.run_id import Demand
from sweephand.model.trigger import (
    BatchPlace,
    DeadlineMessage,
    Failure,
    FailureMessage,
    Message,
    NewerMessage,
    NotifyMessage,
    Passage,
    RangeMessage,
    Redrive,
    Trigger,
    TriggerMessage,
)
from sweephand.model.watch import Alert, WatchMessage
from sweephand.model.wire import decode, encode
from sweephand.schedules import Batch, Occurrence, Series

KEY = JobKey("team", "a:b@c+d=e~f_g-h.i")
MESSAGE = TriggerMessage(
    Trigger(KEY, "u" * 16, "r-1", due_at=1_795_262_400_250, sequence=7, armed_at=1_795_262_000_000, index=3),
    not_before=1_795_262_405_000,
    attempt=2,
    first_attempt_at=1_795_262_400_300,
    faults=1,
)

NOON = 1_795_262_400_000

instants = st.integers(0, 253_402_300_799_999)
counts = st.integers(0, 10**9)
ENDS = st.lists(counts, min_size=1, max_size=REDRIVES_KEPT).map(tuple)
FAILURES = st.builds(Failure, counts, st.text(max_size=500), st.none() | st.integers(100, 599), st.booleans())
names = st.text("abcXYZ019._~:@+=-", min_size=1, max_size=128)
DEMANDS = st.builds(Demand, st.sampled_from(["manual", "backfill", "chained"]), names, counts)
BATCH_PLACES = st.builds(BatchPlace, counts, counts, counts)
PASSAGES = st.builds(Passage, st.sampled_from(["namespace", "stack", "passed"]), instants, counts)
KEPT = st.builds(Payload, names, counts, st.none(), names)


@given(
    st.builds(
        TriggerMessage,
        st.builds(
            Trigger,
            st.builds(JobKey, names, names),
            names,
            names,
            instants,
            counts,
            instants,
            counts,
            st.none() | DEMANDS,
            st.none() | BATCH_PLACES,
        ),
        instants,
        counts,
        st.none() | instants,
        counts,
        st.none() | st.builds(Redrive, counts, st.none() | instants, st.none() | ENDS),
        st.none() | st.builds(Payload.of, st.text(max_size=500)) | KEPT,
        counts,
        st.booleans(),
        st.booleans(),
        st.none() | FAILURES,
        st.none() | PASSAGES,
    )
)
def test_a_trigger_reads_back_as_it_was_written(message: TriggerMessage) -> None:
    assert decode(encode(message)) == message


def test_the_wire_form_of_a_trigger_never_changes_since_old_messages_wait_in_queues() -> None:
    assert encode(MESSAGE) == (
        '{"v":1,"kind":"trigger","ns":"team","job":"a:b@c+d=e~f_g-h.i","uid":"uuuuuuuuuuuuuuuu","rev":"r-1",'
        '"armed":1795262000000,"due":1795262400250,"seq":7,"index":3,"at":1795262405000,"attempt":2,'
        '"first":1795262400300,"faults":1}'
    )


@pytest.mark.parametrize(
    "message",
    [
        MESSAGE._replace(trigger=replace(MESSAGE.trigger, batch=BatchPlace(9, 60_000, 20_000))),
        RangeMessage(
            KEY,
            "u" * 16,
            "r-1",
            Series("@every 2h", "UTC", 0, batch=Batch(1_000, 3_600_000)),
            Occurrence(7_200_000, 1, 250, 900_000),
            7_200_000,
            5,
            last=Occurrence(7_200_000, 1, 999, 3_596_400),
        ),
        RangeMessage(
            KEY,
            "u" * 16,
            "r-1",
            Series(None, "UTC", 7, 7, counted=-1, batch=Batch(9, 60_000)),
            Occurrence(7, 0),
            7,
            5,
            demand=Demand("manual", "a"),
            last=Occurrence(7, 0, 8, 53_333),
            payload=Payload.of('{"n": 1.10}'),
        ),
    ],
)
def test_a_message_about_a_batch_waits_for_a_version_that_knows_batches(message: Message) -> None:
    assert json.loads(encode(message))["v"] == 3
    assert decode(encode(message)) == message


def test_a_redrive_is_written_behind_what_every_trigger_says() -> None:
    text = encode(MESSAGE._replace(redrive=Redrive(2, None, (1,))))
    assert text == encode(MESSAGE)[:-1] + ',"redrive":[2,null],"ends":[1]}'
    former = json.loads(text)
    del former["ends"]
    assert decode(json.dumps(former)) == MESSAGE._replace(redrive=Redrive(2, None))


@pytest.mark.parametrize("demand", [Demand("manual", "a"), Demand("backfill", "b")])
def test_a_trigger_on_demand_and_its_range_keep_their_demand(demand: Demand) -> None:
    asked = MESSAGE._replace(trigger=replace(MESSAGE.trigger, demand=demand), payload=Payload.of('{"a":1}'))
    assert f'"demand":["{demand.kind}","{demand.token}"]' in encode(asked)
    assert encode(asked).endswith(',"data":"{\\"a\\":1}"}')
    assert decode(encode(asked)) == asked
    span = SPAN._replace(demand=demand)
    assert decode(encode(span)) == span


def test_a_chained_trigger_carries_its_position_in_the_chain() -> None:
    asked = MESSAGE._replace(trigger=replace(MESSAGE.trigger, demand=Demand("chained", "c", 7)))
    assert '"demand":["chained","c",7]' in encode(asked)
    assert decode(encode(asked)) == asked


def test_only_a_range_of_skipped_misfires_is_marked_as_skipped() -> None:
    assert '"skipped"' not in encode(SPAN)
    skipped = SPAN._replace(are_skipped=True)
    assert encode(skipped) == encode(SPAN)[:-1] + ',"skipped":true}'
    assert decode(encode(skipped)) == skipped
    with pytest.raises(PoisonError, match="`skipped` in a message"):
        decode(encode(SPAN)[:-1] + ',"skipped":1}')


def test_an_owed_trigger_and_an_owed_range_are_marked_as_owed() -> None:
    assert '"owed"' not in encode(SPAN) + encode(MESSAGE)
    for owed in (MESSAGE.waiting(), SPAN._replace(is_owed=True)):
        assert encode(owed).endswith(',"owed":true}')
        assert decode(encode(owed)) == owed


def test_a_trigger_whose_consumer_had_a_token_of_an_earlier_attempt_is_marked_so() -> None:
    assert '"hadToken"' not in encode(MESSAGE)
    reported = MESSAGE._replace(had_token=True)
    assert encode(reported) == encode(MESSAGE)[:-1] + ',"hadToken":true}'
    assert decode(encode(reported)) == reported


def test_a_retry_carries_the_last_failure_and_a_first_attempt_carries_none() -> None:
    assert '"failed"' not in encode(MESSAGE)
    for failure in (Failure(2, "\ud800 no", 503, is_final=True), Failure(1, "", None)):
        retry = MESSAGE._replace(last_failure=failure)
        assert decode(encode(retry)) == retry
    for odd in ([], [1, "no", 503], [1, "no", 503, 0], [1, None, 503, True], "no"):
        written = encode(MESSAGE)[:-1] + f',"failed":{json.dumps(odd)}}}'
        with pytest.raises(PoisonError):
            decode(written)


ODD_DEMANDS: list[Any] = [
    "manual",
    [],
    ["manual"],
    ["hand", "a"],
    ["manual", ""],
    ["manual", 1],
    ["chained", "c", -1],
    ["chained", "c", "1"],
    ["chained", "c", 1, 1],
]
ODD_DATA: list[Any] = [7, True, [], {}, "x" * 2_049, {"ref": "a", "digest": "b"}, "\ud800"]


@pytest.mark.parametrize(
    ("name", "value"),
    [*(("demand", each) for each in ODD_DEMANDS), *(("data", each) for each in ODD_DATA)],
)
def test_a_demand_or_data_that_cannot_be_read_is_poison(name: str, value: Any) -> None:
    with pytest.raises(PoisonError):
        decode(json.dumps({**json.loads(encode(MESSAGE)), name: value}))


@pytest.mark.parametrize("redrive", ["2", "[2]", "[null,5]", "[2,-1]", "[2,true]", "{}", "[2,5,5]"])
def test_a_redrive_that_cannot_be_read_is_poison(redrive: str) -> None:
    with pytest.raises(PoisonError):
        decode(encode(MESSAGE)[:-1] + f',"redrive":{redrive}}}')


DEADLINE = DeadlineMessage(MESSAGE.trigger, 2, "o" * 16, 3, not_before=1_795_262_405_000, faults=1)
FAILURE = FailureMessage(MESSAGE.trigger, 2, "out of \ud800 paper", is_final=True, not_before=5, faults=1)

NOTICE = NotifyMessage(MESSAGE.trigger, "failed", 2, None, 7, 503, "no", not_before=8, faults=1)


def test_a_notification_carries_the_result_of_its_run_as_it_was_written() -> None:
    assert '"result"' not in encode(NOTICE)
    notice = NOTICE._replace(result='{"n": 1.10}')
    assert decode(encode(notice)) == notice
    for odd in (7, "{", '"' + "x" * 2_048 + '"'):
        with pytest.raises(PoisonError):
            decode(encode(NOTICE)[:-1] + f',"result":{json.dumps(odd)}}}')


@given(
    st.builds(
        DeadlineMessage,
        st.just(MESSAGE.trigger),
        counts,
        names,
        counts,
        not_before=instants,
        faults=counts,
        permit=st.none() | st.builds(PermitName, names, counts, names),
    )
)
def test_a_deadline_message_reads_back_as_it_was_written(message: DeadlineMessage) -> None:
    assert decode(encode(message)) == message


@given(
    st.builds(
        FailureMessage,
        st.just(MESSAGE.trigger),
        counts,
        st.text(max_size=512),
        is_final=st.booleans(),
        not_before=instants,
        faults=counts,
    )
)
def test_a_failure_message_reads_back_as_it_was_written(message: FailureMessage) -> None:
    assert decode(encode(message)) == message


@given(
    st.builds(
        NotifyMessage,
        st.just(MESSAGE.trigger),
        st.sampled_from(["succeeded", "failed", "skipped", "cancelled"]),
        counts,
        st.none() | instants,
        instants,
        st.none() | st.integers(100, 599),
        st.none() | st.text(max_size=200),
        not_before=instants,
        attempt=counts,
        first_attempt_at=st.none() | instants,
        faults=counts,
        result=st.none() | st.text(max_size=300).map(json.dumps),
        batch_end=st.none()
        | st.builds(BatchEnd, counts, st.builds(Counts, counts, counts, counts), st.booleans()),
        alert=st.none() | st.builds(Alert, instants, counts, instants, instants),
    )
)
def test_a_notification_message_reads_back_as_it_was_written(message: NotifyMessage) -> None:
    assert decode(encode(message)) == message


@given(
    st.builds(
        WatchMessage,
        st.just(KEY),
        names,
        names,
        st.just(Series("@every 5m", "UTC", NOON)),
        st.tuples(st.integers(NOON, 2 * NOON), counts).map(lambda each: Occurrence(*each)),
        through=instants,
        since=instants,
        after_ms=counts,
        check_at=instants,
        armed_at=instants,
        faults=counts,
    )
)
def test_a_check_of_a_watch_reads_back_as_it_was_written(message: WatchMessage) -> None:
    assert decode(encode(message)) == message


def test_a_version_before_watches_keeps_their_messages_for_a_newer_one() -> None:
    series = Series("@every 5m", "UTC", NOON)
    check = WatchMessage(
        JobKey("ns", "job"), "uid", "1-a", series, Occurrence(NOON, 1), NOON + 1, 5, 60_000, NOON + 2, 7
    )
    assert encode(check) == (
        '{"v":4,"kind":"watch","ns":"ns","job":"job","uid":"uid","rev":"1-a","armed":7,'
        f'"series":{{"schedule":"@every 5m","timezone":"UTC","startAt":{NOON}}},"first":[{NOON},1],'
        f'"until":{NOON + 1},"since":5,"after":60000,"at":{NOON + 2},"faults":0}}'
    )
    alert = encode(NOTICE._replace(alert=Alert(1, 2, 3, 4)))
    assert alert.startswith('{"v":4,"kind":"notice",')
    assert alert.endswith(',"alert":[1,2,3,4]}')
    assert encode(NOTICE).startswith('{"v":1,')


def test_the_wire_form_of_the_messages_of_a_run_never_changes() -> None:
    of_trigger = encode(MESSAGE).removeprefix('{"v":1,"kind":"trigger",').partition(',"at"')[0]
    assert encode(DEADLINE) == (
        f'{{"v":1,"kind":"deadline",{of_trigger},"at":1795262405000,"attempt":2,"owner":"oooooooooooooooo",'
        '"shard":3,"faults":1}'
    )
    assert encode(FAILURE) == (
        f'{{"v":1,"kind":"failure",{of_trigger},"at":5,"attempt":2,"reason":"out of \\ud800 paper",'
        '"final":true,"faults":1}'
    )
    assert encode(NOTICE) == (
        f'{{"v":1,"kind":"notice",{of_trigger},"at":8,"state":"failed","attempts":2,"started":null,"ended":7,'
        '"code":503,"reason":"no","attempt":1,"first":null,"faults":1}'
    )


@pytest.mark.parametrize("message", [DEADLINE, FAILURE, NOTICE])
def test_a_message_of_a_run_that_lacks_a_field_is_poison(message: Message) -> None:
    fields = json.loads(encode(message))
    may_lack = {"started", "code", "first", *(["reason"] if message is NOTICE else [])}
    for name in fields.keys() - may_lack:
        for broken in ({key: value for key, value in fields.items() if key != name}, {**fields, name: []}):
            with pytest.raises(PoisonError):
                decode(json.dumps(broken))
    with pytest.raises(PoisonError):
        decode(json.dumps({**fields, "reason": "x" * 5_000, "owner": "x" * 257}))


@pytest.mark.parametrize(
    "text", ["", "null", "[]", "5", '"x"', "{", "{}", "not JSON", "\x00", "[" * 100_000, "💥"]
)
def test_a_text_that_is_no_message_is_poison(text: str) -> None:
    with pytest.raises(PoisonError) as caught:
        decode(text)
    assert len(str(caught.value)) < 1_000


@pytest.mark.parametrize("newer", [{"v": 5}, {"v": 6, "kind": "pack", "items": [1]}])
def test_a_message_of_a_newer_version_is_kept_whatever_its_fields_are(newer: dict[str, Any]) -> None:
    with pytest.raises(NewerError, match="this code reads versions 1 to 4"):
        decode(json.dumps(newer))
    with pytest.raises(NewerError):
        decode(json.dumps(json.loads(encode(MESSAGE)) | newer))


def test_a_message_of_a_newer_version_is_sent_again_as_it_is() -> None:
    body = '{"v": 4, "what": "\u00fc"}'
    assert encode(NewerMessage(body)) == body


@pytest.mark.parametrize("version", [0, 1.0, 2.0, True, "1", "2", None])
def test_a_version_that_there_never_was_is_poison(version: object) -> None:
    with pytest.raises(PoisonError):
        decode(json.dumps(json.loads(encode(MESSAGE)) | {"v": version}))


@pytest.mark.parametrize("name", list(json.loads(encode(MESSAGE))))
@pytest.mark.parametrize("value", [None, -1, 1.5, True, 10**15, "", "x" * 257, [], {}])
def test_a_field_of_a_wrong_type_or_size_is_poison(name: str, value: object) -> None:
    fields = json.loads(encode(MESSAGE)) | {name: value}
    if name == "first" and value is None:
        assert decode(json.dumps(fields)) == MESSAGE._replace(first_attempt_at=None)
        return
    with pytest.raises(PoisonError):
        decode(json.dumps(fields))


@pytest.mark.parametrize("name", [name for name in json.loads(encode(MESSAGE)) if name != "first"])
def test_a_field_that_is_missing_is_poison(name: str) -> None:
    fields = json.loads(encode(MESSAGE))
    del fields[name]
    with pytest.raises(PoisonError):
        decode(json.dumps(fields))


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
SPAN = RangeMessage(
    KEY,
    "u" * 16,
    "r-1",
    Series("0 30 2 * * MON-FRI", "Europe/Paris", 1_795_262_400_000, repeats=5),
    Occurrence(1_795_483_800_000, 1),
    until=1_796_000_000_000,
    armed_at=1_795_262_400_000,
)


@pytest.mark.parametrize(
    "series",
    [
        SPAN.series,
        Series("@every 1h30m", "UTC", 1_795_262_400_123, due_at=1_795_262_500_000, ttl_at=1_800_000_000_000),
        Series(None, "UTC", 1_795_262_400_000, due_at=1_795_262_500_000),
    ],
)
def test_a_range_message_reads_back_as_it_was_written(series: Series) -> None:
    span = SPAN._replace(series=series)
    assert decode(encode(span)) == span


@pytest.mark.parametrize(
    "changed",
    [
        {"schedule": "every other day"},
        {"schedule": 5},
        {"timezone": "Mars/Olympus"},
        {"timezone": None},
        {"startAt": "soon"},
        {"startAt": None},
    ],
)
def test_a_range_whose_series_cannot_be_read_is_poison(changed: dict[str, Any]) -> None:
    fields = json.loads(encode(SPAN))
    with pytest.raises(PoisonError):
        decode(json.dumps(fields | {"series": fields["series"] | changed}))


@given(st.text() | st.binary().map(lambda raw: raw.decode("latin-1")))
def test_any_text_at_all_is_poison(text: str) -> None:
    with pytest.raises(PoisonError):
        decode(text)


@given(st.dictionaries(st.sampled_from(list(json.loads(encode(SPAN)))), json_values))
def test_a_range_with_any_fields_changed_is_a_message_or_poison_or_newer(changed: dict[str, Any]) -> None:
    with suppress(PoisonError, NewerError):
        assert isinstance(decode(json.dumps(json.loads(encode(SPAN)) | changed)), RangeMessage)


@given(st.dictionaries(st.sampled_from(list(SPAN.series.to_item())), json_values))
def test_a_series_with_any_fields_changed_is_a_message_or_poison(changed: dict[str, Any]) -> None:
    fields = json.loads(encode(SPAN))
    with suppress(PoisonError):
        decode(json.dumps(fields | {"series": fields["series"] | changed}))
