"""What a world with one policy runs on: simulated time, functions, threads, and stores that fail."""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from random import Random
from typing import Any, Final

from tests.simulation.world.faults import KINDS, CallFaults, RoleFaults, Troubles
from tests.simulation.world.processes import Killed, Machine, MachineClock, Process, Scheduler

from sweephand.base.errors import StoreError
from sweephand.base.instants import SECOND_MS, Instant

NOON: Final[Instant] = 1_795_262_400_000

#: The time limit of the flow function and of the functions that put triggers into the line.
LIMIT_MS: Final = 90 * SECOND_MS
_SKEW_MS: Final = 45 * SECOND_MS

_UNTROUBLED: Final = RoleFaults("deliver", Troubles(dict.fromkeys(KINDS, 0.0)))


class _Ids:
    """ports.Ids from the random numbers of the world."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def token(self) -> str:
        return f"{self._random.getrandbits(50):016d}"

    def secret(self) -> str:
        return f"{self.token():0>43}"

    def fraction(self) -> float:
        return self._random.random()


class Gated:
    """A port each of whose calls takes time and may meet a fault."""

    def __init__(self, platform: "Platform", port: object) -> None:
        self._platform = platform
        self._port = port

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._port, name)

        def call(*arguments: Any, **named: Any) -> Any:
            return self._platform.called(lambda: method(*arguments, **named))

        return call


class Platform:
    """Runs the functions of one seed. `mishaps` 0 gives a world in which nothing goes wrong.

    If `clocks_differ`, half of the functions have a clock that is wrong while there are mishaps.
    """

    def __init__(self, seed: int, mishaps: float, *, clocks_differ: bool = True) -> None:
        self.seed = seed
        self.mishaps = mishaps
        self._clocks_differ = clocks_differ
        self.random = Random(seed)  # noqa: S311 - a seed, not a secret
        self.scheduler = Scheduler(NOON)
        self.ids = _Ids(self.random)
        self.figures: Counter[str] = Counter()
        self.complaints: Counter[str] = Counter()
        self._numbers = 0

    def called(self, call: Callable[[], Any]) -> Any:
        """Make a call of a port: it takes time, and may be refused, lost, repeated, or be the last one."""
        random, scheduler = self.random, self.scheduler
        scheduler.sleep(random.randint(1, 25))
        if not self.mishaps:
            return call()
        trouble = random.random() / self.mishaps
        if trouble < 0.002:
            self._end("killed before a call")
        if trouble < 0.004:
            raise StoreError("throttled")
        if trouble < 0.006:
            scheduler.freeze(int(random.choice((2, 10, 60)) * SECOND_MS * random.random()))
            scheduler.sleep(1)
        answer = call()
        if 0.006 <= trouble < 0.008:
            scheduler.sleep(random.randint(1, 4_000))
            answer = call()
        scheduler.sleep(random.randint(0, 5))
        if 0.008 <= trouble < 0.010:
            self._end("killed after a call")
        if 0.010 <= trouble < 0.012:
            raise StoreError("no answer")
        return answer

    def _end(self, why: str) -> None:
        self.scheduler.kill(self.scheduler.strand.process, why)
        raise Killed

    def process(
        self, body: Callable[[MachineClock], None], *, dead: Callable[[], None], limit_ms: int
    ) -> None:
        """Begin a function. `dead` is called if it is killed, and its errors are StoreErrors."""
        self._numbers += 1
        skewed = self.mishaps and self.random.random() < 0.5
        ahead_ms = self.random.randint(-_SKEW_MS, _SKEW_MS) if skewed else 0
        machine = Machine(str(self._numbers), ahead_ms if self._clocks_differ else 0)
        ends_at = self.scheduler.now + limit_ms
        process = Process(
            str(self._numbers), "deliver", machine, ends_at, lambda _: dead(), CallFaults(0, _UNTROUBLED)
        )
        self.scheduler.start(process, lambda: body(MachineClock(self.scheduler, machine)))

    def concurrently(self, tasks: Any) -> list[Any]:
        """Run each task in a strand of its own, and return when all have ended."""
        scheduler, results = self.scheduler, [None] * len(tasks)
        strand, running = scheduler.strand, [len(tasks)]

        def begin(number: int) -> None:
            def task() -> None:
                with suppress(Killed):
                    results[number] = tasks[number]()
                    running[0] -= 1
                    if not running[0]:
                        scheduler.wake(strand)

            scheduler.spawn(task)

        for number in range(len(tasks)):
            begin(number)
        scheduler.park()
        return results

    def read_concurrently(self, tasks: Any) -> list[Any]:
        """Like sweep_concurrently() of runtime/machine.py: an error is raised once every task ended."""

        def kept(task: Callable[[], Any]) -> Any:
            try:
                return task()
            except StoreError as error:
                return error

        results = self.concurrently([partial(kept, task) for task in tasks]) if tasks else []
        for result in results:
            if isinstance(result, StoreError):
                raise result
        return results
