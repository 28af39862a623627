"""The verdicts that follow from the job and its changes: whether it was there, paused, or due at all."""

import json

from sweephand.base.instants import Instant
from sweephand.base.timing import PENDING_MAX_MS, TIMER_RETENTION_MS
from sweephand.jobs.calendar_fields import date_of, reason_of_day
from sweephand.model.change import Change
from sweephand.model.job import Job, PauseEnd
from sweephand.runs.explain.facts import Explanation, Facts, Verdict, by, reason_of, span, time, wall
from sweephand.runs.explain.lives import Subject
from sweephand.schedules import Series
from sweephand.schedules.clock.dst import ClockEffect
from sweephand.schedules.day_rule import MOVED_DAYS_MAX


def expired(facts: Facts) -> Explanation | None:
    """Whether the job had expired by then."""
    job = facts.job
    if job is None or not job.is_gone(facts.now) or job.expires_at is None or facts.due_at <= job.expires_at:
        return None
    said = f"The job was completed, and its retention was over at {time(job.expires_at)}."
    return Explanation("expired", said)


def absent(facts: Facts) -> Explanation | None:
    """Whether there was no such job at the instant."""
    lives, at = facts.lives, facts.due_at
    if facts.is_there or facts.run is not None:
        return None
    last, first = lives.last_up_to(at), lives.first_after(at)
    if last is not None and last.what == "deleted":
        return Explanation("deleted", f"The job was deleted at {time(last.at)}, {by(last)}.", change=last)
    if last is None and first is not None and first.what == "created":
        said = f"There was no such job yet. It was created at {time(first.at)}, {by(first)}."
        return Explanation("not-created", said, change=first)
    if last is None and facts.job is not None and lives.is_complete:
        said = f"There was no such job yet. It was created at {time(facts.job.created_at)}."
        return Explanation("not-created", said)
    return None


def forgotten(facts: Facts) -> Explanation | None:
    """Whether a job that is not there any more ruled then, and left no record."""
    lives, at = facts.lives, facts.due_at
    if facts.is_there or facts.run is not None:
        return None
    last, first = lives.last_up_to(at), lives.first_after(at)
    if facts.job is None and first is None and last is not None:
        said = (
            "The job is not there any more, and nobody deleted it: it was completed, and its retention is "
            f"over. Its last change was at {time(last.at)}. What it did then was not kept."
        )
        return Explanation("expired", said, change=last, is_kept=False)
    if last is None and facts.job is not None and not lives.is_complete:
        said = (
            f"The job was created at {time(facts.job.created_at)}. "
            "Whether there was another job of the name before was not kept."
        )
        return Explanation("not-kept", said, is_kept=False)
    deleted = first if first is not None and first.what == "deleted" else None
    then = "" if deleted is None else f" It was deleted at {time(deleted.at)}, {by(deleted)}."
    said = f"The job that was there then is gone.{then} Neither its schedule nor a record was kept."
    return Explanation("not-kept", said, change=deleted, is_kept=False)


def paused(facts: Facts) -> Explanation | None:
    """Whether the job was paused when the trigger fell due."""
    end_of_pause = None if facts.job is None else facts.job.pause_end
    is_paused = facts.job is not None and facts.job.paused_at is not None
    is_paused = is_paused and (end_of_pause is None or facts.due_at < end_of_pause.at)
    pause = facts.lives.pause_at(facts.due_at, is_paused=is_paused)
    if pause is None or (facts.trigger_due_at is None and facts.is_ruled):
        return None
    begin, end = pause
    since = f"The job was paused at {time(begin.at)}, {by(begin)}{reason_of(begin)}"
    step = "The resume decides whether it fires." if facts.trigger_due_at is not None else None
    if end is None:
        said = f"{since} {_until(end_of_pause) or 'Nobody has resumed it.'}"
        return Explanation("paused", said, change=begin, next_step=step)
    if end.what == "deleted":
        said = f"{since} It was deleted at {time(end.at)}, {by(end)}. Nobody had resumed it."
        return Explanation("paused", said, change=begin)
    if end.what == "created":
        return Explanation("paused", f"{since} Nobody resumed it before it was gone.", change=begin)
    said = f"{since} It was resumed at {time(end.at)}, {by(end)}."
    run = facts.run
    if run is not None and run.state != "skipped":
        said = f"{said} By the rule of catch-up, this trigger fired then, and its run is {run.state}."
    elif facts.trigger_due_at is not None:
        said = f"{said} By the rule of catch-up, this trigger did not fire."
    return Explanation("paused", said, change=begin, pause_end=end)


