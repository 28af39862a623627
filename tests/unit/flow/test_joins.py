"""Triggers that wait since the same second share entries of a line, whichever functions enqueue them."""

from typing import Any

import pytest
from tests.contract.builders import NOON
from tests.fakes.faults import failing, meanwhile
from tests.unit.flow.scene import GATE, KEY, Flow, flow, triggers

from sweephand.base.instants import SECOND_MS, Instant
from sweephand.model.gate_line import JOINED_BYTES_MAX, Entry
from sweephand.model.policy import Priority


def enqueue(scene: Flow, at: Instant, count: int = 1, priority: Priority = "normal", **changed: Any) -> None:
    """Let a function enqueue triggers that are due from then on."""
    scene.gates().enqueue(KEY, priority, triggers(count, at, **changed), f"source {at}")


def sizes(scene: Flow) -> list[int]:
    return [len(each.messages) for each in scene.entries()]


def lease(scene: Flow, entry: Entry) -> Entry:
    """Another function leases an entry."""
    leased = entry._replace(token=scene.ids.token(), owner="other", until=NOON + 180_000)
    assert scene.lines.replace(GATE, entry, leased)
    return leased


def test_triggers_of_one_second_stand_in_one_entry_and_are_all_delivered() -> None:
    scene = flow(4)
    for number in range(3):
        enqueue(scene, NOON + 100 * number)
    assert sizes(scene) == [3]
    scene.run(1)
    assert [each.not_before - NOON for each in scene.delivered] == [0, 100, 200]


def test_a_full_entry_is_not_joined() -> None:
    # Entries of a limit of four have up to three triggers.
    scene = flow(4)
    for number in range(4):
        enqueue(scene, NOON + number)
    assert sorted(sizes(scene)) == [1, 3]
    enqueue(scene, NOON + 10, 3)
    assert sorted(sizes(scene)) == [1, 3, 3]


@pytest.mark.parametrize(
    ("at", "changed"),
    [
        (NOON + SECOND_MS, {}),
        (NOON - 1, {}),
        (NOON + 1, {"crashes": 1}),
        (NOON + 1, {"priority": "low"}),
        (NOON + 1, {"priority": "high"}),
    ],
)
def test_a_trigger_of_another_second_or_priority_or_with_a_crash_stands_apart(
    at: Instant, changed: dict[str, Any]
) -> None:
    scene = flow(100)
    enqueue(scene, NOON)
    enqueue(scene, at, **changed)
    assert sizes(scene) == [1, 1]


def test_a_trigger_with_which_a_function_has_crashed_is_not_joined() -> None:
    scene = flow(4)
    enqueue(scene, NOON, crashes=1)
    enqueue(scene, NOON + 1)
    assert sizes(scene) == [1, 1]


def test_an_entry_of_which_each_write_would_cost_more_than_one_unit_is_not_joined() -> None:
    scene = flow(4)
    [large] = triggers(1)
    large = large._replace(trigger=large.trigger._replace(rev="a" * JOINED_BYTES_MAX))
    scene.gates().enqueue(KEY, "normal", [large], "source")
    enqueue(scene, NOON + 1)
    assert sizes(scene) == [1, 1]


def test_an_entry_that_a_function_has_leased_is_not_joined() -> None:
    scene = flow(4)
    enqueue(scene, NOON)
    lease(scene, scene.entries()[0])
    enqueue(scene, NOON + 1)
    assert sizes(scene) == [1, 1]


def test_a_trigger_stands_apart_if_a_function_leases_the_entry_at_that_moment() -> None:
    scene = flow(4)
    enqueue(scene, NOON)
    meanwhile(scene, "before lines.replace", lambda: lease(scene, scene.entries()[0]))
    enqueue(scene, NOON + 1)
    assert sorted((each.owner, len(each.messages)) for each in scene.entries() if each.owner) == [
        ("other", 1)
    ]
    assert [each.not_before for each in scene.waiting()] == [NOON, NOON + 1]


def test_a_trigger_stands_apart_if_the_entry_is_deleted_at_that_moment() -> None:
    scene = flow(4)
    enqueue(scene, NOON)
    entry = scene.entries()[0]
    meanwhile(scene, "before lines.replace", lambda: scene.lines.replace(GATE, lease(scene, entry), None))
    enqueue(scene, NOON + 1)
    assert [each.not_before for each in scene.waiting()] == [NOON + 1]


def test_a_function_that_would_lease_an_entry_reads_what_has_joined_it() -> None:
    scene = flow(4)
    enqueue(scene, NOON)
    meanwhile(scene, "before lines.replace", lambda: enqueue(scene, NOON + 1))
    scene.handle()
    assert [each.not_before for each in scene.delivered] == [NOON, NOON + 1]
    assert scene.entries() == []


def test_who_joins_has_the_gate_looked_after() -> None:
    scene = flow(4)
    # The function that has written the entry has crashed, and its trigger may end without another look.
    scene.put(*triggers(1))
    enqueue(scene, NOON + 1)
    assert sizes(scene) == [2]
    assert (len(scene.sent("guard")), len(scene.sent("baton"))) == (1, 1)


def test_a_line_that_cannot_be_read_takes_a_trigger_all_the_same() -> None:
    scene = flow(4)
    enqueue(scene, NOON)
    failing(scene, "lines.top")
    enqueue(scene, NOON + 1)
    assert sizes(scene) == [1, 1]


def test_nothing_is_joined_while_the_policy_lets_nothing_leave() -> None:
    scene = flow(4, paused_at=NOON)
    for number in range(2):
        enqueue(scene, NOON + number)
    assert sizes(scene) == [1, 1]
