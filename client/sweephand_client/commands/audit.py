"""The command `sweephand audit`."""

from collections import Counter
from typing import Annotated, Any, Final

import typer

from sweephand_client.commands.session import DIFFERS, Session
from sweephand_client.http.errors import SweephandError

_COUNTS: Final = ("jobs", "late", "written", "kept")
_FOUND: Final = ("timers", "runs", "failed")


def audit(
    session: Session,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only report, and mend nothing.")] = False,
    cursor: Annotated[
        str | None, typer.Option(help="Go on behind this cursor, which an interrupted audit has printed.")
    ] = None,
) -> None:
    """Find timers and messages that were lost without a trace, and write them again.

    By default the jobs of every namespace that the key opens. With --namespace, only those of that one. The
    exit code is 1 if something is left to do: a job that could not be judged, or what --dry-run has found.
    `sweephand zones` shows what newer zone data would move.
    """
    counts: Counter[str] = Counter()
    found: dict[str, list[Any]] = {name: [] for name in _FOUND}
    reached = cursor
    try:
        with session.output.progress("jobs") as bar:
            for part in session.client.audit(
                namespace=session.asked_namespace, dry_run=dry_run, cursor=cursor
            ):
                counts.update({name: part[name] for name in _COUNTS})
                for name in _FOUND:
                    found[name] += part[name]
                reached = part.get("nextCursor")
                bar.step(part["jobs"])
    except SweephandError:
        if reached is not None:
            session.output.note(f"Not all jobs were examined. Go on with --cursor {reached}")
        raise
    rows = [
        *((f"{each['namespace']}/{each['name']}", "timer", each["dueAt"]) for each in found["timers"]),
        *((f"{each['namespace']}/{each['name']}", each["runId"], each["dueAt"]) for each in found["runs"]),
    ]
    value = {**{name: counts[name] for name in _COUNTS}, **found}
    if rows and not session.output.as_json:
        session.output.table(("Job", "Lost", "Due"), rows, value)
    text = (
        f"{counts['jobs']} jobs examined: {len(found['timers'])} lost timers and {len(found['runs'])} lost "
        f"messages found, {counts['written']} written."
    )
    session.output.done(text, value)
    for each in found["failed"]:
        session.output.note(f"Not examined: {each['namespace']}/{each['name']}: {each['detail']}")
    if counts["late"]:
        session.output.note(f"Not judged: {counts['late']} jobs, with which the sweepers are late.")
    if found["failed"] or counts["late"] or (dry_run and rows):
        raise typer.Exit(DIFFERS)
