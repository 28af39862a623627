"""A namespace with limits, and the count of its jobs."""

from tests.fakes.world import World

from sweephand.base.timing import NAMESPACE_AGE_MAX_MS, RECOUNT_AFTER_MS
from sweephand.jobs.namespace_settings import WantedSettings
from sweephand.model.namespace import JobCount, NamespaceLimits


def limit(world: World, **limits: int | None) -> None:
    """Set the limits of the namespace, and let a minute pass until every process knows them."""
    world.api().namespaces.put(
        "ns", WantedSettings(NamespaceLimits(**limits)), who="admin", requested_at=world.api_clock.now()
    )
    world.clock.time += NAMESPACE_AGE_MAX_MS


def world_with(**limits: int | None) -> World:
    world = World()
    world.limits_namespaces = True
    limit(world, **limits)
    return world


def settle(world: World) -> None:
    """Let the first count end, so that the count is exact."""
    world.clock.time += RECOUNT_AFTER_MS + 1


def count(world: World) -> JobCount:
    found = world.namespaces.job_count("ns")
    assert found is not None
    return found


def names(world: World) -> list[str]:
    """The stored jobs of the namespace."""
    return [job.key.name for job in world.jobs.page("ns", "", "", 1_000).items]
