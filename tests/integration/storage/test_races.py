"""Several threads write one item while answers get lost. Each acknowledged write is made exactly once."""

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count

from tests.contract.builders import (
    NOON,
    admin_change,
    api_key,
    job,
    next_revision,
    paused,
    run,
)
from tests.fakes.engines import Dynamo
from tests.fakes.wire import answers_lost

from sweephand.model.run import Run, State, trigger_of
from sweephand.model.timer import Cursor, Lease

RIVALS = 4
CHANCE = random.Random(42)  # noqa: S311 (no secret: it decides which answers get lost)


def at_once(rival: Callable[[int], list[str]]) -> list[str]:
    """The results of all rivals, each of which runs in a thread of its own."""
    with ThreadPoolExecutor(RIVALS) as pool:
        return [each for achieved in pool.map(rival, range(RIVALS)) for each in achieved]


def test_every_update_of_a_job_that_was_acknowledged_is_in_its_history(dynamo: Dynamo) -> None:
    jobs = dynamo.stores().jobs
    jobs.put(job(), replacing=None)

    def update_four_times(rival: int) -> list[str]:
        acknowledged: list[str] = []
        tokens = (f"rival{rival:02d}{number:09d}" for number in count())
        while len(acknowledged) < 4:
            read = jobs.get(job().key)
            assert read is not None
            written = next_revision(read, next(tokens))
            if jobs.put(written, replacing=read.version):
                acknowledged.append(written.rev)
        return acknowledged

    with answers_lost(dynamo.client, "PutItem", CHANCE) as lost:
        acknowledged = at_once(update_four_times)
    assert lost.times > 0
    stored = jobs.get(job().key)
    assert stored is not None
    history = [*(revision.rev for revision in stored.earlier), stored.rev]
    assert sorted(history[1:]) == sorted(acknowledged)
    assert [int(rev.partition("-")[0]) for rev in history] == list(range(1, 18))


def test_no_pause_of_a_job_that_was_acknowledged_is_undone_by_an_update(dynamo: Dynamo) -> None:
    jobs = dynamo.stores().jobs
    jobs.put(job(), replacing=None)

    def pause_or_update(rival: int) -> list[str]:
        for number in range(12):
            read = jobs.get(job().key)
            assert read is not None
            token = f"rival{rival:02d}{number:09d}"
            written = paused(read, token) if rival == 0 else next_revision(read, token)
            # An update keeps the state that it read.
            if jobs.put(written, replacing=read.version) and rival == 0:
                return [token]
        return []

    with answers_lost(dynamo.client, "PutItem", CHANCE):
        acknowledged = at_once(pause_or_update)
    stored = jobs.get(job().key)
    assert stored is not None
    assert (stored.paused_at is not None) == bool(acknowledged)


def test_a_shard_has_one_holder_for_each_fence_and_its_cursor_is_the_last_commit(
    dynamo: Dynamo,
) -> None:
    leases = dynamo.stores().leases
    leases.raise_shards(1)

    def sweep_four_times(rival: int) -> list[str]:
        commits: list[str] = []
        owners = (f"owner{rival:02d}{number:09d}" for number in count())
        while len(commits) < 4:
            owner = next(owners)
            lease = leases.claim(Lease(0, Cursor()), owner, NOON, NOON + 30_000)
            if lease is None:
                continue
            assert lease.owner == owner
            committed = leases.commit(lease, Cursor(f"{lease.fence:04d} {owner}"), NOON + 30_000)
            assert committed is not None, "nobody can have taken over"
            commits.append(committed.cursor.key)
            leases.release(committed, 1, NOON)
        return commits

    with answers_lost(dynamo.client, "UpdateItem", CHANCE) as lost:
        commits = at_once(sweep_four_times)
    assert lost.times > 0
    [lease] = leases.state().leases
    assert lease.owner is None
    # Claims whose answer was lost are counted once, so that the fences have no gaps.
    assert [int(commit.partition(" ")[0]) for commit in sorted(commits)] == list(range(1, 17))
    assert lease.cursor.key == max(commits)


