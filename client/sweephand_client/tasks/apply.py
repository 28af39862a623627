"""Makes the jobs of a namespace those that a file declares: first a plan of each change, then the calls.

The plan compares each job before it writes, because a PUT of every job would begin a completed one-off anew.
A file says by labels or a prefix which jobs it owns. A file of the last state would not do: with one each,
two people would delete each other's jobs.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, Final, Literal, cast

from sweephand_client.api.client import Client
from sweephand_client.http.errors import InputError, InvalidError, NotFoundError, Problem
from sweephand_client.openapi.calendars import CalendarRequest
from sweephand_client.openapi.job_answers import WholeJobResponse
from sweephand_client.openapi.requests import CatchUpMode, JobRequest
from sweephand_client.tasks.job_fields import differing_fields, stored_form, written_fields
from sweephand_client.tasks.jobs_file import DeclaredJob, JobsFile
from sweephand_client.tasks.writing import (
    Write,
    attempt,
    check_jobs,
    create_paused,
    is_incomplete,
    remove_incomplete,
    write_job,
    write_jobs,
)

Kind = Literal["create", "change", "same", "delete"]
Pausing = Literal["pause", "resume"]

#: How many jobs are read or deleted at the same time.
_AT_ONCE: Final = 8

#: Until when a calendar knows its days.
_KNOWN: Final = "knownUntil"

#: The fields that are refused because of the days of a calendar, or because there is no calendar.
_OF_DAYS: Final = ({"/calendar/name"}, {"/calendar"}, {"/ttl"})

#: The kind of the problem of a job that was not deleted because another one was refused.
HELD_BACK: Final = "held-back"
_HELD: Final = Problem(409, "", "It was not deleted, because another job was refused.", kind=HELD_BACK)


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A field before and after. A side that does not have the field is None."""

    name: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class Step:
    """What becomes of one job. `declared` is None if the job is deleted; `rev` is the one that was read.

    With `calendar`, the step writes the calendar of that name instead.

    `incomplete` is the revision of a job that an interrupted creation left. It is removed first.
    `updated_at` is when the job that was read got its definition.
    """

    kind: Kind
    name: str
    declared: DeclaredJob | None = None
    fields: tuple[FieldChange, ...] = ()
    pausing: Pausing | None = None
    rev: str | None = None
    incomplete: str | None = None
    updated_at: str | None = None
    calendar: CalendarRequest | None = None

    @property
    def what(self) -> str:
        """The job or the calendar, for people."""
        return self.name if self.calendar is None else f"calendar {self.name}"

    @property
    def is_change(self) -> bool:
        """Whether the step changes anything."""
        return self.kind != "same" or self.pausing is not None


@dataclass(frozen=True, slots=True)
class Done:
    """A step that was carried out, or the problem that prevented it."""

    step: Step
    problem: Problem | None = None


def plan(
    client: Client,
    namespace: str,
    file: JobsFile,
    *,
    prunes: bool = False,
    seen: Callable[[], None] = lambda: None,
) -> list[Step]:
    """The steps that make the namespace what the file declares: calendars and then jobs, each by name.

    `seen` is called for each job read. With `prunes`, each job is deleted that the file owns and does not
    declare. Raises InputError if the file does not mark what it owns, and for a calendar that is wrong.
    """
    if prunes and not file.owns:
        raise InputError("To prune, the file must mark what it owns. Give it labels: or prefix: at the top.")
    default_retry = client.namespaces.get(namespace).get("defaultRetry")

    def step(declared: DeclaredJob) -> Step:
        stored = _stored(client, namespace, declared.name)
        seen()
        return _step(declared, stored, default_retry)

    with ThreadPoolExecutor(_AT_ONCE) as threads:
        steps = list(threads.map(step, file.jobs))
    if prunes:
        kept = {each.name for each in file.jobs}
        owned = client.jobs.list(namespace, prefix=file.prefix, labels=file.labels)
        steps += [Step("delete", each["name"], rev=each["rev"]) for each in owned if each["name"] not in kept]
    calendars = [_calendar(client, namespace, *each) for each in sorted(file.calendars.items())]
    return calendars + sorted(steps, key=lambda each: each.name)


