"""Checks of watches: what is missed is told, once and in time, and nothing else is told."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from tests.simulation.oracle.enumeration import length_ms
from tests.simulation.oracle.jobs import SKEW_MS
from tests.simulation.oracle.lives import Life, Reign, told
from tests.simulation.oracle.misfires import decided_through
from tests.simulation.oracle.tale import Tale
from tests.simulation.oracle.windows import REASON, held_until, surely_holds
from tests.simulation.traces.rare_events import Alerted
from tests.simulation.traces.trace import Buried, RunStored

#: Deadlines of one clock hour share an alert (docs/watch.md).
WINDOW_MS: Final = 3_600_000

#: A check comes up to a minute after the deadline, where `alertAfter` is ten minutes or less. It then waits 5
#: s for the clocks, and its alert leaves soon in the calm.
CHECKED_MS: Final = 120_000

#: What windows held is looked at again 15 minutes after its time.
LOOKED_AGAIN_MS: Final = 900_000 + CHECKED_MS

#: A sweep of the calm moves the cursor within this time.
SWEPT_MS: Final = 60_000

#: Triggers of a revision that are due up to here go straight to the queue (300 s), by clocks that differ (90
#: s).
QUEUE_REACH_MS: Final = 390_000


def what_is_missed_is_told(tale: Tale) -> Iterator[str]:
    """The first trigger of a revision that has not succeeded in time is told, whatever the reason."""
    if not tale.of(Alerted) and not any(_is_watched(life) for life in tale.lives.values()):
        return
    for life in tale.lives.values():
        if life.deleted_at is not None or life.gone_at or not _is_watched(life):
            continue
        alerts = [each for each in tale.of(Alerted) if each.uid == life.uid]
        for reign in life.reigns():
            after_ms = _after_ms(life, reign.rev)
            dues = _dues(life, reign, tale.through - after_ms - CHECKED_MS)
            since = _since(life, reign) - SKEW_MS
            told_of = [each for each in alerts if each.rev == reign.rev]
            first, is_held = _first_missed(tale, life, dues, after_ms, since)
            if first is None or (is_held and told_of) or _is_given_up(tale, life):
                continue
            if not any(each.first_due_at <= max(first, _counted_from(each, after_ms)) for each in told_of):
                what = f"{life.name}: the trigger of {told(first)} (revision {reign.rev}) has not succeeded"
                yield f"{what} within {after_ms} ms; no alert left"


def _first_missed(
    tale: Tale, life: Life, dues: list[int], after_ms: int, since: int
) -> tuple[int | None, bool]:
    """Return the first trigger that must be told by now, if any, and whether a window may have held it.

    If one held the trigger, another alert of that hour may stand for it.
    """
    for due_at in dues:
        if _is_fine(tale, life.uid, due_at, after_ms, since):
            continue
        latest_at = _deadline_at(tale, life.name, due_at, after_ms)
        is_held = latest_at > due_at + after_ms
        if is_held and latest_at + LOOKED_AGAIN_MS > tale.through:
            break
        if not is_held or not _is_fine(tale, life.uid, due_at, latest_at - due_at, since):
            return due_at, is_held
    return None, False


def _deadline_at(tale: Tale, name: str, due_at: int, after_ms: int) -> int:
    """Return by when a trigger has to succeed at the latest. Its time begins anew after windows."""
    deadline_at = due_at + after_ms
    until = held_until(tale, name, due_at - SKEW_MS, deadline_at + SKEW_MS)
    return deadline_at if until is None else max(deadline_at, until + after_ms)


def only_what_is_missed_is_told(tale: Tale) -> Iterator[str]:
    """No alert is about a trigger that had succeeded in time, was skipped for another, or was cancelled."""
    for alert in tale.of(Alerted):
        life = tale.lives.get(alert.uid)
        reign = life.reign(alert.rev) if life is not None else None
        if life is None or reign is None:
            yield f"{alert.name}: {alert.alert_id} is about revision {alert.rev}, which was not committed"
            continue
        after_ms = _after_ms(life, alert.rev)
        dues = _dues(life, reign, alert.last_due_at)
        for due_at in {alert.first_due_at, alert.last_due_at}:
            known_by = due_at + after_ms - SKEW_MS
            if due_at not in dues:
                yield f"{alert.name}: {alert.alert_id} is about {told(due_at)}, which is not watched"
            elif _is_fine(tale, life.uid, due_at, after_ms, _since(life, reign) + SKEW_MS, by=known_by):
                yield f"{alert.name}: {alert.alert_id} is about {told(due_at)}, which was fine in time"
            elif surely_holds(tale, alert.name, due_at, alert.at):
                yield f"{alert.name}: {alert.alert_id} is about {told(due_at)}, which a window holds"
        first_by = _deadline_at(tale, alert.name, alert.first_due_at, after_ms) - after_ms
        if first_by < _counted_from(alert, after_ms):
            yield f"{alert.name}: {alert.alert_id} counts from {told(alert.first_due_at)}: over two hours"
        if alert.missed > sum(alert.first_due_at <= due_at for due_at in dues):
            yield f"{alert.name}: {alert.alert_id} counts {alert.missed} triggers; fewer were due"


def _counted_from(alert: Alerted, after_ms: int) -> int:
    """Return the first due time that an alert counts: that of the clock hour before its last deadline's."""
    deadline_at = alert.last_due_at + after_ms
    return deadline_at - deadline_at % WINDOW_MS - WINDOW_MS - after_ms


