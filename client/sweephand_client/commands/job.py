"""The commands about jobs: `sweephand job …`."""

from collections.abc import Iterable
from itertools import islice
from typing import Annotated, Any, TypeVar, cast

import typer

from sweephand_client.commands.inputs import (
    JobName,
    confirm,
    read_batch,
    read_calendar,
    read_json,
    read_labels,
    read_object,
    read_target,
    read_time,
    selection,
)
from sweephand_client.commands.session import Session, command
from sweephand_client.http.errors import InputError
from sweephand_client.openapi.job_answers import ChangeResponse, JobResponse, OccurrencesResponse, RunResponse
from sweephand_client.openapi.requests import CatchUpMode, JobRequest, JobState, RunFilter

Entry = TypeVar("Entry")

app = typer.Typer(no_args_is_help=True, help="Schedule, look at, pause, trigger and delete jobs.")

_MaybeName = Annotated[str | None, typer.Argument(help="The name of the job.", show_default=False)]
_Prefix = Annotated[str | None, typer.Option(help="All jobs whose names begin so.")]
_Label = Annotated[list[str] | None, typer.Option(help="All jobs with this label, as name=value.")]
_Limit = Annotated[int, typer.Option(min=1, help="How many to show at most.")]


@command(app, "schedule")
def schedule_job(
    session: Session,
    name: JobName,
    *,
    schedule: Annotated[
        str | None, typer.Option("--schedule", "-s", help="When: '30 2 * * *', '@every 1h', ….")
    ] = None,
    timezone: Annotated[
        str | None, typer.Option("--timezone", "-z", help="The zone, as Europe/Paris.")
    ] = None,
    due: Annotated[str | None, typer.Option(help="When it first fires: 10s, PT2H, or an instant.")] = None,
    url: Annotated[str | None, typer.Option(help="The endpoint that receives the triggers.")] = None,
    queue: Annotated[str | None, typer.Option(help="The URL of the SQS queue that receives them.")] = None,
    target: Annotated[str | None, typer.Option(help="Any target, as JSON, @FILE or -.")] = None,
    data: Annotated[str | None, typer.Option(help="What the consumer gets, as JSON, @FILE or -.")] = None,
    label: Annotated[list[str] | None, typer.Option(help="A label, as name=value.")] = None,
    description: Annotated[str | None, typer.Option(help="A text for people.")] = None,
    batch: Annotated[
        str | None,
        typer.Option(help="Many triggers each time, over a window: 50000/1h.", metavar="COUNT[/WINDOW]"),
    ] = None,
    calendar: Annotated[
        str | None,
        typer.Option(
            metavar="NAME[/OTHERWISE]",
            help="The calendar on whose open days it fires. On others it is skipped, or: fr/previous.",
        ),
    ] = None,
    policy: Annotated[str | None, typer.Option(help="The flow policy that limits its deliveries.")] = None,
    priority: Annotated[
        str | None, typer.Option(help="high, normal or low: which triggers go first.")
    ] = None,
    field: Annotated[
        list[str] | None,
        typer.Option(help="Any other field, as name=JSON: --field 'retry={\"maxAttempts\":1}'."),
    ] = None,
    file: Annotated[str | None, typer.Option("--file", "-f", help="The job as JSON, in FILE or - .")] = None,
    if_absent: Annotated[bool, typer.Option("--if-absent", help="Only if the job does not exist.")] = False,
) -> None:
    """Create or replace a job. Options change the fields of --file."""
    job = read_object("-" if file == "-" else f"@{file}", "--file") if file else {}
    given = {
        "target": read_target(url, queue, target),
        "timezone": timezone,
        "dueTime": due,
        "description": description,
        "policy": policy,
        "priority": priority,
    }
    job |= {field_name: value for field_name, value in given.items() if value is not None}
    if schedule is not None:
        job["schedule"] = read_schedule(schedule)
    if batch is not None:
        job["batch"] = read_batch(batch)
    if calendar is not None:
        job["calendar"] = read_calendar(calendar)
    if data is not None:
        job["data"] = read_json(data, "--data")
    if label:
        job["labels"] = read_labels(label)
    for each in field or ():
        field_name, separator, text = each.partition("=")
        if not separator:
            raise InputError(f"{each!r} is no field. Give name=JSON, as in --field 'repeats=4'.")
        job[field_name] = read_json(text, f"--field {field_name}")
    written = session.client.jobs.put(session.namespace, name, cast("JobRequest", job), if_absent=if_absent)
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
    limit: _Limit = 1000,
) -> None:
    """List jobs by name."""
    found = session.client.jobs.list(
        session.namespace,
        prefix=prefix or "",
        contains=contains,
        state=cast("JobState | None", state),  # the API checks it
        policy=policy,
        labels=read_labels(label or ()),
    )
    jobs = limited(session, found, limit)
    rows = [
        (each["name"], each["state"], each["nextRun"], each.get("schedule", each.get("dueTime", "on demand")))
        for each in jobs
    ]
    session.output.table(("NAME", "STATE", "NEXT RUN", "SCHEDULE"), rows, jobs)


