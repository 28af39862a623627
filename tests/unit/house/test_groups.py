"""One process runs all tests on DynamoDB Local."""

from types import SimpleNamespace
from typing import Any

import pytest
from tests.conftest import HERE, pytest_collection_modifyitems


def test_tests_on_dynamodb_local_are_a_group_in_whatever_folder_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def item(room: str, *marks: str) -> Any:
        groups: list[pytest.MarkDecorator] = []
        path = HERE / room / "test_it.py"
        return SimpleNamespace(
            path=path, groups=groups, get_closest_marker=marks.__contains__, add_marker=groups.append
        )

    monkeypatch.delenv("SWEEPHAND_SAMPLE", raising=False)
    items = [item("unit"), item("contract", "dynamodb_local"), item("integration", "dynamodb_local")]
    no_options: Any = None
    pytest_collection_modifyitems(no_options, items)
    group = [pytest.mark.xdist_group("dynamodb_local")]
    assert [each.groups for each in items] == [[], group, group]
