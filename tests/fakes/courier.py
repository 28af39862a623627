"""A target type for tests: a courier carries triggers to a street.

This module holds both halves of a type. In the package, the type is a module in `targets/`, and its adapter
is a module in `delivery/`.
"""

from collections.abc import Mapping
from typing import Any, Final
from uuid import uuid4

from sweephand.base.errors import Violation
from sweephand.base.instants import SECOND_MS
from sweephand.base.names import text_schema
from sweephand.delivery.adapter import Stack
from sweephand.model.attempt import Answer, Attempt
from sweephand.targets.reach import Reach
from sweephand.targets.target_type import Field, TargetType


def _violations(spec: Mapping[str, Any], *, has_data: bool, reach: Reach) -> list[Violation]:  # noqa: ARG001 - all types share one signature
    street = spec.get("street")
    if not isinstance(street, str) or not street.endswith("street"):
        return [Violation("/street", "Give the name of a street.")]
    if not has_data:
        return [Violation("/street", "Give data: a courier does not ride for nothing.")]
    return []


TYPE: Final = TargetType(
    name="courier",
    summary="A courier.",
    description="A courier: it carries `data` to a street.",
    own_fields=(
        Field("street", text_schema("^.*street$", 40), "The street.", is_required=True),
        Field("bell", {"type": "boolean"}, "Whether the courier rings; false by default."),
    ),
    rules=_violations,
    attempt_ms_max=lambda _: 7 * SECOND_MS,
    delivery=__name__,
    data_bytes_max=20,
    data_limit="courierDataBytesMax",
)


class Couriers:
    """The adapter of the type. Several threads may use it at once."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack

    def deliver(self, attempt: Attempt) -> Answer:
        _MAIL.setdefault(attempt.spec["street"], []).append(attempt.body)
        return Answer(succeeded=True)


def adapter(stack: Stack) -> Couriers:
    """The adapter of the target type `courier`."""
    return Couriers(stack)


def new_street() -> str:
    """The name of a street to which no courier has carried anything."""
    return f"{uuid4().hex} street"


def mail(street: str) -> list[bytes]:
    """The bodies that couriers have carried to a street, in order."""
    return _MAIL.get(street, [])


#: What couriers have carried, by street. A test that uses a street of its own sees nothing of other tests.
_MAIL: Final[dict[str, list[bytes]]] = {}