@command(app)
def delete(
    session: Session,
    name: _MaybeName = None,
    *,
    prefix: _Prefix = None,
    label: _Label = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before many jobs are deleted.")] = False,
) -> None:
    """Delete a job, or all jobs that --prefix or --label select."""
    chosen = selection(prefix, label or (), name)
    if chosen is None:
        session.client.jobs.delete(session.namespace, str(name))
        session.output.done(f"Deleted {name}.", {"deleted": 1})
        return
    confirm(f"Delete all jobs of {session.namespace} that you selected?", is_sure=yes)
    count = session.client.jobs.delete_many(session.namespace, **chosen)
    session.output.done(f"Deleted {_jobs(count)}.", {"deleted": count})


@command(app)
def pause(
    session: Session,
    name: _MaybeName = None,
    *,
    reason: Annotated[str | None, typer.Option(help="Why, for people.")] = None,
    until: Annotated[
        str | None,
        typer.Option(help="When it resumes by itself: 2027-01-05T06:00 by this machine's clock, or 2h, 7d."),
    ] = None,
    catchup: Annotated[
        str | None, typer.Option(help="Which missed triggers fire then: latest, all or none.")
    ] = None,
    prefix: _Prefix = None,
    label: _Label = None,
) -> None:
    """Pause a job, or all jobs that --prefix or --label select."""
    chosen = selection(prefix, label or (), name)
    end = None if until is None else read_time(until)
    mode = cast("CatchUpMode | None", catchup)  # the API checks it
    if chosen is None:
        job = session.client.jobs.pause(session.namespace, str(name), reason=reason, until=end, catchup=mode)
        session.output.done(_about(session, job), job)
        return
    count = session.client.jobs.pause_many(
        session.namespace, reason=reason, until=end, catchup=mode, **chosen
    )
    session.output.done(f"Paused {_jobs(count)}.", {"paused": count})


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
    session.output.done(f"Resumed {_jobs(count)}.", {"resumed": count})


@command(app)
def trigger(
    session: Session,
    name: JobName,
    *,
    data: Annotated[str | None, typer.Option(help="Other data, as JSON, @FILE or -.")] = None,
) -> None:
    """Make a trigger of a job now, also of a paused one."""
    given: dict[str, Any] = {} if data is None else {"data": read_json(data, "--data")}
    made = session.client.jobs.trigger(session.namespace, name, **given)
    which = f"Its run is {made['id']}."
    if "batchId" in made:
        which = f"Its batch of {made['count']} runs is {made['batchId']}."
    session.output.done(f"Triggered {name}. {which}", made)


