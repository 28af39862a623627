"""What waits in the line of a policy is kept for as long as it waits, and so is the job that it needs."""

from typing import Any

import pytest
from tests.fakes.deliveries import FAILED, answers
from tests.fakes.faults import calls_of
from tests.fakes.policies import (
    GATE,
    KEY,
    add_policy,
    call,
    delete_policy,
    nobody_serves,
    put_policy,
    waiting,
    world_with,
)
from tests.fakes.time_off import expire
from tests.fakes.world import NOON, World, key_of

from sweephand.base.timing import BULK_TIME_LIMIT_MS
from sweephand.model.gate import GateName
from sweephand.model.gate_line import entries_of
from sweephand.model.policy_names import PolicyKey
from sweephand.runs.audit_findings import BEGINNING

MINUTE = 60_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR


def stuck(*, data: str | None = None, closes: bool = False, **written: Any) -> World:
    """A world with a trigger in the line of a policy that nobody serves."""
    world = world_with(1)
    with nobody_serves(world):
        if data is None:
            world.put(policy="mailer", **written)
        else:
            world.put(schedule=["2027-11-21T12:10:00Z"], policy="mailer")
            world.trigger(data=data)
        if closes:
            delete_policy(world)
        world.run_until(NOON + 20 * MINUTE)
    assert len(waiting(world)) == 1
    return world


def pass_weeks(world: World, weeks: int, *, audits: bool = True) -> None:
    """Let weeks pass, with an audit in each if so asked. Stores remove what has ended."""
    begun = world.clock.time
    for week in range(1, weeks + 1):
        world.clock.time = begun + week * 7 * DAY
        expire(world)
        world.flow_queue.waiting.clear()
        world.audit_jobs(mends=audits)


def is_stored(world: World) -> bool:
    return bool(world.jobs.page("ns", "", "", 10).items)


CLOSES = pytest.mark.parametrize("closes", [False, True])


@CLOSES
def test_a_job_that_has_ended_is_kept_while_a_trigger_of_it_may_wait_in_a_line(*, closes: bool) -> None:
    world = stuck(schedule=["2026-11-21T12:10:00Z"], retention="P1D", closes=closes)
    pass_weeks(world, 10)
    (job,) = world.jobs.page("ns", "", "", 10).items
    assert job.is_gone(world.clock.time), "no reader sees that it was kept"
    call(world)
    world.run_until(world.clock.time + MINUTE)
    assert [each.trigger.due_at for each in world.consumers.attempts] == [NOON + 10 * MINUTE]
    # Nothing waits any more, so the job is removed.
    pass_weeks(world, 4)
    assert not is_stored(world)


def test_without_audits_a_job_that_has_ended_takes_along_what_waits_in_a_line() -> None:
    world = stuck(schedule=["2026-11-21T12:10:00Z"], retention="P1D")
    pass_weeks(world, 10, audits=False)
    assert not is_stored(world)


def test_a_job_that_has_ended_is_not_kept_by_a_line_that_is_up_to_date() -> None:
    world = stuck(schedule=["2026-11-21T12:10:00Z"], retention="P1D")
    [message] = waiting(world)
    for week in range(1, 5):
        # At each audit, a trigger has waited for hours.
        world.gate_lines.clear()
        world.clock.time = NOON + week * 7 * DAY
        [entry] = entries_of([message], "normal", "source")
        world.gate_lines.put(GATE, entry._replace(at=world.clock.time - 5 * HOUR))
        expire(world)
        world.audit_jobs()
    assert not is_stored(world)


def test_the_earliest_entry_of_all_gates_and_priorities_keeps_a_job() -> None:
    world = stuck(schedule=["2026-11-21T12:10:00Z"], retention="P1D")
    [message] = waiting(world)
    put_policy(world, 100)
    [entry] = entries_of([message], "low", "source")
    world.gate_lines.clear()
    world.gate_lines.put(GateName(KEY, 3), entry)
    [later] = entries_of([message], "high", "source")
    world.gate_lines.put(GateName(KEY, 3), later._replace(at=NOON + 9_000 * DAY))
    pass_weeks(world, 10)
    assert is_stored(world)


@pytest.mark.parametrize("length", [5, 5_000])
@CLOSES
def test_the_data_of_a_trigger_by_hand_is_kept_while_it_waits_in_a_line(length: int, *, closes: bool) -> None:
    data = f'"{"x" * length}"'
    world = stuck(data=data, closes=closes)
    pass_weeks(world, 10)
    call(world)
    world.run_until(world.clock.time + 5 * MINUTE)
    assert [each.body for each in world.consumers.attempts] == [data.encode()]


