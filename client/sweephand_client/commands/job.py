"""The commands that write jobs and make triggers: `sweephand job …`."""

from collections.abc import Mapping
from importlib import import_module
from typing import Annotated, Any, cast

import typer

from sweephand_client.commands.completion import job_names
from sweephand_client.commands.inputs import JobName, Yes, ask, confirm, read_json, selection
from sweephand_client.commands.job_options import read_job, takes_fields
from sweephand_client.commands.job_views import Label, Prefix
from sweephand_client.commands.job_views import app as app  # noqa: PLC0414 - the group of all commands about jobs
from sweephand_client.commands.problems import exit_for
from sweephand_client.commands.session import Session, command, problem_value
from sweephand_client.commands.tables import counted
from sweephand_client.commands.times import AHEAD, PAST, given
from sweephand_client.http.errors import InputError, Problem
from sweephand_client.openapi.job_answers import JobResponse
from sweephand_client.openapi.requests import CatchUpMode, JobPatchRequest, JobRequest

_MaybeName = Annotated[
    str | None, typer.Argument(help="The name of the job.", show_default=False, autocompletion=job_names)
]


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
    name: _MaybeName = None,
    *,
    fields: dict[str, Any],
    without: Annotated[
        list[str] | None, typer.Option("--without", help="A field that is removed.", metavar="NAME")
    ] = None,
    if_match: Annotated[str | None, typer.Option(help="Only if the job has this revision.")] = None,
    prefix: Prefix = None,
    where: Annotated[
        list[str] | None, typer.Option("--where", help="All jobs with this label, as name=value.")
    ] = None,
    yes: Yes = False,
) -> None:
    """Write some fields of a job, or of all jobs that --prefix or --where select. Other labels stay."""
    removed = dict.fromkeys(without or ())
    if both := removed.keys() & fields.keys():
        raise InputError(f"Give {', '.join(sorted(both))} a value or remove it, not both.")
    if not (changed := {**fields, **removed}):
        raise InputError("Say which fields to write, as in --schedule @hourly, or to remove: --without ttl.")
    given = cast("JobPatchRequest", changed)  # the API checks it
    chosen = selection(prefix, where or (), name, by="--where")
    if chosen is not None:
        if if_match is not None:
            raise InputError("Give --if-match with the name of one job.")
        _patch_many(session, chosen, given, is_sure=yes)
        return
    written = session.client.jobs.patch(session.namespace, str(name), given, if_match=if_match)
    session.output.done(_about(session, written), written)


def _patch_many(
    session: Session, chosen: Mapping[str, Any], fields: JobPatchRequest, *, is_sure: bool
) -> None:
    """Patch the selected jobs. A person is told how many they are, and asked."""
    output = session.output
    listed = session.client.jobs.list(
        session.namespace, prefix=chosen["prefix"] or "", labels=chosen["labels"]
    )
    names = [each["name"] for each in output.watched(listed)]
    ask(f"Write {', '.join(sorted(fields))} of {counted(len(names), 'job')}?", is_sure=is_sure)
    problems: dict[str, Problem] = {}
    with output.progress("patching", len(names)) as bar:
        # Other commands about jobs do not pay for the import of what writes several at once.
        patching: Any = import_module("sweephand_client.tasks.patching")
        found = patching.patch_jobs(session.client, session.namespace, names, fields)
        for name, problem in zip(names, found, strict=True):
            bar.step()
            if problem is not None:
                problems[name] = problem
                output.note(f"{name} refused: {problem}")
    count = len(names) - len(problems)
    refused = {name: problem_value(each) for name, each in problems.items()}
    output.done(f"Patched {counted(count, 'job')}.", {"patched": count, "refused": refused})
    exit_for(problems.values())


@command(app)
def delete(
    session: Session,
    name: _MaybeName = None,
    *,
    prefix: Prefix = None,
    label: Label = None,
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
    prefix: Prefix = None,
    label: Label = None,
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
    prefix: Prefix = None,
    label: Label = None,
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
        which = f"Its batch of {counted(made['count'], 'run')} is {made['batchId']}."
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


def _about(session: Session, job: JobResponse) -> str:
    if "pausedUntil" in job:
        return f"{job['name']} is paused until {session.output.local(job['pausedUntil'])}."
    when = "no next run" if job["nextRun"] is None else f"next run at {session.output.local(job['nextRun'])}"
    return f"{job['name']} is {job['state']}, {when}."
