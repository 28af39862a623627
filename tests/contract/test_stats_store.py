"""What every StatsStore, FlagStore and WheelHistory promises (ports/)."""

from collections import Counter
from collections.abc import Iterable, Mapping

import pytest
from tests.contract.builders import EVERY_CHARACTER, NOON
from tests.fakes.engines import Stores

from sweephand.base.concurrency import always
from sweephand.base.errors import StoreError
from sweephand.base.instants import DAY_MS, INSTANT_MAX, MINUTE_MS
from sweephand.model.counters import COUNTED_OUTCOMES, Stats
from sweephand.model.job import JobKey
from sweephand.model.run import Flag, last_flag_at
from sweephand.model.run_id import Demand, RunName
from sweephand.model.wheel_event import WheelEvent
from sweephand.ports.runs import FlagStore, StatsStore
from sweephand.ports.wheel import WheelHistory

FIRST = Stats(Counter({"succeeded": 3, "failed": 1}), Counter({10: 2, 150: 2}))
MORE = Stats(Counter({"succeeded": 2}), Counter({150: 1, 700_000: 1}))
BOTH = Stats(Counter({"succeeded": 5, "failed": 1}), Counter({10: 2, 150: 3, 700_000: 1}))


@pytest.fixture
def stats(stores: Stores) -> StatsStore:
    return stores.stats


def hour(stats: StatsStore, namespace: str = "ns") -> Mapping[int, Stats]:
    return stats.minutes(namespace, NOON, NOON + 60 * MINUTE_MS)


def test_counts_of_a_minute_add_up_whatever_their_part(stats: StatsStore) -> None:
    stats.add(NOON, 0, {"ns": FIRST}, always)
    assert hour(stats) == {NOON: FIRST}
    for part in (0, 1, 2**32 - 1):
        stats.add(NOON, part, {"ns": MORE}, always)
    added = Stats(Counter({"succeeded": 9, "failed": 1}), Counter({10: 2, 150: 5, 700_000: 3}))
    assert hour(stats) == {NOON: added}


def test_one_addition_counts_for_several_namespaces_and_each_sees_its_own(stats: StatsStore) -> None:
    odd = EVERY_CHARACTER
    every = Stats(Counter(COUNTED_OUTCOMES), Counter())
    stats.add(NOON, 5, {"ns": FIRST, "ns2": MORE, "n": MORE, odd: every}, always)
    stats.add(NOON, 5, {"ns": MORE}, always)
    assert hour(stats) == {NOON: BOTH}
    assert hour(stats, "ns2") == hour(stats, "n") == {NOON: MORE}
    assert hour(stats, odd) == {NOON: every}
    assert hour(stats, "other") == {}


def test_a_span_has_the_minutes_that_begin_in_it_and_no_others(stats: StatsStore) -> None:
    for minute in range(-1, 4):
        stats.add(NOON + minute * MINUTE_MS, minute + 1, {"ns": FIRST}, always)
    found = stats.minutes("ns", NOON, NOON + 2 * MINUTE_MS)
    assert found == {NOON: FIRST, NOON + MINUTE_MS: FIRST}
    assert stats.minutes("ns", NOON + 1, NOON + MINUTE_MS + 1) == {NOON + MINUTE_MS: FIRST}
    assert stats.minutes("ns", NOON, NOON) == {}
    assert len(stats.minutes("ns", 0, NOON + DAY_MS)) == 5


def test_the_minutes_of_a_span_are_summed_for_each_namespace(stats: StatsStore) -> None:
    for minute, counted in ((-1, FIRST), (0, FIRST), (1, MORE), (2, FIRST)):
        stats.add(NOON + minute * MINUTE_MS, minute + 1, {"ns": counted}, always)
    stats.add(NOON, 7, {EVERY_CHARACTER: MORE}, always)
    assert stats.sums(NOON, NOON + 2 * MINUTE_MS) == {"ns": BOTH, EVERY_CHARACTER: MORE}
    assert stats.sums(NOON, NOON) == {}
    assert stats.minutes("ns", NOON, NOON + 1) == {NOON: FIRST}, "a sum changes no minute"


def test_what_is_too_late_is_not_counted(stats: StatsStore) -> None:
    with pytest.raises(StoreError):
        stats.add(NOON, 0, {"ns": FIRST}, lambda: False)
    assert hour(stats) == {}


KEY = JobKey("default", "backup")


@pytest.fixture
def flags(stores: Stores) -> FlagStore:
    return stores.flags


def flag(due_at: int = NOON, index: int = 0, uid: str = "uid0000000000001") -> Flag:
    return Flag(KEY, uid, RunName(due_at, index), NOON + 60_000)


def due_times(flags: Iterable[Flag]) -> list[int]:
    return [each.run.due_at for each in flags]


