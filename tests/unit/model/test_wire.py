"""Messages read back as they were written. A text that is no message is poison, or of a newer version."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.messages import MESSAGE, NOON, SPAN

from sweephand.base.errors import NewerError, PoisonError
from sweephand.jobs.payload_audit import ref_of
from sweephand.model.definition import Payload
from sweephand.model.job import JobKey
from sweephand.model.run_id import Demand
from sweephand.model.trigger import (
    DeadLetter,
    DeadlineMessage,
    FailureMessage,
    NewerMessage,
    NotifyMessage,
    Redrive,
    Trigger,
    TriggerMessage,
)
from sweephand.model.watch import Alert, WatchMessage
from sweephand.model.wire import decode, encode, encode_letter
from sweephand.schedules import Occurrence, Series


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
    asked = MESSAGE._replace(trigger=MESSAGE.trigger._replace(demand=demand), payload=Payload.of('{"a":1}'))
    assert f'"demand":{{"k":"{demand.kind}","t":"{demand.token}"}}' in encode(asked)
    assert encode(asked).endswith(',"data":"{\\"a\\":1}"}')
    assert decode(encode(asked)) == asked
    span = SPAN._replace(demand=demand)
    assert decode(encode(span)) == span


def test_data_in_the_payload_store_carries_until_when_it_is_kept() -> None:
    payload = Payload("d" * 64, 3_000, None, "ref", kept_until=1_795_262_400_000)
    demand = Demand("manual", "a")
    asked = MESSAGE._replace(trigger=MESSAGE.trigger._replace(demand=demand), payload=payload)
    assert '"u":1795262400000' in encode(asked)
    span = SPAN._replace(demand=demand, payload=payload)
    for message in (asked, span):
        assert decode(encode(message)) == message


def test_data_in_the_payload_store_may_belong_to_a_job_with_the_longest_names() -> None:
    ref = ref_of("d" * 64, "t" * 32, JobKey("n" * 128, "j" * 128))
    asked = MESSAGE._replace(payload=Payload("d" * 64, 3_000, None, ref))
    assert decode(encode(asked)) == asked


def test_a_chained_trigger_carries_its_position_in_the_chain() -> None:
    asked = MESSAGE._replace(trigger=MESSAGE.trigger._replace(demand=Demand("chained", "c", 7)))
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


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


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


@given(st.dictionaries(st.sampled_from(list(SPAN.series.to_item())), json_values))
def test_a_series_with_any_fields_changed_is_a_message_or_poison(changed: dict[str, Any]) -> None:
    fields = json.loads(encode(SPAN))
    with suppress(PoisonError):
        decode(json.dumps(fields | {"series": fields["series"] | changed}))


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


def test_the_wire_form_of_the_messages_of_a_watch_never_changes() -> None:
    series = Series("@every 5m", "UTC", NOON)
    check = WatchMessage(
        JobKey("ns", "job"), "uid", "1-a", series, Occurrence(NOON, 1), NOON + 1, 5, 60_000, NOON + 2, 7
    )
    assert encode(check) == (
        '{"v":1,"kind":"watch","ns":"ns","job":"job","uid":"uid","rev":"1-a","armed":7,'
        f'"series":{{"schedule":"@every 5m","timezone":"UTC","startAt":{NOON}}},"first":{{"d":{NOON},"q":1}},'
        f'"until":{NOON + 1},"since":5,"after":60000,"at":{NOON + 2}}}'
    )
    alert = encode(NOTICE._replace(alert=Alert(1, 2, 3, 4)))
    assert alert.startswith('{"v":1,"kind":"notify",')
    assert alert.endswith(',"alert":{"w":1,"n":2,"f":3,"l":4}}')


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
        f'{{"v":1,"kind":"notify",{of_trigger},"at":8,"state":"failed","attempts":2,"ended":7,'
        '"code":503,"reason":"no","faults":1}'
    )


KEY = JobKey("team", "a:b@c+d=e~f_g-h.i")
GIVEN_UP = TriggerMessage(
    Trigger(KEY, "u" * 16, "r-1", due_at=1_795_262_400_250, sequence=7, armed_at=1_795_262_000_000, index=3),
    not_before=1_795_262_405_000,
    attempt=2,
)


def test_a_dead_letter_has_all_fields_that_a_redrive_needs() -> None:
    body = encode(GIVEN_UP)
    letter = DeadLetter(
        body, "Attempt 10 of 10 failed: Response 503.", GIVEN_UP.trigger, 10, 503, "busy \x00 €"
    )
    written = json.loads(encode_letter(letter))
    assert decode(written.pop("message")) == GIVEN_UP
    assert written == {
        "v": 1,
        "reason": "Attempt 10 of 10 failed: Response 503.",
        "triggerId": GIVEN_UP.trigger.id,
        "namespace": "team",
        "job": KEY.name,
        "runId": "1795262400250-3",
        "dueAt": 1_795_262_400_250,
        "attempts": 10,
        "responseCode": 503,
        "answer": "busy \x00 €",
    }


def test_a_dead_letter_of_poison_keeps_the_text_as_it_came() -> None:
    written = json.loads(encode_letter(DeadLetter("\ud800 not \x01 JSON", "Not a message.")))
    assert (written["message"], written["triggerId"]) == ("\ud800 not \x01 JSON", None)
