"""What a function, a topic, a bus and a state machine receive."""

import json
from io import BytesIO
from typing import Any, Final

import pytest
from tests.fakes.aws import Aws, Lambda, aws_error
from tests.fakes.consumer import LABELS, LINKED, ORIGIN, attempt_of, longest_attempt
from tests.fakes.doubles import HandClock
from tests.fakes.sqs import Sqs
from tests.fakes.targets import EVENTBRIDGE, LAMBDA, SECURE, SNS, STEPFUNCTIONS

from sweephand.delivery.adapter import AwsClients, Stack
from sweephand.delivery.eventbridge import SEEN_S, _Buses
from sweephand.delivery.registry import TargetsByType
from sweephand.model.attempt import Answer, Attempt
from sweephand.model.run_id import Demand
from sweephand.targets.registry import target_types

ID: Final = "uuuuuuuuuuuuuuuu-1795262400250-3"
NAMES: Final = {
    "id": ID,
    "namespace": "team",
    "job": "nightly",
    "run": "1795262400250-3",
    "due": "2026-11-21T12:00:00.250Z",
    "attempt": 2,
    "sequence": 7,
    "batchIndex": 3,
}
BODY: Final = '{"task":"ü\\ufffe","n":1.10}'.encode()
DATA: Final = {"task": "ü\ufffe", "n": 1.10}


@pytest.fixture
def aws(sqs: Sqs) -> Aws:
    del sqs
    return Aws()


def deliver(attempt: Attempt, clients: AwsClients, sqs: Sqs | None = None) -> Answer:
    sqs_clients: Any = None if sqs is None else sqs.clients
    return TargetsByType(Stack(HandClock(), sqs_clients, clients, SECURE)).deliver(attempt)


def queue_arn(sqs: Sqs, url: str) -> str:
    attributes = sqs.client.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]
    return attributes["QueueArn"]


def test_a_function_gets_the_names_and_the_data(aws: Aws) -> None:
    answer = deliver(attempt_of(LAMBDA, BODY), aws.clients)
    assert answer == Answer(succeeded=True, code=202)
    assert aws.functions.events == [{"sweephand": NAMES, "data": DATA}]


def test_the_numbers_of_data_are_the_callers() -> None:
    payloads: list[bytes] = []

    class Keeping:
        def invoke(self, **request: Any) -> dict[str, Any]:
            payloads.append(request["Payload"])
            return {"StatusCode": 202, "Payload": BytesIO()}

    deliver(
        attempt_of(LAMBDA, b'{"n":1.10,"big":123456789012345678901234567890}'),
        AwsClients(lambda _: Keeping()),
    )
    (payload,) = payloads
    assert payload.endswith(b',"data":{"n":1.10,"big":123456789012345678901234567890}}')


def test_the_sdk_does_not_repeat_an_attempt_that_may_be_sent_once() -> None:
    aws = Aws(Lambda(lambda _: None))
    assert deliver(attempt_of(LAMBDA)._replace(sends_once=True), aws.clients).succeeded
    (service,) = aws.asked
    assert service.tries_max == 1


def test_a_function_that_is_waited_for_decides_on_the_attempt() -> None:
    aws = Aws(Lambda(lambda event: {"done": event["data"]}))
    spec = LAMBDA | {"invocation": "sync"}
    answer = deliver(attempt_of(spec, b'"x"'), aws.clients)
    assert answer == Answer(succeeded=True, code=200, text='{"done": "x"}')
    (service,) = aws.asked
    assert service.tries_max == 1, "a second try would invoke the function twice"

    def failing(event: Any) -> None:
        raise RuntimeError(f"no {event['data']}")

    answer = deliver(attempt_of(spec, b'"x"'), Aws(Lambda(failing)).clients)
    assert (answer.succeeded, answer.is_final, answer.code) == (False, False, 200)
    assert answer.error == "The function failed: RuntimeError: no x"
    assert answer.text is not None
    assert "RuntimeError" in answer.text


@pytest.mark.parametrize(
    "body",
    [b"", b"null", b"[]", b"not JSON", b"{}", b"\xff", b"[" * 20_000],
    ids=lambda each: repr(each[:10]),
)
def test_an_error_of_a_function_needs_no_form(body: bytes) -> None:
    class Failing:
        def invoke(self, **_: Any) -> dict[str, Any]:
            from io import BytesIO  # noqa: PLC0415 - what boto3 gives

            return {"StatusCode": 200, "FunctionError": "Unhandled", "Payload": BytesIO(body)}

    answer = deliver(attempt_of(LAMBDA | {"invocation": "sync"}), AwsClients(lambda _: Failing()))
    assert answer.error == "The function failed."


