"""The commands that show jobs: `sweephand job …`."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, cast

import typer

from sweephand_client.commands.inputs import JobName, read_labels
from sweephand_client.commands.session import AllNamespaces, Session, command
from sweephand_client.commands.tables import (
    Limit,
    health_text,
    lasting,
    limited,
    reason_of,
    show_changes,
    show_occurrences,
)
from sweephand_client.commands.times import AHEAD, given
from sweephand_client.openapi.job_answers import JobResponse
from sweephand_client.openapi.requests import JobState, RunFilter

app = typer.Typer(no_args_is_help=True, help="Schedule, look at, pause, trigger and delete jobs.")

Prefix = Annotated[str | None, typer.Option(help="All jobs whose names begin so.")]
Label = Annotated[list[str] | None, typer.Option(help="All jobs with this label, as name=value.")]

#: The runs in the health of a job.
_HEALTH_RUNS_MAX: Final = 10

#: How many jobs a list shows to a person.
_SHOWN: Final = 100

#: The columns of a list that a narrow terminal cuts or leaves out, in this order.
_CUT: Final = ("TARGET", "ZONE", "SCHEDULE")


@command(app)
def get(
    session: Session,
    name: JobName,
    *,
    health: Annotated[
        bool, typer.Option("--health", help="Also as data: how its newest runs ended. A table has it always.")
    ] = False,
) -> None:
    """Show a job, and how its newest runs ended."""
    reads_health = health or not session.output.is_data
    found = session.client.jobs.get(session.namespace, name, include="health" if reads_health else None)
    if session.output.is_data:
        session.output.data(found)
        return
    shown: dict[str, Any] = {**found}
    if "health" in found:
        shown["health"] = health_text(found["health"])
    if (last := found["lastRun"]) is not None:
        shown["lastRun"] = f"{last['id']} {last['state']}, due at {session.output.local(last['dueAt'])}"
    session.output.fields(shown)


@command(app, "list")
def list_jobs(
    session: Session,
    *,
    prefix: Prefix = None,
    contains: Annotated[str, typer.Option(help="Only jobs whose names contain this text.")] = "",
    label: Label = None,
    state: Annotated[str | None, typer.Option(help="Only jobs that are active, paused or completed.")] = None,
    policy: Annotated[str | None, typer.Option(help="Only jobs that name this flow policy.")] = None,
    health: Annotated[
        str | None, typer.Option(help="failing: only jobs whose newest runs fail, newest failure first.")
    ] = None,
    sort: Annotated[str | None, typer.Option(help="By name, or failing jobs by failure.")] = None,
    all_namespaces: AllNamespaces = False,
    limit: Annotated[
        int | None, typer.Option(min=1, help="How many to show. By default 100, and as data all of them.")
    ] = None,
) -> None:
    """List jobs by name. A table shows how the last run of each ended, too."""
    labels = read_labels(label or ())
    shown = None if session.output.is_data and limit is None else (limit or _SHOWN)
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
            include=None if session.output.is_data else "health",
            page=None if shown is None else shown + 1,
        )
    )
    jobs = limited(session, found, limit, usual=_SHOWN)
    columns = ["NAMESPACE", "NAME", "STATE", "LAST", "FAILURES", "NEXT RUN", "SCHEDULE", "ZONE", "TARGET"]
    left_out = {*(() if all_namespaces else ("NAMESPACE",)), *(() if health else ("FAILURES",))}
    chosen = [number for number, name in enumerate(columns) if name not in left_out]
    rows = ([row[each] for each in chosen] for row in map(_row, jobs))
    session.output.table([columns[each] for each in chosen], rows, jobs, shortened=_CUT)
    if not jobs:
        session.note_unknown_namespace()


def _health_cells(job: JobResponse) -> tuple[str | None, str | None]:
    """How the last run of a job ended, and how many in a row failed."""
    health = job.get("health")
    if health is None or not health["runs"]:
        return None, None
    row = health["failuresInARow"]
    return health["runs"][0]["state"], f"{row}+" if row == _HEALTH_RUNS_MAX else str(row)


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
            lasting(each["latenessMs"]),
            each["attempts"],
            reason_of(each),
        )
        for each in found
    ]
    session.output.table(("RUN", "STATE", "DUE", "LATE", "ATTEMPTS", "WHY"), rows, found, shortened=("WHY",))


@command(app)
def changes(session: Session, name: JobName, *, limit: Limit = None) -> None:
    """List who changed a job, newest first."""
    found = limited(session, session.client.jobs.changes(session.namespace, name), limit)
    show_changes(session, found)


def _row(job: JobResponse) -> tuple[Any, ...]:
    """The cells of a job in a list."""
    return (
        job["namespace"],
        job["name"],
        job["state"],
        *_health_cells(job),
        job["nextRun"],
        job.get("schedule", job.get("dueTime", "on demand")),
        job.get("timezone"),
        _target(job["target"]),
    )


def _target(target: Mapping[str, Any]) -> str:
    """The type of a target and its place: the field that is a URL, an ARN or a name."""
    place = next((value for field, value in target.items() if field != "type" and isinstance(value, str)), "")
    return place if target["type"] == "http" else f"{target['type']} {place}".rstrip()
