"""What several commands print: changes, due times, and how late or why a run is."""

from collections.abc import Iterable
from itertools import islice
from typing import Annotated, TypeVar

import typer

from sweephand_client.commands.session import Session
from sweephand_client.openapi.job_answers import ChangeResponse, OccurrencesResponse, RunResponse

Entry = TypeVar("Entry")

#: How many entries of a list are shown. A command says how many by default.
Limit = Annotated[
    int | None, typer.Option(min=1, help="How many to show. By default 20, and as data all of them.")
]


def limited(session: Session, found: Iterable[Entry], limit: int | None, usual: int = 20) -> list[Entry]:
    """So many entries, and a note if there are more. Without a limit `usual` of them, or as data all."""
    if limit is None:
        if session.output.is_data:
            return list(found)
        limit = usual
    entries = list(islice(found, limit + 1))
    if len(entries) > limit:
        session.output.note(f"There are more than {limit}. Give a greater --limit to see them.")
    return entries[:limit]


def counted(count: int, noun: str) -> str:
    """A count with its noun: `1 job`, `2 jobs`, `1 batch`, `2 batches`."""
    ending = "es" if noun.endswith(("ch", "s", "x")) else "s"
    return f"{count} {noun}" if count == 1 else f"{count:,} {noun}{ending}"


def late(lateness_ms: int | None) -> str:
    """A lateness in words."""
    if lateness_ms is None:
        return "-"
    return f"{lateness_ms} ms" if lateness_ms < 10_000 else f"{lateness_ms // 1000} s"  # noqa: PLR2004 - ten seconds


def reason_of(run: RunResponse) -> str:
    """Why a run is as it is: its reason, or the code of the last answer."""
    code = run["responseCode"]
    return run["reason"] or ("" if code is None else f"answer {code}")


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
    if session.output.is_data:
        session.output.data(found)
        return
    session.output.text(found["description"])
    rows = [(each["local"], each["utc"], each.get("reason", "")) for each in found["occurrences"]]
    rows += [(each["local"], "does not fire", each["reason"]) for each in found["skipped"]]
    session.output.table(("IN ITS ZONE", "HERE", "CLOCK CHANGE"), sorted(rows), found)
    if found["end"] is not None:
        session.output.text(f"The last one is at {session.output.local(found['end'])}.")
