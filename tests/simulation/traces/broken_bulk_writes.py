"""Traces of calls that write many jobs in which one promise is broken, and the oracle's complaint of each."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from tests.simulation.traces.doctored import Broken, Doctoring, Excused, changed, of, with_, without
from tests.simulation.traces.rare_events import BulkWriteAnswered, EntryAnswered
from tests.simulation.traces.stories import NOON, every_minute, in_order, requested, timer, written
from tests.simulation.traces.trace import Answered, Event, Mishap, Requested, TimerStored

#: The entry of the job of these stories, and of one that the API refuses.
_JOB: Final = EntryAnswered("job", '"x"', is_valid=True, told_name="job", status=201, rev="1-a")
_WRONG: Final = EntryAnswered("wrong", '"w"', is_valid=False, told_name="wrong", status=422)

#: The entry of a job that no store took.
_FAILED: Final = EntryAnswered("other", '"o"', is_valid=True, told_name="other", status=503)
_TOO_LATE: Final = replace(_FAILED, detail="The others took too long, so this job was not written. Send it.")

#: The job of every_minute(), as a bulk write created it that was asked for at noon.
_CALL: Final = BulkWriteAnswered(NOON + 10, "api 1", NOON, (_JOB, _WRONG), written=("1-a",))

_FAULT: Final = Mishap(NOON + 4, "loss", "api 1 jobs.put")


def call(*entries: EntryAnswered, **fields: Any) -> BulkWriteAnswered:
    """Return the call with those entries."""
    return replace(_CALL, entries=entries or _CALL.entries, **fields)


def created_in_bulk() -> list[Event]:
    """Return a trace of a job that fires each minute. A call created it and refused an invalid one."""
    return in_order(without(of(Answered, verb="create"))(every_minute()), _CALL)


def lost_to_another() -> list[Event]:
    """Return a trace in which another client creates the job first. The call replaces it at 100 ms.

    The timer that the call wrote for its own new job is an orphan, and nothing follows from it.
    """
    orphan = replace(timer(300, "1-o", at_s=0), uid="u2")
    return in_order(
        (
            replace(event, rev="2-b") if isinstance(event, TimerStored | Requested) else event
            for event in every_minute()
            if not isinstance(event, Answered)
        ),
        timer(300, at_s=0),
        orphan,
        written("replace", "2-b", 0.1, definition={"schedule": "@every 60s", "data": '"x"'}),
        call(replace(_JOB, status=200, rev="2-b"), _WRONG, at=NOON + 120, written=("2-b",)),
    )


def replaced_call(*entries: EntryAnswered, **fields: Any) -> Doctoring:
    """Let the call have those entries."""
    return lambda events: in_order(without(of(BulkWriteAnswered))(events), call(*entries, **fields))


#: Traces in which every promise was kept.
STORIES_OF_BULK_WRITES: Final = (created_in_bulk, lost_to_another)

_OUTAGE: Final = Mishap(NOON - 3_000, "outage of 3500 ms", "jobs, timers")

BROKEN_BULK_WRITES: Final[Sequence[Broken]] = (
    # A job counts as created if this call created it.
    (created_in_bulk, changed(of(BulkWriteAnswered), written=()), "and the call did not create it"),
    (
        lost_to_another,
        replaced_call(replace(_JOB, rev="2-b"), at=NOON + 120, written=("2-b",)),
        "and the call did not create it",
    ),
    # What is refused is not written and does not fire.
    (created_in_bulk, replaced_call(_JOB, replace(_WRONG, data='"x"')), "was refused with 422, and fired"),
    (
        created_in_bulk,
        with_(
            replace(
                written("create", "1-w", 0, definition={"dueTime": "5000s", "data": '"w"'}),
                name="wrong",
                uid="u3",
            )
        ),
        "was refused with 422, and was written",
    ),
    # Each job is judged by itself.
    (created_in_bulk, replaced_call(replace(_JOB, told_name="joy")), "was answered as joy"),
    (created_in_bulk, replaced_call(_JOB, replace(_FAILED, status=422)), "is valid, and was answered"),
    # A failure costs one job its answer, be the job valid or not.
    (
        created_in_bulk,
        lambda events: in_order(replaced_call(_JOB, _FAILED, _FAILED)(events), _FAULT),
        "2 jobs failed in the bulk write",
    ),
    # The triggers of a job that lost to another client's are orphans.
    (
        lost_to_another,
        with_(replace(requested(300, "1-o", sequence=1), uid="u2", trigger_id=f"u2-{NOON + 300_000}-0")),
        "is of a job that was never written",
    ),
    (
        lost_to_another,
        with_(replace(timer(360, "1-o", at_s=240), uid="u2")),
        "was never committed, and 1 timers go on with it",
    ),
)

#: Traces of which the call is not to blame.
EXCUSED_BULK_WRITES: Final[Sequence[Excused]] = (
    # The job was there already, and the call changed nothing.
    (created_in_bulk, replaced_call(replace(_JOB, status=200), at=NOON + 90_010, asked_at=NOON + 90_000)),
    # Without an answer the call may have done anything.
    (created_in_bulk, without(of(BulkWriteAnswered))),
    # A fault failed one of them, stores were down, or time was over.
    (created_in_bulk, lambda events: in_order(replaced_call(_JOB, _FAILED)(events), _FAULT)),
    (created_in_bulk, lambda events: in_order(replaced_call(_JOB, _FAILED, _FAILED)(events), _OUTAGE)),
    (
        created_in_bulk,
        lambda events: in_order(replaced_call(_JOB, replace(_WRONG, status=503))(events), _OUTAGE),
    ),
    (created_in_bulk, replaced_call(_JOB, _TOO_LATE, _TOO_LATE, at=NOON + 20_100)),
    # After a failure the write may have been made all the same.
    (
        created_in_bulk,
        lambda events: in_order(replaced_call(replace(_JOB, status=503, rev=None))(events), _FAULT),
    ),
    # Another call wrote what this one had no time for.
    (
        created_in_bulk,
        replaced_call(
            replace(_TOO_LATE, name="job", told_name="job", data='"x"'), at=NOON + 20_100, written=()
        ),
    ),
)
