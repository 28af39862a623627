"""Delivering to an SNS topic: `data` is the message, and one attribute holds the trigger's names."""

from typing import Any, Final

from sweephand.delivery.adapter import Stack
from sweephand.delivery.aws_targets import AwsKind, AwsTargets, names_of, order_of, text_of
from sweephand.model.attempt import Answer, Attempt
from sweephand.targets.sns import TOPIC, is_fifo


def _send(client: Any, attempt: Attempt) -> Answer:
    client.publish(
        TopicArn=attempt.spec[TOPIC.field],
        Message=text_of(attempt),
        MessageAttributes={"sweephand": {"DataType": "String", "StringValue": names_of(attempt)}},
        **(order_of(attempt) if is_fifo(attempt.spec) else {}),
    )
    return Answer(succeeded=True)


_SNS: Final = AwsKind(
    name="SNS",
    service="sns",
    noun=TOPIC.noun,
    send=_send,
    missing=frozenset({"NotFound"}),
    hopeless=frozenset({"InvalidParameter", "ParameterValueInvalid"}),
    has_attributes=True,
)


def adapter(stack: Stack) -> AwsTargets:
    """The adapter of the target type `sns`."""
    return AwsTargets(_SNS, TOPIC, stack.aws_clients, stack.reach)
