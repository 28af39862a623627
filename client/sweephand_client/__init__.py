"""The Python client of Sweephand."""

from sweephand_client.api.client import Client
from sweephand_client.http.authorization import Bearer, IamSignature
from sweephand_client.http.errors import (
    ConflictError,
    ForbiddenError,
    GoneError,
    InputError,
    InvalidError,
    NotFoundError,
    PreconditionError,
    RefusedError,
    StackFailedError,
    SweephandError,
    TooManyError,
    UnauthenticatedError,
    UnreachableError,
)
from sweephand_client.profiles import find_stack

__all__ = [
    "Bearer",
    "Client",
    "ConflictError",
    "ForbiddenError",
    "GoneError",
    "IamSignature",
    "InputError",
    "InvalidError",
    "NotFoundError",
    "PreconditionError",
    "RefusedError",
    "StackFailedError",
    "SweephandError",
    "TooManyError",
    "UnauthenticatedError",
    "UnreachableError",
    "find_stack",
]
