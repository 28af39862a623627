"""Takes deliveries from an SQS queue: as many as commands may begin, by long polls."""

import importlib
import re
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import urlsplit

from sweephand_client.http.errors import InputError
from sweephand_client.receive.run import UnreadableError, run_of_message
from sweephand_client.worker.worker import Worker

_POLL_S: Final = 10
_MESSAGES_MAX: Final = 10
#: A message that was received is hidden for this long, and its worker extends that well before its end.
_HIDDEN_S: Final = 120
_EXTEND_S: Final = 30.0
#: After a queue that could not be reached.
_AGAIN_S: Final = 5.0
_ATTRIBUTE: Final = "sweephand"
#: The region in the host of a URL, as in sqs.eu-west-1.amazonaws.com.
_REGION: Final = re.compile(r"\bsqs(?:-fips)?\.([a-z]{2}(?:-[a-z]+)+-\d)\.")


def sqs_client(url: str) -> Any:
    """The client of a queue's SQS. InputError for another address, and without boto3 or a region."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or parts.path.count("/") < 2:  # noqa: PLR2004 - /account/name
        raise InputError(
            f"{url!r} is no URL of a queue. Give it as in https://sqs.eu-west-1.amazonaws.com/123456789012/NAME"
        )
    try:
        boto3: Any = importlib.import_module("boto3")
        config: Any = importlib.import_module("botocore.config").Config
        errors: Any = importlib.import_module("botocore.exceptions")
    except ImportError:
        raise InputError("A queue needs boto3. Install it: pip install 'sweephand[worker]'") from None
    found = _REGION.search(parts.netloc)
    region = found[1] if found else None
    try:
        return boto3.client(
            "sqs",
            region_name=region,
            endpoint_url=f"{parts.scheme}://{parts.netloc}",
            # A worker that stops waits for what it has asked for.
            config=config(connect_timeout=5, read_timeout=2 * _POLL_S, retries={"total_max_attempts": 2}),
        )
    except errors.NoRegionError:
        raise InputError(f"The URL {url} does not name its region. Set AWS_REGION.") from None


class Message:
    """A message of a queue, which this worker holds."""

    extend_s: float = _EXTEND_S

    def __init__(self, client: Any, url: str, receipt: str, say: Callable[[str], None]) -> None:
        self._client = client
        self._place = {"QueueUrl": url, "ReceiptHandle": receipt}
        self._say = say

    def extend(self) -> None:
        """Hide the message from other workers for a while."""
        self._try(self._client.change_message_visibility, VisibilityTimeout=_HIDDEN_S)

    def keep(self) -> None:
        """Delete the message."""
        self._try(self._client.delete_message)

    def put_back(self) -> None:
        """Let any worker receive the message at once."""
        self._try(self._client.change_message_visibility, VisibilityTimeout=0)

    def _try(self, call: Callable[..., Any], **more: Any) -> None:
        try:
            call(**self._place, **more)
        except Exception as error:  # noqa: BLE001 - the message comes again, and then it is a duplicate
            self._say(f"a message could not be changed: {error}")


class Queue:
    """The intake from one queue. `client` is boto3's client of SQS."""

    def __init__(self, url: str, client: Any, worker: Worker, say: Callable[[str], None]) -> None:
        self._url = url
        self._client = client
        self._worker = worker
        self._say = say

    def run(self) -> None:
        """Take deliveries until the worker stops."""
        stopping = self._worker.is_stopping
        while not stopping.is_set():
            count = self._worker.free(_POLL_S)
            if not count:
                self._worker.received(None)
                continue
            try:
                messages = self._received(min(count, _MESSAGES_MAX))
            except Exception as error:  # noqa: BLE001 - the queue may be reached later
                self._worker.received(f"The queue cannot be read: {error}")
                stopping.wait(_AGAIN_S)
                continue
            self._worker.received(None)
            for each in messages:
                self._take(each)

    def _received(self, count: int) -> list[Any]:
        answer = self._client.receive_message(
            QueueUrl=self._url,
            MaxNumberOfMessages=count,
            WaitTimeSeconds=_POLL_S,
            VisibilityTimeout=_HIDDEN_S,
            MessageAttributeNames=[_ATTRIBUTE],
        )
        found: list[Any] = answer.get("Messages", [])
        return found

    def _take(self, message: Any) -> None:
        held = Message(self._client, self._url, message["ReceiptHandle"], self._say)
        if self._worker.is_stopping.is_set():
            held.put_back()
            return
        names = message.get("MessageAttributes", {}).get(_ATTRIBUTE, {}).get("StringValue", "null")
        body = message["Body"]
        try:
            run = run_of_message(names, body)
        except UnreadableError as error:
            self._say(f"The message {message['MessageId']} stays in its queue: {error}")
            return
        self._worker.take(run, body.encode(errors="replace"), held)
