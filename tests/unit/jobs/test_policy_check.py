"""A job may name a policy only if that policy exists when the job is written."""

from dataclasses import replace

import pytest
from tests.contract.builders import policy
from tests.fakes.world import NOON, World, definition, key_of

from sweephand.base.errors import InvalidError
from sweephand.jobs.bulk import JobToWrite
from sweephand.jobs.write import WriteResult
from sweephand.model.policy import PolicyKey

MAILER = PolicyKey("ns", "mailer")


def world_with_policy() -> World:
    world = World()
    world.flow_functions_max = 5
    world.policies.put(policy(key=MAILER), None)
    return world


def delete_policy(world: World) -> None:
    stored = world.policies.get(MAILER)
    assert stored is not None
    world.policies.put(replace(stored, version="version000000002", deleted_at=NOON), stored.version)


def refusal(write: InvalidError) -> str:
    (violation,) = write.violations
    assert violation.pointer == "/policy"
    return violation.detail


def test_a_job_may_name_a_policy_of_its_namespace() -> None:
    job = world_with_policy().put(schedule="@every 1h", policy="mailer", priority="high").job
    assert (job.definition.policy, job.definition.priority) == ("mailer", "high")


def test_a_job_without_both_fields_has_no_policy_and_the_priority_normal() -> None:
    job = World().put(schedule="@every 1h").job
    assert (job.definition.policy, job.definition.priority) == (None, "normal")


@pytest.mark.parametrize("named", ["mailer2", "other"])
def test_a_job_that_names_a_policy_which_does_not_exist_is_refused(named: str) -> None:
    world = world_with_policy()
    world.policies.put(policy(key=PolicyKey("elsewhere", "other")), None)
    with pytest.raises(InvalidError) as refused:
        world.put(schedule="@every 1h", policy=named)
    assert f"There is no policy {named} in namespace ns" in refusal(refused.value)
    assert not world.has_job()
    assert not world.queue.waiting


def test_a_job_that_names_a_deleted_policy_is_refused() -> None:
    world = world_with_policy()
    delete_policy(world)
    with pytest.raises(InvalidError, match="There is no policy mailer"):
        world.put(schedule="@every 1h", policy="mailer")


def test_a_stack_without_flow_policies_refuses_a_job_that_names_one_and_says_which_parameter_is_off() -> None:
    world = world_with_policy()
    world.flow_functions_max = 0
    with pytest.raises(InvalidError) as refused:
        world.put(schedule="@every 1h", policy="mailer")
    assert "FlowPolicies" in refusal(refused.value)
    jobs = [JobToWrite(key_of(name), definition(schedule="@every 1h", policy="mailer")) for name in "ab"]
    for each in world.api().bulk_writer.put(jobs, caller="test", requested_at=NOON):
        assert isinstance(each, InvalidError)
        assert "FlowPolicies" in refusal(each)
    assert world.put(schedule="@every 1h", priority="low").outcome == "created"


def test_a_job_that_names_a_closed_policy_can_be_written_until_it_names_another() -> None:
    world = world_with_policy()
    world.put(schedule="@every 1h", policy="mailer")
    delete_policy(world)
    assert world.put(schedule="@every 1h", policy="mailer").outcome == "unchanged"
    assert world.put(schedule="@every 2h", policy="mailer").outcome == "replaced"
    assert world.patch(description="the mail").outcome == "replaced"
    with pytest.raises(InvalidError, match="There is no policy mailer"):
        world.put("other", schedule="@every 2h", policy="mailer")
    assert world.patch(without=["policy"]).job.definition.policy is None
    with pytest.raises(InvalidError, match="There is no policy mailer"):
        world.patch(policy="mailer")
    with pytest.raises(InvalidError, match="There is no policy mailer"):
        world.put(schedule="@every 2h", policy="mailer")


def test_a_job_that_names_a_closed_policy_can_be_written_in_bulk() -> None:
    world = world_with_policy()
    world.put("old", schedule="@every 1h", policy="mailer")
    delete_policy(world)
    jobs = [
        JobToWrite(key_of(name), definition(schedule="@every 2h", policy="mailer")) for name in ("old", "new")
    ]
    old, new = world.api().bulk_writer.put(jobs, caller="test", requested_at=NOON)
    assert isinstance(old, WriteResult)
    assert isinstance(new, InvalidError)


def test_a_job_may_name_a_paused_policy_and_shows_that_it_blocks_it() -> None:
    world = world_with_policy()
    reader = world.api().reader
    world.put(schedule="@every 1h", policy="mailer")
    assert reader.get(key_of(), NOON).policy_block is None
    world.api().policy_writer.pause(MAILER, reason=None, who="me", requested_at=NOON)
    assert world.put(schedule="@every 2h", policy="mailer").outcome == "replaced"
    assert reader.get(key_of(), NOON).policy_block == "paused"
    world.api().policy_writer.resume(MAILER, who="me", requested_at=NOON)
    assert reader.get(key_of(), NOON).policy_block is None


def test_a_job_that_was_deleted_names_a_closed_policy_no_more() -> None:
    world = world_with_policy()
    world.put(schedule="@every 1h", policy="mailer")
    delete_policy(world)
    world.delete()
    with pytest.raises(InvalidError, match="There is no policy mailer"):
        world.put(schedule="@every 1h", policy="mailer")


def test_a_bulk_call_reads_each_policy_once_and_refuses_only_the_jobs_whose_policy_is_unknown() -> None:
    world = world_with_policy()
    world.put("stored", schedule="@every 1h")
    reads: list[str] = []

    def announce(call: str) -> None:
        if call == "before policies.get":
            reads.append(call)

    world.announce = announce
    named = ["mailer", "missing", "mailer", "missing", None]
    jobs = [
        JobToWrite(
            key_of(f"job-{number}" if number else "stored"),
            definition(schedule="@every 2h", **({"policy": name} if name else {})),
        )
        for number, name in enumerate(named)
    ]
    results = world.api().bulk_writer.put(jobs, caller="test", requested_at=NOON)
    assert [isinstance(each, WriteResult) for each in results] == [True, False, True, False, True]
    assert "missing" in refusal(results[1]) if isinstance(results[1], InvalidError) else False
    assert len(reads) == 2
