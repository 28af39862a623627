"""Makes a job of each schedule, and says of each what changes, or why it cannot be moved."""

import datetime as dt
import re
import zoneinfo
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from sweephand_client.openapi.requests import JobRequest
from sweephand_client.tasks.eventbridge.source import Schedule
from sweephand_client.tasks.eventbridge.targets import CannotMoveError, translate_target
from sweephand_client.tasks.jobs_file import DeclaredJob, JobsFile

Outcome = Literal["as-it-is", "changed", "not-moved", "moved-before"]

_DISABLED: Final = "It was disabled in EventBridge Scheduler."

#: The fields of a schedule that are in the job, or need not be there.
_KNOWN: Final = frozenset(
    {
        "ActionAfterCompletion",
        "Arn",
        "CreationDate",
        "Description",
        "EndDate",
        "FlexibleTimeWindow",
        "GroupName",
        "KmsKeyArn",
        "LastModificationDate",
        "Name",
        "ScheduleExpression",
        "ScheduleExpressionTimezone",
        "StartDate",
        "State",
        "Target",
    }
)

_RATE: Final = re.compile(r"rate\(\s*([0-9]+)\s+(minute|hour|day)s?\s*\)")
_CRON: Final = re.compile(r"cron\((.*)\)")
_AT: Final = re.compile(r"at\((.*)\)")
_LETTERS: Final = {"minute": "M", "hour": "H", "day": "H"}

_LABELS_MAX: Final = 20
_LABEL_LENGTH_MAX: Final = 128

_PHASE: Final = (
    "rate(…) becomes an ISO 8601 repetition from its StartDate or creation on, which keeps its phase."
)
_OFFSET: Final = (
    "EventBridge fires at any moment of the flexible window. The job fires at one offset in it, each time."
)
_BOUNDS: Final = (
    "StartDate and EndDate bound the moved due times, so one more or one less can fire at each end."
)
_REPEATED: Final = "In the hour that a clock change repeats, the job follows real time and fires again."
_KEY: Final = "The stack's own key (KmsKeyArn) encrypts the job, and not that of the schedule."
_TAGS: Final = "Some tags of the group cannot be labels: at most 20, up to 128 characters, without colons."


@dataclass(frozen=True, slots=True)
class Move:
    """What becomes of a schedule: its job, or in `reason` why there is none.

    `needs` are pairs of a parameter of the stack and an ARN that it has to list.
    """

    schedule: Schedule
    namespace: str
    job: DeclaredJob | None = None
    changes: tuple[str, ...] = ()
    reason: str = ""
    needs: frozenset[tuple[str, str]] = frozenset()

    @property
    def outcome(self) -> Outcome:
        """The kind of what becomes of it."""
        if self.job is None:
            return "moved-before" if self.schedule.was_moved else "not-moved"
        return "changed" if self.changes else "as-it-is"


def translate(
    schedules: Iterable[Schedule], *, namespace: str | None, now: dt.datetime, with_roles: bool
) -> list[Move]:
    """What becomes of each schedule. Its group is the namespace, unless `namespace` takes all."""
    schedules = list(schedules)
    names = Counter(each.name for each in schedules) if namespace is not None else Counter[str]()
    moves = []
    for each in schedules:
        within = namespace or each.group
        if each.was_moved:
            said = "An earlier import moved it. Enable it in EventBridge Scheduler to move it again."
            moves.append(Move(each, within, reason=said))
            continue
        if names[each.name] > 1:
            moves.append(Move(each, within, reason=_conflict(each, schedules)))
            continue
        try:
            moves.append(_moved(each, within, now, with_roles=with_roles))
        except CannotMoveError as error:
            moves.append(Move(each, within, reason=str(error)))
    return moves


def jobs_files(moves: Iterable[Move]) -> dict[str, tuple[JobsFile, dict[str, list[str]]]]:
    """The file of each namespace that gets jobs, and the notes of each job."""
    found: dict[str, list[Move]] = defaultdict(list)
    for each in moves:
        if each.job is not None:
            found[each.namespace].append(each)
    return {
        namespace: (
            JobsFile(tuple(each.job for each in own if each.job), namespace),
            {each.schedule.name: [*each.changes] for each in own},
        )
        for namespace, own in sorted(found.items())
    }