@command(app)
def backfill(
    session: Session,
    name: JobName,
    *,
    since: Annotated[str, typer.Option("--from", help="The first instant (RFC 3339).")],
    until: Annotated[str, typer.Option("--to", help="The end, which is not part of the range (RFC 3339).")],
) -> None:
    """Make the triggers that a job's schedule has in a past range."""
    made = session.client.jobs.backfill(session.namespace, name, since=since, until=until)
    session.output.done(f"Made {made['count']} triggers of {name}.", made)


@command(app, "next")
def next_due(
    session: Session,
    name: JobName,
    *,
    after: Annotated[str | None, typer.Option(help="Only due times after this instant (RFC 3339).")] = None,
    limit: _Limit = 10,
) -> None:
    """Show when a job fires next."""
    found = session.client.jobs.occurrences(session.namespace, name, after=after, limit=limit)
    show_occurrences(session, found)


@command(app)
def runs(
    session: Session,
    name: JobName,
    *,
    state: Annotated[str | None, typer.Option(help="Only runs in this state, as failed or waiting.")] = None,
    limit: _Limit = 20,
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
    session.output.table(("RUN", "STATE", "DUE", "LATE", "ATTEMPTS", "WHY"), rows, found)


@command(app)
def changes(session: Session, name: JobName, *, limit: _Limit = 20) -> None:
    """List who changed a job, newest first."""
    found = limited(session, session.client.jobs.changes(session.namespace, name), limit)
    show_changes(session, found)


def show_changes(session: Session, found: list[ChangeResponse]) -> None:
    """Print changes of a job or a policy."""
    rows = [
        (
            each["time"],
            each["what"],
            each["who"],
            ", ".join(one["name"] for one in each.get("fields", ())),
            each["reason"],
        )
        for each in found
    ]
    session.output.table(("TIME", "WHAT", "WHO", "FIELDS", "REASON"), rows, found)


def show_occurrences(session: Session, found: OccurrencesResponse) -> None:
    """Print due times, and what clock changes do to them."""
    if session.output.as_json:
        session.output.json(found)
        return
    session.output.text(found["description"])
    rows = [(each["local"], each["utc"], each.get("reason", "")) for each in found["occurrences"]]
    rows += [(each["local"], "does not fire", each["reason"]) for each in found["skipped"]]
    session.output.table(("IN ITS ZONE", "HERE", "CLOCK CHANGE"), sorted(rows), found)
    if found["end"] is not None:
        session.output.text(f"The last one is at {session.output.local(found['end'])}.")


def read_schedule(text: str) -> Any:
    """A schedule as text, or the JSON of fields by name or of a list of instants."""
    return read_json(text, "The schedule") if text.lstrip()[:1] in ("{", "[") else text


def late(lateness_ms: int | None) -> str:
    """A lateness in words."""
    if lateness_ms is None:
        return "-"
    return f"{lateness_ms} ms" if lateness_ms < 10_000 else f"{lateness_ms // 1000} s"  # noqa: PLR2004 - ten seconds


def reason_of(run: RunResponse) -> str:
    """Why a run is as it is: its reason, or the code of the last answer."""
    code = run["responseCode"]
    return run["reason"] or ("" if code is None else f"answer {code}")


def _about(session: Session, job: JobResponse) -> str:
    if "pausedUntil" in job:
        return f"{job['name']} is paused until {session.output.local(job['pausedUntil'])}."
    when = "no next run" if job["nextRun"] is None else f"next run at {session.output.local(job['nextRun'])}"
    return f"{job['name']} is {job['state']}, {when}."


def _jobs(count: int) -> str:
    return "1 job" if count == 1 else f"{count} jobs"


def limited(session: Session, found: Iterable[Entry], limit: int) -> list[Entry]:
    """At most so many entries, and a note if there are more."""
    entries = list(islice(found, limit + 1))
    if len(entries) > limit:
        session.output.note(f"There are more than {limit}. Give a greater --limit to see them.")
    return entries[:limit]