def test_a_topic_gets_the_data_and_one_attribute_with_the_names(aws: Aws, sqs: Sqs) -> None:
    url, topic = sqs.queue("received"), aws.topic("orders")
    aws.subscribe(topic, queue_arn(sqs, url))
    assert deliver(attempt_of(SNS | {"topicArn": topic}, BODY), aws.clients) == Answer(succeeded=True)
    (received,) = sqs.messages(url)
    assert json.loads(received["Body"]) == DATA
    assert set(received["MessageAttributes"]) == {"sweephand"}
    assert json.loads(received["MessageAttributes"]["sweephand"]["StringValue"]) == NAMES


def test_a_fifo_topic_takes_a_trigger_once_unless_the_attempt_must_be_new(aws: Aws, sqs: Sqs) -> None:
    url, topic = sqs.queue("received.fifo"), aws.topic("orders.fifo")
    aws.subscribe(topic, queue_arn(sqs, url))
    attempt = attempt_of(SNS | {"topicArn": topic})
    for must_be_new in (False, False, True):
        assert deliver(attempt._replace(must_be_new=must_be_new), aws.clients).succeeded
    ids = [each["Attributes"]["MessageDeduplicationId"] for each in sqs.messages(url)]
    assert ids == [ID, f"{ID}-2"]


def test_a_bus_gets_an_event_at_the_due_time(aws: Aws, sqs: Sqs) -> None:
    url = sqs.queue("received")
    bus = aws.bus("orders", queue_arn(sqs, url))
    spec = EVENTBRIDGE | {"busArn": bus}
    assert deliver(attempt_of(spec, BODY), aws.clients) == Answer(succeeded=True)
    assert deliver(attempt_of(spec | {"source": "orders", "detailType": "due"}), aws.clients).succeeded
    first, second = (json.loads(each["Body"]) for each in sqs.messages(url))
    assert first["detail"] == {"sweephand": NAMES, "data": DATA}
    assert (first["source"], first["detail-type"], first["time"]) == (
        "sweephand",
        "sweephand.trigger",
        "2026-11-21T12:00:00Z",
    )
    assert (second["source"], second["detail-type"]) == ("orders", "due")


def test_an_execution_has_the_triggers_id_and_starts_once(aws: Aws) -> None:
    machine = aws.state_machine("orders")
    attempt = attempt_of(STEPFUNCTIONS | {"stateMachineArn": machine}, BODY)
    for made in (attempt, attempt._replace(number=3), attempt._replace(number=4, must_be_new=True)):
        assert deliver(made, aws.clients) == Answer(succeeded=True)
    assert aws.executions(machine) == {
        ID: {"sweephand": NAMES, "data": DATA},
        f"{ID}-4": {"sweephand": NAMES | {"attempt": 4}, "data": DATA},
    }


def test_an_id_that_is_too_long_for_an_execution_is_hashed(aws: Aws) -> None:
    machine = aws.state_machine("orders")
    attempt = attempt_of(STEPFUNCTIONS | {"stateMachineArn": machine})
    trigger = attempt.trigger._replace(demand=Demand("manual", "d" * 100, 0))
    for _ in range(2):
        assert deliver(attempt._replace(trigger=trigger), aws.clients).succeeded
    (name,) = aws.executions(machine)
    assert len(name) == 64


@pytest.mark.parametrize("spec", [LAMBDA, SNS, EVENTBRIDGE, STEPFUNCTIONS], ids=lambda each: each["type"])
def test_labels_and_trace_context_travel_among_the_names(spec: dict[str, Any]) -> None:
    sent: list[str] = []

    class Taking:
        def __getattr__(self, _: str) -> Any:
            return self.take

        def take(self, **request: Any) -> dict[str, Any]:
            sent.append(json.dumps(request, default=lambda each: each.decode()))
            return {"StatusCode": 202, "FailedEntryCount": 0, "Payload": BytesIO()}

    labels = {"team": "ops", "place": "Zürich"}
    made = attempt_of(spec)._replace(labels=labels, origin=ORIGIN)
    assert deliver(made, AwsClients(lambda _: Taking())).succeeded
    carried = json.dumps({"labels": labels, **LINKED}, separators=(",", ":"))[1:-1]
    assert json.dumps(carried)[1:-1] in sent[-1]


