"""Chooses the exit code of a command when the stack refused some of its jobs."""

from collections.abc import Iterable
from typing import Final

import typer

from sweephand_client.commands.session import BAD_INPUT, REFUSED, UNREACHABLE
from sweephand_client.http.errors import HELD_BACK, Problem

#: The statuses of problems that better input would not have.
_INVALID: Final = (400, 405, 413, 415, 422)


def exit_for(found: Iterable[Problem | None]) -> None:
    """Exit because of problems of single jobs: 3 if the stack failed, 2 if all input was wrong, else 4.

    Returns without any problem.
    """
    problems = [each for each in found if each is not None]
    if not problems:
        return
    if any(each.status >= 500 for each in problems):  # noqa: PLR2004 - 5xx
        raise typer.Exit(UNREACHABLE)
    # A deletion that was held back only follows from another problem.
    others = [each for each in problems if each.kind != HELD_BACK]
    raise typer.Exit(BAD_INPUT if all(each.status in _INVALID for each in others) else REFUSED)
