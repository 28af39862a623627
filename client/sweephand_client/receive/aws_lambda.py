"""Connects a receiver with a Lambda function of yours.

    handler = lambda_handler(receiver)

It takes requests of function URLs, API Gateway and load balancers, messages of SQS and SNS, events of
EventBridge, and what Sweephand's target `lambda` sends. The event source mapping of a queue needs
`ReportBatchItemFailures`.
"""

from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from sweephand_client.receive.messages import perform
from sweephand_client.receive.receiver import Receiver
from sweephand_client.receive.run import Run, UnreadableError, run_of_event, run_of_message

_ATTRIBUTE: Final = "sweephand"


def lambda_handler(receiver: Receiver) -> Callable[[Any, Any], Any]:
    """The handler of a function. Only requests by HTTP are signed: permissions of AWS protect the others."""

    def handle(event: Any, context: Any) -> Any:
        if hasattr(context, "get_remaining_time_in_millis"):
            # The time-out of the function ends the work, so no claim needs to last longer.
            receiver.lease_at_most(context.get_remaining_time_in_millis() / 1_000)
        if "requestContext" in event:
            return _responded(receiver, event)
        records = event.get("Records") or [{}]
        if records[0].get("eventSource") == "aws:sqs":
            return {"batchItemFailures": [{"itemIdentifier": each} for each in _failed(receiver, records)]}
        if records[0].get("EventSource") == "aws:sns":
            for each in records:
                perform(receiver, _of_sns(each["Sns"]))
            return None
        return perform(receiver, run_of_event(event))

    return handle


def _responded(receiver: Receiver, event: Mapping[str, Any]) -> dict[str, Any]:
    text = event.get("body") or ""
    body = b64decode(text) if event.get("isBase64Encoded") else text.encode()
    status, headers, sent = receiver.respond(event.get("headers") or {}, body)
    return {
        "statusCode": int(status),
        "headers": dict(headers),
        "body": sent.decode(),
        "isBase64Encoded": False,
    }


def _failed(receiver: Receiver, records: list[Any]) -> Iterator[str]:
    """The ids of the messages that SQS has to deliver again. A FIFO queue keeps its order."""
    is_over = False
    for each in records:
        try:
            if is_over:
                yield each["messageId"]
                continue
            perform(receiver, _of_sqs(each))
        except Exception:
            receiver.log.exception("The message %s goes back to its queue.", each["messageId"])
            is_over = each["eventSourceARN"].endswith(".fifo")
            yield each["messageId"]


def _of_sqs(record: Mapping[str, Any]) -> Run:
    return run_of_message(_attribute(record["messageAttributes"], "stringValue"), record["body"])


def _of_sns(message: Mapping[str, Any]) -> Run:
    return run_of_message(_attribute(message["MessageAttributes"], "Value"), message["Message"])


def _attribute(attributes: Mapping[str, Any], value: str) -> str:
    try:
        return str(attributes[_ATTRIBUTE][value])
    except KeyError:
        raise UnreadableError("This is no delivery of Sweephand: it has no attribute sweephand.") from None