def _calendar(client: Client, namespace: str, name: str, declared: CalendarRequest) -> Step:
    """The step of a calendar. A newer stack may know other holidays, so its days are compared too."""
    try:
        preview = client.calendars.preview(namespace, name, declared)
    except InvalidError as error:
        raise InputError(f"The calendar {name} cannot be used. {error.problem}") from None
    wanted = {field: each for field, each in declared.items() if each is not None}
    try:
        stored: Mapping[str, Any] = client.calendars.get(namespace, name)
    except NotFoundError:
        fields = tuple(FieldChange(field, None, each) for field, each in sorted(wanted.items()))
        return Step("create", name, fields=fields, calendar=declared)
    before = {field: stored[field] for field in (*CalendarRequest.__annotations__, _KNOWN) if field in stored}
    after = wanted | ({_KNOWN: preview[_KNOWN]} if _KNOWN in preview else {})
    fields = tuple(
        FieldChange(field, before.get(field), after.get(field)) for field in differing_fields(before, after)
    )
    if preview["changes"]:
        fields += (FieldChange("days", None, preview["changes"]),)
    return Step("change" if fields else "same", name, fields=fields, calendar=declared)


def carry_out(
    client: Client,
    namespace: str,
    steps: Iterable[Step],
    *,
    reason: str | None = None,
    catchup: CatchUpMode | None = None,
) -> Iterator[Done]:
    """Carry out the steps, and tell of each that changes something when it is over.

    Calendars are written first, since jobs may name them. Jobs are paused before they are written, and
    resumed afterwards. Jobs are deleted last, and only if nothing was refused: a file that is wrong must not
    delete. A job that was changed since it was read is not deleted. A refused step does not stop the others.
    `reason` says why, in the jobs' changes. `catchup` is that of Jobs.resume().
    """
    steps = [each for each in steps if each.is_change]
    refused = False
    first, deletions = (
        [each for each in steps if each.kind != "delete" and each.calendar is None],
        [each for each in steps if each.kind == "delete"],
    )
    for done in chain(
        _calendars(client, namespace, steps),
        _one_by_one(client, namespace, first, reason, catchup),
        _in_bulk(client, namespace, first, reason),
    ):
        refused |= done.problem is not None
        yield done
    if refused:
        yield from (Done(each, _HELD) for each in deletions)
        return

    def delete(step: Step) -> Done:
        return Done(
            step,
            attempt(lambda: client.jobs.delete(namespace, step.name, if_match=step.rev, reason=reason)),
        )

    with ThreadPoolExecutor(_AT_ONCE) as threads:
        yield from threads.map(delete, deletions)


def _calendars(client: Client, namespace: str, steps: Iterable[Step]) -> Iterator[Done]:
    """The steps that write a calendar."""
    for step in steps:
        if step.calendar is not None:
            put = partial(client.calendars.put, namespace, step.name, step.calendar)
            yield Done(step, attempt(put))


def refusals(
    client: Client, namespace: str, steps: Iterable[Step], *, reason: str | None = None
) -> list[Done]:
    """The steps that carry_out() would not do. The stack is asked about each write, and writes nothing.

    A job whose calendar would be written first is not judged by the days of that calendar.
    """
    steps = list(steps)
    calendars = {each.name for each in steps if each.calendar is not None and each.is_change}
    wanted = [each for each in steps if each.kind in ("create", "change") and each.calendar is None]
    problems = list(check_jobs(client, namespace, list(map(_write, wanted)), reason=reason))
    pairs = enumerate(zip(wanted, problems, strict=True))
    waiting = [at for at, (step, problem) in pairs if problem and _is_of_days(step, problem, calendars)]
    again = check_jobs(client, namespace, [_without_calendar(_write(wanted[at])) for at in waiting])
    for at, problem in zip(waiting, again, strict=True):
        problems[at] = problem or _unmovable(client, namespace, wanted[at])
    refused = [Done(*each) for each in zip(wanted, problems, strict=True) if each[1] is not None]
    held = [each for each in steps if each.kind == "delete"] if refused else []
    return refused + [Done(each, _HELD) for each in held]


