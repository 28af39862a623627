"""The command line `sweephand`."""

from importlib import metadata
from typing import Annotated

import typer

from sweephand_client.commands import (
    access,
    apply,
    batch,
    calendar,
    crontab,
    deploy,
    dev,
    docs,
    eventbridge,
    figures,
    flow,
    job,
    rehearse,
    repairs,
    run,
    transfer,
    worker,
)
from sweephand_client.commands.session import command

app = typer.Typer(
    name="sweephand",
    no_args_is_help=True,
    # A traceback with the values of variables would print keys.
    pretty_exceptions_enable=False,
    help="Schedule jobs in a Sweephand stack, and see what becomes of them.",
    epilog="Exit codes: 0 done, 1 differs, 2 bad input, 3 unreachable, 4 refused.",
)
app.add_typer(job.app, name="job")
app.add_typer(run.app, name="run")
app.add_typer(batch.app, name="batch")
app.add_typer(flow.schedules, name="schedule")
app.add_typer(calendar.app, name="calendar")
app.add_typer(flow.policies, name="policy")
app.add_typer(flow.windows, name="window")
app.add_typer(flow.namespaces, name="namespace")
app.add_typer(access.keys, name="key")
app.add_typer(access.secrets, name="secret")
app.add_typer(access.profiles, name="profile")
app.add_typer(transfer.imports, name="import")
app.command()(dev.dev)
app.command()(docs.docs)
app.command()(deploy.deploy)
app.command()(deploy.destroy)
command(app)(access.status)
command(app)(access.changes)
command(app)(run.tail)
command(app)(figures.forecast)
command(app)(figures.stats)
command(app)(figures.zones)
command(app)(run.why)
command(app)(apply.apply)
command(app)(apply.schema)
command(app)(rehearse.rehearse)
command(app)(rehearse.check)
command(app)(crontab.crontab)
command(app)(worker.worker)
command(app)(transfer.export)
command(transfer.imports, "file")(transfer.import_file)
command(transfer.imports, "eventbridge")(eventbridge.eventbridge)
command(app)(repairs.rebuild)
command(app)(repairs.audit)


def _show_version(asked: bool) -> None:  # noqa: FBT001 - typer passes it by position
    if asked:
        try:
            version = metadata.version("sweephand")
        except metadata.PackageNotFoundError:
            version = "of a clone, which is not installed"
        typer.echo(f"sweephand {version}")
        raise typer.Exit


@app.callback()
def options(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Schedule jobs in a Sweephand stack, and see what becomes of them."""


def main() -> None:
    """Run the command line, and exit with its code."""
    app(prog_name="sweephand")


if __name__ == "__main__":
    main()
