"""The client of DynamoDB in memory, with faults."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.fakes.wire_trouble import Fate, Trouble, as_the_sdk

from sweephand_engine.dynamo.client import PAGE_BYTES_MAX, Answer, MemoryDynamoDB
from sweephand_engine.dynamo.tables import Tables
from sweephand_engine.wire import Handling


class FakeDynamoDB(MemoryDynamoDB):
    """A client whose `trouble` may raise an error or let other actors act, before and after each try.

    A use case may catch the AssertionError of a malformed request, so `complaints` keeps each of them.
    """

    def __init__(
        self,
        trouble: Trouble | None = None,
        tables: Tables | None = None,
        *,
        page_bytes: int = PAGE_BYTES_MAX,
    ) -> None:
        super().__init__(tables, page_bytes=page_bytes)
        self.trouble = trouble or Trouble()
        self.complaints: list[str] = []

    def _asked(self, operation: str, act: Callable[[Handling], Answer]) -> Answer:
        def step(fate: Fate) -> Answer:
            with self._complaining(operation):
                return self._step(act, fate)

        return as_the_sdk(self.trouble, operation, step)

    @contextmanager
    def _complaining(self, operation: str) -> Iterator[None]:
        try:
            yield
        except AssertionError as error:
            self.complaints.append(f"{operation}: {error}")
            raise
