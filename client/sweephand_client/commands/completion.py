"""Completes the names of jobs in a shell, by asking the stack that the options before them choose."""

from itertools import islice
from typing import Final

import typer

from sweephand_client.api.client import Client
from sweephand_client.http.errors import SweephandError
from sweephand_client.http.operation import Repetition
from sweephand_client.profiles import find_stack

_NAMES_MAX: Final = 50


def job_names(context: typer.Context, incomplete: str) -> list[str]:
    """The names of jobs that begin so, 50 at most; none if the stack cannot be asked. It asks once."""
    try:
        stack = find_stack(profile=context.params.get("in_profile"))
        repetition = Repetition(attempts_max=1)
        with Client(stack.url, stack.authorization(), repetition=repetition) as client:
            named = context.params.get("in_namespace") or stack.namespace
            found = client.jobs.list(named or client.me()["namespace"], prefix=incomplete)
            return [each["name"] for each in islice(found, _NAMES_MAX)]
    except SweephandError:
        return []