def held_by_pause(facts: Facts) -> Explanation | None:
    """Whether a trigger that fell due before a pause waits for the resume."""
    job, subject = facts.job, facts.subject
    if job is None or job.paused_at is None or facts.run is not None:
        return None
    if subject is None or subject.due_at is None or subject.due_at > job.paused_at:
        return None
    definition = job.definition
    waits = definition.policy is not None or definition.overlap.is_limited
    if job.paused_at - subject.due_at > (TIMER_RETENTION_MS if waits else PENDING_MAX_MS):
        # It left long before the pause.
        return None
    why = f": {job.pause_reason.rstrip('.')}." if job.pause_reason else "."
    said = (
        f"The trigger was due at {time(subject.due_at)} and has no record. The job was paused at "
        f"{time(job.paused_at)}{why} If the trigger was not delivered before, it waits for the resume."
    )
    if job.pause_end is not None:
        said = f"{said} {_until(job.pause_end)}"
    change = facts.lives.last_pause()
    return Explanation("paused", said, change=change, next_step="The resume lets the trigger go on.")


def retimed(facts: Facts) -> Explanation | None:
    """Whether an earlier definition decided, whose schedule was not kept, or which may have fired then."""
    job = facts.job
    if job is None or facts.run is not None:
        return None
    if facts.former is not None:
        return _due_before(facts, facts.former.change)
    if job.current.owns(facts.due_at):
        return None
    change = facts.lives.retimed_after(facts.due_at, job.series)
    if change is None and facts.lives.is_complete:
        return None
    if change is None:
        return Explanation("not-kept", "The changes of that time were not kept.", is_kept=False)
    values = next((each.values for each in change.fields or () if each.name == "schedule"), None)
    then = "" if values is None else f" {_schedule_before(values[0])}"
    said = (
        f"Another definition applied then: it was changed at {time(change.at)}, {by(change)}.{then} "
        "Which due times it had was not kept, and there is no record of a run."
    )
    return Explanation("not-kept", said, change=change, is_kept=False)


def overtaken(facts: Facts) -> Explanation | None:
    """Whether the definition before may have fired then, although the new one applied already.

    A definition applies from the request for it. Until it is stored, the one before sends what falls due, by
    another clock.
    """
    subject = facts.subject
    if subject is None or subject.due_at is not None or facts.run is not None:
        return None
    change = facts.lives.overtaking(facts.at)
    if change is None:
        return None
    said = (
        f"The definition was changed at about that time, at {time(change.at)}, {by(change)}. The one before "
        "had a due time then. It may have fired before the new one was stored. There is no record of a run."
    )
    return Explanation("not-kept", said, change=change, is_kept=False)


def _schedule_before(value: object) -> str:
    """A sentence about the schedule before a change, as it was written; None if there was none."""
    if value is None:
        return "The job had no schedule before."
    return f"The schedule was {json.dumps(value, ensure_ascii=False)} before."


def _due_before(facts: Facts, change: Change) -> Explanation | None:
    """Whether the earlier definition had a due time then. Whether it kept records is not known any more."""
    if facts.trigger_due_at is None:
        return None
    said = (
        f"{_applied(facts)}{moved_of(facts)}The trigger was due at {time(facts.due_at)}. There is no record "
        "of a run, and whether successes were recorded then was not kept."
    )
    return Explanation("not-kept", said, change=change, is_kept=False)


