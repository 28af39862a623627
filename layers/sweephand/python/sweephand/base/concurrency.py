"""How independent tasks run: one by one or in threads, and until when. A use case gets both as arguments."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from typing import Final, Generic, Protocol, TypeVar

#: Triggers that one delivery function delivers at once. Each waits for its due time and for its consumer in
#: a thread of its own. More threads would need more memory, and more connections than the clients keep.
DELIVERIES_AT_ONCE: Final = 32

#: Requests that a sweeper makes at once: reads of jobs, then writes and sends.
REQUESTS_AT_ONCE: Final = 16

Result = TypeVar("Result")


class Concurrently(Protocol):
    """Runs tasks, as many at once as it chooses."""

    def __call__(self, tasks: Sequence[Callable[[], Result]], /) -> Iterable[Result]:
        """The results of the tasks, in order. If a task raises, its error is raised once every task ended."""
        ...


def one_by_one(tasks: Sequence[Callable[[], Result]]) -> Iterable[Result]:
    """Runs the tasks in the calling thread, one after the other. An error ends the run at once."""
    return [task() for task in tasks]


def always() -> bool:
    """A check that always says yes: for an attempt or a write that nothing may stop."""
    return True


def parts(whole: Sequence[Result], size: int) -> Iterator[Sequence[Result]]:
    """The elements in order, in parts of that size; the last part may be smaller."""
    for start in range(0, len(whole), size):
        yield whole[start : start + size]


class Once(Generic[Result]):
    """A value that is made when it is first asked for. All callers, in any thread, get that one value.

    An error of `make` is raised to all of them.
    """

    def __init__(self, make: Callable[[], Result]) -> None:
        self._make = make
        self._made: dict[str, Future[Result]] = {}

    def __call__(self) -> Result:
        """The value. The first caller makes it, and the others wait for it."""
        made = self._made.get("value")
        if made is None:
            mine: Future[Result] = Future()
            # setdefault() of a dict is atomic: it keeps the future of one caller.
            made = self._made.setdefault("value", mine)
            if made is mine:
                try:
                    mine.set_result(self._make())
                except BaseException as error:
                    mine.set_exception(error)
                    raise
        return made.result()
