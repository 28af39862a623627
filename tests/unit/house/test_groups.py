"""One process runs all tests on DynamoDB Local, and a sample has what is there."""

from types import SimpleNamespace
from typing import Any

import pytest
from tests.conftest import HERE, SAMPLED, pytest_collection_modifyitems


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
    group, sampled = pytest.mark.xdist_group("dynamodb_local"), pytest.mark.sampled(SAMPLED["contract"])
    assert [each.groups for each in items] == [[], [sampled, group], [group]]


def test_all_that_is_sampled_is_there() -> None:
    assert [each for each in SAMPLED if not (HERE / each).exists()] == []
