"""What every store of schedule groups promises."""

from tests.fakes.engines import Stores

from sweephand.model.schedule_group import ScheduleGroup

GROUP = ScheduleGroup(
    "billing", "v1", 1_795_262_400_000, 1_795_262_400_001, {"team": "ops"}, is_deleting=True
)


def group(name: str) -> ScheduleGroup:
    return ScheduleGroup(name, f"v-{name}", 1, 1, {})


def test_a_group_is_read_as_it_was_written(stores: Stores) -> None:
    assert stores.schedule_groups.get("billing") is None
    assert stores.schedule_groups.put(GROUP, None)
    assert stores.schedule_groups.get("billing") == GROUP


def test_a_group_is_written_only_over_the_version_that_was_read(stores: Stores) -> None:
    groups, changed = stores.schedule_groups, GROUP._replace(version="v2", tags={})
    assert not groups.put(changed, "v1")
    assert groups.put(GROUP, None)
    assert groups.put(GROUP, None), "the SDK repeats a write whose answer was lost"
    assert not groups.put(changed, None)
    assert groups.put(changed, "v1")
    assert groups.get("billing") == changed


def test_a_group_is_removed_only_in_its_version(stores: Stores) -> None:
    groups = stores.schedule_groups
    groups.put(GROUP, None)
    assert not groups.delete(GROUP._replace(version="v0"))
    assert groups.get("billing") == GROUP
    assert groups.delete(GROUP)
    assert groups.delete(GROUP), "the SDK repeats a deletion whose answer was lost"
    assert groups.get("billing") is None


def test_groups_are_listed_by_name_in_pages(stores: Stores) -> None:
    groups = stores.schedule_groups
    for name in ("b", "a.1", "c", "a-2", "a"):
        groups.put(group(name), None)
    first = groups.page("", "", 3)
    assert [each.name for each in first.items] == ["a", "a-2", "a.1"]
    assert first.next == "a.1"
    assert [each.name for each in groups.page("", "a.1", 3).items] == ["b", "c"]
    assert groups.page("", "c", 2) == ((), None)
    assert [each.name for each in groups.page("a", "a", 9).items] == ["a-2", "a.1"]
    assert groups.page("a", "b", 9) == groups.page("x", "", 9) == ((), None)
