"""Policies with `by` in a whole stack: each key goes on by itself, whatever becomes of jobs and policy."""

from dataclasses import replace
from typing import Any

from tests.fakes.faults import slow
from tests.fakes.policies import KEY, add_policy, let_wait, nobody_serves, waiting, world_with
from tests.fakes.time_off import expire
from tests.fakes.world import NOON, World

from sweephand.base.timing import BULK_TIME_LIMIT_MS, POLICY_CHANGE_MS
from sweephand.model.gate_message import GateMessage
from sweephand.model.policy import Policy, PolicyKey
from sweephand.runs.audit_findings import BEGINNING

SECOND = 1_000
MINUTE = 60 * SECOND
DAY = 24 * 60 * MINUTE
BY_TENANT = "label:tenant"
ONCE: dict[str, Any] = {"schedule": ["2026-11-21T12:00:10Z"], "policy": "mailer"}


def stuck(*tenants: str, by: str = BY_TENANT, **written: Any) -> World:
    """A world in which a trigger of each tenant waits, and nobody serves."""
    world = world_with(1, by=by)
    with nobody_serves(world):
        for tenant in tenants:
            world.put(tenant, **{"labels": {"tenant": tenant}, **ONCE, **written})
        world.run_until(NOON + 20 * SECOND)
    assert len(waiting(world)) == len(tenants)
    return world


def keys_in_line(world: World) -> list[str | None]:
    return sorted((name.key or "" for name, _ in world.gate_lines.everything()), key=str)


def listed(world: World) -> list[str | None]:
    return sorted((each.name.key for each in world.gates.waiting(KEY, "", 1_000).items), key=str)


def delivered(world: World) -> int:
    return len(world.consumers.attempts)


def write(world: World, **changed: Any) -> Policy:
    """Write the policy as if nothing waited, and tell its gates."""
    stored = world.policies.get(KEY)
    assert stored is not None
    written = replace(stored, version=world.ids.token(), **changed)
    assert world.policies.put(written, stored.version)
    gates = 0 if stored.by else stored.gates
    at = world.clock.time + POLICY_CHANGE_MS
    world.flow_queue.send(GateMessage("change", *KEY, gates, at), POLICY_CHANGE_MS)
    return written


def test_each_tenant_waits_under_its_own_key_and_all_are_delivered() -> None:
    world = stuck("acme", "zulu")
    assert keys_in_line(world) == listed(world) == ["label:tenant:acme", "label:tenant:zulu"]
    world.run_until(world.clock.time + 10 * MINUTE)
    assert delivered(world) == 2
    assert listed(world) == []


def test_a_job_without_the_label_counts_under_the_empty_value() -> None:
    world = stuck("acme", "zulu", labels={})
    assert set(keys_in_line(world)) == set(listed(world)) == {"label:tenant:"}


def test_the_trigger_of_a_job_that_got_another_label_goes_on_under_that() -> None:
    world = stuck("acme", "zulu")
    world.patch("acme", labels={"tenant": "zulu"})
    of_zulu: set[str] = set()

    def note(_: str) -> None:
        for name, entry in world.gate_lines.everything():
            if name.key == "label:tenant:zulu":
                of_zulu.update(each.trigger.key.name for each in entry.messages)

    world.announce = note
    world.run_until(world.clock.time + 5 * MINUTE)
    assert of_zulu == {"acme", "zulu"}
    assert delivered(world) == 2


def test_what_waits_under_a_former_by_is_delivered_after_the_change() -> None:
    for by in ("job", "host", "label:other", None):
        world = stuck("acme", "zulu")
        write(world, by=by)
        world.run_until(world.clock.time + 10 * SECOND)
        assert delivered(world) == 2, by
        world.run_until(world.clock.time + 10 * MINUTE)
        assert listed(world) == []