def no_alert_is_early(tale: Tale) -> Iterator[str]:
    """No alert leaves before the deadline of each trigger that it is about."""
    for alert in tale.of(Alerted):
        life = tale.lives.get(alert.uid)
        if life is None or life.reign(alert.rev) is None:
            continue
        skew_ms = 0 if tale.echo_ends_at is not None and alert.at > tale.echo_ends_at else SKEW_MS
        if alert.at < alert.last_due_at + _after_ms(life, alert.rev) - skew_ms:
            yield f"{alert.name}: {alert.alert_id} left at {told(alert.at)}, before its time was over"


def alerts_have_one_identity(tale: Tale) -> Iterator[str]:
    """An alert is named after its job and the clock hour of its last deadline."""
    for alert in tale.of(Alerted):
        life = tale.lives.get(alert.uid)
        if life is None or life.reign(alert.rev) is None:
            continue
        after_ms = _after_ms(life, alert.rev)
        deadline_at = alert.last_due_at + after_ms
        hours = range(
            deadline_at - deadline_at % WINDOW_MS,
            _deadline_at(tale, alert.name, alert.last_due_at, after_ms) + 1,
            WINDOW_MS,
        )
        expected = f"{alert.uid}-alert-{hours[0]}"
        if alert.alert_id not in {f"{alert.uid}-alert-{hour}" for hour in hours}:
            yield f"{alert.name}: an alert left as {alert.alert_id}; expected {expected}"


def alerts_come_once_in_calm(tale: Tale) -> Iterator[str]:
    """When no fault happens, a revision sends one alert about the deadlines of a clock hour."""
    if tale.echo_ends_at is None:
        return
    times: Counter[tuple[str, str]] = Counter()
    for alert in tale.of(Alerted):
        life = tale.lives.get(alert.uid)
        if life is None or life.reign(alert.rev) is None or alert.attempt > 1:
            continue
        if alert.last_due_at + _after_ms(life, alert.rev) > tale.echo_ends_at:
            times[alert.alert_id, alert.rev] += 1
    for (alert_id, rev), number in times.items():
        if number > 1:
            yield f"{alert_id} of revision {rev} left {number} times in the calm"


def watches_live(tale: Tale) -> Iterator[str]:
    """A watched job whose series goes on has one timer of its watch ahead of the cursor."""
    for life in tale.lives.values():
        if life.deleted_at is not None or life.is_held or "onAlert" not in life.last.definition:
            continue
        ruling = life.reigns()[-1]
        if ruling.occurrences.next_after(max(tale.ends_at + QUEUE_REACH_MS, ruling.since)) is None:
            continue
        mine = [each for each in tale.timers if (each.uid, each.rev) == (life.uid, ruling.rev)]
        ahead = [each for each in mine if each.kind == "watch" and not tale.is_passed(each)]
        if not ahead:
            yield f"{life.name}: no timer of the watch of revision {ruling.rev} lies ahead"
        # A sweeper that is at work has written the next timer, and has not moved the cursor yet.
        places = {each.place for each in ahead if each.at < tale.ends_at - SWEPT_MS}
        if len(places) > 1 and tale.echo_ends_at is not None:
            yield f"{life.name}: {len(places)} timers of the watch of revision {ruling.rev} lie ahead"


def _is_watched(life: Life) -> bool:
    """Whether every version of a job has a watch. Otherwise the version of the moment decides."""
    return all("onAlert" in each.definition for each in life.writes)


def _after_ms(life: Life, rev: str) -> int:
    """Return `alertAfter` of a revision."""
    write = next(each for each in life.writes if each.rev == rev)
    return length_ms(write.definition["alertAfter"])


def _dues(life: Life, reign: Reign, through: int) -> list[int]:
    """Return the due times that a watch covers."""
    since = _looks_back_to(life, reign)
    ended_at = life.last.paused_at if reign.until is None else None
    until = through if ended_at is None else min(through, ended_at)
    return [due_at for due_at in reign.dues(until) if due_at > since]


def _looks_back_to(life: Life, reign: Reign) -> int:
    """Return up to when due times are not watched. A resume does not look back at the pause.

    Nor does an update look back to before its request, to which less jitter may have moved a due time.
    """
    number = next(number for number, each in enumerate(life.writes) if each.rev == reign.rev)
    write = life.writes[number]
    if write.verb == "resume":
        return decided_through(life, number)
    return write.asked_at if write.since < write.asked_at - 1 else 0


def _since(life: Life, reign: Reign) -> int:
    """Return the instant up to which the watch of a revision looks at no trigger."""
    return max(reign.since, _looks_back_to(life, reign))


def _is_fine(tale: Tale, uid: str, due_at: int, after_ms: int, since: int, *, by: int | None = None) -> bool:
    """Whether the record of a run says that no alert is needed; with `by`, if it said so at that instant.

    A run that was due up to `since` counts as one that is not watched.
    """
    deadline_at = due_at + after_ms

    def says_fine(stored: RunStored) -> bool:
        if stored.ended_at is None or stored.ended_at > deadline_at or (by is not None and stored.at > by):
            return False
        if stored.state == "skipped" and stored.reason == "overlap":
            # A run that is not watched has to be fine itself.
            other = stored.skipped_for or ""
            is_watched = other[:1].isdigit() and int(other.partition("-")[0]) > since
            return is_watched or any(map(says_fine, tale.runs_of.get((uid, other), [])))
        is_window = stored.state == "skipped" and (stored.reason or "").startswith(REASON)
        return is_window or stored.state in {"succeeded", "cancelled"}

    return any(map(says_fine, tale.runs_of.get((uid, f"{due_at}-0"), [])))


def _is_given_up(tale: Tale, life: Life) -> bool:
    """Whether a message about the job was given up, because too many functions died over it."""
    letters = (each for each in tale.of(Buried) if each.of == "watch")
    return any(life.uid in (each.uid, (each.trigger_id or "").partition("-")[0]) for each in letters)
