"""Targets that can be accepted, and what is wrong with others."""

from typing import Final

from sweephand.targets.queues import EVERY_QUEUE, Reach
from sweephand.targets.registry import target_violations

HTTP: Final = {"type": "http", "url": "https://example.com/hook"}
SQS: Final = {"type": "sqs", "queueUrl": "https://sqs.eu-west-1.amazonaws.com/123456789012/name"}

#: What stacks reach: one that does not allow `http` and loopback addresses, and one that does.
SECURE: Final = Reach(queues=EVERY_QUEUE)
INSECURE: Final = Reach(allow_insecure=True, queues=EVERY_QUEUE)


def pointers(spec: object, *, has_data: bool = True, allow_insecure: bool = False) -> list[str]:
    """The JSON pointers of what is wrong with a job's target; each has a sentence."""
    found = target_violations(spec, has_data=has_data, reach=INSECURE if allow_insecure else SECURE)
    assert all(each.detail.endswith(".") for each in found), "a sentence that says what would be valid"
    return [each.pointer for each in found]
