"""A line whose permits are all in use costs nothing until one of them is free."""

from collections import Counter
from typing import Any

from tests.fakes.acceptance import ACCEPTED
from tests.fakes.world import NOON
from tests.unit.runs.flow.test_under_policies import away, run_of, waiting, world_with

from sweephand.base.instants import MINUTE_MS, SECOND_MS

#: The consumers report after hours, and the checks of their deadlines are timers until then.
LASTING: dict[str, Any] = {"completion": "async", "maxRunTime": "24h", "heartbeatTimeout": "24h"}


def test_nothing_polls_while_asynchronous_runs_hold_every_permit() -> None:
    world = world_with(2)
    world.consumers.answering = lambda _: ACCEPTED
    for number in range(2):
        world.put(f"running{number}", dueTime="1s", policy="mailer", **LASTING)
    for number in range(40):
        world.put(f"waiting{number}", dueTime=f"{5 + number}s", policy="mailer", **LASTING)
    # Messages that are dropped come once more, because the clocks of functions may differ (decision 051).
    world.run_until(NOON + 5 * MINUTE_MS)
    assert len(away(world)) == 2
    assert len(waiting(world)) == 40
    assert not world.work.waiting
    sent = len(world.work.sent)
    calls: Counter[str] = Counter()

    def announce(call: str) -> None:
        calls[call] += call.startswith("before ")

    world.announce = announce
    world.run_until(NOON + 15 * MINUTE_MS, ticking=False)
    assert not +calls
    assert len(world.work.sent) == sent
    # The end of a run has the line looked after at once.
    run = run_of(world, "running0")
    assert run.token is not None
    world.callbacks().complete(run.key, run.run_id, run.token)
    world.run_until(NOON + 15 * MINUTE_MS + SECOND_MS)
    assert len(waiting(world)) == 39
