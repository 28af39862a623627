"""The commands about jobs: `sweephand job …`."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, cast

import typer

from sweephand_client.commands.completion import job_names
from sweephand_client.commands.inputs import JobName, Yes, ask, confirm, read_json, read_labels, selection
from sweephand_client.commands.job_options import read_job, takes_fields
from sweephand_client.commands.session import AllNamespaces, Session, command
from sweephand_client.commands.tables import (
    Limit,
    counted,
    late,
    limited,
    reason_of,
    show_changes,
    show_occurrences,
)
from sweephand_client.commands.times import AHEAD, PAST, given
from sweephand_client.http.errors import InputError
from sweephand_client.openapi.job_answers import JobResponse
from sweephand_client.openapi.requests import CatchUpMode, JobPatchRequest, JobRequest, JobState, RunFilter

app = typer.Typer(no_args_is_help=True, help="Schedule, look at, pause, trigger and delete jobs.")

_MaybeName = Annotated[
    str | None, typer.Argument(help="The name of the job.", show_default=False, autocompletion=job_names)
]
_Prefix = Annotated[str | None, typer.Option(help="All jobs whose names begin so.")]
_Label = Annotated[list[str] | None, typer.Option(help="All jobs with this label, as name=value.")]
#: The runs in the health of a job.
_HEALTH_RUNS_MAX: Final = 10


@command(app, "schedule")
@takes_fields
def schedule_job(
    session: Session,
    name: JobName,
    *,
    fields: dict[str, Any],
    file: Annotated[str | None, typer.Option("--file", "-f", help="The job as JSON, in FILE or - .")] = None,
    if_absent: Annotated[bool, typer.Option("--if-absent", help="Only if the job does not exist.")] = False,
) -> None:
    """Create or replace a job. Options change the fields of --file."""
    job = cast("JobRequest", read_job(file) | fields)  # the API checks it
    written = session.client.jobs.put(session.namespace, name, job, if_absent=if_absent)
    session.output.done(_about(session, written), written)


@command(app)
@takes_fields
def patch(
    session: Session,
    name: JobName,
    *,
    fields: dict[str, Any],
    without: Annotated[
        list[str] | None, typer.Option("--without", help="A field that is removed.", metavar="NAME")
    ] = None,
    if_match: Annotated[str | None, typer.Option(help="Only if the job has this revision.")] = None,
) -> None:
    """Write some fields of a job. Labels that are not given stay."""
    removed = dict.fromkeys(without or ())
    if both := removed.keys() & fields.keys():
        raise InputError(f"Give {', '.join(sorted(both))} a value or remove it, not both.")
    if not (changed := {**fields, **removed}):
        raise InputError("Say which fields to write, as in --schedule @hourly, or to remove: --without ttl.")
    given = cast("JobPatchRequest", changed)  # the API checks it
    written = session.client.jobs.patch(session.namespace, name, given, if_match=if_match)
    session.output.done(_about(session, written), written)


@command(app)
def get(session: Session, name: JobName) -> None:
    """Show a job."""
    session.output.fields(session.client.jobs.get(session.namespace, name))


@command(app, "list")
def list_jobs(
    session: Session,
    *,
    prefix: _Prefix = None,
    contains: Annotated[str, typer.Option(help="Only jobs whose names contain this text.")] = "",
    label: _Label = None,
    state: Annotated[str | None, typer.Option(help="Only jobs that are active, paused or completed.")] = None,
    policy: Annotated[str | None, typer.Option(help="Only jobs that name this flow policy.")] = None,
    health: Annotated[
        str | None, typer.Option(help="failing: only jobs whose newest runs fail, newest failure first.")
    ] = None,
    sort: Annotated[str | None, typer.Option(help="By name, or failing jobs by failure.")] = None,
    all_namespaces: AllNamespaces = False,
    limit: Annotated[
        int | None, typer.Option(min=1, help="How many to show. By default 1000, and as data all of them.")
    ] = None,
) -> None:
    """List jobs by name."""
    labels = read_labels(label or ())
    found = (
        job
        for namespace in session.namespaces(every=all_namespaces)
        for job in session.client.jobs.list(
            namespace,
            prefix=prefix or "",
            contains=contains,
            state=cast("JobState | None", state),  # the API checks it
            policy=policy,
            labels=labels,
            health=cast("Any", health),  # as above
            sort=cast("Any", sort),
        )
    )
    jobs = limited(session, found, limit, usual=1000)
    failures = () if health is None else ("FAILURES",)
    columns = ("NAMESPACE", "NAME", "STATE", *failures, "NEXT RUN", "SCHEDULE", "ZONE", "TARGET")
    rows, first = map(_row, jobs), 0 if all_namespaces else 1
    session.output.table(columns[first:], (row[first:] for row in rows), jobs, shortened="TARGET")
    if not jobs:
        session.note_unknown_namespace()


def _failures(job: JobResponse) -> tuple[str, ...]:
    """How many runs in a row failed, as a row shows it; nothing of a job without its health."""
    if "health" not in job:
        return ()
    count = job["health"]["failuresInARow"]
    return (f"{count}+" if count == _HEALTH_RUNS_MAX else str(count),)


@command(app)
def delete(
    session: Session,
    name: _MaybeName = None,
    *,
    prefix: _Prefix = None,
    label: _Label = None,
    yes: Yes = False,
) -> None:
    """Delete a job, or all jobs that --prefix or --label select."""
    chosen = selection(prefix, label or (), name)
    if chosen is None:
        ask(f"Delete {name} of {session.namespace}?", is_sure=yes)
        session.client.jobs.delete(session.namespace, str(name))
        session.output.done(f"Deleted {name}.", {"deleted": 1})
        return
    confirm(f"Delete all jobs of {session.namespace} that you selected?", is_sure=yes)
    count = session.client.jobs.delete_many(session.namespace, **chosen)
    session.output.done(f"Deleted {counted(count, 'job')}.", {"deleted": count})


@command(app)
def pause(
    session: Session,
    name: _MaybeName = None,
    *,
    reason: Annotated[str | None, typer.Option(help="Why, for people.")] = None,
    until: Annotated[
        str | None,
        typer.Option(help=f"When it resumes by itself: {AHEAD}."),
    ] = None,
    catchup: Annotated[
        str | None, typer.Option(help="Which missed triggers fire then: latest, all or none.")
    ] = None,
    prefix: _Prefix = None,
    label: _Label = None,
) -> None:
    """Pause a job, or all jobs that --prefix or --label select."""
    chosen = selection(prefix, label or (), name)
    end = given(session.times.due, until)
    mode = cast("CatchUpMode | None", catchup)  # the API checks it
    if chosen is None:
        job = session.client.jobs.pause(session.namespace, str(name), reason=reason, until=end, catchup=mode)
        session.output.done(_about(session, job), job)
        return
    count = session.client.jobs.pause_many(
        session.namespace, reason=reason, until=end, catchup=mode, **chosen
    )
    session.output.done(f"Paused {counted(count, 'job')}.", {"paused": count})


@command(app)
def resume(
    session: Session,
    name: _MaybeName = None,
    *,
    catchup: Annotated[
        str | None, typer.Option(help="Which missed triggers fire: latest, all or none.")
    ] = None,
    prefix: _Prefix = None,
    label: _Label = None,
) -> None:
    """Resume a job, or all jobs that --prefix or --label select."""
    chosen = selection(prefix, label or (), name)
    mode = cast("CatchUpMode | None", catchup)  # the API checks it
    if chosen is None:
        job = session.client.jobs.resume(session.namespace, str(name), catchup=mode)
        session.output.done(_about(session, job), job)
        return
    count = session.client.jobs.resume_many(session.namespace, catchup=mode, **chosen)
    session.output.done(f"Resumed {counted(count, 'job')}.", {"resumed": count})


@command(app)
def trigger(
    session: Session,
    name: JobName,
    *,
    data: Annotated[str | None, typer.Option(help="Other data, as JSON, @FILE or -.")] = None,
) -> None:
    """Make a trigger of a job now, also of a paused one."""
    other: dict[str, Any] = {} if data is None else {"data": read_json(data, "--data")}
    made = session.client.jobs.trigger(session.namespace, name, **other)
    which = f"Its run is {made['id']}."
    if "batchId" in made:
        which = f"Its batch of {made['count']} runs is {made['batchId']}."
    session.output.done(f"Triggered {name}. {which}", made)


@command(app)
def backfill(
    session: Session,
    name: JobName,
    *,
    since: Annotated[str, typer.Option("--from", help=f"Where the range begins: {PAST}.")],
    until: Annotated[str, typer.Option("--to", help="The end, which is not part of the range.")],
) -> None:
    """Make the triggers that a job's schedule has in a past range."""
    past = session.times.past
    made = session.client.jobs.backfill(session.namespace, name, since=past(since), until=past(until))
    session.output.done(f"Made {counted(made['count'], 'trigger')} of {name}.", made)


