"""The oracle takes what a loss of the Timers table has undone as never written, and nothing else."""

from tests.simulation.traces.broken_losses import AT_S, BEGUN_ANEW, REBUILT, lost
from tests.simulation.traces.doctored import complaints, of, with_, without
from tests.simulation.traces.stories import (
    NOON,
    UID,
    answered,
    deleted,
    every_minute,
    in_order,
    retried,
    timer,
)
from tests.simulation.traces.stories_of_ends import TRIGGER, reported
from tests.simulation.traces.trace import Concluded, Event, Requested, RunStored


def test_a_rebuild_makes_the_chain_whole_and_cursors_begin_anew() -> None:
    assert complaints(every_minute()) == []
    assert complaints(with_(lost(AT_S), REBUILT, BEGUN_ANEW)(every_minute())) == []


def deleted_while_retrying(*more: Event) -> list[str]:
    """The complaints about a job that was deleted while a run of it was to be tried again."""
    untried = without(of(Requested, attempt=3), of(Concluded, attempt=3), of(RunStored, attempts=3))
    story = in_order(untried(retried()), deleted(400), answered("delete", "", 1_900), more)
    return [each for each in complaints(story) if "is retrying, and its job was deleted" in each]


def test_a_retry_that_was_not_in_the_wheel_ends_with_its_job_although_the_table_was_lost() -> None:
    assert deleted_while_retrying()
    # The oracle once excused every run of a world that had lost its table.
    assert deleted_while_retrying(lost(AT_S))
    retry = timer(380, at_s=195, kind="retry", what=f"{UID}-{NOON + 180_000}-0")
    assert not deleted_while_retrying(retry, lost(AT_S))


def deleted_while_running(deleted_s: int, *more: Event) -> list[str]:
    """The complaints about a run whose consumer sends heartbeats until 12:04:45, and then dies."""
    unfinished = [
        each for each in reported() if not (isinstance(each, RunStored) and each.state == "succeeded")
    ]
    story = in_order(unfinished, deleted(deleted_s), more)
    return [each for each in complaints(story) if "is running since" in each]


def test_a_deadline_is_lost_with_the_table_only_if_its_job_is_deleted_before_a_rebuild() -> None:
    deadline = timer(600, at_s=181, kind="deadline", what=f"{TRIGGER},1,o")
    assert deleted_while_running(290)
    assert deleted_while_running(290, lost(200))
    assert not deleted_while_running(290, deadline, lost(200))
    assert deleted_while_running(741, deadline, lost(200))
    assert deleted_while_running(290, deadline, lost(200, 190))
    again = timer(600, at_s=230, kind="deadline", what=f"{TRIGGER},1,o")
    assert deleted_while_running(290, deadline, lost(200), again)
