"""The command `sweephand forecast`."""

from typing import Annotated, Final

import typer

from sweephand_client.commands.inputs import read_labels
from sweephand_client.commands.session import Session

#: The width of the longest bar, in characters.
_BAR_WIDTH: Final = 40


def forecast(
    session: Session,
    *,
    since: Annotated[
        str | None, typer.Option("--from", help="Where the first bucket begins (RFC 3339). By default now.")
    ] = None,
    to: Annotated[
        str | None, typer.Option(help="Where the last bucket ends. By default a day later.")
    ] = None,
    bucket: Annotated[str, typer.Option(help="The length of a bucket, as 10m, 1h or 7d.")] = "1h",
    prefix: Annotated[str | None, typer.Option(help="Only jobs whose names begin so.")] = None,
    label: Annotated[list[str] | None, typer.Option(help="Only jobs with this label, as name=value.")] = None,
) -> None:
    """Count the triggers of the namespace that fall due in each hour to come."""
    labels = read_labels(label or ())
    found = session.client.namespaces.forecast(
        session.namespace, since=since, to=to, bucket=bucket, prefix=prefix, labels=labels
    )
    most = max((each["triggers"] for each in found["buckets"]), default=1)
    rows = [
        (each["at"], each["triggers"], "█" * max(1, each["triggers"] * _BAR_WIDTH // most))
        for each in found["buckets"]
    ]
    session.output.table(("FROM", "TRIGGERS", ""), rows, found)
    if found["paused"]:
        session.output.note(f"Not in it: {found['paused']} paused.")
