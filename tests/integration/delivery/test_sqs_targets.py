"""What a consumer behind an SQS queue receives, and what a queue's refusal says."""

import json
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError
from tests.fakes.consumer import LABELS, LINKED, ORIGIN, attempt_of, longest_attempt
from tests.fakes.sqs import Sqs, refusal, sqs_targets

from sweephand.delivery.checked_clients import SqsClients
from sweephand.model.attempt import Answer
from sweephand.model.job import JobKey
from sweephand.targets.reach import EVERY_QUEUE, JobQueues
from sweephand.targets.sqs import TYPE

QUEUE = "https://sqs.eu-west-1.amazonaws.com/123456789012/work"


def spec_of(url: str, **fields: Any) -> dict[str, Any]:
    return {"type": "sqs", "queueUrl": url, **fields}


def test_the_body_is_the_data_and_one_attribute_names_the_trigger(sqs: Sqs) -> None:
    url = sqs.queue("work")
    body = '{"task":"ü","n":1.10}'
    answer = sqs_targets(sqs.clients).deliver(attempt_of(spec_of(url), body.encode()))
    (received,) = sqs.messages(url)
    assert (answer, received["Body"]) == (Answer(succeeded=True), body)
    assert set(received["MessageAttributes"]) == {"sweephand"}
    assert json.loads(received["MessageAttributes"]["sweephand"]["StringValue"]) == {
        "id": "uuuuuuuuuuuuuuuu-1795262400250-3",
        "namespace": "team",
        "job": "nightly",
        "run": "1795262400250-3",
        "due": "2026-11-21T12:00:00.250Z",
        "attempt": 2,
        "sequence": 7,
        "batchIndex": 3,
    }


def test_the_attribute_holds_labels_and_the_trace_context(sqs: Sqs) -> None:
    url, labels = sqs.queue("work"), {"team": "ops", "place": "Zürich"}
    made = attempt_of(spec_of(url))._replace(labels=labels, origin=ORIGIN)
    assert sqs_targets(sqs.clients).deliver(made).succeeded
    (received,) = sqs.messages(url)
    names = json.loads(received["MessageAttributes"]["sweephand"]["StringValue"])
    assert names["labels"] == labels
    assert {name: names[name] for name in LINKED} == LINKED


def test_the_attribute_holds_a_run_token_or_says_that_a_run_has_ended(sqs: Sqs) -> None:
    url = sqs.queue("work")
    targets = sqs_targets(sqs.clients)
    attempt = attempt_of(spec_of(url))
    for made, names in (
        (attempt._replace(run_token="shr_x"), {"id": attempt.trigger.id, "runToken": "shr_x"}),
        (attempt._replace(ended_after=2), {"id": f"{attempt.trigger.id}-end-2", "event": "end"}),
        (
            attempt._replace(ended_after=1, ends_batch=True),
            {
                "id": f"{attempt.trigger.uid}-{attempt.trigger.due_at}-batch-end",
                "event": "batch-end",
                "batch": str(attempt.trigger.due_at),
            },
        ),
    ):
        assert targets.deliver(made).succeeded
        (received,) = sqs.messages(url)
        attribute = json.loads(received["MessageAttributes"]["sweephand"]["StringValue"])
        assert attribute | names == attribute


def test_a_fifo_queue_takes_a_trigger_once_however_often_it_is_sent(sqs: Sqs) -> None:
    url = sqs.queue("work.fifo")
    targets = sqs_targets(sqs.clients)
    for _ in range(3):
        assert targets.deliver(attempt_of(spec_of(url))).succeeded
    (received,) = sqs.messages(url)
    assert received["Attributes"]["MessageDeduplicationId"] == "uuuuuuuuuuuuuuuu-1795262400250-3"
    assert received["Attributes"]["MessageGroupId"] == "team/nightly"


def test_a_fifo_queue_takes_each_attempt_that_must_be_a_message_of_its_own(sqs: Sqs) -> None:
    url = sqs.queue("work.fifo")
    targets = sqs_targets(sqs.clients)
    attempt = attempt_of(spec_of(url))
    for number in (1, 1, 2, 2, 3):
        made = attempt._replace(number=number, run_token=f"shr_{number}", must_be_new=number > 1)
        assert targets.deliver(made).succeeded
    names = [json.loads(each["MessageAttributes"]["sweephand"]["StringValue"]) for each in sqs.messages(url)]
    assert [(each["attempt"], each["runToken"]) for each in names] == [
        (1, "shr_1"),
        (2, "shr_2"),
        (3, "shr_3"),
    ]
    assert len({each["id"] for each in names}) == 1


def test_a_job_may_name_its_message_group_and_a_key_that_is_too_long_for_one_is_hashed(sqs: Sqs) -> None:
    url = sqs.queue("work.fifo")
    targets = sqs_targets(sqs.clients)
    targets.deliver(attempt_of(spec_of(url, messageGroupId="mine")))
    (received,) = sqs.messages(url)
    assert received["Attributes"]["MessageGroupId"] == "mine"
    other = sqs.queue("other.fifo")
    targets.deliver(attempt_of(spec_of(other), key=JobKey("n" * 128, "j" * 128)))
    (received,) = sqs.messages(other)
    assert len(received["Attributes"]["MessageGroupId"]) == 64


