"""What goes wrong between a stack and its consumers, on demand."""

from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from sweephand_engine.testing import Delivery, Reply, Stack

ARN = "arn:aws:lambda:eu-west-1:123456789012:function:reports"
SYNC = {"type": "lambda", "functionArn": ARN, "invocation": "sync", "timeout": "10s"}


def statuses(stack: Stack) -> list[int | None]:
    return [each.status for each in stack.deliveries]


def test_a_failure_calls_no_handler_and_is_retried(stack: Stack) -> None:
    seen: list[int] = []
    stack.deliver_to(lambda delivery: seen.append(delivery.attempt))
    stack.put_job("report", dueTime="1m")
    stack.fail_next(500, 429)
    stack.travel("1 hour")
    assert statuses(stack) == [500, 429, 204]
    assert seen == [3]
    assert [each.state for each in stack.runs("report")] == ["succeeded"]


def test_an_error_of_a_handler_is_a_failure_and_says_which(stack: Stack) -> None:
    def crash(delivery: Delivery) -> None:
        if delivery.attempt == 1:
            raise RuntimeError("no disk")

    stack.deliver_to(crash)
    stack.put_job("report", dueTime="1m")
    stack.travel("1 hour")
    assert [(each.status, each.error) for each in stack.deliveries] == [
        (500, "RuntimeError: no disk"),
        (204, None),
    ]


def test_an_error_of_aws_in_a_handler_is_a_failure_as_any_other(stack: Stack) -> None:
    def crash(_: Delivery) -> None:
        raise ClientError({"Error": {"Code": "SlowDown", "Message": "Slow down"}}, "PutObject")

    stack.deliver_to(crash)
    stack.put_job("report", dueTime="1m", retry={"maxAttempts": 1})
    stack.travel("1 hour")
    assert statuses(stack) == [500]
    assert "SlowDown" in str(stack.deliveries[0].error)
    assert [(each.state, each.answer["responseCode"]) for each in stack.runs("report")] == [("failed", 500)]


def test_retry_after_is_kept_to(stack: Stack) -> None:
    stack.deliver_to(lambda each: Reply(503, {"retry-after": "600"}) if each.attempt == 1 else None)
    stack.put_job("report", dueTime="1m")
    stack.travel("1 hour")
    first, second = stack.deliveries
    assert timedelta(seconds=600) <= second.at - first.at < timedelta(seconds=700)


def test_a_lost_answer_brings_the_same_id_again(stack: Stack) -> None:
    seen: list[str] = []
    stack.deliver_to(lambda delivery: seen.append(delivery.id))
    stack.put_job("report", dueTime="1m")
    stack.lose_answer()
    stack.travel("1 hour")
    assert len(seen) == 2
    assert len(set(seen)) == 1
    assert statuses(stack) == [None, 204]
    assert stack.deliveries[0].error == "The answer was lost"


def test_a_delivery_that_comes_twice_has_one_id_and_one_run(stack: Stack) -> None:
    seen: list[tuple[str, int, bytes]] = []
    stack.deliver_to(lambda each: seen.append((each.id, each.attempt, each.body)))
    stack.put_job("report", dueTime="1m", data=7)
    stack.deliver_twice()
    stack.travel("1 hour")
    first, second = seen
    assert first == second
    assert statuses(stack) == [204, 204]
    assert [(each.state, each.attempts) for each in stack.runs("report")] == [("succeeded", 1)]


def test_a_consumer_that_begins_late_is_answered_late(stack: Stack) -> None:
    stack.deliver_to(lambda _: None)
    stack.put_job("report", dueTime="1m")
    stack.slow("20s")
    stack.travel("70 seconds")
    assert [each.state for each in stack.runs("report")] != ["succeeded"]
    stack.travel("10 seconds")
    assert [each.state for each in stack.runs("report")] == ["succeeded"]


def test_a_consumer_that_outlasts_its_time_out_goes_on_and_is_tried_again(stack: Stack) -> None:
    ended: list[int] = []

    def slow(delivery: Delivery) -> None:
        stack.sleep("40s" if delivery.attempt == 1 else 0)
        ended.append(delivery.attempt)

    stack.deliver_to(slow)
    target = {"type": "http", "url": "https://consumer.test/", "timeout": "10s"}
    stack.put_job("report", dueTime="1m", target=target)
    stack.travel("30 seconds")
    stack.travel("50 seconds")
    run = stack.runs("report")[0]
    stack.travel("1 hour")

    assert "No answer within 10 s." in str(run.answer)
    assert sorted(ended) == [1, 2]
    assert [(each.status, each.error) for each in stack.deliveries] == [
        (None, "No answer in time"),
        (204, None),
    ]


def test_incidents_happen_to_one_request_each_in_their_order(stack: Stack) -> None:
    stack.deliver_to(lambda _: None)
    stack.put_job("report", dueTime="1m")
    stack.fail_next(503)
    stack.lose_answer()
    stack.slow(1)
    stack.deliver_twice()
    stack.travel("2 hours")
    assert statuses(stack) == [503, None, 204]
    stack.put_job("other", dueTime="1m")
    stack.travel("2 minutes")
    assert statuses(stack)[3:] == [204, 204]


def test_an_outage_of_three_hours_is_made_good_afterwards(stack: Stack) -> None:
    stack.deliver_to(lambda _: None)
    stack.put_job("hourly", "0 * * * *", retry={"maxAge": "1d"})
    with stack.outage():
        stack.travel("3 hours")
    assert {(each.status, each.error) for each in stack.deliveries} == {(None, "Connection refused")}

    stack.travel("1 day")

    assert {each.state for each in stack.runs("hourly")} == {"succeeded"}
    assert max(each.attempts for each in stack.runs("hourly")) > 3


