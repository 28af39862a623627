"""A consumer of tests ends with its test, whatever its clients do."""

import socket
import threading
from typing import Any

from tests.fakes.consumer import Consumer


class LateListener:
    """A listener whose accept() returns a connection only once the consumer has begun to end."""

    def __init__(self, listener: socket.socket, consumer: Consumer) -> None:
        self._listener = listener
        self._consumer = consumer
        self.has_one = threading.Event()

    def accept(self) -> Any:
        accepted = self._listener.accept()
        self.has_one.set()
        self._consumer._closing.wait()
        return accepted

    def __getattr__(self, name: str) -> Any:
        return getattr(self._listener, name)


def test_a_connection_that_is_accepted_while_the_consumer_ends_is_closed() -> None:
    consumer = Consumer()
    late = LateListener(consumer._listener, consumer)
    consumer._listener = late  # type: ignore[assignment] # it stands in for one
    with socket.socket() as client:
        with consumer:
            client.connect(("127.0.0.1", consumer.port))
            late.has_one.wait()
        # The client neither sends nor closes before the consumer has ended.
        assert client.recv(1) == b""
