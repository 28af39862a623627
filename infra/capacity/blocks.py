"""The parts of docs/capacity.md that follow from the model, the measured points and the template."""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from infra.bill.pollers import Platform, poll, spread
from infra.bill.pollers import Work as Call
from infra.bill.template import Template
from infra.capacity import checking, quotas
from infra.capacity.herd import (
    CALL_TRIGGERS,
    Pollers,
    Work,
    deliver,
    provisioned,
    spread_late_s,
    standard,
    woken,
)
from infra.capacity.markdown import chart, duration, rounded_down, short, table
from infra.capacity.measured import Measured
from infra.capacity.needs import (
    JOB_READS,
    LOAD,
    Needs,
    delivery,
    function_per_s,
    needs,
    sweeper_per_s,
)
from infra.capacity.sending import Sweeping, sent_after_idle_s, sent_after_s

from sweephand.storage.jobs import LISTING_SHARDS

#: Kinds of work of infra/bench/sweeper.py.
_RECURRING: Final = "recurring, in packs"
_ONE_OFF: Final = "one-off, a timer each"

_MINUTELY: Final = (1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000)
_PLOTTED: Final = range(100_000, 1_000_001, 100_000)

#: Rates whose lateness the page shows, and the seconds that the model plays.
_LATE_MINUTELY: Final = (1_000, 10_000, 100_000)
_PLAYED_S: Final = 60

_HERDS: Final = (100, 1_000, 10_000, 100_000, 1_000_000)
_PLOTTED_HERDS: Final = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
_CONCURRENCIES: Final = (5, 50, 500)
_POLLERS: Final = (2, 20, 200)
_WINDOWS_S: Final = (15, 60, 300, 900)

#: The design's aim: a herd, its sweepers, the most seconds until the last is sent, and triggers a second.
_HERD: Final = 100_000
_SWEEPERS: Final = 4
_SENT_S_MAX: Final = 6
_PER_S_MIN: Final = 20_000

_HOURS_A_MONTH: Final = 730


class Given(NamedTuple):
    """From what the page is made."""

    measured: Measured
    template: Template

    @property
    def work(self) -> Work:
        """A delivery with the default history, at the template's memory."""
        return delivery(self.measured, "outcome", self.template.memory_mb("Deliver"))

    def sweeper_per_s(self, kind: str = _RECURRING, memory_mb: int | None = None) -> float:
        """Triggers a second of one sweeper, at the template's memory unless another is given."""
        return sweeper_per_s(self.measured, kind, memory_mb or self.template.memory_mb("Sweep"))

    def sweeping(self, sweeper: float) -> Sweeping:
        """Four sweepers and shards, of which each sweeper sends so many triggers a second."""
        return Sweeping(_SWEEPERS, _SWEEPERS, sweeper, self.sweeper_per_s(memory_mb=self._tick_mb))

    @property
    def _tick_mb(self) -> int:
        return self.template.memory_mb("Tick")


def steady(given: Given) -> list[str]:
    """What a steady number of triggers a minute needs."""
    sweeper, function, work = given.sweeper_per_s(), function_per_s(given.work), given.work
    memory = given.template.memory_mb
    namespace = quotas.PARTITION_READS.value * LISTING_SHARDS / JOB_READS
    head = (
        "triggers a minute",
        "a second",
        "sweepers and shards",
        "delivery functions",
        "namespaces, at least",
        "stacks",
        "quotas to raise, at least to",
    )
    return [
        f"One sweeper sends {rounded_down(sweeper):,} triggers of recurring jobs a second at",
        f"{memory('Sweep'):,} MB. One delivery function makes {rounded_down(function):,} deliveries a second",
        f"at {memory('Deliver'):,} MB, if the consumer answers in {work.answer_s:g} s and bundles are full.",
        f"One namespace has 16 partitions of jobs, which bear {rounded_down(namespace):,} triggers a second.",
        f"The table loads each of them to {LOAD:.0%}. Triggers are spread over each minute.",
        "",
        *table(head, (_needed(needs(each, sweeper, work)) for each in _MINUTELY)),
        "",
        "Delivery functions, by triggers a minute:",
        "",
        *chart(
            "Delivery functions",
            ("triggers a minute", [short(each) for each in _PLOTTED]),
            "functions",
            "bar",
            [needs(each, sweeper, work).functions for each in _PLOTTED],
        ),
    ]


def _needed(each: Needs) -> Sequence[str]:
    return (
        f"{each.per_minute:,}",
        f"{each.per_s:,.0f}",
        f"{each.sweepers:,}",
        f"{each.functions:,}",
        f"{each.namespaces:,}",
        f"{each.stacks:,}",
        "; ".join(each.raised) or "none",
    )


def lateness(given: Given) -> list[str]:
    """How late triggers are that are spread over their minutes, by the model of the bill's pollers."""
    work, sweeper = given.work, given.sweeper_per_s()
    body = []
    for per_minute in _LATE_MINUTELY:
        functions = needs(per_minute, sweeper, work).functions
        dues = spread(per_minute / 60, _PLAYED_S, random.Random(7))  # noqa: S311 - the same each time
        call = Call(work.answer_s, work.cpu_s, work.cpu_s, given.template.memory_mb("Deliver"))
        found = poll(dues, given.template.default("BundleSeconds"), call, Platform(functions, functions))
        body.append(
            (
                f"{per_minute:,}",
                f"{functions}",
                f"{found.late_p50_s * 1_000:,.0f} ms",
                f"{found.late_p99_s * 1_000:,.0f} ms",
            )
        )
    return table(("triggers a minute", "delivery functions", "p50", "p99"), body)


