"""What waits in the line of a policy is kept for as long as it waits, and so is the job that it needs."""

from dataclasses import replace

import pytest
from tests.contract.builders import policy
from tests.fakes.faults import calls_of
from tests.fakes.time_off import expire
from tests.fakes.world import NOON, World

from sweephand.base.timing import (
    AUDIT_ROUND_MS,
    BULK_TIME_LIMIT_MS,
    LINE_EXTENDED_AFTER_MS,
    LINE_RETENTION_MS,
    POLICY_RETENTION_MS,
)
from sweephand.model.policy import PARTITIONS_MAX, PARTITIONS_MIN, Policy
from sweephand.model.policy_line import KeptEntries, LinePlace, entry_of
from sweephand.model.policy_names import PolicyKey
from sweephand.runs import audit_rounds
from sweephand.runs.audit_findings import BEGINNING

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
    world.line_up().wake(MAILER, world.clock.time)
    world.run_until(world.clock.time + MINUTE)
    assert [each.trigger.due_at for each in world.consumers.attempts] == [NOON + 10 * MINUTE]


def test_an_entry_that_has_not_waited_long_is_left_alone() -> None:
    world = waiting()
    world.clock.time = NOON + 2 * DAY
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


def deleted(world: World, name: str) -> Policy:
    """Store a policy that was deleted now."""
    gone = replace(policy(1), key=PolicyKey("ns", name), deleted_at=world.clock.time)
    assert world.policies.put(gone, None)
    return gone


def test_each_line_is_looked_at_once_in_calls_that_go_on_when_their_time_is_up() -> None:
    world = World()
    world.flow_functions_max = 2
    for name in ("mailer", "more-1", "other", "zulu"):
        assert world.policies.put(replace(policy(1), key=PolicyKey("ns", name)), None)
    for number in range(4):
        world.put(f"more-{number}", schedule="@every 100h", policy="mailer")
    world.put("other", schedule="@every 100h", policy="other")
    looks: list[None] = []

    def slow(call: str) -> None:
        if call == "before policy_lines.extend":
            looks.append(None)
            world.clock.time += 1_000

    world.announce = slow
    begun, reached, jobs = BEGINNING, list[str](), 0
    while True:
        done = world.audit_jobs(begun)
        jobs += done.jobs
        if done.reached is None:
            break
        reached.append(done.reached.name)
        begun = done.reached
    # A policy comes before the job of its name, and one behind the last job is not forgotten.
    assert reached == ["mailer", "more-1", "other", "zulu"]
    assert len(looks) == 4 * 3 * PARTITIONS_MIN
    assert jobs == 5


def test_a_job_that_names_a_policy_without_a_record_has_its_line_looked_at_once_in_a_call() -> None:
    world = World()
    world.flow_functions_max = 2
    assert world.policies.put(replace(policy(1), key=MAILER), None)
    for number in range(3):
        world.put(f"more-{number}", schedule="@every 100h", policy="mailer")
    world.policies._policies.clear()
    calls = calls_of(world, world.audit_jobs)
    assert calls.count("before policy_lines.extend") == 3 * PARTITIONS_MAX


def test_the_line_and_the_record_of_a_missing_policy_are_kept_that_no_job_names() -> None:
    world = waiting()
    world.patch(without=["policy"])
    # Every work message of that write is lost.
    world.work.waiting.clear()
    for week in range(1, 8):
        world.clock.time = NOON + week * 7 * DAY
        world.policy_lines.expire(world.clock.time)
        world.policies.expire(world.clock.time)
        assert world.audit_jobs().kept == 1
        assert world.policies.get(MAILER) is not None
        assert len(world.policy_lines.everything()) == 1


def test_an_audit_has_triggers_taken_out_whose_jobs_have_left_a_missing_policy() -> None:
    world = waiting()
    world.patch(without=["policy"])
    world.work.waiting.clear()
    world.audit_jobs()
    world.run_until(world.clock.time + MINUTE)
    assert [each.trigger.due_at for each in world.consumers.attempts] == [NOON + 10 * MINUTE]
    assert not world.policy_lines.everything()


