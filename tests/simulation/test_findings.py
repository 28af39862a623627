"""The simulator finds an error, shrinks the seed, and tells its story."""

from contextlib import AbstractContextManager
from itertools import chain
from typing import Final
from unittest.mock import patch

from tests.simulation.report import figures_of, replay_of
from tests.simulation.shrink import shrunk
from tests.simulation.simulation import Result, run
from tests.simulation.traces.story import story
from tests.simulation.world.faults import KINDS, Mask

from sweephand.runs import gates

#: A seed that is broken without grace, and that is small. If workloads change, the test searches for another.
KNOWN: Final = 223


def without_grace() -> AbstractContextManager[object]:
    """Drop a trigger of an unknown revision at once, though its commit may be in flight."""
    return patch.object(gates, "UNKNOWN_GRACE_MS", 0)


def broken(seed: int, mask: Mask, *, is_telling: bool = False) -> Result:
    return run(seed, mutation=without_grace, mask=mask, is_telling=is_telling)


def first_broken() -> int:
    return next(seed for seed in chain((KNOWN,), range(400)) if broken(seed, Mask()).complaints)


def test_the_simulator_finds_broken_code_within_few_seeds_and_tells_the_story() -> None:
    seed = first_broken()
    actions = run(seed).actions
    mask = shrunk(lambda mask: bool(broken(seed, mask).complaints), actions)
    assert len(mask.actions) >= actions / 2
    assert len(mask.troubles) >= len(KINDS) / 2
    result = broken(seed, mask, is_telling=True)
    told = story(result)
    assert result.complaints[0] in told
    assert "jobs.put" in told
    assert f"make sim SEED={seed}" in replay_of(seed, mask)


def test_shrinking_leaves_the_troubles_actions_and_minutes_that_the_failure_needs() -> None:
    def fails(mask: Mask) -> bool:
        has_kills = "kills" not in mask.troubles
        return has_kills and 3 not in mask.actions and (mask.minutes or 9) >= 5

    mask = shrunk(fails, actions=9)
    assert mask.troubles == frozenset(KINDS) - {"kills"}
    assert mask.actions == frozenset(range(9)) - {3}
    assert mask.minutes == 5


def test_figures_are_added_up_and_named() -> None:
    told = figures_of({"seeds": 1_000, "kill": 3, "time limit": 4, "simulated minutes": 2_880}, lasted_s=20)
    assert "crashes" in told
    assert "50.0 seeds/s" in told
    assert "2.0 days" in told
