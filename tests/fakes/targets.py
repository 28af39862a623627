"""Valid targets, and the violations of others."""

from typing import Final

from sweephand.targets.reach import EVERY_QUEUE, Reach
from sweephand.targets.registry import target_violations

HTTP: Final = {"type": "http", "url": "https://example.com/hook"}
SQS: Final = {"type": "sqs", "queueUrl": "https://sqs.eu-west-1.amazonaws.com/123456789012/name"}

_ACCOUNT: Final = "eu-west-1:123456789012"
LAMBDA: Final = {"type": "lambda", "functionArn": f"arn:aws:lambda:{_ACCOUNT}:function:orders"}
SNS: Final = {"type": "sns", "topicArn": f"arn:aws:sns:{_ACCOUNT}:orders"}
EVENTBRIDGE: Final = {"type": "eventbridge", "busArn": f"arn:aws:events:{_ACCOUNT}:event-bus/orders"}
STEPFUNCTIONS: Final = {
    "type": "stepfunctions",
    "stateMachineArn": f"arn:aws:states:{_ACCOUNT}:stateMachine:orders",
}
ROLE: Final = "arn:aws:iam::123456789012:role/deliveries"

#: Everything, by each parameter that lists ARNs.
EVERYTHING: Final = {
    f"Target{name}Arns": ("*",) for name in ("Function", "Topic", "Bus", "StateMachine", "Role")
}

#: The reach of two stacks. The first does not allow `http` and loopback addresses, and the second does.
SECURE: Final = Reach(queues=EVERY_QUEUE, listed=EVERYTHING)
INSECURE: Final = SECURE._replace(allow_insecure=True)


def pointers(spec: object, *, has_data: bool = True, allow_insecure: bool = False) -> list[str]:
    """The JSON pointers of the violations of a job's target. Asserts that each has a sentence."""
    found = target_violations(spec, has_data=has_data, reach=INSECURE if allow_insecure else SECURE)
    assert all(each.detail.endswith(".") for each in found), "a sentence that says what would be valid"
    return [each.pointer for each in found]
