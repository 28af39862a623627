"""The bounds of a single field: the range of a number.

The rooms above declare the bounds of a field once. Their rules judge values by them, and every document that
describes the field reads the same numbers.
"""

from typing import Any, NamedTuple

from sweephand.base.errors import Violation


class NumberBounds(NamedTuple):
    """The range of a number, `least` to `most`. `meaning` explains the field; every violation ends in it."""

    least: int
    most: int
    meaning: str

    @property
    def schema(self) -> dict[str, Any]:
        """The keywords of JSON Schema that state the range."""
        return {"minimum": self.least, "maximum": self.most}

    def violations(self, at: str, value: object) -> list[Violation]:
        """The violation of a number outside the range, at the JSON pointer `at`.

        Empty for any other value. The shape of a document says which values are no numbers.
        """
        if isinstance(value, bool) or not isinstance(value, int | float):
            return []
        if value < self.least:
            return [Violation(at, f"Must be at least {self.least}. {self.meaning}")]
        if value > self.most:
            return [Violation(at, f"Must be at most {self.most}. {self.meaning}")]
        return []
