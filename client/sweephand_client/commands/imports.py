"""The commands `sweephand import …`."""

from typing import Any

import typer
from typer.core import TyperGroup

from sweephand_client.commands.eventbridge import eventbridge
from sweephand_client.commands.session import command
from sweephand_client.commands.transfer import import_file


class _FileByDefault(TyperGroup):
    """Takes `import FILE` for `import file FILE`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the command in front, unless there is one."""
        if args and args[0] not in self.commands and args[0] != "--help":
            args = ["file", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_FileByDefault, no_args_is_help=True, help="Bring jobs from an export, or from another scheduler."
)
command(app, "file")(import_file)
command(app, "eventbridge")(eventbridge)
