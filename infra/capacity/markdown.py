"""Tables, plots and numbers as Markdown and Mermaid."""

from collections.abc import Iterable, Sequence
from typing import Final

from infra.capacity.needs import rounded

#: From so many seconds on, a figure is in minutes.
_MINUTES_FROM_S: Final = 120

#: Below so many seconds, a tenth of a second is shown.
_TENTHS_BELOW_S: Final = 10


def table(head: Sequence[str], body: Iterable[Sequence[str]]) -> list[str]:
    """A table, a line for each row."""
    rule = "---|" * len(head)
    return [f"| {' | '.join(head)} |", f"|{rule}", *(f"| {' | '.join(cells)} |" for cells in body)]


def chart(title: str, x: tuple[str, Sequence[str]], y: str, kind: str, *series: Sequence[float]) -> list[str]:
    """A plot of one or more series, as `bar` or `line`. `x` has the axis's name and its places."""
    name, places = x
    top = rounded(max(max(each) for each in series))
    return [
        "```mermaid",
        "xychart-beta",
        f'    title "{title}"',
        f'    x-axis "{name}" [{", ".join(places)}]',
        f'    y-axis "{y}" 0 --> {top}',
        *(f"    {kind} [{', '.join(f'{value:.1f}' for value in each)}]" for each in series),
        "```",
    ]


def short(number: float) -> str:
    """A number for the axis of a plot: `1m` for a million."""
    for size, letter in ((1_000_000, "m"), (1_000, "k")):
        if number >= size:
            return f"{number / size:g}{letter}"
    return f"{number:g}"


def duration(seconds: float) -> str:
    """Seconds or minutes, as precise as a model can be."""
    if seconds < _TENTHS_BELOW_S:
        return f"{seconds:.1f} s"
    return f"{seconds:.0f} s" if seconds < _MINUTES_FROM_S else f"{seconds / 60:.0f} min"


def rounded_down(value: float) -> int:
    """The number rounded down to two digits."""
    step: int = 10 ** max(0, len(str(int(value))) - 2)
    return int(value // step * step)
