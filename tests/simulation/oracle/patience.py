"""Checks of how long triggers wait for their turn, and how long after the first an attempt is made."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final

from tests.simulation.oracle.chains import CHAINED
from tests.simulation.oracle.leaving import undisturbed_from
from tests.simulation.oracle.lives import Life, told
from tests.simulation.oracle.tale import Tale
from tests.simulation.oracle.turns import OVER, Event, id_of, is_taken_back, may_overlap, moments
from tests.simulation.oracle.windows import may_hold
from tests.simulation.traces.rare_events import LimitSet
from tests.simulation.traces.trace import InLine, LineStored, RunStored

#: A waiting trigger has its turn and begins within this time, which covers sending, receiving and reading.
PROMPT_MS = 60_000

#: A function that could still deliver a trigger which is owed no more is gone within 180 s of the cut. Then
#: the line is free.
LEAVING_MS = 300_000

#: A message that was put back before the calm comes within 900 s, and those 180 s may come before.
PUT_BACK_MS = 1_200_000


def who_waits_goes_promptly(tale: Tale) -> Iterator[str]:
    """When a run is over, the first trigger that waits has its turn, and begins, within a minute."""
    from_at = undisturbed_from(tale)
    for turns, event in moments(tale):
        life, holder = turns.life, turns.holder
        late_at = event.at + PROMPT_MS
        if event.at < from_at or late_at > tale.ends_at or holder is None:
            continue
        if life.deleted_at is not None or may_overlap(life, event.at, late_at):
            continue
        if any(life.writes[number].paused_at is not None for number in life.stood(event.at, late_at)):
            # A pause holds the trigger back, also if it ends by itself later.
            continue
        soon = [each for each in tale.turns_of[event.uid] if event.at <= each.at <= late_at]
        is_end = isinstance(event, RunStored) and event.state in OVER and event.before not in OVER
        if isinstance(event, RunStored) and is_end and id_of(event) == holder.trigger_id:
            who, what = turns.lines[-1].waiting, "had no turn"
            has_come = any(isinstance(each, LineStored) for each in soon)
        elif isinstance(event, LineStored) and event.holder and event.holder.trigger_id != holder.trigger_id:
            who, what = (event.holder,), "did not begin"
            # A copy of it may have been skipped at that instant: then it does not begin.
            trigger_id = event.holder.trigger_id
            has_come = _begins(trigger_id, soon) or trigger_id in turns.over
            # The valve may have given it a later slot.
            has_come = has_come or any(each.at <= late_at for each in tale.of(LimitSet))
        else:
            continue
        if who and not has_come and not turns.is_taken_back(who[0].trigger_id, event.at):
            yield (
                f"{event.name}: {who[0].trigger_id} waited for {holder.trigger_id}, which was over at "
                f"{told(event.at)}, and {what} by {told(late_at)}"
            )


def what_is_owed_no_more_leaves(tale: Tale) -> Iterator[str]:
    """A holder whose revision was cut before its due time gives the line to one that waits."""
    from_at = undisturbed_from(tale)
    for life, line, since, until in _holdings(tale):
        holder = line.holder
        if holder is None or not line.waiting or _has_come(tale, holder, until) or life.is_held:
            continue
        patience_ms = LEAVING_MS if since >= from_at else PUT_BACK_MS
        cut_at = max(write.at for write in life.writes if write.at <= until)
        is_late = until > max(since, cut_at, from_at) + patience_ms
        if is_late and is_taken_back(life, holder, until):
            yield (
                f"{line.name}: {holder.trigger_id} is owed no more, and held the line from {told(since)} "
                f"to {told(until)}"
            )


def by_hand_passes_a_pause(tale: Tale) -> Iterator[str]:
    """A trigger by hand of a paused job does not wait for one that the pause keeps from beginning."""
    from_at = undisturbed_from(tale)
    for life, line, _, held_until in _holdings(tale):
        # A pause holds a chained trigger, too.
        by_hand = [each for each in line.waiting if each.is_asked_for and CHAINED not in each.trigger_id]
        holder, until = line.holder, min(held_until, life.deleted_at or held_until)
        if holder is None or holder.is_asked_for or not by_hand or not life.is_held:
            continue
        is_late = until > max(line.at, life.last.at, from_at) + PUT_BACK_MS
        if is_late and not _has_come(tale, holder, until):
            yield (
                f"{line.name}: {by_hand[0].trigger_id} was made by hand and waited from {told(line.at)} to "
                f"{told(until)} for {holder.trigger_id}, which may not begin"
            )


def _holdings(tale: Tale) -> Iterator[tuple[Life, LineStored, int, int]]:
    """Return each line that was stored, since when its holder held it, and until when."""
    for uid, events in tale.turns_of.items():
        lines = [each for each in events if isinstance(each, LineStored)]
        for _, turn in groupby(lines, key=lambda line: line.holder and line.holder.trigger_id):
            held = list(turn)
            following = next((each.at for each in lines if each.at > held[-1].at), tale.ends_at)
            yield from ((tale.lives[uid], line, held[0].at, following) for line in held if uid in tale.lives)


def _has_come(tale: Tale, holder: InLine, until: int) -> bool:
    """Whether by then there was a run or a dead letter of the holder."""
    uid, _, run_id = holder.trigger_id.partition("-")
    runs = tale.runs_of.get((uid, run_id), [])
    return holder.trigger_id in tale.buried or any(each.at <= until for each in runs)


def _begins(trigger_id: str, events: Iterable[Event]) -> bool:
    return any(not isinstance(each, LineStored) and id_of(each) == trigger_id for each in events)


#: The default of `maxAge`.
_AGE_DEFAULT_MS: Final = 24 * 3_600_000

_UNITS_MS: Final = {"s": 1_000, "m": 60_000, "h": 3_600_000}

#: A retry may begin a minute after `maxAge`.
GRACE_MS: Final = 60_000

#: The clocks of the simulator differ by up to this.
CLOCKS_MS: Final = 60_000

#: The connection of an attempt takes up to its time-out.
CONNECTION_MS: Final = 60_000

#: The reason of a run whose next attempt came too late.
TOO_LATE: Final = "could not be made within retry.maxAge"


def no_retry_is_older_than_it_may_be(tale: Tale) -> Iterator[str]:
    """No retry leaves later than `maxAge` allows. A redrive begins a new age, so those are left out."""
    for trigger_id, requests in tale.requests_of.items():
        if trigger_id in tale.redriven_from:
            continue
        first_at = requests[0].at
        for request in requests:
            if request.attempt == 1:
                # A copy of the message, or the function after a crash, may have made the attempt that failed.
                first_at = request.at
                continue
            if may_hold(tale, request.name, first_at, request.at):
                # The time for which a window holds a retry does not count.
                continue
            age_ms_max = max(_ages_ms(tale.lives[request.uid], request.at), default=0)
            if request.at > first_at + age_ms_max + GRACE_MS + CLOCKS_MS + CONNECTION_MS:
                yield (
                    f"{request.name}: attempt {request.attempt} of {trigger_id} left at {told(request.at)}, "
                    f"and its first one at {told(first_at)}: maxAge is {age_ms_max / 1_000:g} s"
                )


def only_what_is_too_old_is_given_up_for_it(tale: Tale) -> Iterator[str]:
    """No run fails because of `maxAge` before that is over. A redrive begins a new age."""
    for (uid, run_id), stored in tale.runs_of.items():
        trigger_id = f"{uid}-{run_id}"
        for each in stored:
            if not is_given_up_for_its_age(each) or trigger_id in tale.redriven_from:
                continue
            seen = [*tale.requests_of.get(trigger_id, ()), *tale.conclusions_of.get(trigger_id, ()), *stored]
            first_at = min(event.at for event in seen)
            age_ms = min(_ages_ms(tale.lives[uid], each.at), default=0)
            if each.at < first_at + age_ms + GRACE_MS - CLOCKS_MS:
                yield (
                    f"{each.name}: {trigger_id} was given up for its age at {told(each.at)}, and began at "
                    f"{told(first_at)}: maxAge is {age_ms / 1_000:g} s"
                )


def is_given_up_for_its_age(stored: RunStored) -> bool:
    """Return whether a run has failed because its next attempt came too late to be made."""
    return stored.state == "failed" and TOO_LATE in (stored.reason or "")


def _ages_ms(life: Life, at: int) -> list[int]:
    """Return the `maxAge` of every definition that the job had by then. A read may be a moment old."""
    written = [each.definition.get("retry") or {} for each in life.writes if each.at <= at]
    return [_ms(each["maxAge"]) if "maxAge" in each else _AGE_DEFAULT_MS for each in written]


def _ms(duration: str) -> int:
    return int(duration[:-1]) * _UNITS_MS[duration[-1]]
