"""How tasks that do not depend on each other are run. A use case is told how, and starts no thread itself."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, Protocol, TypeVar

#: Records of skipped ranges that a sweeper writes at once. Each is a request of its own: it has a condition.
RECORDS_AT_ONCE: Final = 16

Result = TypeVar("Result")


class Concurrently(Protocol):
    """Runs tasks, as many at once as it chooses."""

    def __call__(self, tasks: Sequence[Callable[[], Result]], /) -> Iterable[Result]:
        """The results of the tasks, in order. If a task raises, its error is raised once every task ended."""
        ...


def one_by_one(tasks: Sequence[Callable[[], Result]]) -> Iterable[Result]:
    """Runs the tasks in the calling thread, one after the other. An error ends the run at once."""
    return [task() for task in tasks]
