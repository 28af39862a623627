"""The command `tail`: the deliveries of a job as they happen."""

from time import sleep
from typing import Annotated

import typer

from sweephand_client.commands.job import late, why
from sweephand_client.commands.session import Session
from sweephand_client.tasks.tailing import OVER, Tail


def tail(
    session: Session,
    job: Annotated[str, typer.Argument(help="The name of the job.", show_default=False)],
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
            _show(session, dict(run))
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


def _show(session: Session, run: dict[str, object]) -> None:
    output = session.output
    if output.as_json:
        output.line(run)
        return
    lateness = run["latenessMs"]
    assert lateness is None or isinstance(lateness, int), "the API says milliseconds"
    words = [
        output.local(str(run["dueAt"])),
        f"{run['state']!s:9}",
        str(run["id"]),
        f"attempts {run['attempts']}",
    ]
    if lateness is not None:
        words.append(f"late {late(lateness)}")
    if reason := why(run):
        words.append(reason)
    output.text("  ".join(words))
