"""Delivering to an SQS queue: `data` is the message's body, and one attribute holds the trigger's names."""

import json
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from sweephand.base.instants import SECOND_MS, rfc3339
from sweephand.delivery.adapter import Stack
from sweephand.delivery.preflight import WITHDRAWN, WithdrawnError, may_send
from sweephand.delivery.sqs_clients import SEND_S_MAX, SqsClients, UnsentError
from sweephand.ports import Answer, Attempt
from sweephand.targets.queue_url import ESCAPES, QueueUrl, group_id, read_queue_url
from sweephand.targets.queues import EVERY_QUEUE, JobQueues, not_listed
from sweephand.targets.url import UrlError

if TYPE_CHECKING:
    from mypy_boto3_sqs.type_defs import MessageAttributeValueTypeDef

#: The error text is kept with the run, so its length is limited.
ERROR_LENGTH_MAX: Final = 600

#: The codes with which SQS denies access: the queue is not listed, or it belongs to another account whose
#: policy does not allow the stack. A KMS key that cannot be used has another code, and the key's owner can
#: repair it.
_DENIED: Final = frozenset({"AccessDenied", "AccessDeniedException"})


class SqsTargets:
    """Delivers to SQS queues. Safe to use from many threads at once.

    Most refusals are retried, because the queue's owner can repair them: the queue does not exist, or its
    encryption key may not be used. A queue that the stack may not send to fails for good, because no retry
    makes it listed. Its job was written under another list. The run can be redriven.
    """

    def __init__(self, clients: SqsClients, *, allow_insecure: bool, queues: JobQueues = EVERY_QUEUE) -> None:
        self._clients = clients
        self._queues = queues
        self._allow_insecure = allow_insecure

    def deliver(self, attempt: Attempt) -> Answer:
        """Send the message and return the answer (ports.Targets)."""
        try:
            queue = read_queue_url(attempt.spec["queueUrl"], allow_insecure=self._allow_insecure)
        except UrlError as error:
            return Answer(succeeded=False, error=f"The target's queue cannot be used: {error}")
        refusal = self._queues.refusal(queue)
        if refusal is not None:
            return Answer(succeeded=False, error=refusal, is_final=True)
        try:
            self._send(queue, attempt)
        except WithdrawnError:
            return WITHDRAWN
        except ClientError as error:
            return _refused(queue, error)
        except BotoCoreError as error:
            return Answer(succeeded=False, error=f"SQS did not answer: {error}")
        return Answer(succeeded=True)

    def _send(self, queue: QueueUrl, attempt: Attempt) -> None:
        """Send the message. WithdrawnError if it may no longer be sent, StoreError if that is unknown."""
        if attempt.within_ms is not None and attempt.within_ms < SEND_S_MAX * SECOND_MS:
            # The SDK has its own time-outs. With less time left than they take, the request is not begun.
            raise WithdrawnError
        token = may_send.set(attempt.may_send)
        try:
            self._clients.client(queue.region).send_message(
                QueueUrl=queue.text,
                MessageBody=attempt.body.decode().translate(ESCAPES),
                MessageAttributes={"sweephand": _attribute(attempt)},
                **_order(queue, attempt),
            )
        except UnsentError as error:
            raise (error.__cause__ or error) from None
        finally:
            may_send.reset(token)


def adapter(stack: Stack) -> SqsTargets:
    """The adapter of the target type `sqs`."""
    reach = stack.reach
    return SqsTargets(stack.sqs_clients, allow_insecure=reach.allow_insecure, queues=reach.queues)


def _refused(queue: QueueUrl, error: ClientError) -> Answer:
    details = error.response["Error"]
    sentence = f"SQS refused: {details.get('Code')}: {details.get('Message')}"
    if details.get("Code") not in _DENIED:
        return Answer(succeeded=False, error=sentence)
    policy = "The policy of a queue in another account has to allow the stack's deliveries, too."
    sentence = f"{not_listed(queue)} {policy} {sentence}"
    return Answer(succeeded=False, error=sentence[:ERROR_LENGTH_MAX], is_final=True)


def _attribute(attempt: Attempt) -> "MessageAttributeValueTypeDef":
    """The names that an HTTP delivery carries in headers, as JSON."""
    trigger = attempt.trigger
    names = {
        "id": attempt.id,
        "namespace": trigger.key.namespace,
        "job": trigger.key.name,
        "run": trigger.run_id,
        "due": rfc3339(trigger.due_at),
        "attempt": attempt.number,
        "sequence": trigger.sequence,
        "batchIndex": trigger.index,
        **({} if attempt.ended_after is None else {"event": "end"}),
        **({} if attempt.run_token is None else {"runToken": attempt.run_token}),
    }
    return {"DataType": "String", "StringValue": json.dumps(names, separators=(",", ":"))}


def _order(queue: QueueUrl, attempt: Attempt) -> dict[str, Any]:
    """The message group, and for a FIFO queue the deduplication id.

    The id is the trigger's, so that a retry is no second message: what the queue has taken has succeeded. For
    an attempt that must be new, the attempt's number follows the id. Otherwise SQS would drop the attempt
    within five minutes of the one before, and report success (decisions 013 and 022).
    """
    group = attempt.spec.get("messageGroupId")
    if not queue.is_fifo:
        return {"MessageGroupId": group} if group else {}
    return {
        "MessageGroupId": group or group_id(attempt.trigger.key),
        "MessageDeduplicationId": f"{attempt.id}-{attempt.number}" if attempt.must_be_new else attempt.id,
    }
