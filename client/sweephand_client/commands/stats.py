"""The command `sweephand stats`."""

from typing import Annotated, Final

import typer

from sweephand_client.api.figures import StatsStep
from sweephand_client.commands.session import Session

#: The width of the longest bar, in characters.
_BAR_WIDTH: Final = 40

_COLUMNS: Final = ("FROM", "DELIVERED", "RETRYING", "FAILED", "SKIPPED", "FAULTS", "P50 MS", "P99 MS", "")


def stats(
    session: Session,
    *,
    since: Annotated[
        str | None,
        typer.Option("--from", help="Where the first step begins (RFC 3339). By default an hour ago."),
    ] = None,
    to: Annotated[str | None, typer.Option(help="Where the last step ends. By default now.")] = None,
    step: Annotated[
        str, typer.Option(help="The length of a step in whole minutes, as 1m, 15m or 24h.")
    ] = "5m",
) -> None:
    """Show what deliveries of the namespace counted: outcomes, and how late they were.

    The stack counts if its parameter Stats is on. A bar shows how many attempts were made in a step.
    """
    found = session.client.namespaces.stats(session.namespace, since=since, to=to, step=step)
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
    session.output.table(_COLUMNS, rows, found)
    if not rows:
        session.output.note("Nothing was delivered in this time.")


def _attempts(step: StatsStep) -> int:
    return step["succeeded"] + step["running"] + step["retrying"] + step["failed"]
