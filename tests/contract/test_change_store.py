"""What every ChangeStore promises (ports/)."""

import pytest
from tests.contract.builders import EVERY_CHARACTER, NOON, series
from tests.fakes.engines import Stores

from sweephand.model.change import Change, FieldChange, Former
from sweephand.model.definition import CATCH_UP_DEFAULT, CatchUpPolicy
from sweephand.model.job import JobKey
from sweephand.model.policy import PolicyKey
from sweephand.ports.jobs import ChangeStore

KEY = JobKey("default", "backup")


def change(at: int = NOON, version: str = "version000000001") -> Change:
    return Change(at, "key0000000000001", "replaced", version)


@pytest.fixture
def changes(stores: Stores) -> ChangeStore:
    return stores.changes


@pytest.mark.parametrize(
    "written",
    [
        change(),
        Change(0, "sweephand", "paused", "v", "ü \x00 \ud800" + "z" * 500),
        Change(NOON, "k", "deleted", "v", ""),
        Change(NOON, "k", "patched", "v", fields=()),
        Change(NOON, "k", "replaced", "v", former=Former("1-aaaa", series(), CATCH_UP_DEFAULT)),
        Change(
            NOON, "k", "patched", "v", former=Former("1-aaaa", series(), CatchUpPolicy("none", 1), 60_000)
        ),
        Change(
            NOON,
            "k",
            "patched",
            "v",
            fields=(
                FieldChange("labels", (None, {"a": "ü \x00"})),
                FieldChange("repeats", (3, None)),
                FieldChange("target"),
            ),
        ),
    ],
)
def test_a_change_reads_back_as_it_was_filed(changes: ChangeStore, written: Change) -> None:
    key = JobKey(EVERY_CHARACTER, EVERY_CHARACTER)
    changes.put(key, written)
    assert changes.page(key, "", 10).items == (written,)


def test_a_change_that_is_filed_twice_is_stored_once(changes: ChangeStore) -> None:
    changes.put(KEY, change())
    changes.put(KEY, change())
    assert changes.page(KEY, "", 10).items == (change(),)


def test_changes_of_one_instant_are_stored_separately(changes: ChangeStore) -> None:
    changes.put(KEY, change(version="a"))
    changes.put(KEY, change(version="b"))
    assert changes.page(KEY, "", 10).items == (change(version="b"), change(version="a"))


def test_pages_show_each_change_once_and_the_newest_first(changes: ChangeStore) -> None:
    times = [9, 10, 100, NOON, NOON + 1, NOON + 60_000]
    for at in times:
        changes.put(KEY, change(at))
    seen: list[int] = []
    before: str | None = ""
    while before is not None:
        page = changes.page(KEY, before, 4)
        assert len(page.items) <= 4
        seen += [each.at for each in page.items]
        before = page.next
    assert seen == times[::-1]


def test_a_page_shows_one_job(changes: ChangeStore) -> None:
    changes.put(KEY, change())
    changes.put(JobKey("default", "backup2"), change())
    changes.put(JobKey("default2", "backup"), change())
    assert len(changes.page(KEY, "", 10).items) == 1
    assert changes.page(JobKey("default", "other"), "", 10).items == ()


def test_the_changes_of_a_job_and_of_a_policy_of_the_same_name_are_kept_apart(changes: ChangeStore) -> None:
    of_job, of_policy = change(version="version000000001"), change(version="version000000002")
    policy = PolicyKey(*KEY)
    changes.put(KEY, of_job)
    changes.put(policy, of_policy)
    assert changes.page(KEY, "", 10).items == (of_job,)
    assert changes.page(policy, "", 10).items == (of_policy,)
