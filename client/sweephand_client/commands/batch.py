"""The commands about batches: `sweephand batch …`."""

import datetime as dt
from typing import Annotated, Final

import typer

from sweephand_client.commands.inputs import JobName
from sweephand_client.commands.session import Session, Watch, command
from sweephand_client.commands.tables import Limit, counted, limited
from sweephand_client.commands.times import PAST
from sweephand_client.http.errors import InputError
from sweephand_client.openapi.run_answers import ListedBatchResponse
from sweephand_client.tasks.placing import instant

_EPOCH: Final = dt.datetime.fromtimestamp(0, dt.UTC)

app = typer.Typer(no_args_is_help=True, help="Show how far batches are.")


@command(app, "list")
def list_(
    session: Session,
    job: JobName,
    *,
    limit: Limit = None,
) -> None:
    """List the batches of a job, newest due time first. A batch without an ended run is left out."""
    found = limited(session, session.client.jobs.batches(session.namespace, job), limit)
    rows = [
        (each["id"], each["dueAt"], each["total"], each["endedAt"], *_end(each), each["overran"])
        for each in found
    ]
    columns = ("BATCH", "DUE", "TOTAL", "ENDED", "STATE", "FAILED", "CANCELLED", "OVERRAN")
    session.output.table(columns, rows, found)


@command(app)
def show(
    session: Session,
    job: JobName,
    batch: Annotated[
        str | None,
        typer.Argument(help="The batch, as `sweephand batch list` shows it.", show_default="the newest"),
    ] = None,
    *,
    due: Annotated[str | None, typer.Option(help=f"The batch that was due then: {PAST}.")] = None,
    watch: Watch = False,
) -> None:
    """Show how many runs of a batch are over, how they ended, and when the batch will be over."""
    if batch is not None and due is not None:
        raise InputError("Give a batch or --due, not both.")
    chosen = batch or (_newest(session, job) if due is None else _due_at(session.times.past(due)))

    def look() -> bool:
        found = session.client.jobs.batch(session.namespace, job, chosen)
        over = found["succeeded"] + found["failed"] + found["cancelled"]
        if not session.output.is_data:
            percent = over * 100 // found["total"]
            verb = "is" if 1 in (over, found["total"]) else "are"
            session.output.text(f"{over:,} of {counted(found['total'], 'run')} {verb} over ({percent}%).")
        session.output.fields(found)
        return not watch or over == found["total"]

    session.watch(look)


def _end(batch: ListedBatchResponse) -> tuple[str | int | None, ...]:
    """How a batch had ended: its state, and how many of its runs had failed and were cancelled."""
    end = batch.get("end")
    return (None, None, None) if end is None else (end["state"], end["failed"], end["cancelled"])


def _newest(session: Session, job: str) -> str:
    found = next(session.client.jobs.batches(session.namespace, job), None)
    if found is None:
        if "batch" not in session.client.jobs.get(session.namespace, job):
            raise InputError(f"{job} has no batch.")
        raise InputError(
            f"No run of a batch of {job} is over yet. Give the batch that you mean, as in --due "
            "2027-01-31T02:00:00Z."
        )
    return found["id"]


def _due_at(text: str) -> str:
    """The name of a batch of the schedule: its due time in ms since 1970."""
    return str((instant(text) - _EPOCH) // dt.timedelta(milliseconds=1))
