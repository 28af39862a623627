"""How the local AWS is made to look at its queues."""

from typing import Any

import pytest
from botocore.exceptions import ClientError
from infra.local.long_polling import look

GONE = ClientError({"Error": {"Code": "ReceiptHandleIsInvalid"}}, "ChangeMessageVisibility")


class Queue:
    """A queue that loses its message after some looks."""

    def __init__(self, looks: int) -> None:
        self.sent = 0
        self.looks_left = looks

    def send_message(self, **_: Any) -> None:
        self.sent += 1

    def receive_message(self, **_: Any) -> dict[str, Any]:
        return {"Messages": [{"ReceiptHandle": f"handle of message {self.sent}"}]}

    def change_message_visibility(self, **request: Any) -> None:
        assert request["ReceiptHandle"] == f"handle of message {self.sent}"
        assert request["VisibilityTimeout"] == 0
        if not self.looks_left:
            raise GONE
        self.looks_left -= 1


def test_one_message_serves_many_looks_until_it_is_gone() -> None:
    queue = Queue(looks=50)
    with pytest.raises(ClientError):
        look(queue, "the queue", every_s=0)
    assert queue.sent == 1
    assert queue.looks_left == 0
