"""A worker of a line gives a part of its work to others, so that they end together."""

from collections.abc import Iterable, Sequence
from functools import partial

from tests.contract.builders import NOON, policy, trigger_message
from tests.fakes.doubles import CountingIds, HandClock
from tests.fakes.flow_memory import MemoryPolicies, MemoryPolicyLines, WorkBox

from sweephand.base.concurrency import one_by_one
from sweephand.base.instants import Instant
from sweephand.model.policy import Policy
from sweephand.model.policy_line import LinePlace, LineTop, entry_of
from sweephand.model.trigger import TriggerMessage
from sweephand.runs.flow.line_walk import LineWalk
from sweephand.runs.flow.pace import Pace
from sweephand.wheel.sending import LineUp

#: Four holders of three permits.
POLICY: Policy = policy(12, holder_size=3, partitions=8)
PLACE = LinePlace(POLICY.key, "normal", 5)

#: Of the partitions of high priority, a worker reads this one and the next one first.
READ_FIRST = PLACE._replace(priority="high", partition=4)


class Scene:
    """One partition with work, and a worker that walks it. Its last worker may have crashed."""

    def __init__(
        self, entries: Iterable[Sequence[TriggerMessage]], wanted: int, crashed_until: Instant | None = None
    ) -> None:
        self.lines = MemoryPolicyLines()
        for number, messages in enumerate(entries):
            self.lines.put(PLACE, entry_of(messages, messages[0].not_before, f"source{number}"))
        clock = HandClock()
        clock.time = NOON + 1_000
        if crashed_until is not None:
            assert self.lines.claim(PLACE, None, "crashed", crashed_until)
            clock.time = crashed_until
        work = WorkBox()
        line_up = LineUp(policies=MemoryPolicies(), lines=self.lines, work=work, clock=clock)
        self.walk = LineWalk(
            POLICY.key, lines=self.lines, line_up=line_up, clock=clock, ids=CountingIds(),
            concurrently=one_by_one, pace=Pace(clock),
        )  # fmt: skip
        assert self.walk.read_ahead(POLICY, wanted, lambda: True)

    def waiting(self) -> list[tuple[int, str]]:
        """The partition and the trigger of all that stands in the line."""
        return [
            (place.partition, message.trigger.id)
            for place, entry in self.lines.everything()
            for message in entry.messages
        ]

    def elsewhere(self) -> dict[int, int]:
        """How many triggers stand in each other partition."""
        found: dict[int, int] = {}
        for partition, _ in self.waiting():
            if partition != PLACE.partition:
                found[partition] = found.get(partition, 0) + 1
        return found


def triggers(first: int, count: int) -> list[TriggerMessage]:
    return [trigger_message(NOON + number) for number in range(first, first + count)]


def test_entries_of_single_triggers_become_packs_in_other_partitions() -> None:
    scene = Scene([triggers(number, 1) for number in range(66)], wanted=6)
    assert scene.walk.share(POLICY, 2, enough=12) == 2
    assert sorted(scene.elsewhere().values()) == [20, 20]
    assert len({place for place, _ in scene.lines.everything()}) == 3
    assert sum(place != PLACE for place, _ in scene.lines.everything()) == 2, "not one pack for each"
    assert sorted(each for _, each in scene.waiting()) == sorted({each for _, each in scene.waiting()})


def test_a_large_pack_that_nobody_has_taken_up_is_split() -> None:
    scene = Scene([triggers(0, 6), triggers(6, 90)], wanted=6)
    assert scene.walk.share(POLICY, 2, enough=12) == 2
    assert sorted(scene.elsewhere().values()) == [30, 30]
    assert sum(partition == PLACE.partition for partition, _ in scene.waiting()) == 6 + 30


def test_triggers_that_wait_in_a_worker_are_given_away_and_not_begun_by_it() -> None:
    scene = Scene([triggers(0, 90)], wanted=6)
    assert scene.walk.waiting == 90
    assert scene.walk.share(POLICY, 2, enough=12) == 2
    assert sorted(scene.elsewhere().values()) == [30, 30]
    mine = []
    while (taken := scene.walk.take(lambda: True)) is not None:
        mine.append(taken.message.trigger.id)
        scene.walk.settle(taken)
    assert len(mine) == 30
    while scene.walk.clean():
        pass
    left = [each for _, each in scene.waiting()]
    assert len(left) == 60
    assert not set(left) & set(mine)