def test_an_audit_that_only_reports_sends_and_keeps_nothing() -> None:
    world = waiting()
    world.work.sent.clear()
    calls = calls_of(world, lambda: world.audit_jobs(mends=False))
    assert not [each for each in calls if "policy_lines" in each or "policies.keep" in each]
    assert not world.work.sent


def test_the_record_of_a_missing_policy_expires_when_nothing_waits_there() -> None:
    world = World()
    deleted(world, "mailer")
    world.work.sent.clear()
    for week in range(1, 6):
        world.clock.time = NOON + week * 7 * DAY
        world.policies.expire(world.clock.time)
        world.audit_jobs()
    assert world.policies.get(MAILER) is None
    assert not world.work.sent


def test_the_line_of_a_policy_that_exists_is_kept_although_no_job_names_it() -> None:
    world = waiting()
    stored = world.policies.get(MAILER)
    assert stored is not None
    assert world.policies.put(replace(stored, version="again", deleted_at=None), stored.version)
    world.patch(without=["policy"])
    world.work.sent.clear()
    world.clock.time = NOON + 7 * DAY
    assert world.audit_jobs().kept == 1
    # Its own workers meet what waits there.
    assert not world.work.sent


def ended(*, policy_is_missing: bool) -> World:
    """A world with a trigger that waits in the line of a policy, and whose job has no further occurrence."""
    world = World()
    world.flow_functions_max = 2
    assert world.policies.put(replace(policy(1), key=MAILER), None)
    world.put(schedule=["2026-11-21T12:10:00Z"], policy="mailer", retention="P1D")
    if policy_is_missing:
        delete_mailer(world)
    # Every work message is lost, so the trigger waits although its policy may be there.
    for minute in range(20):
        world.run_until(NOON + minute * MINUTE)
        world.work.waiting.clear()
    assert len(world.policy_lines.everything()) == 1
    return world


def delete_mailer(world: World) -> None:
    stored = world.policies.get(MAILER)
    assert stored is not None
    gone = replace(stored, version="version000000002", deleted_at=world.clock.time)
    assert world.policies.put(gone, stored.version)


def pass_weeks(world: World, weeks: int, *, audits: bool) -> None:
    """Let weeks pass, with an audit in each if so asked. Stores remove what has ended."""
    for week in range(1, weeks + 1):
        world.clock.time = NOON + week * 7 * DAY
        expire(world)
        world.work.waiting.clear()
        world.audit_jobs(mends=audits)


def is_stored(world: World) -> bool:
    return bool(world.jobs.page("ns", "", "", 10).items)


@pytest.mark.parametrize("policy_is_missing", [True, False])
def test_a_job_that_has_ended_is_kept_while_a_trigger_of_it_may_wait_in_a_line(
    *, policy_is_missing: bool
) -> None:
    world = ended(policy_is_missing=policy_is_missing)
    pass_weeks(world, 10, audits=True)
    (job,) = world.jobs.page("ns", "", "", 10).items
    assert job.is_gone(world.clock.time), "no reader sees that it was kept"
    if policy_is_missing:
        create_again(world)
    world.line_up().wake(MAILER, world.clock.time)
    world.run_until(world.clock.time + MINUTE)
    assert [each.trigger.due_at for each in world.consumers.attempts] == [NOON + 10 * MINUTE]
    # Nothing waits any more, so the job is removed.
    for week in range(11, 15):
        world.clock.time = NOON + week * 7 * DAY
        expire(world)
        world.audit_jobs()
    assert not is_stored(world)


def test_without_audits_a_job_that_has_ended_takes_along_what_waits_in_a_line() -> None:
    world = ended(policy_is_missing=True)
    pass_weeks(world, 10, audits=False)
    assert not is_stored(world)


