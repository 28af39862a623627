"""A job that is updated as often as it fires: revisions that do not fit into its item are filed and read."""

from dataclasses import replace
from itertools import pairwise

import pytest
from tests.fakes.faults import calls_of, failing, slow
from tests.fakes.world import NOON, World

from sweephand.base.errors import StoreError
from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS
from sweephand.base.timing import REVISION_RETENTION_MS, TIMER_RETENTION_MS
from sweephand.model.job import EARLIER_REVISIONS_MAX, Revision, RevisionName
from sweephand.model.revisions import may_be_filed, owes_nothing

FULL = EARLIER_REVISIONS_MAX


def hammered(world: World, updates: int, *, apart_ms: int = SECOND_MS, repeats: int = 100) -> list[str]:
    """A job is written, then updated so often at that distance; its revisions in order."""
    revs = [world.put(schedule="@every 1s", repeats=repeats).job.rev]
    for number in range(updates):
        world.clock.time += apart_ms
        revs.append(world.patch(description=str(number)).job.rev)
    return revs


def filed(world: World) -> dict[str, Revision]:
    return {name.rev: revision for name, revision in world.jobs._filed.items()}


def test_a_revision_without_room_in_its_job_is_filed_with_its_reign(world: World) -> None:
    revs = hammered(world, FULL + 15)
    forgotten = revs[: -1 - FULL]
    assert list(filed(world)) == forgotten
    spans = [filed(world)[rev] for rev in forgotten] + list(world.stored().earlier)
    assert all(former.until == latter.since for former, latter in pairwise(spans))


def test_nothing_is_filed_as_long_as_there_is_room(world: World) -> None:
    hammered(world, FULL)
    assert not filed(world)


def test_a_revision_without_triggers_is_neither_kept_nor_filed(world: World) -> None:
    world.put(schedule="@every 1h")
    for number in range(3 * FULL):
        world.clock.time += SECOND_MS
        world.patch(description=str(number))
    assert not filed(world)


def test_a_revision_is_filed_before_the_write_that_forgets_it(world: World) -> None:
    hammered(world, FULL)
    world.clock.time += SECOND_MS
    calls = calls_of(world, lambda: world.patch(description="one too many"))
    assert calls.index("after jobs.file") < calls.index("before jobs.put")


def test_a_write_is_not_committed_if_the_revision_that_it_pushes_out_cannot_be_filed(world: World) -> None:
    hammered(world, FULL)
    before = world.stored()
    world.clock.time += SECOND_MS
    failing(world, "jobs.file")
    with pytest.raises(StoreError):
        world.patch(description="one too many")
    assert world.stored() == before


def test_the_cut_is_read_after_filing(world: World) -> None:
    hammered(world, FULL)
    world.clock.time += SECOND_MS
    slow(world, 5_000, "before jobs.file")
    job = world.patch(description="one too many").job
    assert job.cut == world.clock.time
    assert job.earlier[-1].until == job.cut


def test_a_revision_without_triggers_left_is_not_filed(world: World) -> None:
    hammered(world, FULL + 2, apart_ms=REVISION_RETENTION_MS // FULL, repeats=2**40)
    assert len(world.stored().earlier) == FULL
    assert not filed(world)


def test_a_filed_revision_outlives_a_timer_and_then_a_message_of_it() -> None:
    assert REVISION_RETENTION_MS > TIMER_RETENTION_MS + 14 * DAY_MS


#: A job that has forgotten its revisions before the third, which ended a minute after noon.
EARLIER = (Revision("3-c", NOON, NOON + MINUTE_MS), Revision("4-d", NOON + MINUTE_MS, NOON + HOUR_MS))


@pytest.mark.parametrize(
    ("rev", "due_at", "may_be"),
    [
        ("2-b", NOON, True),
        ("2-b", NOON + MINUTE_MS, True),
        # The third ended later than the second: what falls due after that end is not the second's.
        ("2-b", NOON + MINUTE_MS + 1, False),
        # What was armed and lost against another writer has a number that the job remembers.
        ("3-lost", NOON + HOUR_MS, True),
        ("3-c", NOON, False),
        ("5-e", NOON, False),
        ("6-to-come", NOON, False),
    ],
)
def test_a_filed_revision_is_read_only_if_it_may_owe_the_trigger(
    world: World, rev: str, due_at: int, *, may_be: bool
) -> None:
    world.put(schedule="@every 1s")
    job = replace(world.stored(), current=Revision("5-e", since=NOON + HOUR_MS), earlier=EARLIER)
    assert may_be_filed(job, job.uid, rev, due_at) is may_be
    assert not may_be_filed(job, "another", rev, due_at)


@pytest.mark.parametrize(
    ("rev", "due_at", "owes"),
    [
        ("2-b", NOON + MINUTE_MS, True),
        ("2-b", NOON + MINUTE_MS + 1, False),
        # The job had room for what comes after the third.
        ("4-lost", NOON + 1, False),
        ("3-c", NOON + HOUR_MS, True),
        ("6-to-come", NOON, True),
    ],
)
def test_a_revision_that_the_job_does_not_keep_owes_nothing_after_the_end_of_a_later_one(
    world: World, rev: str, due_at: int, *, owes: bool
) -> None:
    world.put(schedule="@every 1s")
    job = replace(world.stored(), current=Revision("5-e", since=NOON + HOUR_MS), earlier=EARLIER)
    assert owes_nothing(job, job.uid, rev, due_at) is not owes
    assert not owes_nothing(job, "another", rev, due_at)


def test_a_missing_job_has_no_filed_revision() -> None:
    assert not may_be_filed(None, "uid", "1-a", NOON)
    assert not owes_nothing(None, "uid", "1-a", NOON)


def fired(world: World) -> list[int]:
    """When the fires of a job were due, in seconds after noon and in order; nothing was delivered twice."""
    dues = sorted(world.consumers.dues)
    assert len(dues) == len(set(dues))
    return [(due_at - NOON) // SECOND_MS for due_at in dues]


def test_a_job_that_is_updated_every_second_while_nothing_is_delivered_fires_at_each_of_its_times() -> None:
    world = World()
    hammered(world, FULL + 10)
    assert not world.consumers.attempts
    world.run_until(NOON + 3 * MINUTE_MS)
    assert fired(world) == list(range(1, 101))


def test_a_filed_revision_of_one_job_is_not_that_of_another_of_its_name(world: World) -> None:
    revs = hammered(world, FULL + 1)
    job = world.stored()
    assert world.jobs.filed([RevisionName(job.key, job.uid, revs[0])])
    assert not world.jobs.filed([RevisionName(job.key, "another", revs[0])])