def herds(given: Given) -> list[str]:
    """How long a herd waits for functions, by `DeliveryConcurrency`."""
    work = given.work
    cold = deliver(_PLOTTED_HERDS[0], work, standard(50), warm=0)
    head = (
        "due at one instant",
        *(f"`DeliveryConcurrency` {each}" for each in _CONCURRENCIES),
        "functions woken before",
    )
    return [
        *table(
            head,
            (
                (
                    f"{herd:,}",
                    *(_last(herd, work, standard(each)) for each in _CONCURRENCIES),
                    ", ".join(str(woken(herd, each)) for each in _CONCURRENCIES),
                )
                for herd in _HERDS
            ),
        ),
        "",
        f"Without wake-ups, {_PLOTTED_HERDS[0]:,} triggers would take {duration(cold.last_s)} with 50.",
        "",
        "Seconds until the last request leaves, by the size of the herd. The upper line is",
        "`DeliveryConcurrency=50`, and the lower line is 20 provisioned pollers:",
        "",
        *chart(
            "Seconds until the last request of a herd leaves",
            ("triggers due at one instant", [short(each) for each in _PLOTTED_HERDS]),
            "seconds",
            "line",
            [deliver(each, work, standard(50)).last_s for each in _PLOTTED_HERDS],
            [deliver(each, work, provisioned(20, 200)).last_s for each in _PLOTTED_HERDS],
        ),
    ]


def _last(herd: int, work: Work, polled: Pollers) -> str:
    return duration(deliver(herd, work, polled).last_s)


def instant(given: Given) -> list[str]:
    """The herd of the design's aim: how long until the last is sent."""
    memory_mb = given.template.memory_mb("Sweep")
    ways = (
        (f"recurring jobs, sweepers of {memory_mb:,} MB", given.sweeper_per_s()),
        (f"one-offs, sweepers of {memory_mb:,} MB", given.sweeper_per_s(_ONE_OFF)),
    )
    head = ("", "triggers a second", "the last is sent after", "after an idle hour")
    aim = ("aim", f"{_PER_S_MIN:,}", f"{_SENT_S_MAX} s", "60 s")
    body = (
        (
            name,
            f"{rounded_down(given.sweeping(sweeper).per_s):,}",
            duration(sent_after_s(_HERD, given.sweeping(sweeper))),
            duration(sent_after_idle_s(_HERD, given.sweeping(sweeper))),
        )
        for name, sweeper in ways
    )
    return [
        f"{_HERD:,} triggers are due at one instant. Four sweepers send those of four shards:",
        "",
        *table(head, (*body, aim)),
        "",
        "A sweep sends what is due one to three minutes later. So these seconds delay no trigger, as long as",
        "they are less than 60.",
    ]


def pollers(given: Given) -> list[str]:
    """Where provisioned pollers pay."""
    at_first = quotas.POLLERS_AT_FIRST.value
    herds_shown = _HERDS[1:]
    head = (
        "provisioned pollers",
        "functions at once",
        "$ a month",
        *(f"{each:,} at one instant" for each in herds_shown),
    )
    body = (
        (
            f"{each}",
            f"{each * quotas.PROVISIONED_FUNCTIONS.value:,}",
            f"{each * quotas.PROVISIONED_HOUR * _HOURS_A_MONTH:,.2f}",
            *(_last(herd, given.work, provisioned(each, 500)) for herd in herds_shown),
        )
        for each in _POLLERS
    )
    return [
        f"The first {at_first} functions take {at_first * CALL_TRIGGERS:,} triggers in full bundles at once.",
        "Provisioned pollers pay for larger herds, if seconds matter:",
        "",
        *table(head, body),
    ]


def jitter(given: Given) -> list[str]:
    """How late the last trigger of a herd is that `jitter` spreads."""
    work = given.work
    head = (f"`jitter` of {_HERD:,} jobs", *(f"`DeliveryConcurrency` {each}" for each in _CONCURRENCIES))
    none = ("none", *(f"{_last(_HERD, work, standard(each))} late" for each in _CONCURRENCIES))
    spread = (
        (duration(window_s), *(_spread(work, window_s, standard(each)) for each in _CONCURRENCIES))
        for window_s in _WINDOWS_S
    )
    return table(head, (none, *spread))


def _spread(work: Work, window_s: int, polled: Pollers) -> str:
    late_s = spread_late_s(_HERD, window_s, work, polled)
    return f"up to {duration(late_s)} late" if late_s else "in time"


def limits(_: Given) -> list[str]:
    """The quotas, and where AWS documents them."""
    body = (
        (each.name, f"{each.value:,}", "yes" if each.can_be_raised else "no", f"<https://{each.source}>")
        for each in quotas.ALL
    )
    return [
        f"These numbers are as AWS documented them on {quotas.READ_ON}:",
        "",
        *table(("", "number", "AWS raises it", "source"), body),
        "",
        f"A provisioned poller costs ${quotas.PROVISIONED_HOUR} an hour in us-east-1 (AWS Price List, 2026).",
    ]


def checked(given: Given) -> list[str]:
    """The results of the model and the measured points."""
    loads = [each.load for each in given.measured.local]
    head = ("triggers", "due", "answer", "history", "functions", "", "p50", "p99", "last")
    return [
        f"The machine's load was {min(loads):g} to {max(loads):g}:",
        "",
        *table(head, checking.rows(given.measured)),
    ]


#: The blocks by the names that the page's markers have.
BLOCKS: Final[Mapping[str, Callable[[Given], list[str]]]] = {
    "steady": steady,
    "lateness": lateness,
    "herds": herds,
    "instant": instant,
    "jitter": jitter,
    "pollers": pollers,
    "limits": limits,
    "checked": checked,
}