@command(app, "next")
def next_due(
    session: Session,
    name: JobName,
    *,
    after: Annotated[str | None, typer.Option(help=f"Only due times after this time: {AHEAD}.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many to show.")] = 10,
) -> None:
    """Show when a job fires next."""
    found = session.client.jobs.occurrences(
        session.namespace, name, after=given(session.times.ahead, after), limit=limit
    )
    show_occurrences(session, found)


@command(app)
def runs(
    session: Session,
    name: JobName,
    *,
    state: Annotated[str | None, typer.Option(help="Only runs in this state, as failed or waiting.")] = None,
    limit: Limit = None,
) -> None:
    """List the runs of a job, newest first."""
    chosen = cast("RunFilter | None", state)  # the API checks it
    found = limited(session, session.client.runs.list(session.namespace, name, state=chosen), limit)
    rows = [
        (
            each["id"],
            each["state"],
            each["dueAt"],
            late(each["latenessMs"]),
            each["attempts"],
            reason_of(each),
        )
        for each in found
    ]
    session.output.table(("RUN", "STATE", "DUE", "LATE", "ATTEMPTS", "WHY"), rows, found, shortened="WHY")


@command(app)
def changes(session: Session, name: JobName, *, limit: Limit = None) -> None:
    """List who changed a job, newest first."""
    found = limited(session, session.client.jobs.changes(session.namespace, name), limit)
    show_changes(session, found)


def _about(session: Session, job: JobResponse) -> str:
    if "pausedUntil" in job:
        return f"{job['name']} is paused until {session.output.local(job['pausedUntil'])}."
    when = "no next run" if job["nextRun"] is None else f"next run at {session.output.local(job['nextRun'])}"
    return f"{job['name']} is {job['state']}, {when}."


def _row(job: JobResponse) -> tuple[Any, ...]:
    """The cells of a job in a list."""
    return (
        job["namespace"],
        job["name"],
        job["state"],
        *_failures(job),
        job["nextRun"],
        job.get("schedule", job.get("dueTime", "on demand")),
        job.get("timezone"),
        _target(job["target"]),
    )


def _target(target: Mapping[str, Any]) -> str:
    """The type of a target and its place: the field that is a URL, an ARN or a name."""
    place = next((value for field, value in target.items() if field != "type" and isinstance(value, str)), "")
    return place if target["type"] == "http" else f"{target['type']} {place}".rstrip()
