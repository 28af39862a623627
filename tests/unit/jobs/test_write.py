"""Writing jobs: arming, commit and answer, also while other callers write the same job."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from tests.fakes.faults import calls_of, failing, slow, working
from tests.fakes.world import NOON, World, definition, key_of

from sweephand.base.errors import InvalidError, NotFoundError, PreconditionError, StoreError, UnavailableError
from sweephand.base.instants import HOUR_MS, Instant
from sweephand.base.timing import PAYLOAD_GRACE_MS, REQUEST_TIME_LIMIT_MS
from sweephand.model.job import EARLIER_REVISIONS_MAX

LARGE = '"' + "x" * 3_000 + '"'


def test_a_job_is_armed_before_it_can_be_read(world: World) -> None:
    calls = calls_of(world, lambda: world.put(schedule="@every 100s"))
    writes = [call for call in calls if call.startswith("before") and call != "before jobs.get"]
    assert writes == ["before timers.put", "before queue.send", "before jobs.put"]


def test_a_new_job_owns_triggers_from_its_request_on_however_late_its_commit(world: World) -> None:
    slow(world, 5_000, "before jobs.put")
    job = world.put(dueTime="0s").job
    assert job.current.owns(NOON)
    assert not job.current.owns(NOON - 1)
    assert job.shard in range(2)
    assert job.created_at == job.updated_at == NOON


def test_jobs_spread_over_all_shards() -> None:
    world = World(shards=5)
    assert {world.put(f"job-{number}", dueTime="1h").job.shard for number in range(40)} == {0, 1, 2, 3, 4}


def test_an_equal_definition_changes_nothing_and_a_completed_job_begins_again(world: World) -> None:
    first = world.put(dueTime="10s")
    world.clock.time += 5_000
    again = world.put(dueTime="10s")
    assert (again.outcome, again.job) == ("unchanged", first.job)
    world.clock.time += 5_000
    anew = world.put(dueTime="10s")
    assert anew.outcome == "replaced"
    assert anew.job.uid == first.job.uid
    assert anew.job.series.due_at == NOON + 20_000


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"data": "1"}, {"data": "2"}),
        ({"data": "1"}, {"data": None}),
        ({"labels": {"a": "b"}}, {}),
        ({}, {"dueTime": "50s"}),
    ],
)
def test_any_difference_makes_a_new_revision(before: dict[str, Any], after: dict[str, Any]) -> None:
    world = World()
    first = world.put(**{"schedule": "@every 10s", **before}).job
    second = world.put(**{"schedule": "@every 10s", **after}).job
    assert second.rev != first.rev
    assert (second.uid, second.shard, second.created_at) == (first.uid, first.shard, first.created_at)
    assert [each.rev for each in second.earlier] == [first.rev]


def test_an_update_rules_from_its_cut_and_each_instant_has_a_revision(world: World) -> None:
    world.put(schedule="@every 10s", data="0")
    for number in range(1, 5):
        world.clock.time += 7_777
        slow(world, 1_234, "before timers.put")
        job = world.put(schedule="@every 10s", data=str(number)).job
        assert job.cut == world.clock.time
    for former, latter in pairwise((*job.earlier, job.current)):
        assert former.until == latter.since


def test_a_cut_never_lies_before_the_one_before_it_however_clocks_differ(world: World) -> None:
    world.api_clock.ahead_ms = 60_000
    world.put(schedule="@every 10s", data="0")
    world.put(schedule="@every 10s", data="1")
    world.api_clock.ahead_ms = -30_000
    world.clock.time += 1_000
    job = world.put(schedule="@every 10s", data="2").job
    assert job.cut == NOON + 60_000
    for former, latter in pairwise((*job.earlier, job.current)):
        assert former.until == latter.since


def test_an_update_during_which_the_clock_goes_back_loses_no_trigger(world: World) -> None:
    world.put(schedule="@every 10s", data="0")
    world.clock.time += 5_000
    world.put(schedule="@every 10s", data="1")
    world.clock.time += 7_000

    def announce(announced: str) -> None:
        if announced == "before queue.send":
            world.api_clock.ahead_ms = -30_000

    world.announce = announce
    world.put(schedule="@every 10s", data="2")
    working(world)
    world.run_until(NOON + 30_000)
    assert sorted(each.trigger.due_at for each in world.consumers.attempts) == [
        NOON + 10_000,
        NOON + 20_000,
        NOON + 30_000,
    ]


def test_a_new_series_rules_from_its_request_and_the_old_one_up_to_the_cut(world: World) -> None:
    old = world.put(schedule="@every 10s").job
    world.clock.time += 9_000
    slow(world, 2_000, "before jobs.put")
    slow(world, 2_000, "before queue.send")
    job = world.put(schedule="@every 1s").job
    before = job.revision(old.rev)
    assert before is not None
    assert before.owns(NOON + 10_000)
    assert job.current.owns(NOON + 10_000)
    assert job.series.start_at == NOON + 9_000


def test_an_update_that_keeps_the_times_goes_on_with_the_series(world: World) -> None:
    world.put(schedule="@every 10s", dueTime="3s")
    world.clock.time += 25_000
    job = world.put(schedule="@every 10s", dueTime="3s", data="1").job
    coming = job.series.next_after(world.clock.time)
    assert coming is not None
    assert coming.due_at == NOON + 33_000


@pytest.mark.parametrize(
    ("old", "new"),
    [({"repeats": 1}, {"repeats": 3}), ({"ttl": "11s"}, {"ttl": "31s"}), ({"repeats": 1}, {"repeats": None})],
    ids=["repeats", "ttl", "no more bound"],
)
def test_an_update_whose_commit_comes_after_the_old_end_fires_the_times_in_between(
    world: World, old: dict[str, Any], new: dict[str, Any]
) -> None:
    world.put(schedule="@every 10s", **old)
    world.clock.time += 9_000
    slow(world, 12_000, "before queue.send")
    written = {name: value for name, value in new.items() if value is not None}
    job = world.put(schedule="@every 10s", **written).job
    assert job.cut == NOON + 21_000
    working(world)
    world.run_until(NOON + 60_000)
    fired = [each.trigger.due_at for each in world.consumers.attempts if each.trigger.due_at <= NOON + 30_000]
    assert sorted(fired) == [NOON + 10_000, NOON + 20_000, NOON + 30_000]


def test_delays_count_from_when_messages_are_sent(world: World) -> None:
    slow(world, 3_000, "before timers.put")
    world.put(schedule="@every 60s")
    assert [at for at, _ in world.queue.waiting] == [NOON + each * 60_000 for each in (1, 2, 3, 4, 5)]


@pytest.mark.parametrize("call", ["jobs.get", "timers.put", "queue.send"])
def test_a_write_that_takes_too_long_raises_an_error_and_commits_nothing(world: World, call: str) -> None:
    slow(world, REQUEST_TIME_LIMIT_MS + 1, f"before {call}")
    with pytest.raises(UnavailableError):
        world.put(schedule="@every 100s", data=LARGE)
    assert world.jobs.get(key_of()) is None
    assert world.payloads.discarded == set(world.payloads._payloads)


def test_preconditions_are_those_of_http(world: World) -> None:
    for wrong in ("*", "1-a"):
        with pytest.raises(PreconditionError):
            world.put(dueTime="1h", if_match=(wrong,))
    rev = world.put(dueTime="1h", if_absent=True).job.rev
    with pytest.raises(PreconditionError):
        world.put(dueTime="1h", if_absent=True)
    with pytest.raises(PreconditionError):
        world.put(dueTime="2h", if_match=("9-z",))
    with pytest.raises(PreconditionError):
        world.delete(if_match=("9-z",))
    assert world.put(dueTime="2h", if_match=(rev,)).outcome == "replaced"
    assert world.put(dueTime="3h", if_match=("*",)).outcome == "replaced"


def test_a_missing_job_cannot_be_deleted() -> None:
    with pytest.raises(NotFoundError):
        World().delete(if_match=("*",))


def test_a_job_past_its_time_to_live_is_replaced_by_one_of_its_own_identity(world: World) -> None:
    old = world.put(dueTime="1s", data=LARGE, retention="0s", retry={"maxAge": "1s"}).job
    world.clock.time += HOUR_MS + PAYLOAD_GRACE_MS + 1
    written = world.put(dueTime="1s", data=LARGE)
    assert written.outcome == "created"
    assert written.job.uid != old.uid
    assert {uid for uid, _ in world.payloads.discarded} == {old.uid}


@pytest.mark.parametrize(
    ("written", "kept_for"),
    [
        ({"dueTime": "10s"}, 10_000 + 24 * 3_600_000 + 7 * 86_400_000),
        ({"dueTime": "10s", "retention": "1h", "retry": {"maxAge": "2h"}}, 10_000 + 3 * 3_600_000),
        (
            {"schedule": "@every 10s", "repeats": 3, "retention": "0s", "retry": {"maxAge": "0s"}},
            30_000 + HOUR_MS,
        ),
        ({"schedule": "@every 10s"}, None),
    ],
)
def test_a_job_that_will_end_is_kept_for_its_retries_and_its_retention(
    written: dict[str, Any], kept_for: int | None
) -> None:
    expires_at: Instant | None = None if kept_for is None else NOON + kept_for
    assert World().put(**written).job.expires_at == expires_at


def test_the_last_earlier_revisions_are_kept(world: World) -> None:
    revs: list[str] = []
    for number in range(30):
        revs.append(world.put(schedule="@every 10s", data=str(number)).job.rev)
        world.clock.time += 10_000
    assert [each.rev for each in world.stored().earlier] == revs[-1 - EARLIER_REVISIONS_MAX : -1]


def test_a_revision_under_which_something_fell_due_is_not_forgotten_for_those_that_owe_nothing() -> None:
    world = World()
    owing = world.put(schedule="@every 1h", data="0").job.rev
    world.clock.time += 3_600_000
    for number in range(1, 3 * EARLIER_REVISIONS_MAX):
        world.patch(description=str(number))
        world.clock.time += 5_000
    assert owing in [each.rev for each in world.stored().earlier]


def test_an_update_of_a_paused_job_keeps_it_paused_and_the_old_revision_owes_up_to_the_pause() -> None:
    world = World()
    job = world.put(schedule="@every 10s").job
    world.clock.time += 50_000
    paused = replace(job, paused_at=NOON + 30_000, pause_reason="x", version=world.ids.token())
    assert world.jobs.put(paused, job.version)
    updated = world.put(schedule="@every 10s", data="1").job
    assert (updated.paused_at, updated.pause_reason) == (NOON + 30_000, "x")
    before = updated.revision(job.rev)
    assert before is not None
    assert before.until == NOON + 30_000


@pytest.mark.parametrize("after", [False, True], ids=["refused", "answer lost"])
def test_a_store_that_fails_at_the_commit_raises_and_asking_again_is_safe(*, after: bool) -> None:
    world = World()
    failing(world, "jobs.put", after=after)
    with pytest.raises(StoreError):
        world.put(dueTime="30s", data=LARGE)
    working(world)
    written = world.put(dueTime="30s", data=LARGE)
    assert written.outcome == ("unchanged" if after else "created")
    world.payloads.expire()
    world.run_until(NOON + 31_000)
    assert len(world.consumers.ids) == 1


def test_a_series_that_would_be_over_before_it_fires_again_is_refused_whole(world: World) -> None:
    before = world.put(schedule="@every 100s").job
    world.clock.time += 1_000
    with pytest.raises(InvalidError):
        world.put(schedule="@every 100s", ttl="30s")
    assert world.stored() == before
    assert definition(schedule="@every 100s").equals(before.definition)


def test_a_write_whose_turn_comes_too_late_calls_no_store(world: World) -> None:
    world.clock.time += REQUEST_TIME_LIMIT_MS + 1
    writer = world.api().writer

    def late() -> None:
        with pytest.raises(UnavailableError):
            writer.put(key_of(), definition(dueTime="1h"), caller="test", requested_at=NOON)

    assert not calls_of(world, late)
