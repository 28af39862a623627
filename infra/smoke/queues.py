"""The queues that the checks make."""

from collections.abc import Mapping
from typing import Any

from infra.local.queue import Queue


class Queues:
    """Makes queues whose names begin with `prefix`, which begins with sweephand-, and removes them."""

    def __init__(self, client: Any, prefix: str) -> None:
        self._client = client
        self.prefix = prefix
        self._outside = prefix.removeprefix("sweephand-")

    def make(self, purpose: str, *, is_fifo: bool = False) -> Queue:
        """The queue for one purpose. A queue that exists is used again."""
        name = f"{self.prefix}-{purpose}" + (".fifo" if is_fifo else "")
        return self._made(name, {"FifoQueue": "true"} if is_fifo else {})

    def of_round(self, name: str) -> "Queues":
        """Other queues for checks that run once more. urls() of these queues has them too."""
        return Queues(self._client, f"{self.prefix}-{name}")

    def make_outside(self, purpose: str) -> Queue:
        """A queue whose name does not begin with sweephand-, so that no job may name it by default."""
        return self._made(f"{self._outside}-{purpose}", {})

    def _made(self, name: str, attributes: Mapping[str, str]) -> Queue:
        return self.at(self._client.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"])

    def none(self, purpose: str) -> Queue:
        """The queue of this purpose, which is not made."""
        return self.at(self.make("any").url.removesuffix("any") + purpose)

    def at(self, url: str) -> Queue:
        """The queue at a URL, for example one of the stack's own."""
        return Queue(self._client, url)

    def urls(self) -> list[str]:
        """The URLs of all queues that were made here, by this program or by one that was killed."""
        found: list[str] = []
        for prefix in (self.prefix, self._outside):
            answer = self._client.list_queues(QueueNamePrefix=f"{prefix}-", MaxResults=1_000)
            found += answer.get("QueueUrls", [])
        return found

    def remove(self, url: str) -> None:
        """Delete a queue with all its messages."""
        self._client.delete_queue(QueueUrl=url)
