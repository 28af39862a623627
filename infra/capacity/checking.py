"""The model compared with measurements on the local stack, where two cores do the work of AWS too."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from infra.bill import pollers
from infra.capacity.herd import Pollers, Work, deliver
from infra.capacity.measured import LocalPoint, Measured

from sweephand.base.instants import SECOND_MS
from sweephand.wheel.sending import BUNDLE_TRIGGERS_MAX
from sweephand.wheel.warm import MESSAGES_AT_ONCE

#: The cores of the machine that the local stack was measured on. Functions that run at once share them.
_CORES: Final = 2

#: The local AWS starts all functions at once, up to the limit of its event source.
_AT_ONCE_A_MINUTE: Final = 1_000_000

#: Triggers that one call takes.
_CALL_TRIGGERS: Final = MESSAGES_AT_ONCE * BUNDLE_TRIGGERS_MAX

#: Bundles span so many seconds (template.yaml, `BundleSeconds`).
_BUNDLE_S: Final = 1


class Late(NamedTuple):
    """The lateness of some triggers, in ms. The model of spread triggers does not say the last."""

    p50_ms: float
    p99_ms: float
    last_ms: float | None


def modelled(point: LocalPoint) -> Late:
    """What the model says of a measured point: functions and the local AWS share two cores, and nothing else.

    The CPU time of a trigger is that of the measured point, since the local AWS has most of it.
    """
    cpu_s = point.cpu_ms / SECOND_MS
    if point.seconds:
        return _spread(point, cpu_s)
    busy = min(point.functions, -(-point.triggers // _CALL_TRIGGERS))
    found = deliver(
        point.triggers,
        Work(cpu_s, min(1.0, _CORES / busy), point.answer_s),
        Pollers(point.functions, _AT_ONCE_A_MINUTE, point.functions),
        warm=point.functions,
        call_triggers=_CALL_TRIGGERS,
    )
    return Late(found.p50_s * SECOND_MS, found.p99_s * SECOND_MS, found.last_s * SECOND_MS)


def _spread(point: LocalPoint, cpu_s: float) -> Late:
    chance = random.Random(7)  # noqa: S311 - it has to be the same each time
    dues = pollers.spread(point.triggers / point.seconds, point.seconds, chance)
    work = pollers.Work(
        answer_s=point.answer_s, call_cpu_s=cpu_s, trigger_cpu_s=cpu_s, memory_mb=pollers.CORE_MB
    )
    local = replace(pollers.LOCAL, pollers=point.functions, pollers_max=point.functions)
    found = pollers.poll(dues, _BUNDLE_S, work, local)
    return Late(found.late_p50_s * SECOND_MS, found.late_p99_s * SECOND_MS, None)


def rows(measured: Measured) -> Iterator[Sequence[str]]:
    """Two rows for each measured point: measured, and modelled."""
    for point in measured.local:
        due = f"over {point.seconds:.0f} s" if point.seconds else "at one instant"
        yield (
            f"{point.triggers:,}",
            due,
            f"{point.answer_s:g} s",
            f"`{point.history}`",
            f"{point.functions}",
            "measured",
            *_cells(Late(point.p50_ms, point.p99_ms, point.last_ms)),
        )
        yield ("", "", "", "", "", "model", *_cells(modelled(point)))


def _cells(late: Late) -> Iterator[str]:
    for each in late:
        yield "" if each is None else f"{each / SECOND_MS:.2f} s"
