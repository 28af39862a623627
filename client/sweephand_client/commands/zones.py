"""The command `sweephand zones`."""

import datetime as dt
from typing import Annotated

import typer

from sweephand_client.commands.session import Session
from sweephand_client.tasks.zones import COMPARED_MAX, installed_version, moves


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