def test_an_outage_ends_at_its_instant(stack: Stack) -> None:
    stack.deliver_to(lambda _: None)
    stack.put_job("often", "* * * * *", retry={"maxAttempts": 1})
    stack.outage(until="2026-10-12T12:03:00Z")
    stack.travel("5 minutes")
    assert statuses(stack) == [None, None, 204, 204, 204]


def test_an_outage_of_one_host_leaves_the_others(stack: Stack) -> None:
    stack.deliver_to({"a.test": lambda _: 200, "b.test": lambda _: 201})
    for host in ("a.test", "b.test"):
        stack.put_job(host, dueTime="1m", target={"type": "http", "url": f"https://{host}/"})
    with stack.outage(of="a.test"):
        stack.travel("2 minutes")
    assert {(each.job, each.status) for each in stack.deliveries} == {("a.test", None), ("b.test", 201)}


def test_a_host_without_a_consumer_says_what_to_do(stack: Stack) -> None:
    stack.deliver_to({"a.test": lambda _: 200})
    stack.put_job("report", dueTime="1m")
    stack.travel("2 minutes")
    assert stack.deliveries[0].error == "the test has mounted no consumer there: deliver_to() does."


def test_what_a_consumer_repeats_of_a_secret_is_hidden_as_in_production(stack: Stack) -> None:
    stack.client.secrets.put("default", "erp", "s3cr3t-value-of-erp")
    stack.deliver_to(lambda each: Reply(400, {}, each.headers["x-key"].encode()))
    target = {"type": "http", "url": "https://a.test/", "headers": {"x-key": {"secretRef": "erp"}}}
    stack.put_job("report", dueTime="1m", target=target)
    stack.travel("2 minutes")
    assert stack.deliveries[0].headers["x-key"] == "s3cr3t-value-of-erp"
    assert "s3cr3t" not in str(stack.runs("report")[0].answer)


def test_a_lambda_function_gets_the_event(stack: Stack) -> None:
    seen: list[tuple[Any, str, str]] = []

    def reports(event: Any, context: Any) -> None:
        seen.append((event, context.function_name, context.aws_request_id))

    stack.function("reports", reports)
    stack.put_job("report", "*/5 * * * *", target={"type": "lambda", "functionArn": ARN}, data={"x": 1})
    stack.travel("1 hour")

    assert len(seen) == 12
    event, name, _ = seen[0]
    assert (event["data"], event["sweephand"]["job"], name) == ({"x": 1}, "report", "reports")
    assert stack.deliveries[0].json == event
    assert statuses(stack) == [202] * 12
    assert {each.state for each in stack.runs("report")} == {"succeeded"}


def test_a_function_that_is_waited_for_answers_or_fails(stack: Stack) -> None:
    def reports(event: Any, _: Any) -> Any:
        if event["sweephand"]["attempt"] == 1:
            raise ValueError("no rows")
        return {"rows": 7}

    stack.function(ARN, reports)
    stack.put_job("report", dueTime="1m", target=SYNC)
    stack.travel("1 hour")

    [run] = stack.runs("report")
    assert (run.state, run.attempts, run.answer["answer"]) == ("succeeded", 2, '{"rows": 7}')
    assert stack.deliveries[0].error == "ValueError: no rows"


@pytest.mark.parametrize("incident", ["fail", "outage", "lose", "slow"])
def test_what_goes_wrong_with_a_function_is_retried(stack: Stack, incident: str) -> None:
    stack.function(ARN, lambda *_: None)
    stack.put_job("report", dueTime="1m", target=SYNC)
    match incident:
        case "fail":
            stack.fail_next(429)
        case "outage":
            stack.outage(of=ARN, until="2026-10-12T12:01:01Z")
        case "lose":
            stack.lose_answer()
        case "slow":
            stack.slow("15s")
    stack.travel("1 hour")
    [run] = stack.runs("report")
    assert (run.state, run.attempts) == ("succeeded", 2)


def test_a_function_that_nobody_has_made_is_a_final_failure(stack: Stack) -> None:
    stack.put_job("report", dueTime="1m", target={"type": "lambda", "functionArn": ARN})
    stack.travel("1 hour")
    [run] = stack.runs("report")
    assert (run.state, run.attempts) == ("failed", 1)
    assert "The test has no function() of that name" in str(run.answer)


@pytest.mark.parametrize(
    ("target", "method", "body"),
    [
        (
            {"type": "sqs", "queueUrl": "https://sqs.eu-west-1.amazonaws.com/123456789012/q"},
            "SendMessage",
            [7],
        ),
        ({"type": "sns", "topicArn": "arn:aws:sns:eu-west-1:123456789012:topic"}, "Publish", [7]),
        (
            {
                "type": "stepfunctions",
                "stateMachineArn": "arn:aws:states:eu-west-1:123456789012:stateMachine:m",
            },
            "StartExecution",
            None,
        ),
        (
            {"type": "eventbridge", "busArn": "arn:aws:events:eu-west-1:123456789012:event-bus/bus"},
            "PutEvents",
            None,
        ),
    ],
    ids=["sqs", "sns", "stepfunctions", "eventbridge"],
)
def test_what_aws_would_have_got_is_a_delivery(
    stack: Stack, target: dict[str, Any], method: str, body: object
) -> None:
    stack.put_job("report", dueTime="1m", data=[7], target=target)
    stack.fail_next(503)
    stack.travel("1 hour")

    first, second = stack.deliveries
    assert (first.status, second.status) == (503, 200)
    assert second.method == method
    assert second.url == next(each for name, each in target.items() if name != "type")
    assert second.json == body if body else second.json["data"] == [7]
    assert second.request
    assert [each.state for each in stack.runs("report")] == ["succeeded"]
