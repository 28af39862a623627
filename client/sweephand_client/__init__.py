"""The Python client of Sweephand."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

#: The modules of what is no error.
_PLACES = {
    "Bearer": "http.authorization",
    "Client": "api.client",
    "IamSignature": "http.authorization",
    "find_stack": "profiles",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for. Receivers and most commands need no client, which takes 0.1 s to import."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES.get(name, 'http.errors')}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
