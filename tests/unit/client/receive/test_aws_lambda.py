"""A Lambda function receives requests by HTTP, messages of SQS and SNS, and events."""

import json
from base64 import b64encode
from typing import Any

import pytest

from sweephand_client.http.errors import ConflictError, Problem
from sweephand_client.receive import ACCEPTED, FinalError, Receiver, Run
from sweephand_client.receive.aws_lambda import lambda_handler
from sweephand_client.receive.messages import NotDoneError
from sweephand_client.receive.run import UnreadableError
from sweephand_engine.testing import Stack

QUEUE = "https://sqs.eu-west-1.amazonaws.com/123456789012/sweephand-work"
FUNCTION = "arn:aws:lambda:eu-west-1:123456789012:function:my-consumer"
TOPIC = "arn:aws:sns:eu-west-1:123456789012:sweephand-work"


@pytest.fixture
def receiver(stack: Stack) -> Receiver:
    receiver = Receiver()
    receiver.use(stack.client)
    return receiver


def put(stack: Stack, job: str, target: dict[str, Any], **fields: Any) -> None:
    stack.put_job(job, target=target, dueTime="1s", **fields)


def sqs_records(stack: Stack, *, of: str = "work") -> list[dict[str, Any]]:
    """The messages that the stack has sent, as the event source mapping hands them over."""
    return [
        {
            "messageId": f"m{at}",
            "body": each.request["MessageBody"],
            "messageAttributes": {
                name: {"stringValue": value["StringValue"], "dataType": value["DataType"]}
                for name, value in each.request["MessageAttributes"].items()
            },
            "eventSource": "aws:sqs",
            "eventSourceARN": f"arn:aws:sqs:eu-west-1:123456789012:{of}",
        }
        for at, each in enumerate(stack.deliveries)
    ]


@pytest.mark.parametrize("is_encoded", [False, True])
def test_a_request_by_http_is_answered(stack: Stack, receiver: Receiver, *, is_encoded: bool) -> None:
    answers: list[Any] = []
    receiver.on("report")(lambda run: {"rows": run.data})

    def consumer(delivery: Any) -> Any:
        body = b64encode(delivery.body).decode() if is_encoded else delivery.body.decode()
        event = {
            "requestContext": {},
            "headers": dict(delivery.headers),
            "body": body,
            "isBase64Encoded": is_encoded,
        }
        answer = lambda_handler(receiver)(event, None)
        json.dumps(answer)
        answers.append(answer)
        return answer["statusCode"], answer["headers"], answer["body"].encode()

    stack.deliver_to(consumer)
    stack.put_job("report", dueTime="1s", data="é")
    stack.travel("5s")
    assert stack.runs("report")[0].answer["answer"] == '{"rows": "\\u00e9"}'
    changed = {"requestContext": {}, "headers": dict(stack.deliveries[0].headers), "body": "other"}
    assert lambda_handler(receiver)(changed, None)["statusCode"] == 401


def test_messages_of_sqs_that_failed_go_back_to_the_queue(stack: Stack, receiver: Receiver) -> None:
    seen: list[str] = []

    @receiver.on()
    def handle(run: Run) -> None:
        seen.append(run.job)
        if run.job == "b":
            raise OSError("no")

    for job in "abc":
        put(stack, job, {"type": "sqs", "queueUrl": QUEUE})
    stack.travel("5s")
    records = sqs_records(stack)
    failing = next(
        each for each in records if '"job":"b"' in each["messageAttributes"]["sweephand"]["stringValue"]
    )

    assert lambda_handler(receiver)({"Records": records}, None) == {
        "batchItemFailures": [{"itemIdentifier": failing["messageId"]}]
    }
    assert sorted(seen) == ["a", "b", "c"]
    lambda_handler(receiver)({"Records": records}, None)
    assert sorted(seen) == ["a", "b", "b", "c"], "what was done is not done again"


def test_a_fifo_queue_keeps_its_order(stack: Stack, receiver: Receiver) -> None:
    seen: list[str] = []

    @receiver.on()
    def handle(run: Run) -> None:
        seen.append(run.job)
        raise OSError("no")

    for job in "ab":
        put(stack, job, {"type": "sqs", "queueUrl": QUEUE})
    stack.travel("5s")
    answer = lambda_handler(receiver)({"Records": sqs_records(stack, of="work.fifo")}, None)
    assert [each["itemIdentifier"] for each in answer["batchItemFailures"]] == ["m0", "m1"]
    assert len(seen) == 1


