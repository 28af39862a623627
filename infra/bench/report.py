"""A measurement as a table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

#: Marks a figure that misses its bound in the design.
_OVER: Final = "!"


@dataclass(frozen=True, slots=True)
class Figure:
    """A number that is shown with so many digits, and its bound if the design has one.

    A number that equals its bound after the same rounding is within it.
    """

    value: float
    digits: int = 2
    most: float | None = None
    least: float | None = None

    @property
    def is_within(self) -> bool:
        """Whether the number is within its bound."""
        shown = round(self.value, self.digits)
        return (self.most is None or shown <= self.most) and (self.least is None or shown >= self.least)

    def __str__(self) -> str:
        bound = self.least if self.most is None else self.most
        text = f"{self.value:.{self.digits}f}"
        return text if bound is None else f"{'' if self.is_within else _OVER}{text} of {bound:g}"


Cell = str | int | Figure


@dataclass(frozen=True, slots=True)
class Report:
    """One part of the benchmark. Each row has its cells by their columns, and may leave some out."""

    title: str
    rows: Sequence[Mapping[str, Cell]]
    notes: Sequence[str] = ()

    def text(self) -> str:
        """The table. Its first column is aligned left, and all others right."""
        columns = list(dict.fromkeys(column for row in self.rows for column in row))
        lines = [columns, *([str(row.get(column, "")) for column in columns] for row in self.rows)]
        widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
        lines.insert(1, ["-" * width for width in widths])
        shown = [
            [
                first.ljust(widths[0]),
                *(cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True)),
            ]
            for first, *cells in lines
        ]
        table = ["  " + "  ".join(cells).rstrip() for cells in shown]
        return "\n".join([self.title, *table, *(f"  {note}" for note in self.notes)])
