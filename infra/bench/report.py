"""A measurement as a table for people, and its figures as JSON for programs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

#: Marks a figure that misses its bound in the design.
OVER = "!"


@dataclass(frozen=True, slots=True)
class Report:
    """One part of the benchmark.

    `figures` goes into the JSON file. `is_within` says whether all bounds hold.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    figures: Mapping[str, Any]
    is_within: bool
    notes: Sequence[str] = field(default_factory=tuple)

    def text(self) -> str:
        """The table. Its first column is aligned left, and all others right."""
        lines = [self.columns, *self.rows]
        widths = [max(len(line[column]) for line in lines) for column in range(len(self.columns))]
        shown = [self.title]
        for number, line in enumerate(lines):
            cells = (
                cell.rjust(width) if column else cell.ljust(width)
                for column, (cell, width) in enumerate(zip(line, widths, strict=True))
            )
            shown.append("  " + "  ".join(cells).rstrip())
            if number == 0:
                shown.append("  " + "  ".join("-" * width for width in widths))
        shown += [f"  {note}" for note in self.notes]
        return "\n".join(shown)


def against(value: float, bound: float | None, digits: int = 2) -> str:
    """A figure and its bound. A figure that equals the bound after the same rounding is within it."""
    if bound is None:
        return f"{value:.{digits}f}"
    mark = "" if is_within(value, bound, digits) else OVER
    return f"{mark}{value:.{digits}f} of {bound:g}"


def is_within(value: float, bound: float | None, digits: int = 2) -> bool:
    """Whether a figure, rounded as it is shown, is within its bound."""
    return bound is None or round(value, digits) <= bound
