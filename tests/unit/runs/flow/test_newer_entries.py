"""Entries of a line that a newer version wrote wait for that version, and hold up no others."""

from tests.contract.builders import NOON, trigger_message
from tests.unit.runs.flow.test_line_worker import Flow, flow, triggers
from tests.unit.runs.flow.test_under_policies import MINUTE, holders, waiting, world_with

from sweephand.base.instants import SECOND_MS
from sweephand.base.timing import CLOCK_SKEW_MAX_MS, COVER_SLACK_MS
from sweephand.model.trigger import TriggerMessage


def put_newer(scene: Flow, *messages: TriggerMessage) -> None:
    """Write triggers into the line as a newer version does that runs before a rollback."""
    before = {entry.token for _, entry in scene.lines.everything()}
    scene.put(*messages, source="newer")
    scene.lines.newer |= {entry.token for _, entry in scene.lines.everything()} - before


def test_triggers_before_and_behind_an_entry_of_a_newer_version_are_delivered() -> None:
    scene = flow(1, partitions=1)
    put_newer(scene, trigger_message(NOON), trigger_message(NOON + 2))
    first, last = trigger_message(NOON - 1), trigger_message(NOON + 1)
    scene.put(first, source="first")
    scene.put(last, source="last")
    scene.clock.time = NOON + SECOND_MS
    assert scene.work() == "walked"
    assert scene.delivered == [first, last]
    assert len(scene.waiting()) == 2
    assert not [each for each in scene.holders() if each.is_owned(scene.clock.time)]


def test_the_newer_version_finds_its_entries_within_two_minutes_of_its_return() -> None:
    scene = flow(4, holder_size=1)
    put_newer(scene, *triggers(3))
    scene.run(60 * 60)
    assert not scene.delivered
    scene.lines.newer.clear()
    scene.run(120)
    assert scene.delivered == triggers(3)
    scene.run(10 * 60)
    assert not scene.sent, "no message comes again once nothing waits"


def test_work_messages_do_not_multiply_while_an_entry_waits_for_its_version() -> None:
    scene = flow(40)
    put_newer(scene, trigger_message(NOON))
    walks: list[str] = []
    scene.announce = lambda call: walks.append(call) if call == "after permits.take" else None
    for number in range(120):
        scene.put(trigger_message(scene.clock.time + SECOND_MS), source=f"message {number}")
        scene.run(5)
    assert len(scene.delivered) == 120
    # Ten minutes: one for each trigger, and at most one in ten seconds for the newer entry.
    assert len(walks) <= 120 + 60
    assert len(scene.sent) <= (CLOCK_SKEW_MAX_MS + COVER_SLACK_MS) // COVER_SLACK_MS + 1


def test_a_policy_goes_on_in_all_partitions_beside_an_entry_of_a_newer_version() -> None:
    world = world_with(concurrent_max=4, holder_size=1, partitions=4)
    for number in range(6):
        world.put(f"job{number}", schedule=[f"2026-11-21T12:10:{number * 3:02d}Z"], policy="mailer")
    world.run_until(NOON + 8 * MINUTE + 1)
    _, newer = world.policy_lines.everything()[0]
    world.policy_lines.newer.add(newer.token)
    for minute in range(11, 15):
        world.run_until(NOON + minute * MINUTE)
        assert not [each for each in holders(world) if each.is_owned(world.clock.time)]
    assert len(world.consumers.ids) == 5
    assert waiting(world) == list(newer.messages)
    world.policy_lines.newer.clear()
    world.run_until(NOON + 16 * MINUTE)
    assert len(world.consumers.ids) == 6
    assert not waiting(world)
