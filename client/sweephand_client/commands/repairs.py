"""The commands that go through all jobs after a loss: `sweephand rebuild` and `sweephand audit`."""

from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Any, Final, TypeVar

import typer

from sweephand_client.commands.session import DIFFERS, Session
from sweephand_client.commands.tables import counted
from sweephand_client.commands.times import PAST
from sweephand_client.http.errors import SweephandError
from sweephand_client.openapi.stack_answers import AuditResponse, RebuildResponse

_Part = TypeVar("_Part", RebuildResponse, AuditResponse)

_REBUILT: Final = ("jobs", "timers", "runs")
_COUNTS: Final = ("jobs", "late", "written", "kept")
_FOUND: Final = ("timers", "runs", "failed")

_Cursor = Annotated[
    str | None, typer.Option(help="Go on behind this cursor, which an interrupted call has printed.")
]


def rebuild(
    session: Session,
    *,
    since: Annotated[
        str,
        typer.Option(help=f"A time when the stack still delivered, at most 14 days ago: {PAST}."),
    ],
    cursor: _Cursor = None,
) -> None:
    """Arm every job again, after the Timers table was lost or restored.

    By default the jobs of every namespace that the key opens. With --namespace, only those of that one.
    """
    since = session.times.past(since)
    done: Counter[str] = Counter()
    failed: list[Any] = []
    parts = session.client.rebuild(since, namespace=session.asked_namespace, cursor=cursor)
    interrupted = f"Not all jobs were armed. Go on with --since {since} --cursor"
    for part in _shown(session, parts, cursor, interrupted):
        done.update({name: part[name] for name in _REBUILT})
        failed += part["failed"]
    counts = {name: done[name] for name in _REBUILT}
    texts = (counted(counts[name], name.removesuffix("s")) for name in _REBUILT)
    text = "{} examined: {} written, and {} taken up.".format(*texts)
    session.output.done(text, {**counts, "failed": failed})
    for each in failed:
        session.output.note(f"Not armed: {each['namespace']}/{each['name']}: {each['detail']}")
    if failed:
        raise typer.Exit(DIFFERS)


def audit(
    session: Session,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only report, and mend nothing.")] = False,
    cursor: _Cursor = None,
) -> None:
    """Find timers and messages that were lost without a trace, and write them again.

    By default the jobs of every namespace that the key opens. With --namespace, only those of that one. The
    exit code is 1 if something is left to do: a job that could not be judged, or what --dry-run has found.
    `sweephand zones` shows what newer zone data would move.
    """
    counts: Counter[str] = Counter()
    found: dict[str, list[Any]] = {name: [] for name in _FOUND}
    parts = session.client.audit(namespace=session.asked_namespace, dry_run=dry_run, cursor=cursor)
    for part in _shown(session, parts, cursor, "Not all jobs were examined. Go on with --cursor"):
        counts.update({name: part[name] for name in _COUNTS})
        for name in _FOUND:
            found[name] += part[name]
    rows = [
        *((f"{each['namespace']}/{each['name']}", "timer", each["dueAt"]) for each in found["timers"]),
        *((f"{each['namespace']}/{each['name']}", each["runId"], each["dueAt"]) for each in found["runs"]),
    ]
    value = {**{name: counts[name] for name in _COUNTS}, **found}
    if rows and not session.output.is_data:
        session.output.table(("Job", "Lost", "Due"), rows, value)
    text = (
        f"{counted(counts['jobs'], 'job')} examined: {counted(len(found['timers']), 'lost timer')} and "
        f"{counted(len(found['runs']), 'lost message')} found, {counts['written']} written."
    )
    session.output.done(text, value)
    for each in found["failed"]:
        session.output.note(f"Not examined: {each['namespace']}/{each['name']}: {each['detail']}")
    if counts["late"]:
        session.output.note(f"Not judged: {counted(counts['late'], 'job')}. The sweepers are late.")
    if found["failed"] or counts["late"] or (dry_run and rows):
        raise typer.Exit(DIFFERS)


def _shown(session: Session, parts: Iterator[_Part], cursor: str | None, interrupted: str) -> Iterator[_Part]:
    """The answers, with a bar. After an error, a note ends with the cursor that was reached."""
    reached = cursor
    try:
        with session.output.progress("jobs") as bar:
            for part in parts:
                yield part
                reached = part.get("nextCursor")
                bar.step(part["jobs"])
    except SweephandError:
        if reached is not None:
            session.output.note(f"{interrupted} {reached}")
        raise
