"""Traces of ends in which one promise is broken, and the complaint of the oracle about each."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from tests.simulation.traces.doctored import Broken, Excused, changed, of, with_, without
from tests.simulation.traces.rare_events import ChainBound
from tests.simulation.traces.stories import NOON, every_minute, in_order, requested, written
from tests.simulation.traces.stories_of_ends import (
    DUE,
    TRIGGER,
    asked,
    cancelled,
    followed_by_another,
    notice,
    redriven,
    reported,
    silent,
    told_of,
    within,
)
from tests.simulation.traces.trace import (
    Buried,
    Deleted,
    Dropped,
    Event,
    Mishap,
    Requested,
    RunAnswered,
    RunAsked,
    RunStored,
    Told,
    Verb,
    Written,
)


def _answer(verb: Verb, at_s: float) -> Callable[[Event], bool]:
    """Return the answer to what was asked for at that second."""
    at = NOON + round(at_s * 1_000)
    return lambda event: isinstance(event, RunAnswered) and (event.asked.verb, event.asked.at) == (verb, at)


_BY_HAND: Final = replace(
    requested(180), trigger_id=f"u1-manual-{DUE}-0-abc", is_on_demand=True, data='"x"', sequence=0
)


def dropped(at_s: int) -> Dropped:
    """Return a trace in which the queue drops the second attempt of a trigger."""
    uid, _, _ = TRIGGER.partition("-")
    return Dropped(NOON + at_s * 1_000, "job", uid, TRIGGER, 2)


def left_after_the_cancel(events: list[Event]) -> list[Event]:
    """Return a trace in which a first attempt without a claim leaves after its run was cancelled."""
    return in_order(
        without(
            of(Requested, due_s=180),
            lambda event: getattr(event, "state", None) in ("claimed", "running"),
            of(RunAsked, verb="heartbeat"),
            lambda event: isinstance(event, RunAnswered) and event.asked.verb == "heartbeat",
        )(events),
        requested(180, late_ms=30_000),
    )


BROKEN_ENDS: Final[Sequence[Broken]] = (
    # Every end has a cause.
    (reported, without(of(RunAsked, verb="complete")), "which never succeeded"),
    (silent, changed(of(RunAsked, verb="complete", attempt=2), attempt=1), "which never succeeded"),
    (cancelled, without(of(RunAsked, verb="cancel")), "though nobody asked for it"),
    # A trigger that is redriven arrives.
    (silent, with_(dropped(400)), "made on request, was dropped by its queue"),
    # The first of two reports rules, and a completed run is not given up.
    (
        reported,
        lambda events: in_order(events, asked("fail", 300.9, state="running", attempts=1)),
        "and both reports were taken",
    ),
    # What was acknowledged stands.
    (reported, without(of(RunStored, run_id=f"{DUE}-0", state="succeeded")), "the run never succeeded"),
    (cancelled, changed(_answer("heartbeat", 190), error=None), "was not the one that went on"),
    # A consumer whose run goes on is not refused.
    (reported, changed(_answer("heartbeat", 240), error="GoneError"), "was refused"),
    # After `maxRunTime` nothing is taken.
    (reported, lambda events: within("5s", events), "was taken at"),
    # Tokens.
    (silent, changed(of(Requested, attempt=2), token="shr_1"), "one token is that of"),
    # A cancelled run stays cancelled.
    (cancelled, with_(requested(180, attempt=2, late_ms=30_000)), "its run was cancelled at"),
    # Nothing has doubled the message of the first attempt.
    (cancelled, left_after_the_cancel, "its run was cancelled at"),
    # Redrives.
    (redriven, without(of(RunAsked, verb="redrive")), "though nobody redrove it"),
    (redriven, without(of(Requested, attempt=2)), "and no other left"),
    (every_minute, with_(_BY_HAND, replace(_BY_HAND, attempt=2, data='"y"')), "left with"),
    (followed_by_another, changed(of(Requested, due_s=180, uid="u2"), data='"y"'), "left with"),
    # A notification is of an end that has happened.
    (told_of, changed(of(Told, trigger_id=TRIGGER), state="failed"), "it had not"),
    (told_of, with_(notice(180, late_ms=5)), "it had not"),
    # In the calm nothing excuses a late notification, and the oracle once asked for none within any time.
    (
        told_of,
        changed(of(Told, trigger_id=f"u1-{NOON + 240_000}-0"), at=NOON + 301_000),
        "and its notification left at",
    ),
    (told_of, changed(of(Told, trigger_id=TRIGGER), attempts=2), "it had not"),
    # All notifications of an end have one id.
    (told_of, changed(of(Told), notice_id="same"), "names 15 ends"),
    # A chain ends at its longest.
    (followed_by_another, with_(ChainBound(NOON, 0)), "is link 1 of its chain; 0 are allowed"),
    # A job that pauses on an error is paused when a trigger of it is given up.
    (
        redriven,
        changed(of(Written, verb="pause"), verb="patch", paused_at=None),
        "and its job was not paused",
    ),
)


def _recorded_late(events: list[Event]) -> list[Event]:
    """The same, but the function was paused before it recorded that the attempt runs."""
    return changed(lambda event: getattr(event, "before", None) == "claimed", at=NOON + 254_000)(events)


EXCUSED_ENDS: Final[Sequence[Excused]] = [
    # A report is refused after `maxRunTime`, also by a clock that is ahead.
    (
        reported,
        lambda events: in_order(within("2m", events), asked("heartbeat", 281, error="GoneError")),
    ),
    # `maxRunTime` begins with the consumer's answer. A function may pause before it records the attempt.
    (
        reported,
        lambda events: in_order(
            within("170s", _recorded_late(events)),
            asked("heartbeat", 299, error="GoneError"),
        ),
    ),
    # An operator completed the run in time. The consumer's own report comes late, and changes nothing.
    (
        reported,
        lambda events: in_order(
            within("3m", without(of(RunAsked, verb="complete"), of(RunAnswered, state="succeeded"))(events)),
            asked("complete", 301, None, state="succeeded", attempts=1),
            asked("complete", 900, state="succeeded", attempts=1),
        ),
    ),
    # An answer that was lost says nothing, and the action may have been done.
    (reported, without(of(RunAnswered))),
    # Heartbeats of an attempt that is over change nothing.
    (silent, lambda events: in_order(events, asked("heartbeat", 308, error="GoneError"))),
    # Notifications follow the present definition: without `onComplete` no notification is owed.
    (
        told_of,
        lambda events: in_order(
            without(of(Told, trigger_id=TRIGGER))(events),
            written("patch", "1-a", 181, cut=NOON + 5, since=NOON - 1),
        ),
    ),
    # The last link of a chain that is as long as allowed ends in a dead letter.
    (
        told_of,
        lambda events: in_order(
            without(of(Told, trigger_id=TRIGGER))(events),
            ChainBound(NOON, 0),
            Buried(NOON + 300_000, TRIGGER, "The chain has 0 links (chainLengthMax).", "notify"),
        ),
    ),
    # A chain needs a job to follow.
    (
        followed_by_another,
        lambda events: in_order(
            without(of(Requested, due_s=900, uid="u2"))(events), Deleted(NOON + 900_040, "next", "u2")
        ),
    ),
    # A message that the queue has taken has succeeded, though the answer to a copy was lost and another
    # attempt followed.
    (
        silent,
        lambda events: in_order(
            replace(event, token=None) if isinstance(event, Requested) else event
            for event in with_(dropped(400))(events)
        ),
    ),
    # A first attempt without a claim may be under way twice, if something has doubled its message.
    (
        cancelled,
        lambda events: in_order(
            left_after_the_cancel(events), Mishap(NOON + 170_000, "copy of 30000 ms later", "queue")
        ),
    ),
]
