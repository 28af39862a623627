"""The commands about runs: `sweephand run …`."""

from typing import Annotated

import typer

from sweephand_client.commands.inputs import read_labels, selection
from sweephand_client.commands.job import limited, why
from sweephand_client.commands.session import Session, command
from sweephand_client.http.errors import InputError

app = typer.Typer(no_args_is_help=True, help="Show, redrive and cancel runs.")

_Job = Annotated[str, typer.Argument(help="The name of the job.", show_default=False)]
_Run = Annotated[str, typer.Argument(help="The run, as `sweephand job runs` shows it.", show_default=False)]


@command(app, "list")
def list_(
    session: Session,
    *,
    state: Annotated[
        str | None, typer.Option(help="Only runs in this state, as failed, skipped or retrying.")
    ] = None,
    since: Annotated[str | None, typer.Option(help="Only runs due at this time or later (RFC 3339).")] = None,
    label: Annotated[
        list[str] | None, typer.Option(help="Only runs of jobs with this label, as name=value.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many runs to show.")] = 20,
) -> None:
    """List the runs of all jobs that failed, were skipped, or are retried, newest first."""
    labels = read_labels(label or ())
    found = limited(
        session,
        session.client.runs.list_flagged(session.namespace, state=state, since=since, labels=labels),
        limit,
    )
    rows = [
        (each["job"], each["id"], each["state"], each["dueAt"], each["attempts"], why(dict(each)))
        for each in found
    ]
    session.output.table(("JOB", "RUN", "STATE", "DUE", "ATTEMPTS", "WHY"), rows, found)


@command(app)
def show(session: Session, job: _Job, run: _Run) -> None:
    """Show a run."""
    session.output.fields(dict(session.client.runs.get(session.namespace, job, run)))


@command(app)
def redrive(
    session: Session,
    job: Annotated[str | None, typer.Argument(help="The name of the job.", show_default=False)] = None,
    run: Annotated[str | None, typer.Argument(help="The failed run.", show_default=False)] = None,
    *,
    prefix: Annotated[str | None, typer.Option(help="All jobs whose names begin so.")] = None,
    label: Annotated[list[str] | None, typer.Option(help="All jobs with this label, as name=value.")] = None,
) -> None:
    """Try a failed run again, or all failed runs of the jobs that --prefix or --label select."""
    chosen = selection(prefix, label or (), job)
    if chosen is not None:
        count = session.client.jobs.redrive_many(session.namespace, **chosen)
        session.output.done(f"Redrove {count} runs.", {"redriven": count})
        return
    if run is None:
        raise InputError(f"Say which run of {job}. sweephand job runs {job} --state failed lists them.")
    done = session.client.runs.redrive(session.namespace, str(job), run)
    session.output.done(f"Redrove {done['id']}. Its next attempt is number {done['attempt']}.", done)


@command(app)
def cancel(session: Session, job: _Job, run: _Run) -> None:
    """Cancel a run that is running or being retried."""
    done = session.client.runs.cancel(session.namespace, job, run)
    session.output.done(f"{done['id']} is {done['state']}.", done)
