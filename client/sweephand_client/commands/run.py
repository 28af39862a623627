"""The commands about runs: `sweephand run …`, `sweephand tail` and `sweephand why`."""

import heapq
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import itemgetter
from time import sleep
from typing import Annotated, Any, cast

import typer

from sweephand_client.commands.inputs import JobName, Yes, ask, is_terminal, read_labels
from sweephand_client.commands.session import AllNamespaces, Session, command
from sweephand_client.commands.tables import Limit, counted, lasting, limited, reason_of, show_attempts
from sweephand_client.commands.times import PAST, given
from sweephand_client.http.errors import InputError
from sweephand_client.openapi.job_answers import RunResponse
from sweephand_client.openapi.requests import FlaggedRunFilter
from sweephand_client.tasks.tailing import OVER, Tail

app = typer.Typer(no_args_is_help=True, help="Show, redrive and cancel runs.")

_Run = Annotated[str, typer.Argument(help="The run, as `sweephand job runs` shows it.", show_default=False)]
_Job = Annotated[str | None, typer.Argument(help="The name of the job.", show_default=False)]
_MaybeRun = Annotated[str | None, typer.Argument(help="The run.", show_default=False)]
_Prefix = Annotated[str | None, typer.Option(help="Runs of all jobs whose names begin so.")]
_Label = Annotated[list[str] | None, typer.Option(help="Runs of all jobs with this label, as name=value.")]
_Since = Annotated[str | None, typer.Option(help=f"Runs due at this time or later: {PAST}.")]
_Until = Annotated[str | None, typer.Option(help="Runs due before this time.")]
_Reason = Annotated[
    str | None, typer.Option(help="Runs with this text in their reason, answer or last failure.")
]
_DryRun = Annotated[bool, typer.Option("--dry-run", help="Count them, and change nothing.")]


@command(app, "list")
def list_(
    session: Session,
    *,
    state: Annotated[
        str | None, typer.Option(help="Only runs in this state, as failed, skipped or retrying.")
    ] = None,
    prefix: _Prefix = None,
    label: _Label = None,
    since: _Since = None,
    until: _Until = None,
    reason: _Reason = None,
    all_namespaces: AllNamespaces = False,
    limit: Limit = None,
) -> None:
    """List the runs of all jobs that failed, were skipped, or are retried, newest first.

    The same options select runs for `run redrive` and `run cancel`.
    """
    chosen = _selected(session, label, prefix=prefix, since=since, until=until, reason=reason)
    filtered = cast("FlaggedRunFilter | None", state)  # the API checks it

    def of(namespace: str) -> Iterator[dict[str, Any]]:
        runs = session.client.runs.list_flagged(namespace, state=filtered, **chosen)
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
    session.output.table(columns, rows, found, shortened=("WHY",))
    if not found:
        session.note_unknown_namespace()


@command(app)
def show(session: Session, job: JobName, run: _Run) -> None:
    """Show a run: its fields, and below them its last attempts with their times, answers and waits."""
    found = session.client.runs.get(session.namespace, job, run)
    if session.output.is_data:
        session.output.data(found)
        return
    session.output.fields({name: value for name, value in found.items() if name != "attemptHistory"})
    show_attempts(session, found)


@command(app)
def redrive(
    session: Session,
    job: _Job = None,
    run: _MaybeRun = None,
    *,
    prefix: _Prefix = None,
    label: _Label = None,
    since: _Since = None,
    until: _Until = None,
    reason: _Reason = None,
    dry_run: _DryRun = False,
    all_namespaces: AllNamespaces = False,
    yes: Yes = False,
) -> None:
    """Try a failed run again, or all failed runs that the options select."""
    chosen = _chosen(session, job, label, prefix=prefix, since=since, until=until, reason=reason)
    if chosen is not None:
        act = partial(session.client.runs.redrive_many, **chosen)
        _many(session, act, "redriven", is_dry=dry_run, everywhere=all_namespaces, is_sure=yes)
        return
    if run is None:
        raise InputError(f"Say which run of {job}. sweephand job runs {job} --state failed lists them.")
    done = session.client.runs.redrive(session.namespace, str(job), run)
    session.output.done(f"Redrove {done['id']}. Its next attempt is number {done['attempt']}.", done)


@command(app)
def cancel(
    session: Session,
    job: _Job = None,
    run: _MaybeRun = None,
    *,
    prefix: _Prefix = None,
    label: _Label = None,
    since: _Since = None,
    until: _Until = None,
    reason: _Reason = None,
    state: Annotated[str | None, typer.Option(help="Only runs that are retrying, or running.")] = None,
    dry_run: _DryRun = False,
    all_namespaces: AllNamespaces = False,
    yes: Yes = False,
) -> None:
    """Cancel a run that is running or being retried, or all such runs that the options select."""
    chosen = _chosen(session, job, label, prefix=prefix, since=since, until=until, reason=reason)
    if chosen is not None:
        act = partial(session.client.runs.cancel_many, **chosen, state=cast("Any", state))
        _many(session, act, "cancelled", is_dry=dry_run, everywhere=all_namespaces, is_sure=yes)
        return
    if run is None:
        raise InputError(f"Say which run of {job}. sweephand job runs {job} lists them.")
    done = session.client.runs.cancel(session.namespace, str(job), run)
    session.output.done(f"{done['id']} is {done['state']}.", done)


def _chosen(session: Session, job: str | None, label: Sequence[str] | None, **options: str | None) -> Any:
    """What selects many runs; None if the command names one. InputError for both or neither."""
    chosen = _selected(session, label, **options)
    if (job is None) == (not chosen):
        raise InputError(
            "Name a job and a run, or select many by --since, --until, --reason, --prefix or --label."
        )
    return chosen or None


def _selected(session: Session, label: Sequence[str] | None, **options: str | None) -> dict[str, Any]:
    """The filters of runs that the options give, as calls take them."""
    chosen: dict[str, Any] = {"labels": read_labels(label or ()), **options}
    chosen = {name: value for name, value in chosen.items() if value}
    for time in ("since", "until"):
        if time in chosen:
            chosen[time] = session.times.past(chosen[time])
    return chosen


def _many(
    session: Session, act: Callable[..., int], done: str, *, is_dry: bool, everywhere: bool, is_sure: bool
) -> None:
    """Change the selected runs of one namespace or of all, and say how many.

    A person is told the count first, and asked.
    """
    names = list(session.namespaces(every=everywhere))
    places = f" in {counted(len(names), 'namespace')}" if everywhere else ""
    if not is_dry and not is_sure and is_terminal():
        total = sum(act(each, dryRun=True) for each in names)
        ask(f"{counted(total, 'run')}{places} would be {done}. Go on?", is_sure=False)
    counts = {each: act(each, dryRun=is_dry) for each in names}
    runs = counted(sum(counts.values()), "run")
    said = f"{runs}{places} would be {done}." if is_dry else f"{done.capitalize()}: {runs}{places}."
    session.output.done(said, {done: sum(counts.values()), "dryRun": is_dry, "namespaces": counts})


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
        words.append(f"late {lasting(run['latenessMs'])}")
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
