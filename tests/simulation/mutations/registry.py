"""What a mutation is, and how production code is broken for as long as a seed runs."""

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any, Final, TypeAlias
from unittest.mock import patch

from greenlet import getcurrent, greenlet
from tests.simulation.world.stores import MakePorts

#: The ports that a use case is built with, by the names of its arguments.
Ports: TypeAlias = MutableMapping[str, Any]

Breaking: TypeAlias = Callable[[], AbstractContextManager[object]]


@dataclass(frozen=True, slots=True)
class Mutation:
    """One way in which production code may be wrong.

    Seeds are looked through from `first` on: those that last for weeks have numbers of their own. It shows
    on `stores` alone, on any if they are None. `masked_by` names the protection that keeps it from doing
    harm, if there is one.
    """

    says: str
    breaks: Breaking
    stores: MakePorts | None
    masked_by: str | None
    first: int = 0


#: All mutations, by the name of the function that makes them.
MUTATIONS: Final[dict[str, Mutation]] = {}


def mutation(
    says: str,
    *,
    stores: MakePorts | None = None,
    masked_by: str | None = None,
    first: int = 0,
) -> Callable[[Callable[[], Iterator[None]]], Breaking]:
    """Make a generator function a mutation: what it says has come true while it is entered."""

    def register(break_it: Callable[[], Iterator[None]]) -> Breaking:
        breaking = contextmanager(break_it)
        MUTATIONS[break_it.__name__] = Mutation(says, breaking, stores, masked_by, first)
        return breaking

    return register


@contextmanager
def everywhere(name: str, value: object) -> Iterator[None]:
    """Something else under that name in every module of Sweephand that has it: a constant or a function."""
    modules = [
        module
        for module_name, module in list(sys.modules.items())
        if module_name.startswith("sweephand.") and name in vars(module)
    ]
    assert modules, f"nobody has {name}"
    with ExitStack() as patches:
        for module in modules:
            patches.enter_context(patch.object(module, name, value))
        yield


@contextmanager
def built(use_case: type, change: Callable[[Ports], None]) -> Iterator[None]:
    """Every use case of that class is built with other ports than it is given."""
    build: Any = use_case.__init__  # type: ignore[misc]

    @wraps(build)
    def rebuilt(self: object, **ports: Any) -> None:
        change(ports)
        build(self, **ports)

    with patch.object(use_case, "__init__", rebuilt):
        yield


class Instead:
    """A port of which some methods are others."""

    def __init__(self, port: object, **methods: Callable[..., object]) -> None:
        for name in methods:
            assert hasattr(port, name), f"{type(port).__name__} has no {name}"
        self._port = port
        vars(self).update(methods)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._port, name)


class Later:
    """Calls that are made later than they are asked for, each thread's by itself."""

    def __init__(self) -> None:
        self._calls: dict[greenlet, list[Callable[[], object]]] = defaultdict(list)

    def of(self, method: Callable[..., object]) -> Callable[..., None]:
        """The method, put off."""

        def put_off(*args: object, **kwargs: object) -> None:
            self._calls[getcurrent()].append(lambda: method(*args, **kwargs))

        return put_off

    def forget(self) -> None:
        """Make none of the calls."""
        self._calls.pop(getcurrent(), None)

    def make(self) -> None:
        """Make the calls now."""
        for call in self._calls.pop(getcurrent(), ()):
            call()
