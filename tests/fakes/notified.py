"""A consumer of notifications beside the consumer of triggers."""

import json
from collections.abc import Callable
from typing import Any, Final

from tests.fakes.world import World

from sweephand.model.attempt import Answer, Attempt

#: The target of notifications.
TOLD: Final = {"type": "http", "url": "https://told.example/end"}


def by_target(
    world: World, delivery: Callable[[Attempt], Answer], telling: Callable[[Attempt], Answer] | None = None
) -> None:
    """Have the consumer of triggers and the consumer of notifications answer differently."""

    def answer(attempt: Attempt) -> Answer:
        if attempt.ended_after is None:
            return delivery(attempt)
        return telling(attempt) if telling else Answer(succeeded=True, code=200)

    world.consumers.answering = answer


def told(world: World) -> list[dict[str, Any]]:
    """The bodies of the notifications that were delivered, in order."""
    return [json.loads(each.body) for each in world.consumers.attempts if each.ended_after is not None]
