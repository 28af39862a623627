"""Delivering to an SQS queue: `data` is the message's body, and one attribute holds the trigger's names."""

from typing import Any, Final

from sweephand.delivery.adapter import AwsClients, Service, Stack
from sweephand.delivery.aws_targets import (
    AwsKind,
    Request,
    answer_to,
    final,
    names_of,
    order_of,
    role_of,
    text_of,
)
from sweephand.delivery.checked_clients import TRIES_MAX, SqsClients
from sweephand.model.attempt import Answer, Attempt
from sweephand.targets.reach import FIFO_SUFFIX, Reach, not_listed, read_queue_url
from sweephand.targets.url import UrlError


def _send(client: Any, attempt: Attempt) -> Answer:
    url: str = attempt.spec["queueUrl"]
    client.send_message(
        QueueUrl=url,
        MessageBody=text_of(attempt),
        MessageAttributes={"sweephand": {"DataType": "String", "StringValue": names_of(attempt)}},
        **_order(url, attempt),
    )
    return Answer(succeeded=True)


def _order(url: str, attempt: Attempt) -> dict[str, Any]:
    """The message group, and for a FIFO queue the deduplication id."""
    if url.endswith(FIFO_SUFFIX):
        return order_of(attempt)
    group = attempt.spec.get("messageGroupId")
    return {"MessageGroupId": group} if group else {}


_SQS: Final = AwsKind(name="SQS", service="sqs", noun="a queue", send=_send)


class SqsTargets:
    """Delivers to SQS queues. Safe to use from many threads at once.

    Most refusals are retried, because the queue's owner can repair them: the queue does not exist, or its
    encryption key may not be used. A queue that the stack may not send to fails for good, because no retry
    makes it listed. Its job was written under another list. The run can be redriven.
    """

    def __init__(self, clients: SqsClients, aws_clients: AwsClients, reach: Reach) -> None:
        self._clients = clients
        self._aws_clients = aws_clients
        self._reach = reach

    def deliver(self, attempt: Attempt) -> Answer:
        """Send the message and return the answer (ports.Targets)."""
        reach = self._reach
        try:
            queue = read_queue_url(attempt.spec["queueUrl"], allow_insecure=reach.allow_insecure)
        except UrlError as error:
            return Answer(succeeded=False, error=f"The target's queue cannot be used: {error}")
        role = role_of(attempt)
        refusal = (reach.queues if role is None else reach.queues.by_role).refusal(queue)
        if refusal is not None:
            return final(refusal)

        def client() -> Any:
            if role is None and not attempt.sends_once:
                return self._clients.client(queue.region)
            tries_max = 1 if attempt.sends_once else TRIES_MAX
            return self._aws_clients.client(Service("sqs", queue.region, role, tries_max=tries_max))

        request = Request(kind=_SQS, arn=queue.arn, not_listed=not_listed(queue), role=role, client=client)
        return answer_to(request, attempt, reach)


def adapter(stack: Stack) -> SqsTargets:
    """The adapter of the target type `sqs`."""
    return SqsTargets(stack.sqs_clients, stack.aws_clients, stack.reach)