def test_callbacks_tell_how_an_asynchronous_message_ended(stack: Stack, receiver: Receiver) -> None:
    @receiver.on()
    def handle(run: Run) -> Any:
        match run.job:
            case "done":
                return {"rows": 3}
            case "final":
                raise FinalError("There is no customer 7.")
            case "broken":
                raise OSError("disk full")
        return ACCEPTED

    jobs = ("done", "final", "broken", "accepted")
    for job in jobs:
        put(stack, job, {"type": "sqs", "queueUrl": QUEUE}, completion="async", retry={"maxAttempts": 1})
    stack.travel("5s")
    assert lambda_handler(receiver)({"Records": sqs_records(stack)}, None) == {"batchItemFailures": []}
    stack.travel("30s")
    runs = {job: stack.runs(job)[0] for job in jobs}
    assert {job: run.state for job, run in runs.items()} == {
        "done": "succeeded",
        "final": "failed",
        "broken": "failed",
        "accepted": "running",
    }
    assert runs["done"].answer["result"] == {"rows": 3}
    assert "There is no customer 7." in str(runs["final"].reason)
    assert "OSError: disk full" in str(runs["broken"].reason)


def test_a_copy_of_an_asynchronous_message_does_not_fail_the_attempt(
    stack: Stack, receiver: Receiver
) -> None:
    """A queue sends a message again when its visibility time-out is over, however long the work takes."""
    seen: list[Any] = []

    @receiver.on()
    def handle(run: Run) -> str:
        seen.append(run.attempt)
        assert lambda_handler(receiver)({"Records": sqs_records(stack)}, None) == {"batchItemFailures": []}
        run.heartbeat()
        return "done"

    put(stack, "job", {"type": "sqs", "queueUrl": QUEUE}, completion="async")
    stack.travel("5s")
    lambda_handler(receiver)({"Records": sqs_records(stack)}, None)
    stack.travel("1m")
    assert seen == [1]
    assert stack.runs("job")[0].answer["result"] == "done"


@pytest.mark.parametrize("error", [ConflictError(Problem(409, "", "")), OSError("x" * 2_000)])
def test_each_error_of_an_asynchronous_message_is_told(
    stack: Stack, receiver: Receiver, error: Exception
) -> None:
    @receiver.on()
    def handle(_: Run) -> None:
        raise error

    put(stack, "job", {"type": "sqs", "queueUrl": QUEUE}, completion="async", retry={"maxAttempts": 1})
    stack.travel("5s")
    assert lambda_handler(receiver)({"Records": sqs_records(stack)}, None) == {"batchItemFailures": []}
    stack.travel("30s")
    assert stack.runs("job")[0].state == "failed"


def test_an_exit_during_a_message_leaves_it_to_the_next_process(stack: Stack, receiver: Receiver) -> None:
    seen: list[int] = []

    @receiver.on()
    def handle(run: Run) -> None:
        seen.append(run.attempt)
        if len(seen) == 1:
            raise SystemExit(1)

    put(stack, "job", {"type": "sqs", "queueUrl": QUEUE})
    stack.travel("5s")
    with pytest.raises(SystemExit):
        lambda_handler(receiver)({"Records": sqs_records(stack)}, None)
    assert lambda_handler(receiver)({"Records": sqs_records(stack)}, None) == {"batchItemFailures": []}
    assert len(seen) == 2


def test_a_cancelled_run_is_not_tried_again_by_its_queue(stack: Stack, receiver: Receiver) -> None:
    receiver.on()(lambda run: run.heartbeat())
    put(stack, "job", {"type": "sqs", "queueUrl": QUEUE}, completion="async")
    stack.travel("5s")
    stack.client.runs.cancel("default", "job", stack.runs("job")[0].id)
    assert lambda_handler(receiver)({"Records": sqs_records(stack)}, None) == {"batchItemFailures": []}


def test_a_foreign_message_goes_back_to_the_queue(receiver: Receiver) -> None:
    record = {
        "messageId": "m",
        "body": "{}",
        "messageAttributes": {},
        "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:eu-west-1:123456789012:work",
    }
    answer = lambda_handler(receiver)({"Records": [record]}, None)
    assert answer == {"batchItemFailures": [{"itemIdentifier": "m"}]}


def test_a_message_of_sns_is_received(stack: Stack, receiver: Receiver) -> None:
    seen: list[Any] = []
    receiver.on()(lambda run: seen.append(run.data))
    put(stack, "job", {"type": "sns", "topicArn": TOPIC}, data=[1])
    stack.travel("5s")
    [sent] = [each.request for each in stack.deliveries]
    attributes = {name: {"Value": each["StringValue"]} for name, each in sent["MessageAttributes"].items()}
    record = {"EventSource": "aws:sns", "Sns": {"Message": sent["Message"], "MessageAttributes": attributes}}
    lambda_handler(receiver)({"Records": [record]}, None)
    assert seen == [[1]]


