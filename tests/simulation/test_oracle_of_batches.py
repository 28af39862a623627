"""The oracle asks for each index of an owed occurrence, at its own time, and for none beyond."""

from typing import Any

import pytest
from tests.simulation.oracle.batches import Size, size_of
from tests.simulation.traces.broken_batches import DEFINITION, batches
from tests.simulation.traces.doctored import complaints
from tests.simulation.traces.stories import NOON, in_order, written


def test_an_update_of_the_batch_rules_from_the_next_occurrence_on() -> None:
    other = {**DEFINITION, "batch": {"count": 1}}
    story = in_order(batches(), written("patch", "2-b", 310, definition=other))
    assert not [each for each in complaints(story) if f"{NOON + 300_000}" in each and "indexes" in each]


@pytest.mark.parametrize(
    ("definition", "size"),
    [({}, Size(1, 0)), ({"batch": {"count": 7}}, Size(7, 0)), (DEFINITION, Size(3, 60_000))],
)
def test_the_size_of_a_batch_is_read_from_its_definition(definition: dict[str, Any], size: Size) -> None:
    assert size_of(definition) == size