def test_a_job_that_has_ended_is_not_kept_by_a_line_that_is_up_to_date() -> None:
    world = ended(policy_is_missing=False)
    [(place, waiting_entry)] = world.policy_lines.everything()
    for week in range(1, 5):
        # At each audit, a trigger has waited for hours.
        world.policy_lines.clear()
        world.clock.time = NOON + week * 7 * DAY
        at = world.clock.time - 5 * HOUR
        world.policy_lines.put(place, entry_of(waiting_entry.messages, at, "source"))
        expire(world)
        world.audit_jobs()
    assert not is_stored(world)


def test_the_job_of_a_batch_by_hand_is_kept_that_goes_on_after_the_end_of_the_job() -> None:
    world = World()
    world.flow_functions_max = 4
    assert world.policies.put(replace(policy(5), key=MAILER), None)
    world.put(
        schedule=["2026-11-21T12:05:00Z"],
        policy="mailer",
        retention="1h",
        batch={"count": 8, "window": "7d"},
        retry={"maxAttempts": 1, "maxAge": "1m"},
    )
    world.run_until(NOON + 6 * MINUTE)
    world.run_until(NOON + 7 * DAY + 30 * MINUTE)
    assert len(world.consumers.ids) == 8
    world.trigger()
    world.run_until(world.clock.time + 2 * DAY)
    delete_mailer(world)
    world.run_until(world.clock.time + 8 * DAY)
    delivered = len(world.consumers.ids)
    assert delivered < 16
    assert not world.has_job()
    begun = world.clock.time
    for week in range(6):
        world.clock.time = begun + week * 7 * DAY
        expire(world)
        world.work.waiting.clear()
        world.audit_jobs()
    create_again(world)
    world.run_until(world.clock.time + 5 * MINUTE)
    assert len(world.consumers.ids) == 16


def create_again(world: World) -> None:
    stored = world.policies.get(MAILER)
    assert stored is not None
    assert world.policies.put(replace(stored, version="again", deleted_at=None), stored.version)
    world.line_up().wake(MAILER, world.clock.time)


@pytest.mark.parametrize("length", [5, 5_000])
def test_the_data_of_a_trigger_by_hand_is_kept_while_it_waits_in_a_line(length: int) -> None:
    data = f'"{"x" * length}"'
    world = World()
    world.flow_functions_max = 2
    assert world.policies.put(replace(policy(1), key=MAILER), None)
    world.put(schedule=["2027-11-21T12:10:00Z"], policy="mailer")
    delete_mailer(world)
    world.trigger(data=data)
    world.run_until(NOON + 20 * MINUTE)
    assert len(world.policy_lines.everything()) == 1
    pass_weeks(world, 10, audits=True)
    world.work.waiting.clear()
    create_again(world)
    world.run_until(world.clock.time + 5 * MINUTE)
    assert [each.body for each in world.consumers.attempts] == [data.encode()]


def test_a_step_of_an_audit_ends_in_a_long_line_when_its_time_is_up() -> None:
    world = waiting()
    [(place, waiting_entry)] = world.policy_lines.everything()
    for number in range(5_000):
        world.policy_lines.put(place, entry_of(waiting_entry.messages, NOON + number, str(number)))
    world.put("zulu", schedule="@every 100h")
    world.clock.time = NOON + 6 * DAY
    slowly = world.policy_lines.extend

    def extend(place: LinePlace, after: str, before: int, until: int, limit: int) -> KeptEntries:
        """As long as DynamoDB takes for that many writes."""
        kept = slowly(place, after, before, until, limit)
        world.clock.time += 5 * kept.entries
        return kept

    world.policy_lines.extend = extend  # type: ignore[method-assign]
    begun, kept, took = BEGINNING, 0, list[int]()
    while True:
        started = world.clock.time
        done = world.audit_jobs(begun)
        took.append(world.clock.time - started)
        kept += done.kept
        if done.reached is None:
            break
        begun = done.reached
    assert kept == 5_001
    assert max(took) <= BULK_TIME_LIMIT_MS + 3_000


def test_what_a_round_leaves_out_lasts_until_the_next_one_also_if_that_stands_still() -> None:
    left_for = LINE_RETENTION_MS - LINE_EXTENDED_AFTER_MS
    assert left_for >= AUDIT_ROUND_MS + audit_rounds._PATIENCE_MS + DAY
