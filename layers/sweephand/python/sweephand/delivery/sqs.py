"""How a trigger is handed to an SQS queue: `data` as the body, its names in one attribute."""

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

#: An error's sentence is kept with the run.
ERROR_LENGTH_MAX: Final = 600

#: SQS's own right is lacking: the queue is not listed, or another account's queue does not let the stack in.
#: A key of KMS that cannot be used has a code of its own, and is what the key's owner repairs.
_DENIED: Final = frozenset({"AccessDenied", "AccessDeniedException"})


class SqsTargets:
    """The consumers behind SQS queues. Safe to use from many threads at once.

    A refusal is tried again: a queue that is not there, or that is encrypted by a key that may not be used,
    is what its owner repairs. A queue that the stack may not send to fails for good, since no retry makes it
    listed: the job was written when the list was another, and the run can be redriven.
    """

    def __init__(self, clients: SqsClients, *, allow_insecure: bool, queues: JobQueues = EVERY_QUEUE) -> None:
        self._clients = clients
        self._queues = queues
        self._allow_insecure = allow_insecure

    def deliver(self, attempt: Attempt) -> Answer:
        """Send the message and say what came of it (ports.Targets)."""
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
        """Send the message; WithdrawnError if it was not wanted any more, StoreError if nobody knows."""
        if attempt.within_ms is not None and attempt.within_ms < SEND_S_MAX * SECOND_MS:
            # The SDK takes its own time: what it could not finish is not begun.
            raise WithdrawnError
        asked = may_send.set(attempt.may_send)
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
            may_send.reset(asked)


def adapter(stack: Stack) -> SqsTargets:
    """The adapter of the target type `sqs`."""
    reach = stack.reach
    return SqsTargets(stack.sqs_clients, allow_insecure=reach.allow_insecure, queues=reach.queues)


def _refused(queue: QueueUrl, error: ClientError) -> Answer:
    told = error.response["Error"]
    sentence = f"SQS refused: {told.get('Code')}: {told.get('Message')}"
    if told.get("Code") not in _DENIED:
        return Answer(succeeded=False, error=sentence)
    policy = "The policy of a queue in another account has to allow the stack's deliveries, too."
    sentence = f"{not_listed(queue)} {policy} {sentence}"
    return Answer(succeeded=False, error=sentence[:ERROR_LENGTH_MAX], is_final=True)


def _attribute(attempt: Attempt) -> "MessageAttributeValueTypeDef":
    """What HTTP sends in headers, as JSON."""
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
    """The group, and for FIFO the deduplication id.

    It is the trigger's, so that no retry is a second message: what the queue has taken has succeeded. An
    attempt that must be a message of its own has its number behind it. SQS would accept it otherwise, within
    five minutes of the one before, and drop it (decisions 013 and 022).
    """
    group = attempt.spec.get("messageGroupId")
    if not queue.is_fifo:
        return {"MessageGroupId": group} if group else {}
    return {
        "MessageGroupId": group or group_id(attempt.trigger.key),
        "MessageDeduplicationId": f"{attempt.id}-{attempt.number}" if attempt.must_be_new else attempt.id,
    }