def test_what_is_too_little_for_a_helper_stays() -> None:
    scene = Scene([triggers(0, 5)], wanted=6)
    assert scene.walk.share(POLICY, 2, enough=12) == 0
    assert not scene.elsewhere()
    assert scene.walk.waiting == 5


def test_work_that_nobody_walks_needs_no_move() -> None:
    scene = Scene([triggers(0, 90)], wanted=6)
    for partition in (1, 2, 3):
        scene.lines.put(
            PLACE._replace(partition=partition), entry_of(triggers(100 + partition, 1), NOON, "x")
        )
    assert scene.walk.share(POLICY, 2, enough=12) == 2
    assert scene.walk.share(POLICY, 4, enough=12) == 3
    assert scene.walk.waiting == 90


def test_a_partition_that_another_worker_claims_first_is_passed_over() -> None:
    scene = Scene([triggers(0, 1)], wanted=6)
    places = [PLACE._replace(partition=partition) for partition in (1, 2)]
    for number, place in enumerate(places):
        scene.lines.put(place, entry_of(triggers(10 + number, 1), NOON + number, "x"))
    claim = scene.lines.claim
    refused: list[LinePlace] = []

    def first_refused(place: LinePlace, *others: object) -> object:
        if not refused:
            refused.append(place)
            return None
        return partial(claim, place)(*others)  # type: ignore[arg-type]

    scene.lines.claim = first_refused  # type: ignore[method-assign, assignment]
    assert scene.walk.read_ahead(POLICY, 6, lambda: True)
    assert refused == [places[0]]
    assert scene.walk.waiting == 2


def test_what_waits_in_a_worker_keeps_its_priority() -> None:
    scene = Scene([triggers(0, 40)], wanted=6)
    high = PLACE._replace(priority="high")
    scene.lines.put(high, entry_of(triggers(100, 40), NOON, "high"))
    assert scene.walk.read_ahead(POLICY, 60, lambda: True)
    scene.walk.share(POLICY, 2, enough=12)
    places = {
        message.trigger.id: place.priority
        for place, entry in scene.lines.everything()
        for message in entry.messages
        if place.partition != PLACE.partition
    }
    assert len(places) == 26
    assert places == {each.trigger.id: "high" for each in triggers(100, 40) if each.trigger.id in places}


def test_triggers_of_higher_priority_are_taken_before_those_that_wait_in_the_worker() -> None:
    scene = Scene([triggers(0, 40)], wanted=6)
    scene.lines.put(READ_FIRST, entry_of(triggers(100, 2), NOON, "high"))
    scene.walk.read_higher(POLICY)
    taken = [scene.walk.take(lambda: True) for _ in range(3)]
    assert [each and each.message for each in taken] == [*triggers(100, 2), *triggers(0, 1)]


def test_a_worker_goes_back_to_the_partition_that_it_left_for_a_higher_priority() -> None:
    scene = Scene([triggers(each, 1) for each in range(20)], wanted=6)
    scene.lines.put(READ_FIRST, entry_of(triggers(100, 1), NOON, "high"))
    scene.walk.read_higher(POLICY)
    assert scene.walk.read_ahead(POLICY, 30, lambda: False)
    assert scene.walk.waiting == 21


def test_a_worker_reads_as_few_large_entries_as_it_needs() -> None:
    scene = Scene([triggers(100 * each, 100) for each in range(8)], wanted=20)
    limits: list[int] = []
    top = scene.lines.top

    def counted(place: LinePlace, before: int, limit: int) -> LineTop:
        limits.append(limit)
        return top(place, before, limit)

    scene.lines.top = counted  # type: ignore[method-assign]
    scene.walk.read_ahead(POLICY, 200, lambda: False)
    assert scene.walk.waiting == 200
    # One more shows whether others could help, besides the entry that this worker has taken up.
    assert limits == [1 + 1 + 1]
