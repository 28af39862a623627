"""Traces of bulk calls in which one promise is broken, and the complaint of the oracle about each."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from tests.simulation.traces.doctored import Broken, Excused, changed, of, with_, without
from tests.simulation.traces.stories import NOON, UID, cursor, every_minute, in_order, removed, timer, written
from tests.simulation.traces.trace import (
    Answered,
    Chosen,
    Deleted,
    Event,
    ManyAnswered,
    Mishap,
    Verb,
    Written,
)

#: When the job of these stories is paused or deleted.
MOMENT: Final = NOON + 390_000


def page(verb: Verb, **fields: Any) -> ManyAnswered:
    """Return the answer to a bulk call on all jobs with the job's prefix, asked for 5 ms before."""
    known: dict[str, Any] = {"chosen": Chosen("jo", {}, ""), "count": 1, "reached": None, "changed": (UID,)}
    return ManyAnswered(MOMENT + 20, verb, MOMENT - 5, **(known | fields))


def paused_in_bulk() -> list[Event]:
    """Return a trace in which a job that fires each minute is paused in bulk, for good."""
    return in_order(
        (event for event in every_minute() if event.at < MOMENT),
        written("pause", "1-a", 390, paused_at=MOMENT, cut=NOON + 5, since=NOON - 1),
        page("pause many"),
        cursor(timer(480, at_s=0), 420, 8),
    )


def deleted_in_bulk() -> list[Event]:
    """Return a trace in which such a job is deleted in bulk."""
    return in_order(without(of(Answered, verb="delete"))(removed()), page("delete many"))


#: Traces in which every promise was kept.
STORIES_OF_BULKS: Final = (paused_in_bulk, deleted_in_bulk)

#: The next job of the name, created 10 ms after that instant.
_NEXT_OF_NAME: Final = replace(written("create", "1-z", 390.005), uid="u2")

#: The answer to the write of the bulk call is lost, and the SDK makes the write again.
_REPEAT: Final = Mishap(MOMENT + 6, "repeat", "api 1 jobs.put")

_RED: Final = Chosen("", {"team": "red"}, "")

BROKEN_BULKS: Final[Sequence[Broken]] = (
    # A bulk call changes every job that its filter chooses.
    (
        paused_in_bulk,
        lambda events: in_order(
            without(of(Written, verb="pause"))(events), replace(page("pause many"), count=0)
        ),
        "and job (u1) was not paused",
    ),
    (paused_in_bulk, with_(page("pause many", chosen=Chosen("", {}, "a"), count=2)), "counted 2"),
    (deleted_in_bulk, without(of(Deleted)), "and job (u1) was not deleted"),
    (deleted_in_bulk, changed(of(ManyAnswered), reached="jo"), "which it is not about"),
    # A bulk call counts the jobs that it changed.
    (paused_in_bulk, changed(of(ManyAnswered), count=0), "changed 1 jobs, and counted 0"),
    (
        paused_in_bulk,
        lambda events: in_order(
            changed(of(ManyAnswered), count=0)(events), _REPEAT, Deleted(MOMENT + 21, "job", UID)
        ),
        "changed 1 jobs, and counted 0",
    ),
    (
        paused_in_bulk,
        lambda events: in_order(
            changed(of(ManyAnswered), count=0)(events),
            _REPEAT,
            replace(written("create", "1-z", 390.006), name="joy", uid="u2"),
            Deleted(MOMENT + 15, "joy", "u2"),
        ),
        "changed 1 jobs, and counted 0",
    ),
    # The write of the bulk call was answered before another client deleted the job.
    (
        paused_in_bulk,
        lambda events: in_order(changed(of(ManyAnswered), count=0)(events), Deleted(MOMENT + 10, "job", UID)),
        "changed 1 jobs, and counted 0",
    ),
    # A repeated deletion removes the next job of the name, too.
    (
        deleted_in_bulk,
        lambda events: in_order(
            changed(of(Deleted), verb="delete many")(changed(of(ManyAnswered), changed=(UID, "u2"))(events)),
            _REPEAT,
            _NEXT_OF_NAME,
            Deleted(MOMENT + 15, "job", "u2", "delete many"),
        ),
        "changed 2 jobs, and counted 1",
    ),
    # A page moves its cursor on.
    (
        every_minute,
        with_(page("resume many", count=0, changed=(), chosen=Chosen("", {}, "z"), reached="z")),
        "came no further than z",
    ),
)

#: Traces of which a bulk call is not to blame.
EXCUSED_BULKS: Final[Sequence[Excused]] = (
    # Without an acknowledgement the call may have changed some of the jobs.
    (paused_in_bulk, without(of(ManyAnswered))),
    # The job was resumed all the while, or is not chosen by the filter.
    (every_minute, with_(page("resume many", count=0, changed=()))),
    (every_minute, with_(page("pause many", count=0, changed=(), chosen=_RED))),
    (every_minute, with_(page("delete many", count=0, changed=(), reached="jo"))),
    # Another client paused the job meanwhile.
    (paused_in_bulk, changed(of(ManyAnswered), changed=())),
    # Another client deleted the job after it was paused, so the repeated pause found no job.
    (
        paused_in_bulk,
        lambda events: in_order(
            changed(of(ManyAnswered), count=0)(events), _REPEAT, Deleted(MOMENT + 10, "job", UID)
        ),
    ),
    # Another client created and deleted the next job of the name. The repeated deletion found that job once,
    # and then none.
    (
        deleted_in_bulk,
        lambda events: in_order(
            changed(of(Deleted), verb="delete many")(changed(of(ManyAnswered), count=0)(events)),
            _REPEAT,
            _NEXT_OF_NAME,
            Deleted(MOMENT + 15, "job", "u2"),
        ),
    ),
    # Another client created a job after the deletion. It is another job, and was not there when the call
    # began.
    (
        deleted_in_bulk,
        with_(
            replace(written("create", "1-z", 390.005), uid="u2"),
            Deleted(NOON + 391_000, "job", "u2"),
        ),
    ),
)
