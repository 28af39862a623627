"""The deployed template delivers jobs that were written over HTTP. No part of it is a fake."""

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import pytest
from infra.local.deploy import session
from tests.e2e.deliveries import (
    ON_TIME_MS,
    assert_one_trigger_on_time,
    assert_signed_and_on_time,
    due_of,
    dues_of,
    instant,
)
from tests.e2e.schedule import Schedule, eventually
from tests.e2e.wheel import FAR_S
from tests.fakes.receiver import Answer, Receiver


def queue_reader(stack: Mapping[str, Any], url: str) -> Callable[[], list[Any]]:
    """A function that takes what is in a queue, waiting a second for the first message."""
    sqs = session().client("sqs", endpoint_url=stack["awsEndpointUrl"])

    def read() -> list[Any]:
        answer = sqs.receive_message(
            QueueUrl=url, MaxNumberOfMessages=10, WaitTimeSeconds=1, MessageAttributeNames=["All"]
        )
        found: list[Any] = answer.get("Messages", [])
        for message in found:
            sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        return found

    return read


def test_a_one_off_arrives_once_signed_with_its_data_byte_for_byte(
    schedule: Schedule, receiver: Receiver
) -> None:
    body = (
        b'{"dueTime":"3s","target":{"type":"http","url":"%s"},"data":{"n":1.10,"big":123456789012345678901}}'
    )
    answer = schedule.client.call("PUT", schedule.path("once"), body % receiver.url("/once").encode())
    assert answer.status == 201
    (delivery,) = receiver.wait("/once", 1, within_s=90)
    assert_signed_and_on_time(delivery)
    assert delivery.body == b'{"n":1.10,"big":123456789012345678901}'
    assert delivery.headers["sweephand-attempt"] == "1"
    assert delivery.headers["sweephand-job"] == "once"
    (run,) = eventually(lambda: [schedule.runs("once")], bool)
    assert (run["state"], run["attempts"], run["responseCode"]) == ("succeeded", 1, 200)
    assert 0 <= run["latenessMs"] < ON_TIME_MS
    assert len(receiver.deliveries("/once")) == 1


def test_a_series_arrives_at_each_of_its_times_and_ends(schedule: Schedule, receiver: Receiver) -> None:
    target = {"type": "http", "url": receiver.url("/series")}
    schedule.put("series", schedule="@every 1s", repeats=4, target=target)
    schedule.put("after", dueTime="6s", target={"type": "http", "url": receiver.url("/after")})
    deliveries = receiver.wait("/series", 4, within_s=90)
    receiver.wait("/after", 1, within_s=90)
    assert len(receiver.deliveries("/series")) == 4
    for delivery in deliveries:
        assert_signed_and_on_time(delivery)
    assert [later - earlier for earlier, later in pairwise(dues_of(deliveries))] == [1_000] * 3
    assert sorted(each.headers["sweephand-sequence"] for each in deliveries) == ["1", "2", "3", "4"]
    assert schedule.client.ask("GET", schedule.path("series"))["state"] == "completed"


def test_a_job_that_is_paused_for_three_seconds_goes_on_by_itself(
    schedule: Schedule, receiver: Receiver
) -> None:
    target = {"type": "http", "url": receiver.url("/held")}
    schedule.put("held", schedule="@every 1s", dueTime="2s", target=target)
    until = schedule.do("held", "pause", {"until": "3s", "catchup": "none"})["pausedUntil"]
    # A function that receives the first trigger before the resume is committed puts it back. It then arrives
    # after the next one.
    eventually(lambda: dues_of(receiver.deliveries("/held")), lambda due: 0 <= due - instant(until) < 1_000)
    deliveries = receiver.wait("/held", 2, within_s=90)
    assert dues_of(deliveries)[0] >= instant(until)
    assert_signed_and_on_time(max(deliveries, key=due_of))
    change = schedule.client.ask("GET", f"{schedule.path('held')}/changes")["items"][0]
    assert (change["what"], change["who"], change["until"]) == ("resumed", "sweephand", until)
    schedule.client.call("DELETE", schedule.path("held"))


def test_a_failed_delivery_is_tried_again_under_the_same_trigger_id(
    schedule: Schedule, receiver: Receiver
) -> None:
    receiver.answer("/flaky", Answer(503), Answer(500, headers={"retry-after": "1"}))
    schedule.put(
        "flaky",
        dueTime="2s",
        target={"type": "http", "url": receiver.url("/flaky")},
        retry={"initialDelay": "1s", "multiplier": 1},
    )
    deliveries = receiver.wait("/flaky", 3, within_s=90)
    assert [each.headers["sweephand-attempt"] for each in deliveries] == ["1", "2", "3"]
    assert len({each.trigger_id for each in deliveries}) == 1
    assert all(each.is_signed for each in deliveries)
    runs = eventually(lambda: [schedule.runs("flaky")], lambda runs: runs[0]["state"] == "succeeded")
    assert runs[0]["attempts"] == 3


def test_a_poison_message_becomes_a_dead_letter_with_its_reason_and_delays_no_other_trigger(
    schedule: Schedule, receiver: Receiver, stack: Mapping[str, Any]
) -> None:
    sqs = session().client("sqs", endpoint_url=stack["awsEndpointUrl"])
    poison = f"poison of {schedule.namespace}"
    schedule.put("healthy", dueTime="2s", target={"type": "http", "url": receiver.url("/healthy")})
    sqs.send_message(QueueUrl=stack["queues"]["delivery"], MessageBody=poison)
    letters = queue_reader(stack, stack["queues"]["deadLetter"])
    letter = eventually(letters, lambda each: poison in each["Body"])
    assert letter["MessageAttributes"]["reason"]["StringValue"]
    assert_signed_and_on_time(receiver.wait("/healthy", 1, within_s=90)[0])


@pytest.mark.comes_last
def test_a_job_due_beyond_the_direct_window_is_delivered_through_the_wheel(far: Receiver) -> None:
    assert_one_trigger_on_time(far.wait("/far", 1, within_s=FAR_S + 60))


@pytest.mark.comes_last
def test_a_job_whose_timer_was_lost_is_delivered_on_time_after_a_rebuild(rebuilt: Receiver) -> None:
    assert_one_trigger_on_time(rebuilt.wait("/lost", 1, within_s=FAR_S + 60))
