"""Lines of a bill: units of a price, and sums of lines with and without AWS's free tiers."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from infra.bench.prices import Price

#: What AWS's pages count a month as: 730 hours.
MONTH_S: Final = 730 * 3_600
MONTH_MINUTES: Final = 730 * 60
MONTH_DAYS: Final = 730 / 24

GB: Final = 1024**3
MILLION: Final = 1_000_000


class Line(NamedTuple):
    """Units of one price, and the part of the bill to which they belong."""

    part: str
    price: Price
    units: float

    @property
    def dollars(self) -> float:
        """The price of the line, without free tiers."""
        return self.price.of(self.units)

    def times(self, factor: float) -> "Line":
        """The line for so many times as much."""
        return self._replace(units=self.units * factor)


def total(lines: Iterable[Line]) -> float:
    """Dollars of all lines, without free tiers."""
    return sum(each.dollars for each in lines)


def total_with_free_tier(lines: Iterable[Line]) -> float:
    """Dollars of all lines of one month, less what AWS gives every account each month, without end."""
    units: defaultdict[Price, float] = defaultdict(float)
    for each in lines:
        units[each.price] += each.units
    return sum(price.with_free_tier(count) for price, count in units.items())


def by_part(lines: Iterable[Line]) -> Mapping[str, float]:
    """Dollars of each part, in the order in which the parts come first."""
    sums: defaultdict[str, float] = defaultdict(float)
    for each in lines:
        sums[each.part] += each.dollars
    return dict(sums)
