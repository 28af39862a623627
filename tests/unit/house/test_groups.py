"""One process runs all tests on DynamoDB Local."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.conftest import HERE, pytest_collection_modifyitems


class Item(SimpleNamespace):
    """A test of a folder, with marks."""

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return next((each.mark for each in self.marks if each.name == name), None)

    def add_marker(self, mark: pytest.MarkDecorator) -> None:
        self.marks.insert(0, mark)


def test_tests_on_dynamodb_local_are_a_group_in_whatever_folder_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("SWEEPHAND_SAMPLE", raising=False)
    marks: dict[str, list[pytest.MarkDecorator]] = {"unit": []}
    marks |= {room: [pytest.mark.dynamodb_local] for room in ("contract", "integration")}
    items = [Item(path=HERE / room / "test_it.py", marks=found) for room, found in marks.items()]
    pytest_collection_modifyitems(cast("Any", None), cast("list[pytest.Item]", items))
    groups = {item.path.parent.name: item.get_closest_marker("xdist_group") for item in items}
    group = pytest.mark.xdist_group("dynamodb_local").mark
    assert groups == {"unit": None, "contract": group, "integration": group}