def test_characters_that_sqs_refuses_are_sent_escaped_and_arrive_as_equal_json(sqs: Sqs) -> None:
    url = sqs.queue("work")
    data = {"\ufffe": "\uffff and 💥"}
    body = json.dumps(data, ensure_ascii=False).encode()
    sqs_targets(sqs.clients).deliver(attempt_of(spec_of(url), body))
    (received,) = sqs.messages(url)
    assert json.loads(received["Body"]) == data
    assert not {"\ufffe", "\uffff"} & set(received["Body"])


def test_a_missing_queue_is_a_failed_attempt_that_is_tried_again(sqs: Sqs) -> None:
    answer = sqs_targets(sqs.clients).deliver(attempt_of(spec_of(QUEUE)))
    assert (answer.succeeded, answer.is_final, answer.code) == (False, False, None)
    assert answer.error is not None
    assert answer.error.startswith("SQS refused: AWS.SimpleQueueService.NonExistentQueue: ")


@pytest.mark.parametrize(
    ("raised", "error"),
    [
        (refusal("OverLimit", "SendMessage"), "SQS refused: OverLimit: because"),
        # The key's owner repairs it: it says nothing of the list of queues.
        (
            refusal("KMS.AccessDeniedException", "SendMessage"),
            "SQS refused: KMS.AccessDeniedException: because",
        ),
        (
            EndpointConnectionError(endpoint_url="https://sqs.example"),
            'SQS did not answer: Could not connect to the endpoint URL: "https://sqs.example"',
        ),
    ],
)
def test_every_refusal_of_sqs_is_a_failed_answer(raised: Exception, error: str) -> None:
    class Refusing:
        def send_message(self, **_: Any) -> None:
            raise raised

    clients = SqsClients(lambda _: Refusing())  # type: ignore[arg-type, return-value] # what is called of one
    answer = sqs_targets(clients).deliver(attempt_of(spec_of(QUEUE)))
    assert answer == Answer(succeeded=False, error=error)


@pytest.mark.parametrize("code", ["AccessDenied", "AccessDeniedException"])
def test_a_queue_that_does_not_let_the_stack_in_is_refused_for_good(code: str) -> None:
    class Refusing:
        def send_message(self, **_: Any) -> None:
            raise refusal(code, "SendMessage")

    clients = SqsClients(lambda _: Refusing())  # type: ignore[arg-type, return-value] # what is called of one
    answer = sqs_targets(clients).deliver(attempt_of(spec_of(QUEUE)))
    assert (answer.succeeded, answer.is_final, answer.code) == (False, True, None)
    assert answer.error == (
        "This stack may not send to arn:aws:sqs:eu-west-1:123456789012:work: give a queue that its parameter "
        "TargetQueueArns names, or have its operator add this one there. The policy of a queue in another "
        f"account has to allow the stack's deliveries, too. SQS refused: {code}: because"
    )


def test_a_queue_that_is_not_listed_any_more_is_refused_for_good_and_nothing_is_sent() -> None:
    clients = SqsClients(lambda _: pytest.fail("no client is made for it"))
    queues = JobQueues(arns=("arn:aws:sqs:eu-west-1:123456789012:sweephand-*",))
    answer = sqs_targets(clients, queues).deliver(attempt_of(spec_of(QUEUE)))
    assert (answer.succeeded, answer.is_final) == (False, True)
    assert answer.error is not None
    assert "TargetQueueArns" in answer.error


def test_data_of_the_maximal_size_fits_into_a_message_beside_the_longest_names() -> None:
    class Taking:
        def send_message(self, **sent: Any) -> None:
            (name, attribute), *others = sent["MessageAttributes"].items()
            assert not others
            parts = (sent["MessageBody"], name, attribute["DataType"], attribute["StringValue"])
            sizes.append(sum(len(each.encode()) for each in parts))

    sizes: list[int] = []
    clients = SqsClients(lambda _: Taking())  # type: ignore[arg-type, return-value] # what is called of one
    longest = longest_attempt(spec_of(QUEUE), b"x" * TYPE.data_room(LABELS))
    assert sqs_targets(clients).deliver(longest).succeeded
    assert max(sizes) <= 262_144


def test_a_queue_that_the_stack_no_longer_allows_is_refused_with_the_reason() -> None:
    clients = SqsClients(lambda _: pytest.fail("no client is made for it"))
    spec = spec_of("http://127.0.0.1:4566/000000000000/work")
    answer = sqs_targets(clients).deliver(attempt_of(spec))
    assert answer.error == "The target's queue cannot be used: Use https: this stack does not allow http."


def test_a_queue_of_the_stack_itself_is_refused_for_good(sqs: Sqs) -> None:
    url = sqs.queue("delivery")
    targets = sqs_targets(sqs.clients, EVERY_QUEUE._replace(own=[url]))
    answer = targets.deliver(attempt_of(spec_of(url)))
    assert (answer.succeeded, answer.is_final) == (False, True)
    assert not sqs.messages(url)
