"""A random walk through a world in which everything goes wrong, and a calm in which all must come right."""

from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any, Final

from tests.fakes.faults import Killed
from tests.fakes.ledger import Ledger
from tests.fakes.world import NOON, World

from sweephand.errors import BadRequestError, StoreError, UnavailableError
from sweephand.instants import rfc3339
from sweephand.ports import Answer, Attempt
from sweephand.timing import API_LIMIT_MS, CLOCK_SKEW_MAX_MS, DIRECT_WINDOW_MS, HORIZON_MS

MINUTE: Final = 60_000

#: What each function's time limit is in template.yaml: past it, the process ends.
WHEEL_LIMIT_MS: Final = 120_000
DELIVERY_LIMIT_MS: Final = 90_000

#: Actors stopped within one another at one time.
DEPTH_MAX: Final = 2

#: What was sent before the calm lies no further ahead than this: after it nothing comes twice.
ECHO_MS: Final = DIRECT_WINDOW_MS + HORIZON_MS + CLOCK_SKEW_MAX_MS

DEFINITIONS: Final[tuple[dict[str, Any], ...]] = (
    {"schedule": "@every 17s"},
    {"schedule": "@every 61s"},
    {"schedule": "@every 61s", "dueTime": "30s"},
    {"schedule": "@every 290s"},
    {"schedule": "@every 23s", "repeats": 3},
    {"schedule": "@every 23s", "ttl": "90s"},
    {"schedule": "rate(1 minute)"},
    {"schedule": "R7/PT47S"},
    # A hundred instants: every timer of it carries a fifth.
    {"schedule": [rfc3339(NOON + number * 37_000) for number in range(1, 101)]},
    {"dueTime": "0s"},
    {"dueTime": "20s"},
    {"dueTime": "270s"},
    {"schedule": "@every 61s", "jitter": "1m"},
    {"schedule": "@every 61s", "jitter": "10m"},
    {"dueTime": "20s", "jitter": "5m"},
    {"schedule": [rfc3339(NOON + number * 23_000) for number in range(1, 51)], "jitter": "20m"},
)


class Walk:
    """One seed's walk: the same seed takes the same steps."""

    def __init__(self, seed: int, *, trouble: float = 0.04) -> None:
        self.random = Random(seed)  # noqa: S311 - a walk has to be repeatable
        self.world = World(shards=2)
        self.ledger = Ledger(self.world)
        self._trouble = trouble
        self._depth = 0
        self._puts = 0
        self.world.consumers.answering = self._answer

    def go(self, steps: int) -> None:
        """Take that many steps, each with whatever comes in between."""
        for _ in range(steps):
            self._step()

    def calm_down(self) -> None:
        """Let nothing go wrong any more until all is done; AssertionError if something is not right then."""
        world = self.world
        self._skew_clocks()
        world.queue.reappear()
        world.consumers.answering = lambda _: Answer(succeeded=True, code=200)
        begun_at = world.clock.time
        world.run_until(begun_at + ECHO_MS + 5 * MINUTE)
        through = world.clock.time - CLOCK_SKEW_MAX_MS
        self.ledger.check(through)
        fresh = (each.trigger for each in world.consumers.attempts if each.number == 1)
        numbers = Counter(each.id for each in fresh if begun_at + ECHO_MS < each.due_at <= through)
        assert set(numbers.values()) <= {1}, "a chain of timers has doubled"

    def _step(self) -> None:
        action, limit_ms = self.random.choice(
            (
                (self._put, API_LIMIT_MS),
                (self._delete, API_LIMIT_MS),
                *(((self.world.tick, WHEEL_LIMIT_MS),) * 4),
                *(((self._deliver, DELIVERY_LIMIT_MS),) * 5),
                *(((self._wait, WHEEL_LIMIT_MS * 10),) * 4),
                (self._copy, WHEEL_LIMIT_MS),
                (self.world.queue.reappear, WHEEL_LIMIT_MS),
            )
        )
        clocks = (self.world.api_clock, self.world.wheel_clock, self.world.delivery_clock)
        before = [clock.ahead_ms for clock in clocks]
        self._skew_clocks()
        self._amid_trouble(action, limit_ms)
        # Whoever was stopped for this goes on by the clock of its own machine.
        for clock, ahead_ms in zip(clocks, before, strict=True):
            clock.ahead_ms = ahead_ms

    def _skew_clocks(self) -> None:
        """Put each function on another machine."""
        skew_ms = CLOCK_SKEW_MAX_MS // 2
        for clock in (self.world.api_clock, self.world.wheel_clock, self.world.delivery_clock):
            clock.ahead_ms = self.random.choice((0, self.random.randint(-skew_ms, skew_ms)))

    def _amid_trouble(self, action: Callable[[], object], limit_ms: int) -> None:
        world, outer = self.world, self.world.announce
        ends_at = world.clock.time + limit_ms

        def announce(call: str) -> None:
            if self.random.random() < self._trouble:
                raise Killed(call)
            if self.random.random() < self._trouble:
                raise StoreError(call)
            # Between its last look at a job and its request nothing can keep a process from being late.
            is_leaving = call == "before consumers.deliver"
            if self._depth < DEPTH_MAX and not is_leaving and self.random.random() < self._trouble * 3:
                self._depth += 1
                world.clock.time += self.random.choice((0, self.random.randint(0, 8_000), limit_ms // 3))
                world.announce = outer
                self._step()
                world.announce = announce
                self._depth -= 1
            if world.clock.time > ends_at:
                raise Killed(call)

        world.announce = announce
        try:
            action()
        except (Killed, StoreError, ExceptionGroup, UnavailableError, BadRequestError):
            # The caller may ask again, and the queue shows its messages again; or nobody does.
            pass
        finally:
            world.announce = outer

    def _name(self) -> str:
        return f"job-{self.random.randrange(3)}"

    def _put(self) -> None:
        self._puts += 1
        self.world.put(self._name(), data=str(self._puts), **self.random.choice(DEFINITIONS))

    def _delete(self) -> None:
        if self.random.random() < 1 / 2:
            self.world.delete(self._name())

    def _deliver(self) -> None:
        self.random.shuffle(self.world.queue.waiting)
        if batch := self.world.queue.take(self.random.choice((1, 3, 10)), self.random.choice((1, 1, 1, 3))):
            self.world.deliver(batch)

    def _copy(self) -> None:
        waiting = self.world.queue.waiting
        waiting += self.random.sample(waiting, min(5, len(waiting)))

    def _wait(self) -> None:
        self.world.clock.time += self.random.choice((500, 5_000, 20_000, MINUTE, MINUTE, 5 * MINUTE))

    def _answer(self, _: Attempt) -> Answer:
        if self.random.random() < 2 / 3:
            return Answer(succeeded=True, code=200)
        later_at = self.world.clock.time + 20 * MINUTE if self.random.random() < 1 / 4 else None
        return Answer(succeeded=False, code=503, retry_after_at=later_at)
