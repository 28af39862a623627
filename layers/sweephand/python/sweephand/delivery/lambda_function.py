"""Delivering to a Lambda function: an event with the trigger's names and `data`."""

import json
from typing import Any, Final

from sweephand.delivery.adapter import Stack
from sweephand.delivery.aws_targets import ERROR_LENGTH_MAX, AwsKind, AwsTargets, envelope_of
from sweephand.model.attempt import ANSWER_BYTES_KEPT, Answer, Attempt
from sweephand.targets.lambda_function import FUNCTION, is_sync
from sweephand.targets.target_type import timeout_ms

#: How much of a function's answer is read: what the run keeps, or the description of an error.
_ANSWER_BYTES_MAX: Final = 16_384


def _send(client: Any, attempt: Attempt) -> Answer:
    """Invoke the function. An asynchronous invocation has succeeded when Lambda has taken the event."""
    waits = is_sync(attempt.spec)
    answer = client.invoke(
        FunctionName=attempt.spec[FUNCTION.field],
        InvocationType="RequestResponse" if waits else "Event",
        Payload=envelope_of(attempt).encode(),
    )
    code = answer["StatusCode"]
    # Only an answer that was read leaves its connection to the next request, even if the answer is empty.
    with answer["Payload"] as payload:
        body: bytes = payload.read(_ANSWER_BYTES_MAX)
    if not waits:
        return Answer(succeeded=True, code=code)
    text = body[:ANSWER_BYTES_KEPT].decode(errors="replace")
    if "FunctionError" in answer:
        return Answer(succeeded=False, code=code, text=text, error=_sentence(body))
    return Answer(succeeded=True, code=code, text=text)


def _sentence(body: bytes) -> str:
    """The error that a function raised (AWS, "Lambda function errors"): its type and its message."""
    try:
        raised = json.loads(body)
        kind, message = raised.get("errorType"), raised.get("errorMessage")
    except (ValueError, AttributeError, RecursionError):
        # Deeply nested JSON overflows the parser's stack.
        return "The function failed."
    said = ": ".join(str(each) for each in (kind, message) if each)
    return f"The function failed: {said}"[:ERROR_LENGTH_MAX] if said else "The function failed."


def _answer_ms(attempt: Attempt) -> int | None:
    if not is_sync(attempt.spec):
        return None
    allowed_ms = timeout_ms(attempt.spec)
    return allowed_ms if attempt.within_ms is None else min(allowed_ms, attempt.within_ms)


_LAMBDA: Final = AwsKind(
    name="Lambda",
    service="lambda",
    noun=FUNCTION.noun,
    send=_send,
    missing=frozenset({"ResourceNotFoundException"}),
    hopeless=frozenset(
        {"InvalidRequestContentException", "RequestTooLargeException", "InvalidParameterValueException"}
    ),
    answer_ms=_answer_ms,
)


def adapter(stack: Stack) -> AwsTargets:
    """The adapter of the target type `lambda`."""
    return AwsTargets(_LAMBDA, FUNCTION, stack.aws_clients, stack.reach)
