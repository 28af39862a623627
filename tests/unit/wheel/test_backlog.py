"""How much a sweeper handles between two commits. A shard with more timers than time makes progress."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

import pytest
from tests.fakes.faults import slow, working
from tests.fakes.shards import crowded, lease_of, sent, written
from tests.fakes.world import NOON, World

from sweephand.base.concurrency import Result, one_by_one
from sweephand.base.instants import MINUTE_MS
from sweephand.base.timing import LEASE_MS
from sweephand.model.trigger import Sendable
from sweephand.wheel import sweep as sweeping
from sweephand.wheel.expand import TRIGGERS_MAX
from sweephand.wheel.shard_visit import PAGE_TIMERS_MAX, Pace, Portion, rounds
from sweephand.wheel.sweep import VISIT_MS


class Ended(BaseException):
    """The function's time was up."""


@pytest.mark.parametrize("request_ms", [20, 300, 800, 3_000, 6_000])
def test_a_shard_moves_on_however_slow_the_stores_are(request_ms: int) -> None:
    """At 800 ms a request a page of a thousand timers takes longer than tick may."""
    world = crowded(300)
    ends_at = 0
    send = world.queue.send

    def spend(requests: int) -> None:
        world.clock.time += requests * request_ms
        if world.clock.time > ends_at:
            raise Ended

    def slow_send(messages: Sequence[tuple[Sendable, int]]) -> None:
        spend(-(-len(messages) // 10))
        send(messages)

    world.queue.send = slow_send  # type: ignore[method-assign]
    world.announce = lambda call: spend(1) if call.startswith("before") and "queue" not in call else None
    reached = []
    for _ in range(6):
        ends_at = world.clock.time + 55_000
        with suppress(Ended):
            world.sweep(seconds=55)
        world.clock.time = ends_at + LEASE_MS
        reached.append(lease_of(world).cursor.key)
    assert "job-299" in reached[5] or reached[5] > reached[3] > reached[1] > ""


def test_a_page_that_was_begun_and_not_committed_is_done_in_smaller_parts() -> None:
    world = crowded(20)
    sizes = []

    def lost(call: str) -> None:
        if call in ("before leases.commit", "before leases.release"):
            sizes.append(len(sent(world)))
            world.queue.waiting.clear()
            raise Ended

    world.announce = lost
    for _ in range(5):
        with suppress(Ended):
            world.sweep()
        world.clock.time += LEASE_MS + 1
    assert sizes == [20, 20, 20, 15, 3]
    working(world)
    assert world.sweep().triggers == 20


def test_a_shard_with_a_backlog_keeps_no_other_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeping, "PAGE_TIMERS_MAX", 4)
    world = World(shards=2)
    for number in range(20):
        written(world, f"first-{number:02}", NOON + number)
    written(world, "second", NOON, 1)
    world.clock.time += MINUTE_MS
    slow(world, VISIT_MS // 2, "after queue.send")
    swept = world.sweep()
    assert swept.is_finished
    order = sent(world)
    assert len(order) == 21
    assert order.index("second") == 8


def test_a_sweep_reports_the_shards_that_it_had_no_time_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeping, "PAGE_TIMERS_MAX", 1)
    world = World(shards=4)
    for shard in range(3):
        for number in range(9):
            written(world, f"in-{shard}-{number}", NOON + number, shard)
    world.clock.time += MINUTE_MS
    slow(world, 4_000, "after queue.send")
    swept = world.sweep(seconds=30)
    assert swept.left == (2, 3, 0, 1)
    assert [lease.left_at for lease in world.leases.state().leases] == [NOON + 2, NOON + 2, None, None]


def side_by_side(world: World) -> list[int]:
    """How many requests of a sweep go side by side, for each time that some do."""
    together: list[int] = []

    def concurrently(tasks: Sequence[Callable[[], Result]]) -> Iterable[Result]:
        together.append(len(tasks))
        return one_by_one(tasks)

    sweeper = world.wheel().sweeper
    sweeper._concurrently = sweeper._due_jobs._concurrently = concurrently
    sweeper.sweep(world.leases.state().leases, owner="a", first_shard=0, deadline=world.clock.time + 60_000)
    return together


def test_the_jobs_of_a_page_are_read_side_by_side() -> None:
    assert side_by_side(crowded(250))[0] == 3  # each request reads a hundred


def test_writes_and_sends_before_a_commit_go_side_by_side() -> None:
    world = World(shards=1)
    for number in range(3):
        world.put(f"job-{number}", schedule="@every 20s", catchup={"mode": "latest", "window": "0s"})
    world.queue.waiting.clear()
    world.clock.time += 20 * MINUTE_MS
    # Three records of skipped ranges, one write of successors, and one message for each of the three jobs.
    assert max(side_by_side(world)) == 3 + 1 + 1


WHOLE = Portion(PAGE_TIMERS_MAX, TRIGGERS_MAX)


def pace_of(*requests_ms: int) -> Pace:
    pace = Pace()
    for each in requests_ms:
        pace.record(each)
    return pace


@pytest.mark.parametrize("request_ms", [0, 1, 20, 60])
def test_a_whole_page_goes_between_two_commits_while_stores_are_quick(request_ms: int) -> None:
    assert pace_of(request_ms).portion(40_000, 0) == WHOLE


@pytest.mark.parametrize("request_ms", [100, 300, 1_000, 3_000, 6_000, 60_000])
@pytest.mark.parametrize("left_ms", [15_000, 40_000, 105_000])
def test_a_portion_takes_half_of_what_is_left_at_most_or_is_a_single_timer(
    request_ms: int, left_ms: int
) -> None:
    portion = pace_of(request_ms).portion(left_ms, 0)
    assert portion.timers >= 1
    assert portion.triggers >= 1
    expected_ms = request_ms * rounds(portion.timers, portion.triggers, portion.timers)
    assert portion.timers == 1 or expected_ms <= left_ms / 2


def test_each_failed_attempt_makes_the_portion_smaller_down_to_one_timer() -> None:
    portions = [Pace().portion(40_000, attempts).timers for attempts in range(8)]
    assert portions == sorted(portions, reverse=True)
    assert portions[:3] == [1_000, 250, 62]
    assert portions[5:] == [1, 1, 1]


def test_a_slow_request_counts_at_once_and_stops_counting_after_quick_ones() -> None:
    assert pace_of(10, 3_000).portion(40_000, 0).timers < 20
    assert pace_of(3_000, *[10] * 7).portion(40_000, 0) == WHOLE


def test_no_portion_is_begun_if_too_little_time_is_left_for_it() -> None:
    assert Pace().has_time(1)
    assert pace_of(1_000).has_time(15_000)
    assert not pace_of(3_000).has_time(15_000)