def _conflict(schedule: Schedule, schedules: Iterable[Schedule]) -> str:
    groups = sorted(each.group for each in schedules if each.name == schedule.name)
    return (
        f"The groups {', '.join(groups)} have a schedule of this name, and a namespace has one job of it. "
        "Leave --namespace out, or import each with --group into a namespace of its own."
    )


def _moved(schedule: Schedule, namespace: str, now: dt.datetime, *, with_roles: bool) -> Move:
    shown = schedule.shown
    if schedule.name.strip(".") == "" and len(schedule.name) <= 2:  # noqa: PLR2004 - . and ..
        raise CannotMoveError("No job can have this name. Give the schedule another one.")
    target = translate_target(shown["Target"], with_roles=with_roles)
    job: JobRequest = {}
    changes: list[str] = []
    if schedule.description:
        job["description"] = schedule.description
    job |= _times(shown, now, changes)
    if schedule.window_minutes:
        job["jitter"] = f"PT{schedule.window_minutes}M"
        changes.append(_OFFSET)
        if "dueTime" in job or "ttl" in job:
            changes.append(_BOUNDS)
    if shown.get("ActionAfterCompletion") == "DELETE":
        job["deleteAfterCompletion"] = True
    if shown.get("KmsKeyArn"):
        changes.append(_KEY)
    changes += [
        f"No field of a job is like {name}. It is left out." for name in sorted(shown.keys() - _KNOWN)
    ]
    labels = {name: value for name, value in sorted(schedule.tags.items()) if _is_label(name, value)}
    labels = dict([*labels.items()][:_LABELS_MAX])
    if labels:
        job["labels"] = labels
    if len(labels) < len(schedule.tags):
        changes.append(_TAGS)
    paused = None if schedule.is_enabled else _DISABLED
    declared = DeclaredJob(schedule.name, {**job, **target.fields}, paused)
    return Move(schedule, namespace, declared, (*changes, *target.changes), needs=target.needs)


def _is_label(name: str, value: str) -> bool:
    return ":" not in name and max(len(name), len(value)) <= _LABEL_LENGTH_MAX


def _times(shown: Mapping[str, Any], now: dt.datetime, changes: list[str]) -> JobRequest:
    """When the job fires. Adds to `changes` what differs. CannotMoveError if it would not fire any more."""
    expression, zone = str(shown["ScheduleExpression"]), str(shown.get("ScheduleExpressionTimezone", "UTC"))
    job: JobRequest = {"schedule": expression}
    if zone != "UTC":
        job["timezone"] = zone
    if found := _AT.fullmatch(expression):
        # EventBridge ignores StartDate and EndDate here.
        if (at := _instant(found[1], zone)) is not None and at <= now:
            raise CannotMoveError("Its time has passed. A one-time schedule fires once.")
        return job
    start, end = shown.get("StartDate"), shown.get("EndDate")
    if end is not None and end <= now:
        raise CannotMoveError("Its EndDate has passed, so it would not fire any more.")
    if found := _RATE.fullmatch(expression):
        count = int(found[1]) * (24 if found[2] == "day" else 1)
        began = start or shown["CreationDate"]
        job = {"schedule": f"R/{_written(began)}/PT{count}{_LETTERS[found[2]]}"}
        changes.append(_PHASE)
    else:
        if start is not None and start > now:
            job["dueTime"] = _written(start)
        if _changes_its_clock(zone, now):
            job["dst"] = {"gap": "skip"}
            if (fields := _CRON.fullmatch(expression)) and re.match(r"[*?]|\S+ +[*?]", fields[1].strip()):
                changes.append(_REPEATED)
    if end is not None:
        job["ttl"] = _written(end)
    return job


def _written(at: dt.datetime) -> str:
    """An instant in UTC, as the API takes it."""
    at = at.astimezone(dt.UTC)
    return at.isoformat(timespec="milliseconds" if at.microsecond else "seconds").replace("+00:00", "Z")


def _instant(local: str, zone: str) -> dt.datetime | None:
    """The instant of a local time, None for what is none. The API says then what is wrong."""
    try:
        return dt.datetime.fromisoformat(local).replace(tzinfo=zoneinfo.ZoneInfo(zone))
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        return None


def _changes_its_clock(zone: str, now: dt.datetime) -> bool:
    """Whether the clock of a zone changes within two years. A zone that is not known here may."""
    try:
        known = zoneinfo.ZoneInfo(zone)
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        return True
    return len({(now + dt.timedelta(weeks=each)).astimezone(known).utcoffset() for each in range(104)}) > 1
