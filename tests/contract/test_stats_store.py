"""What every StatsStore promises (ports/)."""

from collections import Counter
from collections.abc import Mapping

import pytest
from tests.contract.builders import EVERY_CHARACTER, NOON
from tests.fakes.engines import Stores

from sweephand.base.concurrency import always
from sweephand.base.errors import StoreError
from sweephand.base.instants import DAY_MS, MINUTE_MS
from sweephand.model.counters import COUNTED_OUTCOMES, Stats
from sweephand.ports.runs import StatsStore

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


def test_what_is_too_late_is_not_counted(stats: StatsStore) -> None:
    with pytest.raises(StoreError):
        stats.add(NOON, 0, {"ns": FIRST}, lambda: False)
    assert hour(stats) == {}