def test_without_audits_the_data_of_a_trigger_by_hand_ends_while_it_waits_in_a_line() -> None:
    world = stuck(data=f'"{"x" * 5_000}"')
    pass_weeks(world, 40, audits=False)
    call(world)
    world.run_until(world.clock.time + 5 * MINUTE)
    assert not world.consumers.attempts


def test_only_data_of_entries_is_renewed_that_have_waited_for_two_days() -> None:
    world = stuck(data=f'"{"x" * 5_000}"')
    [message] = waiting(world)
    world.clock.time = message.not_before + 2 * DAY
    assert world.audit_jobs().kept == 0
    world.clock.time += HOUR
    assert world.audit_jobs(mends=False).kept == 0
    assert world.audit_jobs().kept == 1


def test_an_audit_that_only_reports_reads_no_line_and_sends_nothing() -> None:
    world = stuck(schedule=["2026-11-21T12:10:00Z", "2027-11-21T12:10:00Z"])
    world.flow_queue.sent.clear()
    calls = calls_of(world, lambda: world.audit_jobs(mends=False))
    assert not [each for each in calls if "gate_lines" in each]
    assert not world.flow_queue.sent


def test_each_line_is_looked_at_once_in_calls_that_go_on_when_their_time_is_up(world: World) -> None:
    for name in ("mailer", "more-1", "other", "zulu"):
        add_policy(world, 40, PolicyKey("ns", name))
    for number in range(4):
        world.put(f"more-{number}", schedule="@every 100h", policy="mailer")
    world.put("other", schedule="@every 100h", policy="other")
    looks: list[None] = []

    def slow(call: str) -> None:
        if call == "before gate_lines.top":
            looks.append(None)
            world.clock.time += BULK_TIME_LIMIT_MS // 2

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
    assert len(looks) == 4 * 2
    assert jobs == 5


def test_a_line_that_is_not_read_at_once_is_kept_to_its_end() -> None:
    world = stuck(data=f'"{"x" * 5_000}"')
    [message] = waiting(world)
    for number in range(1_500):
        [entry] = entries_of([message], "normal", str(number))
        world.gate_lines.put(GATE, entry)
    world.clock.time = NOON + 6 * DAY
    assert world.audit_jobs().kept == 1_501


@pytest.mark.parametrize("is_cancelled", [False, True])
def test_the_record_of_a_retry_is_kept_while_its_policy_is_paused(*, is_cancelled: bool) -> None:
    world = world_with(1)
    writer = world.api().policy_writer
    answers(world, FAILED)
    retry = {"initialDelay": "20s", "maxAge": "1h"}
    world.put(schedule=["2026-11-21T12:10:00Z"], policy="mailer", retry=retry, historyRetention="1s")
    world.run_until(NOON + 10 * MINUTE + 10_000)
    writer.pause(KEY, reason=None, who="me", requested_at=world.api_clock.now())
    world.run_until(NOON + 20 * MINUTE)
    [run] = world.runs.page(key_of(), None, "", 10).items
    assert (run.state, len(waiting(world))) == ("retrying", 1)
    if is_cancelled:
        world.callbacks().cancel(run.key, run.run_id, "me")
    pass_weeks(world, 10)
    [kept] = world.runs.page(key_of(), None, "", 10).items
    assert kept.state == ("cancelled" if is_cancelled else "retrying")
    writer.resume(KEY, who="me", requested_at=world.api_clock.now())
    world.run_until(world.clock.time + MINUTE)
    [over] = world.runs.page(key_of(), None, "", 10).items
    assert over.state == ("cancelled" if is_cancelled else "failed"), "the retry comes too late"
    assert (len(world.consumers.attempts), waiting(world)) == (1, [])


@pytest.mark.parametrize("tenant", ["acme", "zulu"])
def test_a_job_is_kept_while_a_trigger_of_it_waits_under_the_key_that_it_had(tenant: str) -> None:
    world = world_with(1, by="label:tenant")
    writer = world.api().policy_writer
    writer.pause(KEY, reason=None, who="me", requested_at=NOON)
    world.put(labels={"tenant": "acme"}, schedule=["2026-11-21T12:00:10Z"], policy="mailer", retention="P1D")
    world.run_until(NOON + MINUTE)
    world.patch(labels={"tenant": tenant})
    pass_weeks(world, 16)
    writer.resume(KEY, who="me", requested_at=world.clock.time)
    world.run_until(world.clock.time + 10 * MINUTE)
    assert len(world.consumers.attempts) == 1
