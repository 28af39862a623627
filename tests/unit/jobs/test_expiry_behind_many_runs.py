"""Jobs with `deleteAfterCompletion` that have more runs than one read returns."""

from tests.fakes.world import NOON, World

from sweephand.base.timing import BULK_TIME_LIMIT_MS
from sweephand.model.attempt import Answer

MINUTE = 60_000


def test_a_run_that_is_not_over_delays_the_deletion_of_its_job_behind_many_newer_runs(world: World) -> None:
    retry = {"maxAttempts": 2, "initialDelay": "10m", "multiplier": 1}
    world.put(schedule="@every 1s", repeats=90, deleteAfterCompletion=True, retry=retry)
    world.consumers.answering = lambda made: Answer(
        succeeded=made.trigger.sequence > 1 or made.number > 1, code=503
    )
    world.run_until(NOON + 2 * MINUTE)
    assert len(world.consumers.attempts) == 90
    assert world.has_job()
    world.run_until(NOON + 12 * MINUTE)
    assert not world.has_job()


def test_runs_of_earlier_jobs_of_its_name_are_not_read_again_and_again(world: World) -> None:
    world.put(schedule="R2500/PT1S")
    world.run_until(NOON + 2_600_000)
    world.delete()
    world.clock.time += 10 * MINUTE
    world.put(dueTime="10s", deleteAfterCompletion=True)
    pages = [0]

    def announce(call: str) -> None:
        pages[0] += call == "before runs.page"

    world.announce = announce
    world.run_until(world.clock.time + 11_000)
    assert not world.has_job()
    assert pages[0] == 1


def test_a_job_whose_runs_take_too_long_to_read_is_kept_for_its_retention(world: World) -> None:
    world.put(schedule="R1001/PT1S", deleteAfterCompletion=True)
    world.run_until(NOON + 999_000)

    def announce(call: str) -> None:
        world.clock.time += BULK_TIME_LIMIT_MS * (call == "after runs.page")

    world.announce = announce
    world.run_until(NOON + 1_100_000)
    assert world.has_job()
