"""What every NamespaceStore and AllowanceStore promises (ports/)."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.contract.builders import EVERY_CHARACTER, NOON, admin_change, job, series
from tests.fakes.engines import Stores

from sweephand.base.instants import MINUTE_MS
from sweephand.model.counters import US_PER_MS, Allowance, step_us_of
from sweephand.model.job import JobKey
from sweephand.model.namespace import (
    AllowedTargets,
    JobCount,
    NamespaceDefaults,
    NamespaceLimits,
    NamespaceSettings,
)
from sweephand.model.window import Window, Windows
from sweephand.ports.flow import NamespaceStore
from sweephand.schedules import Series

MINE, OTHERS = "version000000001", "version000000002"
LIMITS = NamespaceLimits(10, 2_000, 60)


@pytest.fixture
def namespaces(stores: Stores) -> NamespaceStore:
    return stores.namespaces


def settings(
    version: str = MINE, namespace: str = "default", limits: NamespaceLimits = LIMITS
) -> NamespaceSettings:
    return NamespaceSettings(namespace, version, limits, NOON, "key0000000000001")


@pytest.mark.parametrize(
    "written",
    [
        settings(),
        settings(limits=NamespaceLimits()),
        settings(limits=NamespaceLimits(jobs_max=100_000)),
        settings(namespace=EVERY_CHARACTER),
        settings()._replace(
            defaults=NamespaceDefaults({"type": "http", "headers": {"X-é": "1"}}, {"a": 1.5})
        ),
        settings()._replace(defaults=NamespaceDefaults(retry={"maxAttempts": 3})),
        settings()._replace(allowed=AllowedTargets(("example.com", "*.example.com"), ("203.0.113.0/24",))),
        settings()._replace(allowed=AllowedTargets(networks=("2001:db8::/32",))),
    ],
)
def test_settings_read_back_as_they_were_written(
    namespaces: NamespaceStore, written: NamespaceSettings
) -> None:
    assert namespaces.get(written.namespace) is None
    assert namespaces.put(written, None, admin_change())
    assert namespaces.get(written.namespace) == written
    assert namespaces.get("other") is None


def test_settings_are_replaced_only_in_the_version_that_was_read(namespaces: NamespaceStore) -> None:
    second = settings(OTHERS, limits=NamespaceLimits())
    assert namespaces.put(settings(), None, admin_change())
    assert namespaces.put(settings(), None, admin_change())
    assert not namespaces.put(second, None, admin_change())
    assert not namespaces.put(second, "version000000009", admin_change())
    assert namespaces.put(second, MINE, admin_change())
    assert namespaces.put(second, MINE, admin_change())
    assert namespaces.get("default") == second


WINDOW = Window("freeze", MINE, series(), 60_000, NOON, "me")


@pytest.mark.parametrize(
    "window",
    [
        WINDOW,
        WINDOW._replace(then="skip", spread_ms=5, prefix="mail-", labels={"team": "a:b"}),
        WINDOW._replace(series=Series(None, "UTC", NOON, NOON)),
        WINDOW._replace(name=EVERY_CHARACTER),
    ],
)
def test_windows_read_back_as_they_were_written(namespaces: NamespaceStore, window: Window) -> None:
    written = Windows("default", MINE, (window,))
    assert namespaces.windows("default") is None
    assert namespaces.put_windows(written, None, admin_change())
    assert namespaces.windows("default") == written
    assert namespaces.windows("other") is None
    assert namespaces.get("default") is None


def test_windows_are_replaced_only_in_the_version_that_was_read(namespaces: NamespaceStore) -> None:
    first, second = Windows("default", MINE, (WINDOW,)), Windows("default", OTHERS)
    assert namespaces.put_windows(first, None, admin_change())
    assert namespaces.put_windows(first, None, admin_change())
    assert not namespaces.put_windows(second, None, admin_change())
    assert namespaces.put_windows(second, MINE, admin_change())
    assert namespaces.windows("default") == second


def test_settings_and_windows_are_read_together_beside_a_count_of_jobs(namespaces: NamespaceStore) -> None:
    windows = Windows("default", MINE, (WINDOW,))
    assert namespaces.with_windows("default") == (None, None)
    assert namespaces.put_job_count("default", JobCount(MINE, 0), None)
    assert namespaces.put_windows(windows, None, admin_change())
    assert namespaces.with_windows("default") == (None, windows)
    assert namespaces.put(settings(), None, admin_change())
    assert namespaces.with_windows("default") == (settings(), windows)
    assert namespaces.with_windows("other") == (None, None)


@pytest.mark.parametrize(
    "written",
    [JobCount(MINE, 0), JobCount(MINE, 7, since_mark=3, marked_at=NOON, counted_at=NOON - 5, epoch=9)],
)
def test_a_count_reads_back_as_it_was_written(namespaces: NamespaceStore, written: JobCount) -> None:
    assert namespaces.job_count("default") is None
    assert namespaces.put_job_count("default", written, None)
    assert namespaces.job_count("default") == written
    assert namespaces.job_count("other") is None


def test_a_count_is_replaced_only_in_the_version_that_was_read(namespaces: NamespaceStore) -> None:
    first, second = JobCount(MINE, 7), JobCount(OTHERS, 8)
    assert namespaces.put_job_count("default", first, None)
    assert not namespaces.put_job_count("default", second, None)
    assert namespaces.put_job_count("default", second, MINE)
    assert namespaces.put_job_count("default", second, MINE)
    assert not namespaces.put_job_count("default", first, MINE)
    assert namespaces.job_count("default") == second


def test_jobs_are_added_to_a_count_only_if_there_is_room_for_all_of_them(namespaces: NamespaceStore) -> None:
    assert namespaces.add_jobs("default", 1, 100, OTHERS) is None
    count = JobCount(MINE, 7, since_mark=3, marked_at=NOON, counted_at=NOON - 5, epoch=9)
    assert namespaces.put_job_count("default", count, None)
    assert namespaces.add_jobs("default", 4, 10, OTHERS) is None
    assert namespaces.job_count("default") == count
    more = count._replace(version=OTHERS, used=10, since_mark=6)
    assert namespaces.add_jobs("default", 3, 10, OTHERS) == more
    assert namespaces.job_count("default") == more


def test_writers_at_once_never_add_more_jobs_than_there_is_room_for(namespaces: NamespaceStore) -> None:
    assert namespaces.put_job_count("default", JobCount(MINE, 0), None)
    with ThreadPoolExecutor(8) as threads:
        added = list(
            threads.map(lambda each: namespaces.add_jobs("default", 1, 5, f"version{each:09d}"), range(20))
        )
    assert sorted(each.used for each in added if each is not None) == [1, 2, 3, 4, 5]


def test_the_jobs_of_a_namespace_are_counted_without_those_that_have_expired(stores: Stores) -> None:
    for number in range(40):
        key = JobKey("default", f"job-{number}")
        assert stores.jobs.put(job(key=key, expires_at=NOON + 1 if number % 2 else None), None)
    for number, expires_at in ((50, NOON), (51, NOON - 1)):
        assert stores.jobs.put(job(key=JobKey("default", f"job-{number}"), expires_at=expires_at), None)
    assert stores.jobs.put(job(key=JobKey("default2", "job-1")), None)
    assert stores.namespaces.stored_jobs("default", NOON) == 40
    assert stores.namespaces.stored_jobs("default", NOON + 1) == 20
    assert stores.namespaces.stored_jobs("empty", NOON) == 0


def test_jobs_of_a_generation_are_left_out_of_the_number_of_stored_jobs(stores: Stores) -> None:
    for number, generation in enumerate((None, 1, 2, 2, 12)):
        key = JobKey("default", f"job-{number}")
        assert stores.jobs.put(job(key=key, counted_in=generation), None)
    expired = job(key=JobKey("default", "gone"), counted_in=1, expires_at=NOON)
    assert stores.jobs.put(expired, None)
    assert stores.namespaces.stored_jobs("default", NOON) == 5
    assert stores.namespaces.stored_jobs("default", NOON, 2) == 3
    assert stores.namespaces.stored_jobs("default", NOON, 3) == 5


def test_listed_namespaces_come_in_pages_each_once_in_the_order_of_their_names(
    namespaces: NamespaceStore,
) -> None:
    assert namespaces.page("", 10).items == ()
    for name in ("b", EVERY_CHARACTER, "a", "B", "a", "~"):
        namespaces.enlist(name)
    expected = sorted(["b", EVERY_CHARACTER, "a", "B", "~"])
    first = namespaces.page("", 2)
    assert first.items == tuple(expected[:2])
    assert first.next == expected[1]
    rest = namespaces.page(expected[1], 10)
    assert (rest.items, rest.next) == (tuple(expected[2:]), None)


NOON_US = NOON * US_PER_MS
MINUTE_US = MINUTE_MS * US_PER_MS


def test_slots_are_taken_one_after_the_other(stores: Stores) -> None:
    taken = [stores.allowances.take("", NOON + 5_000, 60, count).first_us for count in (1, 3, 1)]
    assert taken == [NOON_US, NOON_US + 1_000_000, NOON_US + 4_000_000]


def test_an_allowance_can_be_read_without_taking_a_slot(stores: Stores) -> None:
    assert stores.allowances.get("") is None
    stores.allowances.take("", NOON, 60, 10)
    assert stores.allowances.get("") == Allowance(NOON_US + 10_000_000, 60)
    assert stores.allowances.take("", NOON, 60, 1).first_us == NOON_US + 10_000_000


def test_each_minute_begins_with_its_whole_allowance(stores: Stores) -> None:
    stores.allowances.take("", NOON, 60, 10)
    assert stores.allowances.take("", NOON + MINUTE_MS + 7, 60, 1).first_us == NOON_US + MINUTE_US


def test_the_slots_of_the_minutes_to_come_are_taken_when_those_of_this_minute_are(stores: Stores) -> None:
    stores.allowances.take("", NOON, 60, 60)
    assert stores.allowances.take("", NOON, 60, 90).first_us == NOON_US + MINUTE_US
    assert (
        stores.allowances.take("", NOON + MINUTE_MS, 60, 1).first_us == NOON_US + 2 * MINUTE_US + 30_000_000
    )


def test_slots_from_an_instant_on_can_be_left_for_others(stores: Stores) -> None:
    def first_us(count: int) -> int:
        return stores.allowances.take("", NOON + 1, 60, count, NOON_US + MINUTE_US).first_us

    assert [first_us(30), first_us(31)] == [NOON_US, NOON_US + 30_000_000]
    assert [first_us(1) for _ in range(3)] == [NOON_US + MINUTE_US + 1_000_000] * 3
    assert stores.allowances.get("") == Allowance(NOON_US + MINUTE_US + 1_000_000, 60)
    assert stores.allowances.take("", NOON + MINUTE_MS, 60, 1).first_us == NOON_US + MINUTE_US + 1_000_000


def test_allowances_of_different_names_do_not_affect_each_other(stores: Stores) -> None:
    names = ["", "a", EVERY_CHARACTER]
    assert [stores.allowances.take(name, NOON, 60, 1).first_us for name in names] == [NOON_US] * 3


def test_a_changed_limit_frees_the_slots_of_the_minutes_to_come_and_none_of_this_minute(
    stores: Stores,
) -> None:
    stores.allowances.take("", NOON, 60, 300)
    assert stores.allowances.take("", NOON + 1, 600, 1).first_us == NOON_US + MINUTE_US
    stores.allowances.take("a", NOON, 60, 30)
    assert stores.allowances.take("a", NOON + 1, 600, 1).first_us == NOON_US + MINUTE_US // 2


@pytest.mark.parametrize("per_minute", [7, 1_000])
def test_no_slot_is_given_twice_to_callers_at_the_same_time(stores: Stores, per_minute: int) -> None:
    with ThreadPoolExecutor(4) as threads:
        firsts = list(
            threads.map(lambda _: stores.allowances.take("", NOON, per_minute, 2).first_us, range(12))
        )
    expected = [NOON_US + number * 2 * step_us_of(per_minute) for number in range(12)]
    assert sorted(firsts) == expected


def test_each_change_of_the_limit_begins_an_epoch(stores: Stores) -> None:
    taken = [stores.allowances.take("", NOON, limit, 100) for limit in (60, 60, 600, 60, 60)]
    assert [each.epoch for each in taken] == [0, 0, 1, 2, 2]
    assert [each.first_us - NOON_US for each in taken[2:]] == [MINUTE_US, MINUTE_US, MINUTE_US + 100_000_000]
    assert stores.allowances.get("") == Allowance(NOON_US + MINUTE_US + 200_000_000, 60, 2)
