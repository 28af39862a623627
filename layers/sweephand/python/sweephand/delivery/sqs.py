"""How a trigger is handed to an SQS queue: `data` as the body, its names in one attribute."""

import json
from collections.abc import Collection
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from sweephand.delivery.clients import SEND_S_MAX, SqsClients, UnsentError
from sweephand.delivery.wanted import WITHDRAWN, WithdrawnError, is_wanted
from sweephand.instants import SECOND_MS, rfc3339
from sweephand.jobs.job import JobKey
from sweephand.ports import Answer, Attempt
from sweephand.targets.sqs import QueueUrl, read_queue_url
from sweephand.targets.url import UrlError

if TYPE_CHECKING:
    from mypy_boto3_sqs.type_defs import MessageAttributeValueTypeDef

GROUP_ID_LENGTH_MAX: Final = 128

#: The two code points that JSON allows in a string and SQS refuses in a body; escaped, they are equal JSON.
_ESCAPES: Final = {0xFFFE: "\\ufffe", 0xFFFF: "\\uffff"}


class SqsTargets:
    """The consumers behind SQS queues. Safe to use from many threads at once.

    Every refusal is tried again: a queue that is not there, or may not be used, is what its owner repairs.
    Only a queue of the stack itself (`own_queues`) is refused for good, should a job have got past the API.
    """

    def __init__(
        self, clients: SqsClients, *, allow_insecure: bool, own_queues: Collection[str] = ()
    ) -> None:
        self._clients = clients
        self._own_queues = own_queues
        self._allow_insecure = allow_insecure

    def deliver(self, attempt: Attempt) -> Answer:
        """Send the message and say what came of it (ports.Targets)."""
        try:
            queue = read_queue_url(attempt.spec["queueUrl"], allow_insecure=self._allow_insecure)
        except UrlError as error:
            return Answer(succeeded=False, error=f"The target's queue cannot be used: {error}")
        if queue.is_one_of(self._own_queues):
            return Answer(succeeded=False, error="The target is a queue of the stack itself.", is_final=True)
        try:
            self._send(queue, attempt)
        except WithdrawnError:
            return WITHDRAWN
        except ClientError as error:
            told = error.response["Error"]
            return Answer(succeeded=False, error=f"SQS refused: {told.get('Code')}: {told.get('Message')}")
        except BotoCoreError as error:
            return Answer(succeeded=False, error=f"SQS did not answer: {error}")
        return Answer(succeeded=True)

    def _send(self, queue: QueueUrl, attempt: Attempt) -> None:
        """Send the message; WithdrawnError if it was not wanted any more, StoreError if nobody knows."""
        if attempt.within_ms is not None and attempt.within_ms < SEND_S_MAX * SECOND_MS:
            # The SDK takes its own time: what it could not finish is not begun.
            raise WithdrawnError
        asked = is_wanted.set(attempt.is_wanted)
        try:
            self._clients.client(queue.region).send_message(
                QueueUrl=queue.text,
                MessageBody=attempt.body.decode().translate(_ESCAPES),
                MessageAttributes={"sweephand": _attribute(attempt)},
                **_order(queue, attempt),
            )
        except UnsentError as error:
            raise (error.__cause__ or error) from None
        finally:
            is_wanted.reset(asked)


def group_id(key: JobKey) -> str:
    """The group in which a FIFO queue keeps the order of a job: its key, or a digest of a key too long."""
    written = str(key)
    return written if len(written) <= GROUP_ID_LENGTH_MAX else sha256(written.encode()).hexdigest()


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
