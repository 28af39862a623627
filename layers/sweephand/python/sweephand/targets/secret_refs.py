"""Where a target names a secret of its namespace: `{"secretRef": "…"}` in place of a text."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from sweephand.base.errors import Violation
from sweephand.base.names import NAME_RULE, NAME_SCHEMA, is_name

#: The one field of a reference.
FIELD: Final = "secretRef"

#: How a reference is written, as JSON Schema.
REF_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "title": "SecretRef",
    "description": "The name of a secret of the namespace. Each attempt uses the secret's present value.",
    "properties": {FIELD: {**NAME_SCHEMA, "description": "The secret's name."}},
    "required": [FIELD],
    "additionalProperties": False,
}


class SecretRef(NamedTuple):
    """A secret that a target names, and the JSON pointer below the target at which it stands.

    `must_sign` says that its value signs deliveries.
    """

    pointer: str
    name: str
    must_sign: bool = False


def referred(value: object) -> str | None:
    """The name of the secret that a value refers to; None if the value is no valid reference."""
    if not isinstance(value, Mapping) or value.keys() != {FIELD} or not is_name(value[FIELD]):
        return None
    name: str = value[FIELD]
    return name


def reference_violations(at: str, value: object) -> list[Violation]:
    """What is wrong with a reference; `at` is its JSON pointer."""
    if referred(value) is not None:
        return []
    if isinstance(value, Mapping) and value.keys() == {FIELD}:
        return [Violation(f"{at}/{FIELD}", f"Give the name of a secret. {NAME_RULE}")]
    return [Violation(at, f'Give an object with the name of a secret alone: {{"{FIELD}": "api-token"}}.')]
