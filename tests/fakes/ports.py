"""Stores for use cases (sweephand.runtime.stores.Stores), of which a test gives those that it needs."""

from collections.abc import Callable
from dataclasses import fields
from typing import Any, Final, NoReturn

from sweephand.runtime.stores import Stores


class _Missing:
    """Stands for a port that a test does not have. Every call of it fails."""

    def __getattr__(self, name: str) -> Callable[..., NoReturn]:
        def fail(*_: object, **__: object) -> NoReturn:
            raise AssertionError(f"the test has no such port, and {name} was called")

        return fail


MISSING: Final[Any] = _Missing()


def fake_stores(**ports: Any) -> Stores:
    """Stores with these ports. A call of a port that the test leaves out fails."""
    return Stores(**{each.name: MISSING for each in fields(Stores)} | ports)