def _is_of_days(step: Step, problem: Problem, calendars: Collection[str]) -> bool:
    """Whether a job may be refused only because one of these calendars is not written yet."""
    written = _write(step).definition
    used: Any = written.get("calendar")
    if not isinstance(used, Mapping) or used.get("name") not in calendars:
        return False
    # A job without times cannot have a calendar.
    is_timed = written.get("schedule") is not None or written.get("dueTime") is not None
    return is_timed and {each.pointer for each in problem.errors} in _OF_DAYS


def _unmovable(client: Client, namespace: str, step: Step) -> Problem | None:
    """The problem of a job whose schedule cannot move to other days, whatever days its calendar has."""
    written: Any = _write(step).definition
    if written["calendar"].get("otherwise") in (None, "skip"):
        return None
    asked: Any = {name: written.get(name) for name in ("schedule", "timezone", "calendar")}
    asked |= {"namespace": namespace, "limit": 1}
    try:
        client.preview(asked)
    except InvalidError as error:
        found = tuple(each for each in error.problem.errors if each.pointer == "/calendar/otherwise")
        return replace(error.problem, errors=found) if found else None
    return None


def _without_calendar(write: Write) -> Write:
    fields = {name: each for name, each in write.definition.items() if name != "calendar"}
    return replace(write, definition=cast("JobRequest", fields))


def _write(step: Step) -> Write:
    assert step.declared is not None, "only a declared job is written"
    return Write(step.name, step.declared.definition, step.rev)


def _one_by_one(
    client: Client,
    namespace: str,
    steps: Iterable[Step],
    write_reason: str | None,
    catchup: CatchUpMode | None,
) -> Iterator[Done]:
    """The steps that pause or resume."""
    for step in steps:
        if step.pausing is not None:
            yield Done(
                step, attempt(partial(_write_and_pause, client, namespace, step, write_reason, catchup))
            )


def _write_and_pause(
    client: Client, namespace: str, step: Step, write_reason: str | None, catchup: CatchUpMode | None
) -> None:
    assert step.declared is not None, "only a declared job is paused or resumed"
    paused = step.declared.paused
    reason = paused if isinstance(paused, str) else None
    if step.kind == "create":
        create_paused(
            client, namespace, step.name, step.declared.definition, reason, write_reason=write_reason
        )
        return
    if step.pausing == "pause":
        client.jobs.pause(namespace, step.name, reason=reason)
    if step.kind == "change":
        # A pause leaves the revision. So the write fails if the job was changed since it was read.
        write_job(client, namespace, _write(step), reason=write_reason)
    if step.pausing == "resume":
        client.jobs.resume(namespace, step.name, catchup=catchup)


def _in_bulk(client: Client, namespace: str, steps: Iterable[Step], reason: str | None) -> Iterator[Done]:
    """The steps that only write a job."""
    steps = [each for each in steps if each.pausing is None]
    for step in steps:
        if step.incomplete is not None:
            remove_incomplete(client, namespace, step.name, step.incomplete)
    problems = write_jobs(client, namespace, list(map(_write, steps)), reason=reason)
    for step, problem in zip(steps, problems, strict=True):
        yield Done(step, problem)


def _stored(client: Client, namespace: str, name: str) -> WholeJobResponse | None:
    try:
        return client.jobs.get(namespace, name)
    except NotFoundError:
        return None


def _step(
    declared: DeclaredJob, stored: WholeJobResponse | None, default_retry: Mapping[str, Any] | None
) -> Step:
    after = stored_form(declared.definition, default_retry)
    is_paused = stored is not None and stored["state"] == "paused" and not is_incomplete(stored)
    pausing: Pausing | None = None
    if declared.paused not in (None, False) and not is_paused:
        pausing = "pause"
    elif declared.paused is False and is_paused:
        pausing = "resume"
    if stored is None or is_incomplete(stored):
        incomplete = None if stored is None else stored["rev"]
        fields = tuple(FieldChange(name, None, value) for name, value in sorted(after.items()))
        return Step("create", declared.name, declared, fields, pausing, incomplete=incomplete)
    before = written_fields(stored)
    fields = tuple(
        FieldChange(name, before.get(name), after.get(name)) for name in differing_fields(before, after)
    )
    kind: Kind = "change" if fields else "same"
    updated_at = stored["updatedAt"]
    return Step(kind, declared.name, declared, fields, pausing, stored["rev"], updated_at=updated_at)
