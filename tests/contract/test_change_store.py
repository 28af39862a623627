"""What every ChangeStore and AdminChangeStore promises (ports/), and each store that records changes."""

import pytest
from tests.contract.builders import EVERY_CHARACTER, NOON, admin_change, api_key, secret, secrets, series
from tests.fakes.engines import Stores

from sweephand.model.change import AdminChange, Change, FieldChange, Former, position_at
from sweephand.model.definition import CATCH_UP_DEFAULT, CatchUpPolicy
from sweephand.model.job import JobKey
from sweephand.model.namespace import NamespaceLimits, NamespaceSettings
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
        Change(NOON, "k", "deleted", "v", "", uid="uid0000000000001"),
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


def record(stores: Stores, change: AdminChange) -> None:
    stores.keys.put(api_key(), change)


@pytest.mark.parametrize(
    "written",
    [
        admin_change(),
        admin_change(namespace="*", who="operator", what="revoked", name="admin", reason="It was made by x."),
        admin_change(
            subject="settings",
            name="",
            what="replaced",
            fields=(FieldChange("limits.jobs", (None, 5)), FieldChange("defaultTarget")),
        ),
    ],
)
def test_a_change_reads_back_as_it_was_recorded(stores: Stores, written: AdminChange) -> None:
    record(stores, written)
    assert stores.admin_changes.page(None, "", 5).items == (written,)
    expected = () if written.namespace == "*" else (written,)
    assert stores.admin_changes.page("default", "", 5).items == expected


def test_changes_are_listed_newest_first_page_by_page(stores: Stores) -> None:
    changes = [
        admin_change(NOON + number // 2, f"version00000000{number}", "default" if number % 3 else "other")
        for number in range(9)
    ]
    for each in changes:
        record(stores, each)
    for namespace in (None, "default", "other", "nobody"):
        wanted = [each for each in changes[::-1] if namespace in (None, each.namespace)]
        for limit in (1, 2, 9):
            seen: list[AdminChange] = []
            before: str | None = ""
            while before is not None:
                page = stores.admin_changes.page(namespace, before, limit)
                assert len(page.items) <= limit
                seen += page.items
                before = page.next
            assert seen == wanted


def test_changes_of_a_span_are_those_from_its_beginning_and_before_its_end(stores: Stores) -> None:
    changes = [admin_change(NOON + number, f"version00000000{number}") for number in range(6)]
    for each in changes:
        record(stores, each)
    found = stores.admin_changes.page(None, position_at(NOON + 4), 25, NOON + 2)
    assert (found.items, found.next) == ((changes[3], changes[2]), None)
    first = stores.admin_changes.page(None, position_at(NOON + 4), 1, NOON + 2)
    assert (first.items, first.next) == ((changes[3],), changes[3].position)
    assert stores.admin_changes.page(None, "", 25, NOON + 6).items == ()


def test_secrets_and_settings_are_written_with_their_record_or_not_at_all(stores: Stores) -> None:
    changes = [admin_change(version=f"version00000000{number}") for number in range(9)]
    settings = NamespaceSettings("default", "version000000001", NamespaceLimits(5), NOON, "me")
    stores.secrets.create(secrets())
    assert stores.secrets.put(secrets("version000000002"), secrets().version, changes[0])
    assert not stores.secrets.put(secrets("version000000003"), secrets().version, changes[1])
    assert stores.named_secrets.put(secret(), None, changes[2])
    assert not stores.named_secrets.put(secret(version="version000000002"), None, changes[3])
    stores.named_secrets.delete(secret().key, changes[4])
    assert stores.namespaces.put(settings, None, changes[5])
    assert not stores.namespaces.put(settings._replace(version="version000000002"), None, changes[6])
    recorded = stores.admin_changes.page(None, "", 25).items
    assert recorded == tuple(changes[number] for number in (5, 4, 2, 0))
