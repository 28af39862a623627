"""Makes a job of each schedule, and says of each what changes, or why it cannot be moved."""

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Final, Literal, cast

from sweephand.jobs.eventbridge.targets import NoTargetError
from sweephand.jobs.eventbridge.translation import OverError, Translated
from sweephand.jobs.eventbridge.translation import translate as translate_schedule
from sweephand.jobs.eventbridge.written import FIELD, written_text
from sweephand_client.http import exact_json
from sweephand_client.openapi.requests import JobRequest
from sweephand_client.tasks.eventbridge.source import Schedule
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

#: The API takes 20, and `apply` writes one to the jobs of a file.
_LABELS_MAX: Final = 19
_LABEL_LENGTH_MAX: Final = 128

_KEY: Final = "The stack's own key (KmsKeyArn) encrypts the job, and not that of the schedule."
_TAGS: Final = "Some tags of the group cannot be labels: at most 19, up to 128 characters, without colons."


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
        except (NoTargetError, OverError) as error:
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
            JobsFile(tuple(map(_for_people, own)), namespace),
            {each.schedule.name: [*each.changes] for each in own},
        )
        for namespace, own in sorted(found.items())
    }


def _for_people(move: Move) -> DeclaredJob:
    """The job without the text by which EventBridge Scheduler's client knows it: a file owns the job now."""
    assert move.job is not None, "only jobs are written"
    others = {name: value for name, value in move.job.definition.items() if name != FIELD}
    return replace(move.job, definition=cast("JobRequest", others))


def _conflict(schedule: Schedule, schedules: Iterable[Schedule]) -> str:
    groups = sorted(each.group for each in schedules if each.name == schedule.name)
    return (
        f"The groups {', '.join(groups)} have a schedule of this name, and a namespace has one job of it. "
        "Leave --namespace out, or import each with --group into a namespace of its own."
    )


def _moved(schedule: Schedule, namespace: str, now: dt.datetime, *, with_roles: bool) -> Move:
    shown = schedule.shown
    if schedule.name.strip(".") == "" and len(schedule.name) <= 2:  # noqa: PLR2004 - . and ..
        raise NoTargetError("No job can have this name. Give the schedule another one.")
    made = translate_schedule(
        {**shown, "Description": schedule.description},
        arn=str(shown["Arn"]),
        created_at=shown["CreationDate"],
        now=now,
        with_roles=with_roles,
    )
    changes = [*made.changes]
    if shown.get("KmsKeyArn"):
        changes.append(_KEY)
    changes += [
        f"No field of a job is like {name}. It is left out." for name in sorted(shown.keys() - _KNOWN)
    ]
    job: dict[str, Any] = {**made.fields, "data": _data(made)}
    labels = {name: value for name, value in sorted(schedule.tags.items()) if _is_label(name, value)}
    labels = dict([*labels.items()][:_LABELS_MAX])
    if labels:
        job["labels"] = labels
    if len(labels) < len(schedule.tags):
        changes.append(_TAGS)
    text = exact_json.write(job["data"])
    others = {name: value for name, value in job.items() if name != "data"}
    digest = sha256(text.encode()).hexdigest()
    job[FIELD] = written_text(_document(schedule), others, digest, "import")
    paused = None if schedule.is_enabled else _DISABLED
    declared = DeclaredJob(schedule.name, cast("JobRequest", job), paused)
    return Move(schedule, namespace, declared, tuple(changes), needs=made.needs)


def _document(schedule: Schedule) -> dict[str, Any]:
    """The schedule as a call of EventBridge Scheduler's API writes it. Dates are seconds since 1970."""
    shown = {**schedule.shown, "Description": schedule.description or None}
    return {
        name: value.timestamp() if isinstance(value, dt.datetime) else value
        for name, value in shown.items()
        if value is not None
    }


def _data(made: Translated) -> Any:
    """The data of the job. An input that is no JSON is a text."""
    try:
        value = exact_json.read(made.input)
    except ValueError:
        return made.input
    return made.data(value, exact_json.write(value))


def _is_label(name: str, value: str) -> bool:
    return ":" not in name and max(len(name), len(value)) <= _LABEL_LENGTH_MAX
