"""Triggers read back as they were written. A text that is no message is poison, or of a newer version."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.messages import KEY, MESSAGE, SPAN, counts, instants, names

from sweephand.base.errors import NewerError, PoisonError
from sweephand.base.limits import REDRIVES_KEPT
from sweephand.jobs.payload_audit import ref_of
from sweephand.model.definition import Payload
from sweephand.model.job import JobKey
from sweephand.model.run_id import Demand
from sweephand.model.trigger import (
    BatchPlace,
    Failure,
    Message,
    NewerMessage,
    Passage,
    RangeMessage,
    Redrive,
    Trigger,
    TriggerMessage,
)
from sweephand.model.wire import decode, encode
from sweephand.schedules import Batch, Occurrence, Series

ENDS = st.lists(counts, min_size=1, max_size=REDRIVES_KEPT).map(tuple)
FAILURES = st.builds(Failure, counts, st.text(max_size=500), st.none() | st.integers(100, 599), st.booleans())
DEMANDS = st.builds(Demand, st.sampled_from(["manual", "backfill", "chained"]), names, counts)
BATCH_PLACES = st.builds(BatchPlace, counts, counts, counts)
PASSAGES = st.builds(Passage, st.sampled_from(["namespace", "stack", "passed"]), instants, counts, counts)
KEPT = st.builds(Payload, names, counts, st.none(), names, st.none() | instants)


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
def test_a_message_about_a_batch_reads_back_as_it_was_written(message: Message) -> None:
    assert decode(encode(message)) == message


def test_a_redrive_is_written_behind_what_every_trigger_says() -> None:
    text = encode(MESSAGE._replace(redrive=Redrive(2, None, (1,))))
    assert text == encode(MESSAGE)[:-1] + ',"redrive":{"a":2,"e":[1]}}'
    assert decode(text) == MESSAGE._replace(redrive=Redrive(2, None, (1,)))


@pytest.mark.parametrize("demand", [Demand("manual", "a"), Demand("backfill", "b")])
def test_a_trigger_on_demand_and_its_range_keep_their_demand(demand: Demand) -> None:
    asked = MESSAGE._replace(trigger=replace(MESSAGE.trigger, demand=demand), payload=Payload.of('{"a":1}'))
    assert f'"demand":{{"k":"{demand.kind}","t":"{demand.token}"}}' in encode(asked)
    assert encode(asked).endswith(',"data":"{\\"a\\":1}"}')
    assert decode(encode(asked)) == asked
    span = SPAN._replace(demand=demand)
    assert decode(encode(span)) == span


def test_data_in_the_payload_store_carries_until_when_it_is_kept() -> None:
    payload = Payload("d" * 64, 3_000, None, "ref", kept_until=1_795_262_400_000)
    demand = Demand("manual", "a")
    asked = MESSAGE._replace(trigger=replace(MESSAGE.trigger, demand=demand), payload=payload)
    assert '"u":1795262400000' in encode(asked)
    span = SPAN._replace(demand=demand, payload=payload)
    for message in (asked, span):
        assert decode(encode(message)) == message


def test_data_in_the_payload_store_may_belong_to_a_job_with_the_longest_names() -> None:
    ref = ref_of("d" * 64, "t" * 32, JobKey("n" * 128, "j" * 128))
    asked = MESSAGE._replace(payload=Payload("d" * 64, 3_000, None, ref))
    assert decode(encode(asked)) == asked


def test_a_chained_trigger_carries_its_position_in_the_chain() -> None:
    asked = MESSAGE._replace(trigger=replace(MESSAGE.trigger, demand=Demand("chained", "c", 7)))
    assert '"demand":{"k":"chained","t":"c","l":7}' in encode(asked)
    assert decode(encode(asked)) == asked


def test_only_a_range_of_skipped_misfires_is_marked_as_skipped() -> None:
    assert '"skipped"' not in encode(SPAN)
    skipped = SPAN._replace(are_skipped=True)
    assert encode(skipped) == encode(SPAN)[:-1] + ',"skipped":true}'
    assert decode(encode(skipped)) == skipped
    with pytest.raises(PoisonError, match="`skipped` must be true or false"):
        decode(encode(SPAN)[:-1] + ',"skipped":1}')


def test_an_owed_trigger_is_marked_as_owed() -> None:
    assert '"owed"' not in encode(MESSAGE)
    owed = MESSAGE.waiting()
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


@pytest.mark.parametrize(
    "text", ["", "null", "[]", "5", '"x"', "{", "{}", "not JSON", "\x00", "[" * 100_000, "💥"]
)
def test_a_text_that_is_no_message_is_poison(text: str) -> None:
    with pytest.raises(PoisonError) as caught:
        decode(text)
    assert len(str(caught.value)) < 1_000


@pytest.mark.parametrize("newer", [{"v": 2}, {"v": 3, "kind": "pack", "items": [1]}])
def test_a_message_of_a_newer_version_is_kept_whatever_its_fields_are(newer: dict[str, Any]) -> None:
    with pytest.raises(NewerError, match="this code reads 1"):
        decode(json.dumps(newer))
    with pytest.raises(NewerError):
        decode(json.dumps(json.loads(encode(MESSAGE)) | newer))


def test_a_message_of_a_newer_version_is_sent_again_as_it_is() -> None:
    body = '{"v": 2, "what": "\u00fc"}'
    assert encode(NewerMessage(body)) == body


@pytest.mark.parametrize("version", [0, 1.0, 2.0, True, "1", "2", None])
def test_a_version_that_there_never_was_is_poison(version: object) -> None:
    with pytest.raises(PoisonError):
        decode(json.dumps(json.loads(encode(MESSAGE)) | {"v": version}))


@pytest.mark.parametrize("name", ["v", "kind", "ns", "job", "uid", "rev", "armed", "due", "seq", "at"])
def test_a_field_without_a_default_that_is_missing_is_poison(name: str) -> None:
    fields = json.loads(encode(MESSAGE))
    del fields[name]
    with pytest.raises(PoisonError):
        decode(json.dumps(fields))


@given(st.text() | st.binary().map(lambda raw: raw.decode("latin-1")))
def test_any_text_at_all_is_poison(text: str) -> None:
    with pytest.raises(PoisonError):
        decode(text)
