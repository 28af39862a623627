"""The command `sweephand rebuild`."""

from collections import Counter
from typing import Annotated, Any

import typer

from sweephand_client.commands.session import DIFFERS, Session
from sweephand_client.http.errors import SweephandError


def rebuild(
    session: Session,
    *,
    since: Annotated[
        str,
        typer.Option(help="An instant at which the stack still delivered (RFC 3339), at most 14 days ago."),
    ],
    cursor: Annotated[
        str | None, typer.Option(help="Go on behind this cursor, which an interrupted rebuild has printed.")
    ] = None,
) -> None:
    """Arm every job again, after the Timers table was lost or restored.

    By default the jobs of every namespace that the key opens. With --namespace, only those of that one.
    """
    done: Counter[str] = Counter()
    failed: list[Any] = []
    reached = cursor
    namespace = session.asked_namespace
    try:
        with session.output.progress("jobs") as bar:
            for part in session.client.rebuild(since, namespace=namespace, cursor=cursor):
                done.update({name: part[name] for name in ("jobs", "timers", "runs")})
                failed += part["failed"]
                reached = part.get("nextCursor")
                bar.step(part["jobs"])
    except SweephandError:
        if reached is not None:
            session.output.note(f"Not all jobs were armed. Go on with --since {since} --cursor {reached}")
        raise
    counts = {name: done[name] for name in ("jobs", "timers", "runs")}
    text = "{jobs} jobs examined: {timers} timers written, and {runs} runs taken up.".format_map(counts)
    session.output.done(text, {**counts, "failed": failed})
    for each in failed:
        session.output.note(f"Not armed: {each['namespace']}/{each['name']}: {each['detail']}")
    if failed:
        raise typer.Exit(DIFFERS)
