"""What the calls that go through all jobs have in common: whose jobs they are, and where a call goes on."""

from typing import Final

from sweephand.base.errors import ForbiddenError
from sweephand.model.api_key import EVERY_NAMESPACE, Caller
from sweephand.model.audit_round import BEGINNING, JobProgress
from sweephand.web.http import cursor

#: Separates the parts of a position. No name contains it.
_SEPARATOR: Final = "#"


def namespace_for(caller: Caller, asked: str | None, begun: JobProgress) -> str | None:
    """The namespace whose jobs a call goes through; None for every namespace.

    ForbiddenError: the key does not open the namespace that was asked for, or that of the cursor.
    """
    for namespace in (asked, begun.namespace):
        if namespace and not caller.sees(namespace):
            raise ForbiddenError(
                f"This key is for namespace {caller.namespace}. It opens the jobs of no other."
            )
    return asked or (None if caller.namespace == EVERY_NAMESPACE else caller.namespace)


def progress_from(call: str, text: str | None, namespace: str | None) -> JobProgress:
    """The progress in a cursor; ValueError if it is not one of that call, or is of another namespace."""
    if text is None:
        return BEGINNING
    found, *rest = cursor.decode(call, text).split(_SEPARATOR, 2)
    name, before = rest
    if namespace is not None and found != namespace:
        raise ValueError(cursor.INVALID)
    return JobProgress(found, name, before)


def cursor_of(call: str, progress: JobProgress) -> str:
    """The cursor with which the next call goes on."""
    return cursor.encode(call, _SEPARATOR.join(progress))
