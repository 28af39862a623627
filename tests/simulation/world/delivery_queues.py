"""The queues of the delivery function: one, or one for each priority in a stack with lanes."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Final

from tests.fakes.sqs_client import DELIVERY_URL
from tests.simulation.world.sqs import Sqs

from sweephand.base.instants import Instant
from sweephand.model.policy_names import Lane, Lanes
from sweephand.model.trigger import Message
from sweephand.runs.received import Received

_HIGH_URL: Final = f"{DELIVERY_URL}-high"
_LOW_URL: Final = f"{DELIVERY_URL}-low"

#: A stack without lanes, and one with them.
NO_LANES: Final = Lanes(DELIVERY_URL)
LANES: Final = Lanes(DELIVERY_URL, _HIGH_URL, _LOW_URL, open=frozenset({"high", "low"}))


class DeliveryQueues:
    """Production's rule says which message goes to which queue, and which receipt belongs to which."""

    def __init__(self, normal: Sqs, high: Sqs | None = None, low: Sqs | None = None) -> None:
        """Without `high` and `low` the stack has no lanes."""
        self.by_url: Mapping[str, Sqs] = {DELIVERY_URL: normal}
        self.lanes = NO_LANES
        self.normal = normal
        if high is not None and low is not None:
            self.by_url, self.lanes = {**self.by_url, _HIGH_URL: high, _LOW_URL: low}, LANES
            high.bundled = low.bundled = normal.bundled

    def accept(self, lane: Lane, body: str, delay_s: int) -> None:
        """Take a message of that lane."""
        self.by_url[self.lanes.url_of(lane)].accept(body, delay_s)

    def delete(self, receipts: Sequence[str]) -> None:
        """Remove received messages from the queues in which they were received."""
        for url, handles in self.lanes.by_url(receipts).items():
            self.by_url[url].delete(handles)

    def receive(self, url: str, limit: int) -> list[Received]:
        """Return messages of one queue, with receipts that name it."""
        name = url.rpartition("/")[2]
        received = self.by_url[url].receive(limit)
        return [each._replace(receipt=self.lanes.receipt(each.receipt, f"arn:{name}")) for each in received]

    def code_of(self, url: str, received: Received) -> int:
        """Return the code for the random numbers of a process that begins with that message of a queue."""
        [handles] = self.lanes.by_url([received.receipt]).values()
        return self.by_url[url].code_of(received._replace(receipt=handles[0]))

    def messages(self) -> Iterator[Message]:
        """Return the readable messages in all queues, received or not."""
        return chain.from_iterable(each.messages() for each in self.by_url.values())

    def calm(self) -> None:
        """Copy and delay no message from now on, and make the messages in flight visible at once."""
        for each in self.by_url.values():
            each.calm()


class StackQueues:
    """ports.StackQueues: the queues of the delivery function, and that of work messages."""

    def __init__(self, queues: DeliveryQueues, work: Sqs) -> None:
        self._queues = {**queues.by_url, "flow": work}

    def names(self) -> Sequence[str]:
        """Return the names of all queues."""
        return list(self._queues)

    def renew(self, name: str, delay_ms: int, into: str | None = None) -> Sequence[Instant]:
        """Send some messages of a queue again, and return when they had been sent."""
        # The lane of policies has no queue of its own here, so nothing is left in it.
        return self._queues[name].renew(delay_ms) if into is None else ()
