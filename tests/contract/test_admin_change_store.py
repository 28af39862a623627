"""What every AdminChangeStore promises (ports/), and what the stores promise that record changes."""

import pytest
from tests.contract.builders import NOON, admin_change, api_key, secret, secrets
from tests.fakes.engines import Stores

from sweephand.model.change import AdminChange, FieldChange, position_at
from sweephand.model.namespace import NamespaceLimits, NamespaceSettings


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
