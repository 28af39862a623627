"""In some seeds a job is updated as often as it fires. In some, jobs have room for few earlier revisions."""

from collections import Counter
from collections.abc import Sequence

from tests.simulation.oracle.lives import lives_of
from tests.simulation.traces.trace import Event, Written
from tests.simulation.workload.conftest import Worlds
from tests.simulation.workload.updates import TOUCH, Updates
from tests.simulation.workload.verbs import ACTIONS

from sweephand.model.job import EARLIER_REVISIONS_MAX

SEEDS = range(2_000)


def test_some_seeds_have_a_job_that_is_updated_often() -> None:
    assert 50 < sum(Updates.of(seed).is_on for seed in SEEDS) < 130
    assert 110 < sum(Updates.of(seed).room is not None for seed in SEEDS) < 220


def test_a_seed_without_a_job_that_is_updated_often_makes_no_such_updates() -> None:
    without = next(seed for seed in SEEDS if not Updates.of(seed).is_on)
    assert not Updates.of(without).asked(["job-0"], 0, 600_000)
    assert ACTIONS[TOUCH].weight == 0


def test_a_job_that_is_updated_often_has_more_revisions_than_its_item_has_room_for(
    events_of: Worlds,
) -> None:
    seeds = (seed for seed in range(400) if Updates.of(seed).is_on)
    assert any(_revisions_that_fired(events_of(seed)) > EARLIER_REVISIONS_MAX for seed in seeds)


def _revisions_that_fired(events: Sequence[Event]) -> int:
    """The number of revisions of the job with the most writes that were in force at a due time of theirs."""
    written = Counter(each.uid for each in events if isinstance(each, Written))
    [(uid, _)] = written.most_common(1)
    life = lives_of(events)[uid]
    return sum(bool(reign.dues(life.last.at)) for reign in life.reigns())
