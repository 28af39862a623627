"""The command `sweephand why`."""

from typing import Annotated, Any

import typer

from sweephand_client.commands.session import Session


def why(
    session: Session,
    job: Annotated[str, typer.Argument(help="The name of the job.", show_default=False)],
    *,
    at: Annotated[
        str | None, typer.Option(help="The instant (RFC 3339). By default the latest due time.")
    ] = None,
) -> None:
    """Say why a job fired at an instant, or did not."""
    found = session.client.jobs.explain(session.namespace, job, at=at)
    if session.output.as_json:
        session.output.json(found)
        return
    session.output.text(found["summary"])
    shown: dict[str, Any] = {"verdict": found["verdict"], "due": found["dueAt"], **found["nearest"]}
    if "run" in found:
        shown["run"] = f"{found['run']['id']} ({found['run']['state']})"
    if (change := found["evidence"].get("change")) is not None:
        shown["change"] = f"{change['what']} by {change['who']}"
    if "next" in found:
        shown["next"] = found["next"]["at"]
        shown["then"] = found["next"]["step"]
    session.output.fields(shown)
