"""Checks of jobs that fire on the days of a calendar, across its changes."""

from collections import defaultdict
from collections.abc import Iterator

from tests.simulation.oracle.day_changes import Name, named
from tests.simulation.oracle.jobs import SKEW_MS
from tests.simulation.oracle.lives import Life, Reign, told
from tests.simulation.oracle.tale import Tale
from tests.simulation.oracle.times import plain
from tests.simulation.traces.rare_events import CalendarStored
from tests.simulation.traces.trace import Written

#: Jobs follow within this time, while no fault happens.
FOLLOWED_MS = 60_000

#: A function reads the calendar within this time of the commit: API_LIMIT_MS.
READ_MS = 25_000


def jobs_follow(tale: Tale) -> Iterator[str]:
    """Within a minute of its change, or of the calm, each job has the days of its calendar."""
    stored: dict[str, CalendarStored] = {each.name: each for each in tale.of(CalendarStored)}
    for life in tale.lives.values():
        calendar = stored.get(_calendar_of(life.last) or "")
        if calendar is None or calendar.closed is None or life.deleted_at is not None:
            continue
        has_followed = life.last.verb == "follow"
        named_at = life.writes[-2 if has_followed else -1].at
        until = max(calendar.at, named_at, tale.calm_at or 0) + FOLLOWED_MS
        is_gone = life.last.expires_at is not None and life.last.expires_at <= until + SKEW_MS
        if has_followed and life.last.at > until:
            yield f"{life.name}: it followed {calendar.name} only at {told(life.last.at)}"
        elif life.last.closed != calendar.closed and not is_gone and until <= tale.ends_at:
            yield f"{life.name}: it does not have the days of {calendar.name} as of {told(calendar.at)}"


def follows_have_a_cause(tale: Tale) -> Iterator[str]:
    """A job follows its own calendar: to days that this has had just now, and only from other days."""
    changes: dict[str, list[CalendarStored]] = defaultdict(list)
    for each in tale.of(CalendarStored):
        changes[each.name].append(each)
    for life in tale.lives.values():
        for number, write in enumerate(life.writes):
            if write.verb != "follow":
                continue
            before, what = life.writes[number - 1], f"{life.name}: the follow at {told(write.at)}"
            if write.definition != before.definition or write.closed == before.closed:
                yield f"{what} changed something else, or nothing"
            if write.closed not in set(_stood(changes[_calendar_of(write) or ""], write.at)):
                yield f"{what} wrote days that its calendar did not have"


def _stood(changes: list[CalendarStored], at: int) -> Iterator[str | None]:
    """Return the days that a calendar had at some time within which a function reads it."""
    for number, each in enumerate(changes):
        ended_at = changes[number + 1].at if number + 1 < len(changes) else at
        if each.at <= at and ended_at >= at - READ_MS:
            yield each.closed


def no_day_fires_twice(tale: Tale) -> Iterator[str]:
    """Whatever moves it, a time of a day of the schedule fires once while the schedule is the same.

    What is due while a change is served may have left by a clock that is ahead.
    """
    fired: dict[str, set[int]] = defaultdict(set)
    for each in tale.requests:
        if not each.is_on_demand:
            fired[each.uid].add(each.due_at)
    for life in tale.lives.values():
        if any(write.closed is not None for write in life.writes):
            yield from _fired_twice(life, fired[life.uid])


def _fired_twice(life: Life, fired: set[int]) -> Iterator[str]:
    seen: dict[Name, int] = {}
    reigns = {reign.rev: reign for reign in life.reigns()}
    last: Written | None = None
    for number, write in enumerate(life.writes):
        if last is not None and (life.began[number] or plain(last) != plain(write)):
            seen.clear()
        if last is None or write.rev != last.rev:
            reign, timing = reigns.get(write.rev), life.occurrences[number].timing
            names = {} if reign is None else {at: name for name, at in named(timing, write.cut)}
            for at in sorted(fired):
                name = names.get(at)
                if reign is None or name is None or not reign.owns(at):
                    continue
                if seen.setdefault(name, at) != at:
                    yield f"{life.name}: {name.day} fired at {told(seen[name])} and at {told(at)}"
        last = write


def no_day_is_left_out(tale: Tale) -> Iterator[str]:
    """When a job follows, what it had still to fire fires at its new place, or soon, or has no day.

    A time that falls due while the change is served belongs to the former days or to the new ones.
    """
    for life in tale.lives.values():
        reigns = {reign.rev: reign for reign in life.reigns()}
        for number, write in enumerate(life.writes):
            before, reign = life.writes[number - 1], reigns.get(write.rev)
            if write.verb == "follow" and before.paused_at is None and reign is not None:
                yield from _left_out(life, number, write, reign)


def _left_out(life: Life, number: int, write: Written, reign: Reign) -> Iterator[str]:
    former, timing = life.occurrences[number - 1].timing, life.occurrences[number].timing
    was = dict(named(former, write.asked_at))
    for name, at in named(timing, write.asked_at):
        is_between = write.asked_at < at <= reign.since
        if is_between and was.get(name, 0) > reign.since:
            yield f"{life.name}: {name.day} is never due, neither at {told(was[name])} nor at {told(at)}"


def _calendar_of(write: Written) -> str | None:
    used = write.definition.get("calendar")
    return None if used is None else used["name"]
