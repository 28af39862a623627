"""Simulated time: strands that hand over only where they wait, so that each run has the same order of events.

All strands run in the thread of the test. So a handler finds what the test has in this thread, such as the
connection of a database. A thread for each strand would lose that. Without strands, a slow consumer would
hold up all others, and nobody could test overlaps and time-outs.
"""

from collections.abc import Callable, Iterable, Sequence
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from heapq import heappop, heappush
from typing import TypeVar

from greenlet import GreenletExit, getcurrent, greenlet

from sweephand.base.instants import Instant
from sweephand_engine.testing.loops import outside_of_loops

Result = TypeVar("Result")


@dataclass(slots=True)
class _Event:
    """What happens at an instant. Without an action, it was taken back."""

    action: Callable[[], None] | None


@dataclass(eq=False, slots=True)
class _Strand:
    """A task that may wait. Its greenlet is used again for other tasks."""

    greenlet: greenlet = field(repr=False)
    body: Callable[[], object] | None = None


class SimulatedClock:
    """ports.Clock in simulated time. `passed` is called for each time that passes, with its length in ms.

    Errors of strands gather in `errors` until `run` raises them.
    """

    def __init__(self, now: Instant, passed: Callable[[int], None]) -> None:
        self.errors: list[BaseException] = []
        self._now = now
        self._passed = passed
        self._heap: list[tuple[Instant, int, _Event]] = []
        self._order = 0
        self._hub = getcurrent()
        self._running: _Strand | None = None
        self._strands: list[_Strand] = []
        self._idle: list[_Strand] = []
        self._is_closed = False

    @property
    def is_in_strand(self) -> bool:
        """Whether the caller is a strand. Otherwise it is the test itself."""
        return self._running is not None

    def now(self) -> Instant:
        """The present instant."""
        return self._now

    def wait_until(self, instant: Instant) -> None:
        """Let other strands run until that instant. If the test itself waits, nothing happens meanwhile."""
        if self._is_closed:
            raise GreenletExit
        if instant <= self._now:
            return
        if self._running is None:
            self.move(instant)
        else:
            self._wake(self._running, instant)
            self._pause()

    def move(self, instant: Instant) -> None:
        """Make it that instant, which is not past."""
        if instant > self._now:
            passed_ms = instant - self._now
            self._now = instant
            self._passed(passed_ms)

    def next_at(self) -> Instant | None:
        """When a strand goes on next; None if none waits."""
        while self._heap and self._heap[0][2].action is None:
            heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def start(self, task: Callable[[], object]) -> None:
        """Begin a strand. It runs as soon as all that waits for this instant has run."""
        if self._idle:
            strand = self._idle.pop()
        else:
            strand = _Strand(greenlet(self._work, self._hub))
            self._strands.append(strand)
        strand.body = task
        strand.greenlet.gr_context = copy_context()
        self._wake(strand, self._now)

    def run(self) -> None:
        """Run all strands that have something to do by now. Raises the first error of a strand."""
        self._hub = getcurrent()
        # A strand that waits would take the loop of an asynchronous test with it.
        with outside_of_loops():
            while (at := self.next_at()) is not None and at <= self._now:
                _, _, event = heappop(self._heap)
                assert event.action is not None, "next_at() drops the others"
                event.action()
        if self.errors:
            raise self.errors.pop(0)

    def concurrently(self, tasks: Sequence[Callable[[], Result]]) -> Iterable[Result]:
        """As Concurrently promises, each task in a strand of its own."""
        waiting = self._running
        if waiting is None or len(tasks) == 1:
            return [task() for task in tasks]
        results: dict[int, Result] = {}
        errors: dict[int, Exception] = {}

        def run(number: int) -> None:
            try:
                results[number] = tasks[number]()
            except Exception as error:  # noqa: BLE001 - it is raised once every task has ended
                errors[number] = error
            if len(results) + len(errors) == len(tasks):
                self._wake(waiting, self._now)

        for number in range(len(tasks)):
            self.start(partial(run, number))
        self._pause()
        if errors:
            raise errors[min(errors)]
        return [results[number] for number in range(len(tasks))]

    def within(self, duration_ms: int, task: Callable[[], Result]) -> Result:
        """The result of a task that may wait. TimeoutError if it takes longer; then the task goes on."""
        waiting = self._running
        assert waiting is not None, "only a strand can be kept waiting"
        results: list[Result] = []
        errors: list[Exception] = []

        def run() -> None:
            try:
                results.append(task())
            except Exception as error:  # noqa: BLE001 - it is raised to the caller
                errors.append(error)
            if alarm.action is not None:
                alarm.action = None
                self._wake(waiting, self._now)

        def ring() -> None:
            alarm.action = None
            self._resume(waiting)

        alarm = _Event(ring)
        self._push(self._now + duration_ms, alarm)
        self.start(run)
        self._pause()
        if errors:
            raise errors[0]
        if not results:
            raise TimeoutError
        return results[0]

    def close(self) -> None:
        """End all strands where they stand. Their `finally` clauses run, and may not wait."""
        self._is_closed = True
        with outside_of_loops():
            for strand in self._strands:
                if strand.greenlet:
                    strand.greenlet.throw(GreenletExit)
        self._strands.clear()

    def _push(self, at: Instant, event: _Event) -> None:
        self._order += 1
        heappush(self._heap, (at, self._order, event))

    def _wake(self, strand: _Strand, at: Instant) -> None:
        self._push(at, _Event(lambda: self._resume(strand)))

    def _resume(self, strand: _Strand) -> None:
        self._running = strand
        strand.greenlet.switch()
        self._running = None

    def _pause(self) -> None:
        """Stop the running strand until it is resumed."""
        with outside_of_loops():
            self._hub.switch()

    def _work(self) -> None:
        """Run the bodies of a strand, one after the other."""
        while True:
            strand = self._running
            assert strand is not None, "the hub resumes strands"
            assert strand.body is not None, "a strand begins with a body"
            body, strand.body = strand.body, None
            try:
                body()
            except GreenletExit:
                raise
            except BaseException as error:  # noqa: BLE001 - the test gets it from run()
                self.errors.append(error)
            self._idle.append(strand)
            self._hub.switch()
