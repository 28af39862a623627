"""What several commands print: changes, due times, attempts, and how late or why a run is."""

import datetime as dt
from collections.abc import Iterable, Sequence
from itertools import islice, pairwise
from typing import Annotated, Any, Final, TypeVar

import typer

from sweephand_client.commands.session import Session
from sweephand_client.openapi.job_answers import (
    AttemptResponse,
    ChangeResponse,
    JobHealthResponse,
    OccurrencesResponse,
    RunResponse,
)

Entry = TypeVar("Entry")

#: Shorter lengths of time are shown in milliseconds, and those of fewer minutes in seconds.
_SHORT_MS: Final = 10_000
_FEW_MINUTES: Final = 2

#: How many entries of a list are shown. A command says how many by default.
Limit = Annotated[
    int | None, typer.Option(min=1, help="How many to show. By default 20, and as data all of them.")
]


def limited(session: Session, found: Iterable[Entry], limit: int | None, usual: int = 20) -> list[Entry]:
    """So many entries, and a note if there are more. Without a limit `usual` of them, or as data all."""
    found = session.output.watched(found)
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


def lasting(length_ms: int | None) -> str:
    """A length of time in words: `90 ms`, `42 s`, `3m 20s`, `1d 2h`; a dash for None."""
    if length_ms is None:
        return "-"
    if length_ms < _SHORT_MS:
        return f"{length_ms} ms"
    minutes, seconds = divmod(length_ms // 1000, 60)
    if minutes < _FEW_MINUTES:
        return f"{length_ms // 1000} s"
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = [
        f"{count}{unit}" for count, unit in zip((days, hours, minutes, seconds), "dhms", strict=True) if count
    ]
    return " ".join(parts[:2])


def reason_of(run: RunResponse) -> str:
    """Why a run is as it is: its reason, or the code of the last answer."""
    code = run["responseCode"]
    return run["reason"] or ("" if code is None else f"answer {code}")


def health_text(health: JobHealthResponse) -> str:
    """How a job does: whether its newest runs fail, and the states of up to ten of them, newest first."""
    states = ", ".join(each["state"] for each in health["runs"])
    if not states:
        return "no run yet"
    row = health["failuresInARow"]
    return f"failing, {counted(row, 'run')} in a row: {states}" if health["failing"] else states


def show_attempts(session: Session, run: RunResponse) -> None:
    """Print the attempts of a run below each other, and when the next one follows.

    The wait before an attempt is counted from the end of the one before it.
    """
    history = run.get("attemptHistory", [])
    waits = [None, *(_wait_ms(*each) for each in pairwise(history))]
    rows: list[Sequence[Any]] = [
        (
            each["attempt"],
            each["startedAt"],
            _answer(run, each),
            lasting(each["durationMs"]),
            lasting(wait_ms),
        )
        for each, wait_ms in zip(history, waits, strict=False)
    ]
    if run["nextAttemptAt"] is not None:
        wait_ms = _between_ms(_end(history[-1]), run["nextAttemptAt"]) if history else None
        rows.append((run["attempts"] + 1, run["nextAttemptAt"], "follows", "-", lasting(wait_ms)))
    if rows:
        session.output.text("")
        session.output.table(
            ("ATTEMPT", "BEGAN", "ANSWER", "TOOK", "WAITED"), rows, rows, shortened=("ANSWER",)
        )


def _answer(run: RunResponse, attempt: AttemptResponse) -> str:
    """The code and the beginning of the answer, or why the last attempt had none."""
    found = " ".join(str(each) for each in (attempt["responseCode"], attempt["answer"]) if each is not None)
    failure = run.get("lastFailure")
    if not found and failure is not None and failure["attempt"] == attempt["attempt"]:
        return failure["reason"]
    return found or "-"


def _wait_ms(before: AttemptResponse, after: AttemptResponse) -> int | None:
    """The time between two attempts; None where others were between them."""
    follows = after["attempt"] == before["attempt"] + 1
    return _between_ms(_end(before), after["startedAt"]) if follows else None


def _end(attempt: AttemptResponse) -> dt.datetime | None:
    length_ms = attempt["durationMs"]
    if length_ms is None:
        return None
    return dt.datetime.fromisoformat(attempt["startedAt"]) + dt.timedelta(milliseconds=length_ms)


def _between_ms(begin: dt.datetime | None, end: str) -> int | None:
    if begin is None:
        return None
    return max((dt.datetime.fromisoformat(end) - begin) // dt.timedelta(milliseconds=1), 0)


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
