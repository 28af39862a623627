"""A frozen function that Lambda thaws minutes later writes no job."""

from typing import Any

import pytest
from tests.fakes.world import World, key_of

from sweephand.base.errors import StoreError


@pytest.mark.parametrize("verb", ["put", "patch", "pause", "resume", "delete"])
def test_a_write_that_is_thawed_between_its_arming_and_its_commit_writes_nothing(verb: str) -> None:
    world = World()
    world.put(schedule="@every 100s")
    if verb == "resume":
        world.pause()
    before = world.jobs.get(key_of())
    call = "before jobs.delete" if verb == "delete" else "before jobs.put"

    def thaw(announced: str) -> None:
        if announced == call:
            world.clock.time += 10 * 60_000

    world.announce = thaw
    written: dict[str, dict[str, Any]] = {"put": {"schedule": "@every 7s"}, "patch": {"labels": {"a": "b"}}}
    with pytest.raises(StoreError, match="too late"):
        getattr(world, verb)(**written.get(verb, {}))
    assert world.jobs.get(key_of()) == before
