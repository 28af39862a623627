"""A function that stood still deletes what it has settled, and not what came back meanwhile."""

from tests.simulation.flow.returns import returned


def test_a_thawed_function_does_not_delete_the_entry_of_a_trigger_that_came_back() -> None:
    world = returned(1)
    assert not world.complaints
    assert [each.begun for each in world.consumer.triggers.values()] == [1]
    assert not world.memory_lines.everything()
