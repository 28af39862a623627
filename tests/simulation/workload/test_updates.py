"""In some seeds a job is updated as often as it fires. In some, jobs have room for few earlier revisions."""

from collections import Counter

from tests.simulation.oracle.lives import lives_of
from tests.simulation.simulation import run
from tests.simulation.traces.trace import Written
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


def test_a_job_that_is_updated_often_has_more_revisions_than_its_item_has_room_for() -> None:
    most = 0
    for seed in [each for each in range(400) if Updates.of(each).is_on]:
        events = run(seed).events
        revisions = Counter(each.uid for each in events if isinstance(each, Written))
        lives = lives_of(events)
        for uid, _ in revisions.most_common(1):
            through = lives[uid].last.at
            most = max(most, sum(bool(reign.dues(through)) for reign in lives[uid].reigns()))
    assert most > EARLIER_REVISIONS_MAX
