"""Tries one of many writes, so that a refusal does not stop the others."""

from collections.abc import Callable
from dataclasses import replace
from http import HTTPStatus

from sweephand_client.http.errors import (
    MAY_HAVE_WRITTEN,
    InputError,
    Problem,
    RefusedError,
    StackFailedError,
)


def attempt(write: Callable[[], object]) -> Problem | None:
    """Call `write`. Returns the problem for which it was not done, and None if it was done.

    Raises UnreachableError: no other write would succeed either.
    """
    try:
        write()
    except StackFailedError as error:
        said = (
            f"{error.problem.detail} {MAY_HAVE_WRITTEN}" if error.may_have_written else error.problem.detail
        )
        return replace(error.problem, detail=said)
    except RefusedError as error:
        return error.problem
    except InputError as error:
        return Problem(HTTPStatus.UNPROCESSABLE_ENTITY, "", str(error))
    return None
