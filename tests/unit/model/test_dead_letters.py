"""The wire form of a dead letter."""

import json

from sweephand.model.job import JobKey
from sweephand.model.trigger import DeadLetter, Trigger, TriggerMessage
from sweephand.model.wire import decode, encode, encode_letter

KEY = JobKey("team", "a:b@c+d=e~f_g-h.i")
MESSAGE = TriggerMessage(
    Trigger(KEY, "u" * 16, "r-1", due_at=1_795_262_400_250, sequence=7, armed_at=1_795_262_000_000, index=3),
    not_before=1_795_262_405_000,
    attempt=2,
)


def test_a_dead_letter_has_all_fields_that_a_redrive_needs() -> None:
    body = encode(MESSAGE)
    letter = DeadLetter(
        body, "Attempt 10 of 10 failed: Response 503.", MESSAGE.trigger, 10, 503, "busy \x00 €"
    )
    written = json.loads(encode_letter(letter))
    assert decode(written.pop("message")) == MESSAGE
    assert written == {
        "v": 1,
        "reason": "Attempt 10 of 10 failed: Response 503.",
        "triggerId": MESSAGE.trigger.id,
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
