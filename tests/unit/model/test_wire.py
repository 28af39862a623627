"""Triggers read back as they were written. A text that is no message is poison, or of a newer version."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.messages import MESSAGE, SPAN

from sweephand.base.errors import NewerError, PoisonError
from sweephand.jobs.payload_audit import ref_of
from sweephand.model.definition import Payload
from sweephand.model.job import JobKey
from sweephand.model.run_id import Demand
from sweephand.model.trigger import NewerMessage, Redrive
from sweephand.model.wire import decode, encode


def test_the_wire_form_of_a_trigger_never_changes_since_old_messages_wait_in_queues() -> None:
    assert encode(MESSAGE) == (
        '{"v":1,"kind":"trigger","ns":"team","job":"a:b@c+d=e~f_g-h.i","uid":"uuuuuuuuuuuuuuuu","rev":"r-1",'
        '"armed":1795262000000,"due":1795262400250,"seq":7,"index":3,"at":1795262405000,"attempt":2,'
        '"first":1795262400300,"faults":1}'
    )


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


@given(st.text() | st.binary().map(lambda raw: raw.decode("latin-1")))
def test_any_text_at_all_is_poison(text: str) -> None:
    with pytest.raises(PoisonError):
        decode(text)