def _applied(facts: Facts) -> str:
    """A sentence about the earlier definition that applied then; nothing if there was none."""
    if facts.former is None:
        return ""
    change = facts.former.change
    return f"An earlier definition applied then: it was changed at {time(change.at)}, {by(change)}. "


def out_of_bounds(facts: Facts) -> Explanation | None:
    """Whether dueTime, ttl or repeats let nothing fire then."""
    job, subject = facts.job, facts.subject
    if job is None or subject is None or subject.due_at is not None or facts.run is not None:
        return None
    series, at = facts.series or job.series, facts.at
    found: tuple[Verdict, str] | None = None
    if series.is_on_demand:
        found = (
            "on-demand",
            "The job has neither schedule nor dueTime. It fires by hand or in a chain.",
        )
    elif series.due_at is not None and series.schedule is not None and at < series.due_at + series.jitter_ms:
        found = "before-due-time", f"The job's dueTime is {time(series.due_at)}. It does not fire before."
    elif series.ttl_at is not None and at > series.ttl_at:
        found = "after-ttl", f"The job's ttl ended at {time(series.ttl_at)}. It does not fire after."
    elif subject.after is None and _are_used_up(series, subject.before):
        last = "" if subject.before is None else f": the last was due at {time(subject.before)}"
        found = "repeats-used", f"The job has used its {series.repeats} repeats{last}."
    if found is None:
        return None
    verdict, said = found
    return _of_schedule(facts, verdict, said, subject)


def not_scheduled(facts: Facts) -> Explanation | None:
    """Whether the schedule has no trigger for the instant."""
    job, subject = facts.job, facts.subject
    if job is None or subject is None or subject.due_at is not None or facts.run is not None:
        return None
    nearest = []
    if subject.before is not None:
        nearest.append(f"the last one before is {time(subject.before)}")
    if subject.after is not None:
        nearest.append(f"the next one after is {time(subject.after)}")
    others = " and ".join(nearest) or ("it has none near" if facts.former else "it has none at all")
    return _of_schedule(facts, "not-scheduled", f"The schedule has no due time then: {others}.", subject)


def _of_schedule(facts: Facts, verdict: Verdict, said: str, subject: Subject) -> Explanation:
    """A verdict that follows from the schedule of that time, with what happens next."""
    if facts.former is not None:
        # What the earlier definition would have done next has passed, or was changed.
        return Explanation(verdict, f"{_applied(facts)}{said}", change=facts.former.change)
    step = None if facts.series is None else _fires(facts, facts.series, subject)
    return Explanation(verdict, said, next_at=subject.after, next_step=step)


def calendar_day(facts: Facts) -> Explanation | None:
    """Whether the calendar has dropped the time, or has moved it to a time whose run is known."""
    job, subject = facts.job, facts.subject
    if job is None or subject is None or subject.moved_by != "calendar":
        return None
    if subject.due_at is None:
        return _of_schedule(facts, "calendar", f"{_calendar_moved(facts, job, subject)}", subject)
    if facts.run is None and subject.due_at <= facts.now:
        # The trigger is due and has no record: where it is decides.
        return None
    run = f" Its run is {facts.run.state}." if facts.run is not None else ""
    return Explanation("calendar", f"{_calendar_moved(facts, job, subject)}{run}")


