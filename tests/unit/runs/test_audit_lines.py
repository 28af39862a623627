"""What waits in the line of a policy is kept for as long as the policy is missing."""

from dataclasses import replace

from tests.contract.builders import policy
from tests.fakes.world import NOON, World

from sweephand.base.timing import POLICY_RETENTION_MS
from sweephand.model.policy import PARTITIONS_MAX, PARTITIONS_MIN
from sweephand.model.policy_names import PolicyKey

MINUTE = 60_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR

MAILER = PolicyKey("ns", "mailer")


def waiting() -> World:
    """A world with a trigger that waits for a policy which was deleted."""
    world = World()
    world.flow_functions_max = 2
    assert world.policies.put(replace(policy(1), key=MAILER), None)
    world.put(schedule=["2026-11-21T12:10:00Z", "2027-11-21T12:10:00Z"], policy="mailer")
    stored = world.policies.get(MAILER)
    assert stored is not None
    gone = replace(stored, version="version000000002", deleted_at=NOON)
    assert world.policies.put(gone, stored.version)
    world.run_until(NOON + 20 * MINUTE)
    assert len(world.policy_lines.everything()) == 1
    return world


def weeks_later(world: World, weeks: int, *, audits: bool) -> int:
    """Let weeks pass, with an audit in each if so asked; return how many entries wait then."""
    for week in range(1, weeks + 1):
        world.clock.time = NOON + week * 7 * DAY
        world.policy_lines.expire(world.clock.time)
        if audits:
            assert world.audit_jobs().kept == 1
    return len(world.policy_lines.everything())


def test_without_audits_what_waits_for_two_weeks_is_lost() -> None:
    assert weeks_later(waiting(), 3, audits=False) == 0


def test_what_waits_is_delivered_when_the_policy_is_created_weeks_later() -> None:
    world = waiting()
    assert weeks_later(world, 4, audits=True) == 1
    stored = world.policies.get(MAILER)
    assert stored is not None
    back = replace(stored, version="version000000003", deleted_at=None)
    assert world.policies.put(back, stored.version)
    world.app(world.api_clock).flow.line_up.wake(MAILER, world.clock.time)
    world.run_until(world.clock.time + MINUTE)
    assert [each.trigger.due_at for each in world.consumers.attempts] == [NOON + 10 * MINUTE]


def test_an_entry_that_has_not_waited_long_is_left_alone() -> None:
    world = waiting()
    world.clock.time = NOON + 5 * DAY
    assert world.audit_jobs().kept == 0
    world.clock.time += HOUR
    assert world.audit_jobs(mends=False).kept == 0
    assert world.audit_jobs().kept == 1


def test_the_line_of_a_policy_without_a_record_is_looked_for_in_every_partition() -> None:
    world = waiting()
    world.policies._policies.clear()
    places: list[str] = []
    world.announce = lambda call: places.append(call) if call == "before policy_lines.extend" else None
    world.clock.time = NOON + POLICY_RETENTION_MS
    assert world.audit_jobs().kept == 1
    assert len(places) == 3 * PARTITIONS_MAX


def test_each_line_is_looked_at_once_in_a_call_that_goes_on_when_its_time_is_up() -> None:
    world = World()
    world.flow_functions_max = 2
    for name in ("mailer", "other"):
        assert world.policies.put(replace(policy(1), key=PolicyKey("ns", name)), None)
    for number in range(4):
        world.put(f"more-{number}", schedule="@every 100h", policy="mailer")
    world.put("other", schedule="@every 100h", policy="other")
    world.put("unlimited", schedule="@every 100h")
    looks = [0]

    def slow(call: str) -> None:
        if call == "before policy_lines.extend":
            looks[0] += 1
            world.clock.time += 1_000

    world.announce = slow
    done = world.audit_jobs()
    assert done.reached is not None
    assert done.reached.name == "more-0"
    of_mailer = looks[0]
    assert of_mailer >= 3 * PARTITIONS_MIN
    world.clock.time += HOUR
    rest = world.audit_jobs(done.reached)
    assert rest.reached is not None
    # Another call looks at the line once more, and goes no further.
    assert (rest.reached.name, looks[0]) == ("more-1", 2 * of_mailer)
