"""Tries one of many writes, so that a refusal does not stop the others."""

from collections.abc import Callable
from http import HTTPStatus

from sweephand_client.http.errors import InputError, Problem, RefusedError, StackFailedError


def attempt(write: Callable[[], object]) -> Problem | None:
    """Call `write`. Returns the problem for which it was not done, and None if it was done.

    Raises UnreachableError: no other write would succeed either.
    """
    try:
        write()
    except (RefusedError, StackFailedError) as error:
        return error.problem
    except InputError as error:
        return Problem(HTTPStatus.UNPROCESSABLE_ENTITY, "", str(error))
    return None
