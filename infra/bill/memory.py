"""How much memory each function should have, by a model of the processor's share that comes with it."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from infra.bench import prices
from infra.bill.idle import tick_gb_s
from infra.bill.lines import MILLION, MONTH_MINUTES
from infra.bill.pollers import AWS, CORE_MB
from infra.bill.triggers import Bill, Case

#: The sizes that are compared. None is below 256 MB: a function holds up to 76 MB on this project's own
#: bench, and Lambda's runtime and 32 threads need more.
SIZES_MB: Final = (256, 512, 1_024, CORE_MB)

#: The cases by which the delivery function's memory is chosen.
CASES: Final = (Case(rate=1.0), Case(rate=20.0), Case(rate=100.0), Case(herd=1_000))


class Delivery(NamedTuple):
    """The delivery function with some memory in some case: dollars a million triggers, lateness in ms."""

    case: Case
    memory_mb: int
    dollars: float
    late_p50_ms: float
    late_p99_ms: float


def delivery(bill: Bill) -> Iterator[Delivery]:
    """Every case with every size."""
    for case in CASES:
        for memory_mb in SIZES_MB:
            polled = bill.polled(case, AWS, memory_mb)
            dollars = prices.GB_SECOND.of(polled.billed_s * memory_mb / 1024) * MILLION
            late = polled.late_p50_s * 1_000, polled.late_p99_s * 1_000
            yield Delivery(case, memory_mb, dollars, *late)


class Other(NamedTuple):
    """Tick, sweep and API with some memory.

    Dollars a month for a tick that finds nothing, dollars a million triggers that are swept at 100 a second,
    and seconds of CPU for a minute with 20,000 triggers. Then dollars a million PUTs of the API function's
    time, and ms of one.
    """

    memory_mb: int
    idle_dollars: float
    dollars: float
    minute_s: float
    put_dollars: float
    put_ms: float


def others(bill: Bill) -> Iterator[Other]:
    """Tick, sweep and API with every size."""
    busy = Case(rate=100.0)
    for memory_mb in SIZES_MB:
        idle = prices.GB_SECOND.of(tick_gb_s(bill.measured, memory_mb) * MONTH_MINUTES)
        swept = prices.GB_SECOND.of(bill.sweep_gb_s(busy, memory_mb)) * MILLION
        cpu_ms = bill.measured.count("recurring", busy.rate).sweep_cpu_ms
        minute_s = 20_000 * cpu_ms / 1_000 / min(1.0, memory_mb / CORE_MB)
        put_s = bill.api_s("oneOffSingly", memory_mb)
        put_dollars = prices.GB_SECOND.of(put_s * memory_mb / 1024) * MILLION
        yield Other(memory_mb, idle, swept, minute_s, put_dollars, put_s * 1_000)
