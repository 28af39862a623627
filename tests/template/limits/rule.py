"""The form of a rule of AWS that no model of botocore states and that cfn-lint does not know."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple

from tests.template.limits.resolved import Resolved

DOCS: Final = "https://docs.aws.amazon.com"

#: Values of a deployed stack, each with the name of its resource.
Found = Iterable[tuple[str, Any]]


class Rule(NamedTuple):
    """A rule of AWS: what it is about, what it says, and the page that says so.

    `found` takes the values from a deployed stack. `holds` judges one of them. `wrong` is a value that breaks
    the rule.
    """

    of: str
    says: str
    source: str
    found: Callable[[Resolved], Found]
    holds: Callable[[Any], bool]
    wrong: Any


def each(kind: str, *path: str) -> Callable[[Resolved], Found]:
    """Takes the value at a path of every resource of a type that has it."""

    def found(stack: Resolved) -> Iterator[tuple[str, Any]]:
        for name, properties in stack.named(kind).items():
            value: Any = properties
            for part in path:
                value = value.get(part) if isinstance(value, dict) else None
            if value is not None:
                yield name, value

    return found


def every(kind: str, *path: str) -> Callable[[Resolved], Found]:
    """Takes each entry of the list at a path of every resource of a type."""
    return lambda stack: ((name, entry) for name, entries in each(kind, *path)(stack) for entry in entries)


def between(least: float, most: float) -> Callable[[Any], bool]:
    """Judges whether a value is a number in a range, both ends included."""
    return lambda value: least <= float(value) <= most
