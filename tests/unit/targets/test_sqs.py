"""The rules of the target type `sqs`."""

import pytest
from tests.fakes.targets import SECURE, SQS, pointers

from sweephand.targets.queues import NO_QUEUE
from sweephand.targets.registry import target_violations


@pytest.mark.parametrize("group", ["", "a b", "g" * 129, 5, "é"])
def test_a_message_group_is_what_sqs_takes(group: object) -> None:
    assert pointers(SQS | {"messageGroupId": group}) == ["/target/messageGroupId"]


def test_a_queue_that_the_stack_does_not_list_is_refused_at_its_field() -> None:
    reach = SECURE._replace(queues=NO_QUEUE)
    (found,) = target_violations(SQS, has_data=True, reach=reach, at="/onComplete")
    assert found.pointer == "/onComplete/queueUrl"
    assert "TargetQueueArns" in found.detail
