"""The commands about runs: `sweephand run …`, `sweephand tail` and `sweephand why`."""

import heapq
from collections.abc import Iterator
from operator import itemgetter
from time import sleep
from typing import Annotated, Any, cast

import typer

from sweephand_client.commands.inputs import JobName, read_labels, selection
from sweephand_client.commands.session import AllNamespaces, Session, command
from sweephand_client.commands.tables import Limit, counted, late, limited, reason_of
from sweephand_client.commands.times import PAST, given
from sweephand_client.http.errors import InputError
from sweephand_client.openapi.job_answers import RunResponse
from sweephand_client.openapi.requests import FlaggedRunFilter
from sweephand_client.tasks.tailing import OVER, Tail

app = typer.Typer(no_args_is_help=True, help="Show, redrive and cancel runs.")

_Run = Annotated[str, typer.Argument(help="The run, as `sweephand job runs` shows it.", show_default=False)]


@command(app, "list")
def list_(
    session: Session,
    *,
    state: Annotated[
        str | None, typer.Option(help="Only runs in this state, as failed, skipped or retrying.")
    ] = None,
    since: Annotated[str | None, typer.Option(help=f"Only runs due at this time or later: {PAST}.")] = None,
    label: Annotated[
        list[str] | None, typer.Option(help="Only runs of jobs with this label, as name=value.")
    ] = None,
    all_namespaces: AllNamespaces = False,
    limit: Limit = None,
) -> None:
    """List the runs of all jobs that failed, were skipped, or are retried, newest first."""
    labels = read_labels(label or ())
    chosen = cast("FlaggedRunFilter | None", state)  # the API checks it
    earliest = given(session.times.past, since)

    def of(namespace: str) -> Iterator[dict[str, Any]]:
        runs = session.client.runs.list_flagged(namespace, state=chosen, since=earliest, labels=labels)
        return ({"namespace": namespace, **each} for each in runs)

    lists = map(of, session.namespaces(every=all_namespaces))
    found = limited(session, heapq.merge(*lists, key=itemgetter("dueAt"), reverse=True), limit)
    names = ("namespace", "job") if all_namespaces else ("job",)
    rows = [
        (
            *(each[name] for name in names),
            each["id"],
            each["state"],
            each["dueAt"],
            each["attempts"],
            reason_of(cast("RunResponse", each)),
        )
        for each in found
    ]
    columns = (*(name.upper() for name in names), "RUN", "STATE", "DUE", "ATTEMPTS", "WHY")
    session.output.table(columns, rows, found, shortened="WHY")
    if not found:
        session.note_unknown_namespace()


@command(app)
def show(session: Session, job: JobName, run: _Run) -> None:
    """Show a run."""
    session.output.fields(session.client.runs.get(session.namespace, job, run))


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
        session.output.done(f"Redrove {counted(count, 'run')}.", {"redriven": count})
        return
    if run is None:
        raise InputError(f"Say which run of {job}. sweephand job runs {job} --state failed lists them.")
    done = session.client.runs.redrive(session.namespace, str(job), run)
    session.output.done(f"Redrove {done['id']}. Its next attempt is number {done['attempt']}.", done)


@command(app)
def cancel(session: Session, job: JobName, run: _Run) -> None:
    """Cancel a run that is running or being retried."""
    done = session.client.runs.cancel(session.namespace, job, run)
    session.output.done(f"{done['id']} is {done['state']}.", done)


def tail(
    session: Session,
    job: JobName,
    *,
    last: Annotated[
        int, typer.Option("--last", "-l", min=0, max=100, help="First the newest runs so far.")
    ] = 5,
    until: Annotated[
        int | None,
        typer.Option("--until", min=1, help="End when so many of the runs that it showed are over."),
    ] = None,
    every: Annotated[float, typer.Option(min=0.2, help="Seconds between two looks.")] = 1.0,
) -> None:
    """Show the runs of a job as they begin, are retried and end. Ctrl-C ends it."""
    output, namespace = session.output, session.namespace
    watched = session.client.jobs.get(namespace, job)
    if watched.get("history") == "failures":
        output.note(f"{job} keeps no record of a run whose first attempt succeeds (history: failures).")
    following = Tail(session.client, namespace, job)
    over, missed = 0, 0
    runs = following.begin(last)
    while True:
        for run in runs:
            _show(session, run)
            over += run["state"] in OVER
        if following.missed > missed:
            missed = following.missed
            output.note("There are more runs than one look shows. sweephand job runs lists all of them.")
        if until is not None and over >= until:
            return
        try:
            sleep(every)
            runs = following.look()
        except KeyboardInterrupt:
            return


def _show(session: Session, run: RunResponse) -> None:
    output = session.output
    if output.is_data:
        output.line(run)
        return
    words = [
        output.local(run["dueAt"]),
        f"{run['state']:9}",
        run["id"],
        f"attempts {run['attempts']}",
    ]
    if run["latenessMs"] is not None:
        words.append(f"late {late(run['latenessMs'])}")
    if reason := reason_of(run):
        words.append(reason)
    output.text("  ".join(words))


def why(
    session: Session,
    job: JobName,
    *,
    at: Annotated[str | None, typer.Option(help=f"The time: {PAST}. By default the latest due time.")] = None,
) -> None:
    """Say why a job fired at an instant, or did not."""
    found = session.client.jobs.explain(session.namespace, job, at=given(session.times.past, at))
    if session.output.is_data:
        session.output.data(found)
        return
    session.output.text(found["summary"])
    shown: dict[str, Any] = {"verdict": found["verdict"], "due": found["dueAt"], **found["nearest"]}
    if "run" in found:
        shown["run"] = f"{found['run']['id']} ({found['run']['state']})"
    if (change := found["evidence"].get("change")) is not None:
        shown["change"] = f"{change['what']} by {change['who']}"
    if "next" in found:
        shown["next"] = found["next"]["at"]
        shown["then"] = found["next"]["step"]
    session.output.fields(shown)
