"""Mutations: ways to break production code while a seed runs."""

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial, wraps
from importlib import import_module
from pkgutil import walk_packages
from typing import Any, Final, TypeAlias
from unittest.mock import patch

from greenlet import getcurrent, greenlet
from tests.simulation.world.stores import MakePorts

import sweephand.runs

# Production imports some modules when it first needs them. A module that was imported within a mutation would
# keep what everywhere() replaces.
for _each in walk_packages(sweephand.runs.__path__, "sweephand.runs."):
    import_module(_each.name)

#: The ports of a use case, by the names of its arguments.
Ports: TypeAlias = MutableMapping[str, Any]

#: While it is entered, production code is broken.
Broken: TypeAlias = AbstractContextManager[object]
Breaking: TypeAlias = Callable[[], Broken]


@dataclass(frozen=True, slots=True)
class Mutation:
    """One way in which production code may be wrong.

    `says` describes the broken code in a sentence. The search begins with seed `first`, since seeds that last
    for weeks have numbers of their own. The mutation shows on `stores` alone, or on any if they are None.
    `masked_by` names the protection that keeps it from doing harm, if there is one. `shown_by` is the id of a
    unit test that fails, for a mutation that shows in too few seeds to be searched for.
    """

    says: str
    breaks: Breaking
    stores: MakePorts | None
    masked_by: str | None
    first: int = 0
    shown_by: str | None = None


#: All mutations, by the name of the function that makes them.
MUTATIONS: Final[dict[str, Mutation]] = {}


def mutation(
    says: str,
    *,
    stores: MakePorts | None = None,
    masked_by: str | None = None,
    first: int = 0,
    shown_by: str | None = None,
) -> Callable[[Breaking], Breaking]:
    """Make a function a mutation. While what it returns is entered, the sentence `says` is true."""

    def register(breaks: Breaking) -> Breaking:
        MUTATIONS[breaks.__name__] = Mutation(says, breaks, stores, masked_by, first, shown_by)
        return breaks

    return register


def replacing(target: object, name: str) -> Callable[[Callable[..., Any]], Breaking]:
    """Let a function be what breaks production code: it takes the place of `target.name`."""

    def decorate(change: Callable[..., Any]) -> Breaking:
        @wraps(change)
        def breaks() -> Broken:
            return patch.object(target, name, change)

        return breaks

    return decorate


def wrapping(target: object, name: str) -> Callable[[Callable[..., Any]], Breaking]:
    """The same as `replacing`, for a function whose first argument is what it takes the place of."""

    def decorate(change: Callable[..., Any]) -> Breaking:
        @wraps(change)
        def breaks() -> Broken:
            bound = partial(change, getattr(target, name))

            # It shows the arguments of `change`, so that a test can compare them with those of `target.name`.
            @wraps(bound)
            def changed(*args: Any, **kwargs: Any) -> Any:
                return bound(*args, **kwargs)

            return patch.object(target, name, changed)

        return breaks

    return decorate


def wrapping_in(use_case: type, port: str, method: str) -> Callable[[Callable[..., Any]], Breaking]:
    """The same as `wrapping`, for a method of a port of every use case of that class."""

    def decorate(change: Callable[..., Any]) -> Breaking:
        @wraps(change)
        def breaks() -> Broken:
            def changed(ports: Ports) -> None:
                whole = ports[port]
                ports[port] = Instead(whole, **{method: partial(change, getattr(whole, method))})

            return built(use_case, changed)

        return breaks

    return decorate


@contextmanager
def together(*breaks: Broken) -> Iterator[None]:
    """Break production code in several ways at once."""
    with ExitStack() as stack:
        for each in breaks:
            stack.enter_context(each)
        yield


def built_with(use_case: type, port: str, **methods: Callable[..., object]) -> Broken:
    """Build every use case of that class with other methods of one port."""

    def change(ports: Ports) -> None:
        ports[port] = Instead(ports[port], **methods)

    return built(use_case, change)


@contextmanager
def everywhere(name: str, value: object) -> Iterator[None]:
    """Replace a constant or a function of that name in every module of Sweephand that has it."""
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
    """Build every use case of that class with changed ports."""
    build: Any = use_case.__init__  # type: ignore[misc]

    @wraps(build)
    def rebuilt(self: object, **ports: Any) -> None:
        change(ports)
        build(self, **ports)

    with patch.object(use_case, "__init__", rebuilt):
        yield


class Instead:
    """A port of which some methods are replaced."""

    def __init__(self, port: object, **methods: Callable[..., object]) -> None:
        for name in methods:
            assert hasattr(port, name), f"{type(port).__name__} has no {name}"
        self._port = port
        vars(self).update(methods)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._port, name)


class Deferred:
    """Calls that are made later, in the greenlet that asked for them."""

    def __init__(self) -> None:
        self._calls: dict[greenlet, list[Callable[[], object]]] = defaultdict(list)

    def of(self, method: Callable[..., object]) -> Callable[..., None]:
        """Return the method, which then only keeps its calls."""

        def put_off(*args: object, **kwargs: object) -> None:
            self._calls[getcurrent()].append(lambda: method(*args, **kwargs))

        return put_off

    def forget(self) -> None:
        """Drop the calls."""
        self._calls.pop(getcurrent(), None)

    def make(self) -> None:
        """Make the calls now."""
        for call in self._calls.pop(getcurrent(), ()):
            call()