@pytest.mark.parametrize("spec", [LAMBDA, SNS, EVENTBRIDGE, STEPFUNCTIONS], ids=lambda each: each["type"])
def test_data_of_the_maximal_size_fits_beside_the_longest_names(spec: dict[str, Any]) -> None:
    sizes: list[int] = []

    class Taking:
        def __getattr__(self, _: str) -> Any:
            return self.take

        def take(self, **sent: Any) -> dict[str, Any]:
            (entry,) = sent.pop("Entries", [sent])
            attribute = entry.pop("MessageAttributes", {}).get("sweephand", {})
            texts = [*entry.values(), "sweephand", *attribute.values()]
            sizes.append(sum(len(str(each).encode()) for each in texts))
            return {"StatusCode": 202, "FailedEntryCount": 0, "Payload": BytesIO()}

    most = target_types()[spec["type"]].data_room(LABELS)
    longest = spec | ({"source": "s" * 128, "detailType": "d" * 128} if spec is EVENTBRIDGE else {})
    made = longest_attempt(longest, b'"' + b"x" * (most - 2) + b'"')
    assert deliver(made, AwsClients(lambda _: Taking())).succeeded
    assert most < max(sizes) <= 262_144


RAW: Final = {"format": "raw"}


def test_in_the_format_raw_every_consumer_gets_the_data_alone(aws: Aws, sqs: Sqs) -> None:
    urls = [sqs.queue(name) for name in ("direct", "of-topic", "of-bus")]
    topic, machine = aws.topic("orders"), aws.state_machine("orders")
    bus = aws.bus("orders", queue_arn(sqs, urls[2]))
    aws.subscribe(topic, queue_arn(sqs, urls[1]))
    text = json.dumps('{"n": 1.10, "at": "<aws.scheduler.scheduled-time>"}').encode()
    sent = '{"n": 1.10, "at": "2026-11-21T12:00:00Z"}'
    specs = [
        LAMBDA,
        {"type": "sqs", "queueUrl": urls[0]},
        SNS | {"topicArn": topic},
        EVENTBRIDGE | {"busArn": bus},
        STEPFUNCTIONS | {"stateMachineArn": machine},
    ]
    for spec in specs:
        assert deliver(attempt_of(spec | RAW, text), aws.clients, sqs).succeeded
    assert aws.functions.events == [json.loads(sent)]
    direct, of_topic, of_bus = ([each["Body"] for each in sqs.messages(url)] for url in urls)
    assert (direct, of_topic) == ([sent], [sent])
    assert [json.loads(each)["detail"] for each in of_bus] == [json.loads(sent)]
    assert aws.executions(machine) == {ID: json.loads(sent)}


def test_in_the_format_raw_a_text_that_is_no_json_comes_as_it_is(sqs: Sqs, aws: Aws) -> None:
    url = sqs.queue("direct")
    spec = {"type": "sqs", "queueUrl": url} | RAW
    assert deliver(attempt_of(spec, b'"two\\nlines"'), aws.clients, sqs).succeeded
    assert [each["Body"] for each in sqs.messages(url)] == ["two\nlines"]


@pytest.mark.parametrize("spec", [LAMBDA, EVENTBRIDGE, STEPFUNCTIONS], ids=lambda each: each["type"])
def test_in_the_format_raw_no_data_with_names_of_a_delivery_is_sent(spec: dict[str, Any], aws: Aws) -> None:
    answer = deliver(attempt_of(spec | RAW, b'{"detail":{"sweephand":{"namespace":"billing"}}}'), aws.clients)
    assert (answer.succeeded, answer.is_final, "the field sweephand" in str(answer.error)) == (
        False,
        True,
        True,
    )


def test_a_bus_is_looked_for_once_a_minute() -> None:
    asked: list[str] = []
    now_s = 1_000.0

    class Events:
        def describe_event_bus(self, **request: Any) -> None:
            asked.append(request["Name"])
            if is_gone:
                raise aws_error("ResourceNotFoundException", "DescribeEventBus")

        def put_events(self, **_: Any) -> dict[str, Any]:
            return {"FailedEntryCount": 0}

    buses, is_gone = _Buses(lambda: now_s), False
    for _ in range(3):
        assert buses.send(Events(), attempt_of(EVENTBRIDGE)).succeeded
    assert asked == [EVENTBRIDGE["busArn"]]
    now_s += SEEN_S
    is_gone = True
    with pytest.raises(Exception, match="ResourceNotFoundException"):
        buses.send(Events(), attempt_of(EVENTBRIDGE))


def test_a_bus_that_may_not_be_looked_for_gets_its_events() -> None:
    class Events:
        def describe_event_bus(self, **_: Any) -> None:
            raise aws_error("AccessDeniedException", "DescribeEventBus")

        def put_events(self, **_: Any) -> dict[str, Any]:
            return {"FailedEntryCount": 0}

    assert deliver(attempt_of(EVENTBRIDGE), AwsClients(lambda _: Events())).succeeded
