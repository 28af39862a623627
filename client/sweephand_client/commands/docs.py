"""The command that opens the site of the documentation."""

import webbrowser
from pathlib import Path
from typing import Final

import typer

from sweephand_client.commands.session import BAD_INPUT

#: Where `make docs` builds the site, in a clone of the repository.
SITE: Final = Path("build", "docs", "site")


def docs() -> None:
    """Open the site of the documentation that `make docs` has built in this clone of the repository.

    The site needs no network, and no running stack.
    """
    here = Path.cwd()
    built = (folder / SITE / "index.html" for folder in (here, *here.parents))
    found = next((page for page in built if page.is_file()), None)
    if found is None:
        typer.echo(
            f"Neither {here} nor a folder above it has {SITE / 'index.html'}. Run `make docs` in a clone of "
            "the repository, and then this command there. Without a clone, `sweephand COMMAND --help` says "
            "what a command does, and your stack describes its API at /docs.",
            err=True,
        )
        raise typer.Exit(BAD_INPUT)
    # Where no browser is, the address still says what to open.
    typer.echo(found.as_uri())
    webbrowser.open(found.as_uri())
