"""What every FlagStore promises (ports/)."""

from collections.abc import Iterable

import pytest
from tests.contract.builders import EVERY_CHARACTER, NOON
from tests.fakes.engines import Stores

from sweephand.base.instants import INSTANT_MAX
from sweephand.model.job import JobKey
from sweephand.model.run import Flag
from sweephand.model.run_id import Demand, RunName
from sweephand.ports.runs import FlagStore

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


@pytest.mark.parametrize("since", [-1, -62_135_596_800_000])
def test_an_instant_before_1970_leaves_no_flag_out(flags: FlagStore, since: int) -> None:
    flags.put(flag())
    assert due_times(flags.page("default", since, "", 10).items) == [NOON]


def test_flags_of_other_namespaces_are_left_out(flags: FlagStore) -> None:
    flags.put(flag())
    flags.put(flag()._replace(key=JobKey("other", "backup")))
    assert [each.key for each in flags.page("default", 0, "", 10).items] == [KEY]