def _calendar_moved(facts: Facts, job: Job, subject: Subject) -> str:
    """What the calendar has done to a day, or a change of it to a due time."""
    days = (facts.series or job.series).days
    if days is None:
        return ""
    calendar = "its calendar" if facts.calendar is None else f"the calendar {facts.calendar}"
    if subject.is_amended:
        what = "fires then" if subject.due_at is not None else "has fired before, so it does not fire then"
        return f"After a change of {calendar}, what is due on another day {what}."
    if subject.day is None:
        return ""
    reason = reason_of_day(days.closed, subject.day, facts.reasons)
    state, rule = "closed" if days.fits == "open" else "open", f"calendar.otherwise is {days.otherwise}"
    said = f"The day {date_of(subject.day)} is {state} in {calendar} ({reason}), and {rule}"
    if subject.due_at is not None:
        return f"{said}: its times are moved, to {time(subject.due_at)}."
    if days.target(subject.day) is None and days.moves:
        return f"{said}: no {days.fits} day lies within {MOVED_DAYS_MAX} days, so nothing fires for it."
    return f"{said}, so nothing fires for it."


def clock_change(facts: Facts) -> Explanation | None:
    """Whether a clock change has dropped the local time, or has moved it to a time whose run is known."""
    job, subject = facts.job, facts.subject
    if job is None or subject is None or subject.effect is None:
        return None
    series, effect = facts.series or job.series, subject.effect
    if subject.due_at is not None:
        if facts.run is None and subject.due_at <= facts.now:
            # The trigger is due and has no record: where it is decides.
            return None
        run = f" Its run is {facts.run.state}." if facts.run is not None else ""
        return Explanation("clock-change", f"{_clock_moved(series, effect, subject.due_at)}{run}")
    local = wall(effect.wall_s)
    if effect.cause == "gap":
        rule = f"dst.gap is {series.dst.gap}, so nothing fires for it."
        said = f"In {series.timezone} the local time {local} does not exist: the clock was set forward."
    else:
        rule = f"dst.overlap is {series.dst.overlap}, so the job does not fire at this one of the two."
        said = f"In {series.timezone} the local time {local} comes twice: the clock was set back."
    return _of_schedule(facts, "clock-change", f"{said} {rule}", subject)


def _clock_moved(series: Series, effect: ClockEffect, due_at: Instant) -> str:
    return (
        f"In {series.timezone} the local time {wall(effect.wall_s)} does not exist: the clock was set "
        f"forward. dst.gap is {series.dst.gap}, so it fires at {time(due_at)}."
    )


def moved_of(facts: Facts) -> str:
    """Sentences about what has moved the trigger, calendar, jitter or a clock change; else nothing."""
    job, subject = facts.job, facts.subject
    if job is None or subject is None or subject.due_at is None:
        return ""
    series, due_at = facts.series or job.series, subject.due_at
    moved = _calendar_moved(facts, job, subject)
    said = f"{moved} " if moved else ""
    if subject.effect is not None:
        said += f"{_clock_moved(series, subject.effect, due_at)} "
    if subject.moved_by == "jitter":
        said += f"Jitter moves the job {span(series.jitter_ms)} later, to {time(due_at)}. "
    return said


def _are_used_up(series: Series, last_at: Instant | None) -> bool:
    """Whether the series has had all of its repeats. `last_at` is its last due time, if that is known."""
    if series.repeats is None:
        return False
    if series.counted >= series.repeats:
        # An update after the last one counts on from there, and so the series has no due time any more.
        return True
    last = None if last_at is None else series.next_after(last_at - 1)
    return last is not None and last.sequence >= series.repeats


def _fires(facts: Facts, series: Series, subject: Subject) -> str | None:
    if subject.after is None:
        return None
    return next_fire(facts, "A batch begins." if series.batch is not None else "The job fires.")


def next_fire(facts: Facts, fires: str) -> str:
    """What happens at the next due time: `fires`, unless the job is paused by now."""
    if facts.job is None or facts.job.paused_at is None:
        return fires
    if facts.job.pause_end is not None:
        ends_at = time(facts.job.pause_end.at)
        return f"The job is paused until {ends_at}. What falls due before then, the resume decides."
    return "The job is paused. The resume decides whether it fires."


def _until(end: PauseEnd | None) -> str:
    return "" if end is None else f"The pause ends by itself at {time(end.at)}."
