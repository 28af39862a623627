"""Valid targets, and the violations of others."""

from typing import Final

from sweephand.targets.queues import EVERY_QUEUE, Reach
from sweephand.targets.registry import target_violations

HTTP: Final = {"type": "http", "url": "https://example.com/hook"}
SQS: Final = {"type": "sqs", "queueUrl": "https://sqs.eu-west-1.amazonaws.com/123456789012/name"}

#: The reach of two stacks. The first does not allow `http` and loopback addresses, and the second does.
SECURE: Final = Reach(queues=EVERY_QUEUE)
INSECURE: Final = Reach(allow_insecure=True, queues=EVERY_QUEUE)


def pointers(spec: object, *, has_data: bool = True, allow_insecure: bool = False) -> list[str]:
    """The JSON pointers of the violations of a job's target. Asserts that each has a sentence."""
    found = target_violations(spec, has_data=has_data, reach=INSECURE if allow_insecure else SECURE)
    assert all(each.detail.endswith(".") for each in found), "a sentence that says what would be valid"
    return [each.pointer for each in found]
