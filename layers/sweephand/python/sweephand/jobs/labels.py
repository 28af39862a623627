"""The rules of a job's labels: how many there are, how long they are, and what a name may hold."""

from collections.abc import Collection, Mapping
from typing import Any, Final

from sweephand.base.errors import Violation, pointer
from sweephand.base.field_bounds import too_long
from sweephand.base.limits import LABEL_LENGTH_MAX, LABELS_MAX

LABELS_MEANING: Final = (
    f"Up to {LABELS_MAX} names with a text each, of up to {LABEL_LENGTH_MAX} characters; a name has no colon."
)

#: The labels of a job in JSON Schema.
LABELS_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "maxProperties": LABELS_MAX,
    "propertyNames": {"minLength": 1, "maxLength": LABEL_LENGTH_MAX},
    "patternProperties": {"^[^:]*$": {"type": "string", "maxLength": LABEL_LENGTH_MAX}},
}


def label_bounds_violations(labels: object, refused: Collection[Violation]) -> list[Violation]:
    """The violations of labels that are too many, or of names and texts that are empty or too long.

    `refused` are the violations that the caller has found in them. They are not repeated. Of too many labels
    only the number is named.
    """
    if not isinstance(labels, Mapping) or any(each.pointer == "/labels" for each in refused):
        return []
    if len(labels) > LABELS_MAX:
        return [Violation("/labels", f"Must have at most {LABELS_MAX} entries. {LABELS_MEANING}")]
    found = [each for name, text in labels.items() for each in _length_violations(name, text)]
    return [each for each in found if each not in refused]


def label_name_violations(labels: Mapping[str, object]) -> list[Violation]:
    """The violations of names by which no list could be filtered, each at its label."""
    detail = "Give a name without a colon: a list is filtered by label=name:value."
    return [Violation(pointer("labels", name), detail) for name in labels if ":" in name]


def _length_violations(name: str, text: object) -> list[Violation]:
    at = pointer("labels", name)
    long = [each for each in (name, text) if isinstance(each, str) and len(each) > LABEL_LENGTH_MAX]
    empty = [] if name else [Violation(at, "Must not be empty.")]
    return empty + [Violation(at, too_long(LABEL_LENGTH_MAX)) for _ in long]
