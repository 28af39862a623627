"""Writing flow policies: preconditions, changes, and the messages that have gates looked after."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.fakes.faults import calls_of
from tests.fakes.world import NOON, World

from sweephand.base.errors import ConflictError, NotFoundError, PreconditionError, UnavailableError
from sweephand.base.timing import API_LIMIT_MS, POLICY_CHANGE_MS, REQUEST_TIME_LIMIT_MS
from sweephand.jobs.change_history import PolicyChangeHistory
from sweephand.jobs.policies import PolicyWritten
from sweephand.jobs.policy_fields import PolicyLimits
from sweephand.model.change import Change, FieldChange
from sweephand.model.gate_message import GateMessage
from sweephand.model.policy import Breaker, Policy, PolicyKey, Rate

MAILER = PolicyKey("ns", "mailer")
PAST_THE_COMMIT_MS = API_LIMIT_MS + POLICY_CHANGE_MS


def flow_world() -> World:
    world = World()
    world.flow_functions_max = 5
    return world


def put(
    world: World,
    concurrent_max: int | None = 5,
    rate: Rate | None = None,
    breaker: Breaker | None = None,
    **options: Any,
) -> PolicyWritten:
    writer = world.api().policy_writer
    limits = PolicyLimits(concurrent_max, rate, breaker=breaker)
    return writer.put(MAILER, limits, **{"who": "ann", "requested_at": world.api_clock.now(), **options})


def delete(world: World, **options: Any) -> None:
    writer = world.api().policy_writer
    writer.delete(MAILER, **{"who": "bob", "requested_at": world.api_clock.now(), **options})


def pause(world: World, reason: str | None = None, **options: Any) -> Policy:
    given = {"reason": reason, "who": "eve", "requested_at": world.api_clock.now(), **options}
    return world.api().policy_writer.pause(MAILER, **given)


def resume(world: World, **options: Any) -> Policy:
    given = {"who": "fay", "requested_at": world.api_clock.now(), **options}
    return world.api().policy_writer.resume(MAILER, **given)


def stored(world: World) -> Policy:
    found = world.policies.get(MAILER)
    assert found is not None
    return found


def changes(world: World) -> list[Change]:
    history = PolicyChangeHistory(policies=world.policies, changes=world.changes)
    return list(history.page(MAILER, "", 50).items)


def test_a_put_creates_a_policy_and_a_second_one_changes_it() -> None:
    world = flow_world()
    created = put(world)
    world.clock.time += 5_000
    changed = put(world, 7, Rate(10, 1_000))
    assert (created.outcome, changed.outcome) == ("created", "replaced")
    assert stored(world) == changed.policy
    assert (changed.policy.concurrent_max, changed.policy.rate) == (7, Rate(10, 1_000))
    assert (changed.policy.created_at, changed.policy.updated_at) == (NOON, NOON + 5_000)
    assert changed.policy.version != created.policy.version


def test_equal_limits_change_nothing_and_wake_nobody() -> None:
    world = flow_world()
    first = put(world).policy
    world.flow_queue.sent.clear()
    world.clock.time += 5_000
    again = put(world)
    assert (again.outcome, again.policy) == ("unchanged", first)
    assert world.flow_queue.sent == []


@pytest.mark.parametrize("write", [put, pause, resume])
def test_a_message_past_the_commit_is_sent_before_it_and_another_one_after_it(
    write: Callable[[World], object],
) -> None:
    """The gates are looked after once no function acts by the former limit, whatever crashes."""
    world = flow_world()
    put(world, 100)
    if write is resume:
        pause(world)
    world.flow_queue.sent.clear()
    calls = [each for each in calls_of(world, lambda: write(world)) if each.startswith("before")]
    assert [each for each in calls if each in ("before flow_queue.send", "before policies.put")] == [
        "before flow_queue.send",
        "before policies.put",
        "before flow_queue.send",
    ]
    assert world.flow_queue.sent == [
        (GateMessage("change", "ns", "mailer", 4, NOON + delay_ms), delay_ms)
        for delay_ms in (PAST_THE_COMMIT_MS, POLICY_CHANGE_MS)
    ]


def test_a_deletion_changes_no_limit_and_wakes_nobody() -> None:
    world = flow_world()
    before = put(world, 40).policy
    world.flow_queue.sent.clear()
    delete(world)
    assert world.flow_queue.sent == []
    closed = stored(world)
    assert (closed.slots, closed.gates, closed.share(1)) == (before.slots, 2, 8)


def test_a_put_opens_a_policy_that_was_deleted_also_with_the_same_limit() -> None:
    world = flow_world()
    put(world, 400)
    delete(world)
    world.flow_queue.sent.clear()
    world.clock.time += 5_000
    again = put(world, 400, if_absent=True)
    assert again.outcome == "created"
    assert (again.policy.created_at, again.policy.deleted_at) == (NOON + 5_000, None)
    assert stored(world) == again.policy
    # Its gates may hold triggers of the time before.
    sent = [message for message, _ in world.flow_queue.sent if isinstance(message, GateMessage)]
    assert [each.gate for each in sent] == [13, 13]


def test_a_deleted_policy_is_kept_as_deleted_and_cannot_be_deleted_twice() -> None:
    world = flow_world()
    with pytest.raises(NotFoundError, match="no policy mailer in namespace ns"):
        delete(world)
    put(world)
    delete(world)
    assert stored(world).deleted_at == NOON
    with pytest.raises(NotFoundError):
        delete(world)


def test_a_paused_policy_has_no_share_until_it_is_resumed() -> None:
    world = flow_world()
    before = put(world, 40, Rate(10, 1_000)).policy
    world.clock.time += 5_000
    paused = pause(world, "the database moves")
    assert stored(world) == paused
    assert (paused.paused_at, paused.pause_reason, paused.share(0)) == (NOON + 5_000, "the database moves", 0)
    assert (paused.slots, paused.gates, paused.rate) == (before.slots, before.gates, before.rate)
    world.clock.time += 5_000
    resumed = resume(world)
    assert stored(world) == resumed
    assert resumed == replace(
        before, version=resumed.version, updated_at=NOON + 10_000, change=resumed.change
    )


def test_a_second_pause_keeps_the_first_one_and_a_second_resume_changes_nothing() -> None:
    world = flow_world()
    put(world)
    paused = pause(world, "first")
    world.clock.time += 5_000
    world.flow_queue.sent.clear()
    assert pause(world, "second") == stored(world) == paused
    assert world.flow_queue.sent == []
    resumed = resume(world)
    world.flow_queue.sent.clear()
    assert resume(world) == stored(world) == resumed
    assert world.flow_queue.sent == []


def test_a_put_changes_the_limit_of_a_paused_policy_and_leaves_it_paused() -> None:
    world = flow_world()
    put(world, 5)
    pause(world, "tonight")
    changed = put(world, 80)
    assert (changed.outcome, changed.policy.paused_at) == ("replaced", NOON)
    assert (changed.policy.pause_reason, changed.policy.gates, changed.policy.share(0)) == ("tonight", 3, 0)
    assert resume(world).share(0) == 32


def test_an_open_breaker_stays_open_when_the_limit_changes_and_closes_when_there_is_none() -> None:
    world = flow_world()
    put(world, breaker=Breaker(3, 60_000))
    world.policies.open_breaker(MAILER, "probe", NOON + 60_000, NOON)
    changed = put(world, 70, breaker=Breaker(5, 90_000)).policy
    assert (changed.broken_at, changed.probe, changed.probe_at) == (NOON, "probe", NOON + 60_000)
    assert (changed.breaker, changed.gates, changed.share(0)) == (Breaker(5, 90_000), 3, 0)
    assert pause(world).probe == resume(world).probe == "probe"
    world.flow_queue.sent.clear()
    assert put(world, 70).policy.probe is None
    assert stored(world).share(0) > 0
    assert len(world.flow_queue.sent) == 2, "each gate is looked after"


def test_the_counts_of_a_breaker_survive_no_other_limit() -> None:
    world = flow_world()
    put(world, breaker=Breaker(3, 60_000))
    world.policies.count_failure(MAILER, NOON)
    assert put(world, 6, breaker=Breaker(3, 60_000)).policy.failed == 0


def test_a_paused_policy_is_not_deleted() -> None:
    world = flow_world()
    put(world)
    pause(world)
    with pytest.raises(ConflictError, match=r"mailer is paused\. Resume it before"):
        delete(world)
    assert stored(world).deleted_at is None
    resume(world)
    delete(world)
    for write in (pause, resume):
        with pytest.raises(NotFoundError, match="no policy mailer in namespace ns"):
            write(world)


def test_a_pause_and_a_resume_check_preconditions() -> None:
    world = flow_world()
    first = put(world).policy.version
    for write in (pause, resume):
        with pytest.raises(PreconditionError, match="If-Match asks for another one"):
            write(world, if_match=("other",))
    paused = pause(world, if_match=(first,)).version
    with pytest.raises(PreconditionError):
        resume(world, if_match=(first,))
    assert resume(world, if_match=(paused,)).paused_at is None


def test_preconditions_are_checked_against_the_stored_policy() -> None:
    world = flow_world()
    with pytest.raises(PreconditionError, match="no policy mailer"):
        put(world, if_match=("*",))
    version = put(world, if_absent=True).policy.version
    for refused in ({"if_absent": True}, {"if_match": ("other",)}):
        with pytest.raises(PreconditionError):
            put(world, 6, **refused)
    with pytest.raises(PreconditionError, match=f"in revision {version}"):
        delete(world, if_match=("other",))
    assert stored(world).version == version
    second = put(world, 6, if_match=("other", version)).policy.version
    assert put(world, 7, if_match=("*",)).outcome == "replaced"
    with pytest.raises(PreconditionError):
        delete(world, if_match=(second,))
    delete(world, if_match=(stored(world).version,))
    with pytest.raises(PreconditionError, match="no policy mailer"):
        put(world, if_match=("*",))


def test_a_stack_without_flow_policies_lets_a_former_policy_only_be_resumed_and_deleted() -> None:
    world = flow_world()
    put(world)
    pause(world)
    world.flow_functions_max = 0
    for refused in (put, pause):
        with pytest.raises(ConflictError, match="FlowPolicies"):
            refused(world)
    resume(world)
    delete(world)
    assert stored(world).deleted_at == NOON


def test_each_write_leaves_a_change_that_names_who_made_it_and_the_fields() -> None:
    world = flow_world()
    put(world)
    put(world, None, Rate(100, 60_000), who="cid")
    pause(world, "tonight")
    resume(world)
    delete(world)
    put(world, 9)
    assert [(each.who, each.what) for each in sorted(changes(world), key=lambda each: each.version)] == [
        ("ann", "created"),
        ("cid", "replaced"),
        ("eve", "paused"),
        ("fay", "resumed"),
        ("bob", "deleted"),
        ("ann", "created"),
    ]
    (paused,) = [each for each in changes(world) if each.what == "paused"]
    assert (paused.reason, paused.fields) == ("tonight", None)
    (replaced,) = [each for each in changes(world) if each.what == "replaced"]
    assert replaced.fields == (
        FieldChange("maxConcurrent", (5, None)),
        FieldChange("rate", (None, {"limit": 100, "per": "1m"})),
    )


def test_the_changes_of_a_policy_that_never_was_are_not_found() -> None:
    with pytest.raises(NotFoundError, match="no policy and no change"):
        changes(flow_world())


def test_a_writer_that_is_overtaken_again_and_again_gives_up() -> None:
    world = flow_world()
    put(world, 4)

    def announce(call: str) -> None:
        if call == "before policies.put":
            before = stored(world)
            world.policies.put(replace(before, version=f"x{before.version}"), before.version)

    world.announce = announce
    with pytest.raises(UnavailableError, match="Nothing was written"):
        put(world, 9)
    for write in (delete, pause):
        with pytest.raises(UnavailableError, match="Nothing was written"):
            write(world)
    assert (stored(world).concurrent_max, stored(world).deleted_at) == (4, None)


def test_a_write_that_comes_too_late_after_its_request_is_not_made() -> None:
    world = flow_world()
    put(world)
    late = world.api_clock.now() - REQUEST_TIME_LIMIT_MS - 1
    with pytest.raises(UnavailableError):
        put(world, 6, requested_at=late)
    for write in (delete, pause):
        with pytest.raises(UnavailableError):
            write(world, requested_at=late)
    assert (stored(world).concurrent_max, stored(world).deleted_at) == (5, None)
    assert stored(world).paused_at is None
