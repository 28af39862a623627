"""Writes windows into a world, as the API does."""

from typing import Any

from tests.fakes.world import NOON, World

from sweephand.base.instants import Instant, rfc3339


def put_window(world: World, name: str = "freeze", **written: Any) -> None:
    """Write a window of the world's namespace."""
    now = world.api_clock.now()
    world.api().windows.put("ns", name, written, who="me", requested_at=now)


def put_once(world: World, since_ms: int, until_ms: int, name: str = "freeze", **written: Any) -> None:
    """Write a window that opens and closes so many ms after noon."""
    put_window(world, name, **{"from": at(since_ms), "to": at(until_ms)}, **written)


def delete_window(world: World, name: str = "freeze") -> None:
    """Delete a window."""
    world.api().windows.delete("ns", name, who="me", requested_at=world.api_clock.now())


def at(ms: int) -> str:
    """The instant so many ms after noon, as a request has it."""
    return rfc3339(NOON + ms)


def world_with_windows(now: Instant = NOON) -> World:
    """A world whose delivery functions look at windows."""
    world = World(now)
    world.limits_namespaces = True
    return world