def test_every_attempt_of_a_run_is_claimed_and_recorded_by_one_function(dynamo: Dynamo) -> None:
    runs = dynamo.stores().runs
    attempts = range(1, 9)

    def handle_every_attempt(rival: int) -> list[str]:
        handled: list[str] = []
        for attempt in attempts:
            mine = run(attempt=attempt, owner=f"owner{rival:02d}{attempt:09d}")
            if runs.claim(mine, NOON) is None:
                outcome: Run = replace(mine, state="succeeded" if attempt == 8 else "retrying")
                # If the next attempt was claimed in the meantime, this one records nothing.
                handled += [mine.owner or ""] * runs.record(outcome)
        return handled

    with answers_lost(dynamo.client, "PutItem", CHANCE) as lost:
        handled = at_once(handle_every_attempt)
    assert lost.times > 0
    recorded = [int(owner[-9:]) for owner in handled]
    assert len(recorded) == len(set(recorded)), "an attempt was recorded twice"
    stored = runs.get(run().key, run().run_id)
    assert stored is not None
    assert (stored.state, stored.owner in handled) == ("succeeded", True)


def test_a_running_run_ends_once(dynamo: Dynamo) -> None:
    runs = dynamo.stores().runs
    claimed = run(token="shr_1")
    running = replace(claimed, state="running", heartbeat_by=NOON, run_until=NOON)
    assert runs.claim(claimed, NOON) is None
    assert runs.record(running)
    ends: tuple[State, ...] = ("succeeded", "retrying", "failed", "cancelled")

    def end_it(rival: int) -> list[str]:
        tokens = (f"rival{rival:02d}{number:09d}" for number in count())
        while True:
            seen = runs.of(trigger_of(running))
            assert seen is not None
            if seen.state != "running":
                return []
            beaten = replace(seen, version=next(tokens), heartbeat_by=(seen.heartbeat_by or 0) + 1)
            if runs.move(beaten, seen):
                seen = beaten
            over = replace(seen, state=ends[rival], version=next(tokens))
            if runs.move(over, seen):
                return [over.version or ""]

    with answers_lost(dynamo.client, "PutItem", CHANCE):
        (winner,) = at_once(end_it)
    stored = runs.of(trigger_of(running))
    assert stored is not None
    assert stored.version == winner
    assert stored.state == ends[int(winner[5:7])]


def test_of_many_redrives_of_one_failed_run_one_is_claimed(dynamo: Dynamo) -> None:
    runs = dynamo.stores().runs
    assert runs.record(run(state="failed"))

    def claim_the_round(rival: int) -> list[str]:
        mine = run(attempt=2, owner=f"owner{rival:02d}000000000", round_from=2)
        return [mine.owner or ""] if runs.claim(mine, NOON) is None else []

    with answers_lost(dynamo.client, "PutItem", CHANCE):
        claimed = at_once(claim_the_round)
    stored = runs.get(run().key, run().run_id)
    assert stored is not None
    assert claimed == [stored.owner]


def test_a_key_that_is_revoked_while_it_is_rotated_does_not_come_back(dynamo: Dynamo) -> None:
    keys = dynamo.stores().keys

    def rotate_or_revoke(rival: int) -> list[str]:
        done = []
        for number in range(12):
            old = api_key(f"old{number:013d}")
            new = api_key(f"new{number:09d}{rival:04d}", digest="1" * 64)
            if rival == 0:
                done += [old.id] if keys.delete(old.id) else []
            elif keys.rotate(
                old, old._replace(expires_at=NOON, replaced_by=new.id), new, None, [admin_change()]
            ):
                done.append(new.id)
        return done

    for number in range(12):
        keys.put(api_key(f"old{number:013d}"), admin_change())
    with answers_lost(dynamo.client, "TransactWriteItems", CHANCE):
        done = at_once(rotate_or_revoke)
    left = {key.id for key in keys.page(None, "", 100).items}
    assert {each for each in done if each.startswith("old")} == {f"old{number:013d}" for number in range(12)}
    assert left == {each for each in done if each.startswith("new")}, "no old key is there, and no other new"