def test_the_target_lambda_gets_what_the_handler_returns(stack: Stack, receiver: Receiver) -> None:
    receiver.on("job")(lambda run: {"rows": run.data})
    stack.function(FUNCTION, lambda_handler(receiver))
    target = {"type": "lambda", "functionArn": FUNCTION, "invocation": "sync"}
    put(stack, "job", target, data=4)
    put(stack, "unknown", target, retry={"maxAttempts": 1})
    stack.travel("5s")
    assert stack.runs("job")[0].answer["answer"] == '{"rows": 4}'
    assert "No handler is there for unknown (trigger). There are: job." in str(
        stack.runs("unknown")[0].answer
    )


def test_a_result_that_is_no_json_fails_the_run_for_good(stack: Stack, receiver: Receiver) -> None:
    receiver.on()(lambda _: {1})
    put(stack, "job", {"type": "sqs", "queueUrl": QUEUE}, completion="async")
    stack.travel("5s")
    assert lambda_handler(receiver)({"Records": sqs_records(stack)}, None) == {"batchItemFailures": []}
    stack.travel("30s")
    [run] = stack.runs("job")
    assert run.state == "failed"
    assert "set is not JSON serializable" in str(run.reason)


def test_an_event_of_eventbridge_is_received(stack: Stack, receiver: Receiver) -> None:
    seen: list[Any] = []
    receiver.on()(lambda run: seen.append(run.data))
    bus = "arn:aws:events:eu-west-1:123456789012:event-bus/sweephand-work"
    put(stack, "job", {"type": "eventbridge", "busArn": bus, "detailType": "x", "source": "y"}, data=5)
    stack.travel("5s")
    [entry] = stack.deliveries[0].request["Entries"]
    lambda_handler(receiver)({"detail": json.loads(entry["Detail"]), "source": "y"}, None)
    assert seen == [5]


@pytest.mark.parametrize("event", [{}, {"sweephand": {}}, {"sweephand": {"id": 7}}, {"detail": []}])
def test_what_is_no_delivery_is_an_error(receiver: Receiver, event: Any) -> None:
    with pytest.raises(UnreadableError, match="This is no delivery of Sweephand"):
        lambda_handler(receiver)(event, None)


def test_a_function_that_was_ended_by_its_time_out_holds_its_claims_no_longer(
    stack: Stack, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the queue would have given the message up before the lease of 15 minutes is over."""
    seen: list[int] = []

    class Context:
        def get_remaining_time_in_millis(self) -> int:
            return 30_000

    @receiver.on()
    def handle(run: Run) -> None:
        seen.append(run.attempt)
        if len(seen) == 1:
            monkeypatch.setattr(receiver, "release", lambda _: None)  # A process that is killed does nothing.
            raise OSError

    put(stack, "job", {"type": "sqs", "queueUrl": QUEUE})
    stack.travel("5s")
    event = {"Records": sqs_records(stack)}
    assert lambda_handler(receiver)(event, Context())["batchItemFailures"]
    assert lambda_handler(receiver)(event, Context())["batchItemFailures"], "the lease goes on"
    stack.travel("31s")
    assert lambda_handler(receiver)(event, Context()) == {"batchItemFailures": []}
    assert len(seen) == 2


def test_a_call_that_ends_soon_shortens_no_lease_of_a_later_call(receiver: Receiver) -> None:
    for left_s, lease_s in ((5, 5), (300, 300), (3_000, 900), (0, 1)):
        receiver.lease_at_most(left_s)
        assert receiver._lease_s == lease_s


def test_what_only_callbacks_can_end_is_an_error_without_them(stack: Stack, receiver: Receiver) -> None:
    receiver.on()(lambda _: ACCEPTED)
    put(stack, "job", {"type": "sqs", "queueUrl": QUEUE})
    stack.travel("5s")
    assert lambda_handler(receiver)({"Records": sqs_records(stack)}, None)["batchItemFailures"]


@pytest.mark.parametrize("headers", [None, {}])
def test_a_request_without_headers_is_refused(receiver: Receiver, headers: Any) -> None:
    event = {"requestContext": {}, "headers": headers, "body": None}
    assert lambda_handler(receiver)(event, None)["statusCode"] == 401


def test_a_message_that_another_process_works_on_comes_again(stack: Stack, receiver: Receiver) -> None:
    receiver.on()(lambda _: None)
    put(stack, "job", {"type": "sqs", "queueUrl": QUEUE})
    stack.travel("5s")
    [record] = sqs_records(stack)
    names = json.loads(record["messageAttributes"]["sweephand"]["stringValue"])
    receiver._store.add(f"sweephand:{names['id']}", "1767603660", 60)
    assert lambda_handler(receiver)({"Records": [record]}, None)["batchItemFailures"]
    event = {"sweephand": names, "data": None}
    with pytest.raises(NotDoneError, match="Another delivery of this trigger is being worked on"):
        lambda_handler(receiver)(event, None)
