"""The conclusions of the checks from messages."""

from infra.smoke.outage import gaps
from infra.smoke.queue import Message


def test_lateness_is_from_the_due_time_to_when_sqs_took_the_message() -> None:
    names = {"job": "any", "id": "1", "due": "2027-01-01T00:00:00.000Z"}
    message = Message("null", names, {}, 1_798_761_600_250)
    assert message.sent_at - message.due_at == 250


def test_a_due_time_that_is_missing_between_others_is_a_gap() -> None:
    assert gaps([0, 10, 20, 40, 50, 50], 10) == [30]
    assert gaps([], 10) == []