def test_what_waits_without_a_key_is_delivered_after_the_policy_got_by() -> None:
    world = world_with(1)
    with nobody_serves(world):
        world.put(**ONCE)
        world.run_until(NOON + 20 * SECOND)
    write(world, by="job")
    world.flow_queue.waiting = [each for each in world.flow_queue.waiting if _is_change(each[1])]
    world.run_until(world.clock.time + 10 * SECOND)
    assert delivered(world) == 1


def _is_change(message: object) -> bool:
    return isinstance(message, GateMessage) and message.purpose == "change"


def test_a_raised_limit_reaches_each_key_whose_calls_were_lost() -> None:
    world = stuck("acme", "zulu")
    world.flow_queue.waiting.clear()
    write(world, concurrent_max=2)
    world.run_until(world.clock.time + 10 * SECOND)
    assert delivered(world) == 2


def test_a_key_whose_gate_has_expired_is_found_by_the_list() -> None:
    world = stuck("acme", "zulu")
    world.flow_queue.waiting.clear()
    world.gates._gates.clear()
    write(world, concurrent_max=2)
    world.run_until(world.clock.time + 10 * MINUTE)
    assert delivered(world) == 2
    assert listed(world) == []


def test_a_closed_policy_goes_on_for_each_key() -> None:
    world = stuck("acme", "zulu")
    world.api().policy_writer.delete(KEY, who="me", requested_at=world.api_clock.now())
    world.run_until(world.clock.time + MINUTE)
    assert delivered(world) == 2


def test_a_trigger_of_a_job_that_left_the_policy_is_delivered() -> None:
    world = stuck("acme", "zulu")
    world.patch("acme", without=["policy"])
    world.run_until(world.clock.time + MINUTE)
    assert delivered(world) == 2


# ---- audits


def test_an_audit_wakes_each_key_that_waits_and_keeps_what_it_needs() -> None:
    world = world_with(1, by="job")
    with nobody_serves(world):
        for name in ("a", "b"):
            world.put(name, schedule=["2026-11-21T12:10:00Z", "2027-11-21T12:10:00Z"], policy="mailer")
            world.trigger(name, data=f'"{"x" * 5_000}"')
        world.run_until(NOON + 20 * MINUTE)
        held = len(waiting(world))
    assert held >= 2
    for week in range(1, 6):
        world.clock.time = NOON + week * 7 * DAY
        expire(world)
        world.flow_queue.waiting.clear()
        world.audit_jobs()
    woken = {each.key for _, each in world.flow_queue.waiting if isinstance(each, GateMessage)}
    assert woken == {"job:a", "job:b"}
    world.run_until(world.clock.time + 10 * MINUTE)
    assert len([each for each in world.consumers.attempts if len(each.body) > 5_000]) == 2


def test_an_audit_goes_on_with_the_list_where_its_time_was_up() -> None:
    world = stuck(*(f"tenant{number}" for number in range(7)))
    add_policy(world, 1, PolicyKey("ns", "other"))
    world.flow_queue.waiting.clear()
    slow(world, BULK_TIME_LIMIT_MS // 2, "before gate_lines.top")
    begun, calls = BEGINNING, 0
    while True:
        calls += 1
        done = world.audit_jobs(begun)
        if done.reached is None:
            break
        assert done.reached != begun
        begun = done.reached
    woken = [each.key for _, each in world.flow_queue.waiting if isinstance(each, GateMessage)]
    assert sorted(woken, key=str) == listed(world)
    assert calls > 3


def test_a_job_is_kept_while_its_key_waits_and_not_for_another_one() -> None:
    world = world_with(1, by="job")
    world.put("over", **ONCE)
    world.run_until(NOON + MINUTE)
    assert delivered(world) == 1
    world.put("acme", schedule=["2026-11-21T12:02:00Z"], policy="mailer")
    let_wait(world, NOON + 3 * MINUTE)
    for week in range(1, 10):
        world.clock.time = NOON + week * 7 * DAY
        expire(world)
        world.flow_queue.waiting.clear()
        world.audit_jobs()
    assert [job.key.name for job in world.jobs.page("ns", "", "", 10).items] == ["acme"]
