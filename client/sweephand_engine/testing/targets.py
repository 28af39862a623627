"""Targets of a simulated stack: production's adapters, whose requests reach the consumers of a test."""

import io
import json
from collections.abc import Mapping
from contextvars import ContextVar
from functools import partial
from types import SimpleNamespace
from typing import Any, Final

from botocore.exceptions import ConnectionClosedError, EndpointConnectionError, ReadTimeoutError

from sweephand.base.instants import MINUTE_MS, SECOND_MS, Instant, to_datetime
from sweephand.delivery.adapter import WITHDRAWN, AwsClients, Service, Stack
from sweephand.delivery.checked_clients import READ_TIMEOUT_S, SqsClients
from sweephand.delivery.http.connections import NoConnectionError
from sweephand.delivery.http.request import SecretValues, signed_request
from sweephand.delivery.http.targets import ANSWER_BYTES_MAX, Call, HttpTargets
from sweephand.delivery.registry import TargetsByType
from sweephand.model.attempt import Answer, Attempt
from sweephand.model.secret import ReadValues
from sweephand.targets.reach import Reach
from sweephand.targets.target_type import timeout_ms
from sweephand_engine.aws import AwsClient
from sweephand_engine.testing.applications import Reply, Request
from sweephand_engine.testing.clock import SimulatedClock
from sweephand_engine.testing.consumers import Consumers, Delivery, Function, NoFunctionError
from sweephand_engine.wire import refusal

_ERRORS_FROM: Final = 400
_TOO_MANY: Final = 429

#: The longest time of a Lambda function. What is left of it never shrinks here.
_FUNCTION_MS: Final = 15 * MINUTE_MS


class _HttpConsumers(HttpTargets):
    """HTTP targets whose requests reach handlers instead of sockets."""

    def __init__(
        self, reach: Reach, read_secrets: ReadValues, consumers: Consumers, clock: SimulatedClock
    ) -> None:
        super().__init__(clock, allow_insecure=reach.allow_insecure, read_secrets=read_secrets)
        self._consumers = consumers

    def _answer(self, call: Call, values: SecretValues) -> Answer:
        if not call.attempt.may_send():
            return WITHDRAWN
        url = call.target.url
        sent = signed_request(call.target, call.attempt, values)
        request = Request(
            sent.method,
            f"{sent.url.scheme}://{sent.url.authority}{sent.url.target}",
            sent.headers,
            sent.body or b"",
        )
        delivery = _delivery(call.attempt, self._clock.now(), "http", request, {})

        def answer(delivery: Delivery) -> Reply:
            return self._consumers.application(url.host)(request, delivery)

        reply = self._consumers.reach(delivery, url.host, answer, call.target.timeout_ms)
        body, retry_after = reply.body[:ANSWER_BYTES_MAX], reply.headers.get("retry-after")
        return self._answer_of(reply.status, body, retry_after, call, values)


#: The attempt that a client of AWS makes its request for.
_attempt: ContextVar[Attempt] = ContextVar("attempt")

#: Where each request to AWS names its resource, and where it has the data.
_RESOURCES: Final = ("FunctionName", "QueueUrl", "TopicArn", "stateMachineArn")
_BODIES: Final = ("Payload", "MessageBody", "Message", "input")


class SimulatedTargets:
    """ports.Targets of a simulated stack."""

    def __init__(
        self, reach: Reach, read_secrets: ReadValues, consumers: Consumers, clock: SimulatedClock
    ) -> None:
        self._consumers = consumers
        self._clock = clock
        self._http = _HttpConsumers(reach, read_secrets, consumers, clock)
        sqs: Any = AwsClient(Service("sqs", None), self._take)
        clients = AwsClients(lambda service: AwsClient(service, self._take))
        self._aws = TargetsByType(Stack(clock, SqsClients(lambda _: sqs), clients, reach, read_secrets))

    def deliver(self, attempt: Attempt) -> Answer:
        """As ports.Targets promises."""
        if attempt.spec.get("type") == "http":
            return self._http.deliver(attempt)
        token = _attempt.set(attempt)
        try:
            return self._aws.deliver(attempt)
        finally:
            _attempt.reset(token)

    def _take(self, service: str, operation: str, request: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Take a request as AWS does. It raises what boto3 raises."""
        attempt = _attempt.get()
        fields = {**request, **(request.get("Entries") or [{}])[0]}
        arn = str(next((fields[each] for each in _RESOURCES if each in fields), fields.get("EventBusName")))
        body = next((fields[each] for each in _BODIES if each in fields), fields.get("Detail", ""))
        content = body if isinstance(body, bytes) else str(body).encode()
        sent = Request(operation, arn, {}, content)
        delivery = _delivery(attempt, self._clock.now(), service, sent, request)
        is_sync = request.get("InvocationType") == "RequestResponse"
        call = partial(self._invoke, arn, is_sync) if operation == "Invoke" else _accept
        within_ms = timeout_ms(attempt.spec) if is_sync else READ_TIMEOUT_S * SECOND_MS
        try:
            reply = self._consumers.reach(delivery, arn, call, within_ms)
        except NoConnectionError:
            raise EndpointConnectionError(endpoint_url=arn) from None
        except NoFunctionError as error:
            raise refusal("ResourceNotFoundException", operation, str(error)) from None
        except TimeoutError:
            raise ReadTimeoutError(endpoint_url=arn) from None
        except ConnectionResetError:
            raise ConnectionClosedError(endpoint_url=arn) from None
        if operation == "Invoke" and reply.status < _ERRORS_FROM:
            return {"StatusCode": reply.status, "Payload": io.BytesIO(reply.body), **reply.headers}
        if reply.status >= _ERRORS_FROM:
            code = "TooManyRequestsException" if reply.status == _TOO_MANY else "ServiceException"
            raise refusal(code, operation, f"The test answers {reply.status}")
        return None

    def _invoke(self, arn: str, is_sync: bool, delivery: Delivery) -> Reply:  # noqa: FBT001 - of a partial
        """The answer of Lambda. A function that is not waited for runs in a strand of its own."""
        run = partial(self._run, self._consumers.handler(arn), arn, delivery)
        if is_sync:
            return run()
        self._clock.start(run)
        return Reply(202)

    def _run(self, handler: Function, arn: str, delivery: Delivery) -> Reply:
        """What a function returns as JSON, or its error as Lambda describes it."""
        name = arn.partition(":function:")[2].partition(":")[0]
        context = SimpleNamespace(
            aws_request_id=delivery.id,
            function_name=name,
            function_version="$LATEST",
            invoked_function_arn=arn,
            memory_limit_in_mb=128,
            get_remaining_time_in_millis=lambda: _FUNCTION_MS,
        )
        try:
            return Reply(200, {}, json.dumps(handler(delivery.json, context)).encode())
        except Exception as error:  # noqa: BLE001 - a handler may raise anything
            self._consumers.note(delivery, error)
            described = {"errorType": type(error).__name__, "errorMessage": str(error)}
            return Reply(200, {"FunctionError": "Unhandled"}, json.dumps(described).encode())


def _accept(_: Delivery) -> Reply:
    return Reply(200)


def _delivery(
    attempt: Attempt, now: Instant, kind: str, request: Request, asked: Mapping[str, Any]
) -> Delivery:
    trigger = attempt.trigger
    return Delivery(
        at=to_datetime(now),
        namespace=trigger.key.namespace,
        job=trigger.key.name,
        due_at=to_datetime(trigger.due_at),
        attempt=attempt.number,
        id=attempt.id,
        type=kind,
        method=request.method,
        url=request.url,
        headers=request.headers,
        body=request.body,
        request=asked,
    )