@pytest.mark.parametrize(
    "written",
    [
        flag(),
        Flag(KEY, "u", RunName(0, 0)),
        Flag(JobKey("default", EVERY_CHARACTER), "u", RunName(INSTANT_MAX, 9_999_999)),
        Flag(KEY, "u", RunName(NOON, 3, Demand("chained", "a" * 32)), NOON),
    ],
)
def test_a_flag_reads_back_as_it_was_filed(flags: FlagStore, written: Flag) -> None:
    flags.put(written)
    assert flags.page("default", 0, "", 10).items == (written,)


def test_a_flag_that_is_filed_again_stays_one_and_is_kept_for_longer(flags: FlagStore) -> None:
    flags.put(flag())
    flags.put(flag()._replace(expires_at=NOON + 90_000))
    assert flags.page("default", 0, "", 10).items == (flag()._replace(expires_at=NOON + 90_000),)


def test_flags_of_one_due_time_are_stored_separately(flags: FlagStore) -> None:
    on_demand = flag()._replace(run=RunName(NOON, 0, Demand("manual", "a")))
    written = {flag(), flag(index=1), flag(uid="uid0000000000002"), on_demand}
    for each in written:
        flags.put(each)
    assert set(flags.page("default", 0, "", 10).items) == written


def test_pages_show_each_flag_once_and_the_newest_first(flags: FlagStore) -> None:
    times = [9, 10, 100, *(NOON + 60_000 * minute for minute in range(40))]
    for at in times:
        flags.put(flag(at))
    seen: list[int] = []
    after: str | None = ""
    while after is not None:
        page = flags.page("default", 0, after, 7)
        assert len(page.items) <= 7
        seen += due_times(page.items)
        after = page.next
    assert seen == times[::-1]


def test_a_page_holds_no_flag_of_a_run_that_was_due_before_the_instant_asked_for(flags: FlagStore) -> None:
    for at in (NOON - 1, NOON, NOON + 1):
        flags.put(flag(at))
    assert due_times(flags.page("default", NOON, "", 10).items) == [NOON + 1, NOON]
    first = flags.page("default", NOON, "", 1)
    assert first.next is not None
    assert due_times(flags.page("default", NOON, first.next, 10).items) == [NOON]
    assert flags.page("default", NOON + 2, "", 10).items == ()


def test_a_page_goes_on_after_the_position_of_any_flag_or_due_time(flags: FlagStore) -> None:
    written = [flag(NOON), flag(NOON, index=1), flag(NOON - 1), flag(9)]
    for each in written:
        flags.put(each)
    in_order = list(flags.page("default", 0, "", 10).items)
    assert sorted(in_order, key=lambda each: each.position) == in_order
    for number, each in enumerate(in_order, start=1):
        assert list(flags.page("default", 0, each.position, 10).items) == in_order[number:]
    assert due_times(flags.page("default", 0, last_flag_at(NOON + 1), 10).items) == [NOON, NOON, NOON - 1, 9]
    assert due_times(flags.page("default", 0, last_flag_at(NOON), 10).items) == [NOON - 1, 9]
    assert due_times(flags.page("default", 0, last_flag_at(10), 10).items) == [9]


@pytest.mark.parametrize("since", [-1, -62_135_596_800_000])
def test_an_instant_before_1970_leaves_no_flag_out(flags: FlagStore, since: int) -> None:
    flags.put(flag())
    assert due_times(flags.page("default", since, "", 10).items) == [NOON]


def test_flags_of_other_namespaces_are_left_out(flags: FlagStore) -> None:
    flags.put(flag())
    flags.put(flag()._replace(key=JobKey("other", "backup")))
    assert [each.key for each in flags.page("default", 0, "", 10).items] == [KEY]


STOPPED = WheelEvent("stopped", NOON, NOON - 300_000)
OFF = WheelEvent("off", NOON, NOON - 400_000)
LIMIT = WheelEvent("limit", NOON + 60_000, NOON, 600)


@pytest.fixture
def history(stores: Stores) -> WheelHistory:
    return stores.wheel_history


def test_events_read_back_as_they_were_filed_and_oldest_first(history: WheelHistory) -> None:
    history.put([LIMIT, STOPPED])
    history.put([OFF])
    history.put([])
    assert history.after(0, 10) == [OFF, STOPPED, LIMIT]
    assert history.after(0, 1) == [OFF]


def test_only_events_that_were_found_later_than_the_instant_are_returned(history: WheelHistory) -> None:
    history.put([STOPPED, LIMIT])
    assert history.after(NOON - 1, 10) == [STOPPED, LIMIT]
    assert history.after(NOON, 10) == [LIMIT]
    assert history.after(NOON + 60_000, 10) == []


def test_an_event_that_is_filed_twice_is_stored_once(history: WheelHistory) -> None:
    history.put([LIMIT._replace(limit=0)])
    history.put([LIMIT._replace(limit=0)])
    assert history.after(0, 10) == [LIMIT._replace(limit=0)]
