"""When the place of a deleted job is free: at once after a limit was set, and during a new count."""

from dataclasses import dataclass, field
from random import Random

import pytest
from tests.fakes.doubles import SkewedClock
from tests.fakes.world import NOON, World, definition, key_of
from tests.unit.jobs.limited import count, limit, names, settle, world_with

from sweephand.base.errors import NotFoundError, QuotaError, UnavailableError
from sweephand.base.instants import SECOND_MS
from sweephand.base.timing import CLOCK_SKEW_MAX_MS, RECOUNT_AFTER_MS, REQUEST_OVER_MS
from sweephand.jobs.namespace_settings import WantedSettings
from sweephand.model.namespace import NamespaceLimits
from sweephand.web.http.operation import Services


def put(api: Services, name: str, at: int) -> None:
    api.writer.put(key_of(name), definition(dueTime="9h"), caller="t", requested_at=at)


def set_limit(world: World, jobs_max: int) -> None:
    """Set the limit. Processes that begin from now on know it at once."""
    wanted = WantedSettings(NamespaceLimits(jobs_max=jobs_max))
    world.api().namespaces.put("ns", wanted, who="admin", requested_at=NOON)


def new_limit(jobs_max: int) -> World:
    """A world whose namespace has just got a limit."""
    world = World()
    world.limits_namespaces = True
    set_limit(world, jobs_max)
    return world


def test_a_deletion_makes_room_at_once_in_a_namespace_with_a_new_limit() -> None:
    world = new_limit(3)
    for name in ("a", "b", "c"):
        world.put(name, dueTime="9h")
    with pytest.raises(QuotaError, match="may store 3 jobs"):
        world.put("d", dueTime="9h")
    world.delete("c")
    world.put("e", dueTime="9h")
    assert count(world).used == 3


def test_the_first_count_counts_each_job_once() -> None:
    world = new_limit(3)
    for name in ("a", "b", "c"):
        world.put(name, dueTime="9h")
    world.delete("c")
    settle(world)
    world.put("e", dueTime="9h")
    with pytest.raises(QuotaError):
        world.put("f", dueTime="9h")
    assert (count(world).used, count(world).counted_at) == (3, world.clock.time)
    world.delete("a")
    world.put("f", dueTime="9h")
    assert count(world).used == 3


def test_a_job_that_is_replaced_keeps_its_place() -> None:
    world = new_limit(3)
    world.put("a", dueTime="9h")
    world.put("a", dueTime="8h")
    world.patch("a", description="changed")
    world.pause("a")
    world.resume("a")
    world.delete("a")
    assert (count(world).used, count(world).since_mark) == (0, 0)


@pytest.mark.parametrize(("age_ms", "used"), [(REQUEST_OVER_MS, 1), (REQUEST_OVER_MS + 1, 0)])
def test_a_job_from_before_the_limit_makes_room_at_once_if_it_is_certainly_counted(
    world: World, age_ms: int, used: int
) -> None:
    world.limits_namespaces = True
    world.put("a", dueTime="9h")
    world.clock.time += age_ms
    limit(world, jobs_max=3)
    world.delete("a")
    assert count(world).used == used


def test_a_process_that_does_not_know_the_limit_yet_frees_the_place_of_a_job_that_has_one() -> None:
    world = World()
    world.limits_namespaces = True
    unaware = world.api()
    put(unaware, "old", NOON)
    set_limit(world, 3)
    world.put("a", dueTime="9h")
    for name in ("a", "old"):
        unaware.writer.delete(key_of(name), who="t", requested_at=NOON)
    assert (count(world).used, count(world).since_mark) == (1, 0)


def test_a_job_that_a_slow_clock_may_still_keep_is_counted() -> None:
    world = world_with(jobs_max=1)
    settle(world)
    world.put("a", dueTime="1s", retention="1h", retry={"maxAge": "1s"})
    expires_at = world.stored("a").expires_at
    assert expires_at is not None
    world.clock.time = expires_at - RECOUNT_AFTER_MS
    for _ in range(2):  # the mark, and the count
        with pytest.raises(QuotaError):
            world.put("b", dueTime="9h")
        world.clock.time += RECOUNT_AFTER_MS + 1
    assert world.clock.time > expires_at
    assert count(world).used == 1


@dataclass
class Traffic:
    """Processes with clocks of their own. They create and delete jobs, also during each other's requests."""

    world: World
    random: Random
    nests: bool
    unaware: Services = field(init=False)
    created_unaware: int = 0
    refused: int = 0
    _apis: list[tuple[Services, SkewedClock]] = field(default_factory=list)
    _deleting: set[str] = field(default_factory=set)
    _busy: list[int] = field(default_factory=list)

    def begin(self, jobs_max: int) -> None:
        """Create a job and warm a process, and set the limit after that."""
        for ahead_ms in (-CLOCK_SKEW_MAX_MS // 2, 0, CLOCK_SKEW_MAX_MS // 2):
            clock = SkewedClock(self.world.clock, ahead_ms)
            self._apis.append((self.world.api(clock), clock))
        self.unaware = self._apis[0][0]
        if self.nests:
            put(self.unaware, "first", self._apis[0][1].now())
        set_limit(self.world, jobs_max)
        self.world.announce = self._announce

    def step(self) -> None:
        """Let one process create or delete a job."""
        index = self.random.choice([each for each in range(len(self._apis)) if each not in self._busy])
        api, clock = self._apis[index]
        name, now = f"job-{self.random.randrange(9)}", clock.now()
        self._busy.append(index)
        try:
            if self.random.random() < 0.6:
                put(api, name, now)
                job = self.world.jobs.get(key_of(name))
                self.created_unaware += job is not None and job.counted_in is None
            elif name not in self._deleting:
                self._deleting.add(name)
                try:
                    api.writer.delete(key_of(name), who="t", requested_at=now)
                finally:
                    self._deleting.discard(name)
        except QuotaError:
            self.refused += 1
        except (NotFoundError, UnavailableError):
            pass
        finally:
            self._busy.remove(index)

    def check(self, jobs_max: int) -> None:
        """No more jobs are stored than the limit allows, and the count is never below them."""
        stored, counted = len(names(self.world)), count(self.world)
        assert stored <= jobs_max + self.created_unaware
        if counted.counted_at:
            assert stored <= counted.used <= jobs_max + self.created_unaware
        if not self.nests:
            assert stored == counted.used

    def _announce(self, _: str) -> None:
        # A process has one request at a time, and there are three processes.
        if self.nests and self._busy and len(self._busy) < 3 and self.random.random() < 0.03:
            self.world.clock.time += self.random.choice((0, 0, 1, 3 * SECOND_MS))
            self.step()


@pytest.mark.parametrize("nests", [False, True])
def test_the_count_is_never_below_the_stored_jobs_and_exact_without_races(*, nests: bool) -> None:
    refused = counts = 0
    for seed in range(10):
        world = World()
        world.limits_namespaces = True
        traffic = Traffic(world, Random(seed), nests)  # noqa: S311 - a seed, not a secret
        traffic.begin(5)
        counted_at = set()
        for _ in range(80):
            traffic.step()
            traffic.check(5)
            counted_at.add(count(world).counted_at)
            world.clock.time += traffic.random.choice((0, 1, 5, 20, 60)) * SECOND_MS
        refused, counts = refused + traffic.refused, counts + len(counted_at)
    assert refused > 30
    assert counts > 30
