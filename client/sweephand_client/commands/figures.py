"""The commands about all jobs at once: `sweephand forecast`, `stats` and `zones`."""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Final

import typer

from sweephand_client.commands.inputs import read_labels
from sweephand_client.commands.session import Session
from sweephand_client.commands.times import AHEAD, PAST, given
from sweephand_client.openapi.run_answers import StatsStepResponse
from sweephand_client.tasks.zones import COMPARED_MAX, installed_version, moves

#: The width of the longest bar, in characters.
_BAR_WIDTH: Final = 40

_STATS: Final = ("FROM", "DELIVERED", "RETRYING", "FAILED", "SKIPPED", "FAULTS", "P50 MS", "P99 MS", "")


def overview(
    session: Session,
    *,
    since: Annotated[
        str | None, typer.Option(help=f"Count runs due since then: {PAST}. By default 24h.")
    ] = None,
    jobs: Annotated[bool, typer.Option("--jobs", help="Count the jobs of each, too.")] = False,
) -> None:
    """Show what fails, is late, waits and is paused in all namespaces of the key, trouble first.

    Late are first attempts of the last hour. The stack counts them if its parameter Stats is on.
    """
    begin = given(session.times.past, since)
    every = session.client.namespaces.overview(since=begin, include="jobs" if jobs else None)
    found = list(session.of_namespace(every))
    found.sort(key=lambda each: (-each["failingJobs"], -each["failed"], -each["retrying"]))
    columns, rows = overview_table(found)
    session.output.table(columns, rows, found)


def overview_table(found: Sequence[Mapping[str, Any]]) -> tuple[Sequence[str], Sequence[Sequence[Any]]]:
    """The columns and rows of an overview. What the stack does not count has no column."""
    columns: dict[str, Callable[[Mapping[str, Any]], Any]] = {
        "NAMESPACE": lambda each: each["namespace"],
        "FAILING JOBS": _at_least("failingJobs"),
        "FAILED": _at_least("failed"),
        "RETRYING": _at_least("retrying"),
        "SKIPPED": _at_least("skipped"),
        "RUNNING LATE": _at_least("running"),
        "PAUSED POLICIES": lambda each: each["pausedPolicies"],
        "WAITING": lambda each: f"{each['waiting']}{'' if each['waitingIsExact'] else '+'}",
        "SINCE": lambda each: each["waitingSince"],
    }
    if any("lastHour" in each for each in found):
        columns["LATE IN THE LAST HOUR"] = lambda each: (
            each["lastHour"]["late"] if "lastHour" in each else None
        )
    if any("jobs" in each for each in found):
        columns |= {state.upper(): partial(_jobs, state) for state in ("active", "paused", "completed")}
    return list(columns), [[cell(each) for cell in columns.values()] for each in found]


def _jobs(state: str, namespace: Mapping[str, Any]) -> int:
    count: int = namespace["jobs"][state]
    return count


def _at_least(name: str) -> Callable[[Mapping[str, Any]], str]:
    """The cell of a count, with a plus sign where there may be more."""
    return lambda each: f"{each[name]}{'+' if each['partial'] else ''}"


def forecast(
    session: Session,
    *,
    since: Annotated[
        str | None, typer.Option("--from", help=f"Where the first bucket begins: {AHEAD}. By default now.")
    ] = None,
    to: Annotated[
        str | None, typer.Option(help="Where the last bucket ends. By default a day later.")
    ] = None,
    bucket: Annotated[str, typer.Option(help="The length of a bucket, as 10m, 1h or 7d.")] = "1h",
    prefix: Annotated[str | None, typer.Option(help="Only jobs whose names begin so.")] = None,
    label: Annotated[list[str] | None, typer.Option(help="Only jobs with this label, as name=value.")] = None,
) -> None:
    """Count the triggers of the namespace that fall due in each hour to come."""
    labels, ahead = read_labels(label or ()), session.times.ahead
    found = session.client.namespaces.forecast(
        session.namespace,
        since=given(ahead, since),
        to=given(ahead, to),
        bucket=bucket,
        prefix=prefix,
        labels=labels,
    )
    most = max((each["triggers"] for each in found["buckets"]), default=1)
    rows = [
        (each["at"], each["triggers"], "█" * max(1, each["triggers"] * _BAR_WIDTH // most))
        for each in found["buckets"]
    ]
    session.output.table(("FROM", "TRIGGERS", ""), rows, found)
    if found["paused"]:
        session.output.note(f"Not in it: {found['paused']} paused.")


def stats(
    session: Session,
    *,
    since: Annotated[
        str | None,
        typer.Option("--from", help=f"Where the first step begins: {PAST}. By default an hour ago."),
    ] = None,
    to: Annotated[str | None, typer.Option(help="Where the last step ends. By default now.")] = None,
    step: Annotated[
        str, typer.Option(help="The length of a step in whole minutes, as 1m, 15m or 24h.")
    ] = "5m",
) -> None:
    """Show what deliveries of the namespace counted: outcomes, and how late they were.

    The stack counts if its parameter Stats is on. A bar shows how many attempts were made in a step.
    """
    past = session.times.past
    found = session.client.namespaces.stats(
        session.namespace, since=given(past, since), to=given(past, to), step=step
    )
    most = max(map(_attempts, found["steps"]), default=0)
    rows = [
        (
            each["at"],
            each["succeeded"] + each["running"],
            each["retrying"],
            each["failed"],
            each["skipped"],
            each["faults"],
            each["p50Ms"],
            each["p99Ms"],
            "█" * -(-_attempts(each) * _BAR_WIDTH // max(most, 1)),
        )
        for each in found["steps"]
    ]
    session.output.table(_STATS, rows, found)
    if not rows:
        session.output.note("Nothing was delivered in this time.")


def _attempts(step: StatsStepResponse) -> int:
    return step["succeeded"] + step["running"] + step["retrying"] + step["failed"]


def zones(
    session: Session,
    *,
    days: Annotated[int, typer.Option(min=1, max=3650, help="Compare the due times of so many days.")] = 400,
) -> None:
    """Show which due times move if the stack gets the zone data that are installed here."""
    until = session.now() + dt.timedelta(days=days)
    with session.output.progress("comparing") as bar:
        found = list(moves(session.client, session.namespace, until=until, seen=bar.step))
    rows = [(each.job, each.timezone, each.local, each.was, each.becomes, each.is_next) for each in found]
    value = {"tzdata": installed_version(), "moves": [each._asdict() for each in found]}
    session.output.table(("JOB", "ZONE", "ON THE WALL", "IS NOW", "BECOMES", "NEXT"), rows, value)
    what = f"The zone data here: {installed_version()}. Of each job, {COMPARED_MAX} due times are compared."
    if not found:
        what += " None moves."
    elif any(each.is_next for each in found):
        what += " After the upgrade, pause and resume the jobs whose next due time moves."
    session.output.note(what)
