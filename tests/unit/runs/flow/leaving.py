"""Scenes of jobs that leave a missing policy: what waits in its line, and where it is afterwards."""

from dataclasses import replace

from tests.contract.builders import policy
from tests.fakes.world import NOON, World, definition, key_of
from tests.unit.runs.flow.test_under_policies import KEY, MINUTE, waiting

from sweephand.jobs.bulk import JobToWrite
from sweephand.model.policy import PARTITIONS_MAX, PolicyKey
from sweephand.model.policy_line import LinePlace, entry_of
from sweephand.model.run import Run
from sweephand.model.trigger import TriggerMessage
from sweephand.model.work_message import WorkMessage

#: Its first instant is past, and its second one far ahead.
LIST = ["2026-11-21T12:00:05Z", "2027-11-21T12:10:00Z"]

OTHER = PolicyKey("ns", "other")
PLACE = LinePlace(KEY, "normal", 1)

#: A walk for any job, and one for the job `job`.
ANY = WorkMessage("ns", "mailer", NOON, left_by="")
ONE = ANY._replace(left_by="job")


def delete_policy(world: World) -> None:
    """Delete the policy as the API does, and forget the work messages of that."""
    writer = world.api().policy_writer
    writer.delete(KEY, who="me", requested_at=world.api_clock.now())
    world.work.waiting.clear()


def fill(world: World, *names: str) -> None:
    """Let a trigger of each job wait in the line of a missing policy."""
    world.flow_functions_max = 4
    for key in (KEY, OTHER):
        assert world.policies.put(replace(policy(1), key=key), None)
    for name in names:
        world.put(name, schedule=LIST, policy="mailer")
    delete_policy(world)
    world.run_until(NOON + MINUTE)
    assert len(waiting(world)) == len(names)


def waiting_world(*names: str) -> World:
    world = World()
    fill(world, *names)
    return world


def leave_before_deletion(world: World) -> None:
    """Let a policy have a backlog, and one of the jobs leave it. Nobody walks it now."""
    fill(world, "job", "stays")
    stored = world.policies.get(KEY)
    assert stored is not None
    assert world.policies.put(replace(stored, version="again", deleted_at=None), stored.version)
    world.work.waiting.clear()
    leaves(world)
    assert not world.work.waiting


def pack(world: World) -> LinePlace:
    """Let all triggers that wait stand in one entry."""
    messages = waiting(world)
    world.policy_lines.clear()
    world.policy_lines.put(PLACE, entry_of(messages, NOON, "source"))
    return PLACE


def together_in_entries(world: World) -> LinePlace:
    """Let all triggers that wait stand in one partition, each in an entry of its own."""
    messages = waiting(world)
    world.policy_lines.clear()
    for each in messages:
        world.policy_lines.put(PLACE, entry_of([each], NOON, "source"))
    return PLACE


def second(message: TriggerMessage, number: int = 0) -> TriggerMessage:
    """Another trigger of the same revision."""
    trigger = message.trigger
    return message._replace(trigger=replace(trigger, due_at=trigger.due_at - 1 - number))


def job_run(world: World, message: TriggerMessage) -> Run:
    """The run of a trigger, as a function claims it."""
    return world.deliveries().handlers.deliverer._claims.run_of(message, world.clock.time)


def check_job_is_where_it_belongs(world: World, within_ms: int) -> None:
    """The trigger of `job` was delivered once if the job has left, and else it waits; `stays` waits."""
    world.run_until(world.clock.time + within_ms)
    has_left = world.stored().definition.policy is None
    assert delivered(world) == (["job"] if has_left else [])
    assert jobs_in_line(world) == ([] if has_left else ["job"]) + ["stays"] * world.has_job("stays")


def jobs_in_line(world: World, key: PolicyKey = KEY) -> list[str]:
    return sorted(
        each.trigger.key.name
        for place, entry in world.policy_lines.everything()
        for each in entry.messages
        if place.policy == key
    )


def delivered(world: World) -> list[str]:
    return [each.trigger.key.name for each in world.consumers.attempts]


def leaves(world: World) -> None:
    world.patch(without=["policy"])


def moves(world: World) -> None:
    world.patch(policy="other")


def is_replaced(world: World) -> None:
    world.put(schedule=LIST, labels={"a": "b"}, policy="other")


def leave_together(world: World, *names: str) -> None:
    """Write these jobs without a policy in one call."""
    wanted = [JobToWrite(key_of(name), definition(schedule=LIST)) for name in names]
    now = world.api_clock.now()
    world.api().bulk_writer.put(wanted, caller="me", requested_at=now)


def claimed(world: World) -> list[LinePlace]:
    """The partitions that a walk or a worker has claimed until now."""
    return [place for place in world.policy_lines._claims if place.partition < PARTITIONS_MAX]
