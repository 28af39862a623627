"""Checks of lanes: what has a high priority does not wait for what has a lower one."""

from collections.abc import Iterator
from typing import Final

from tests.simulation.oracle.fairness import excused
from tests.simulation.oracle.lives import told
from tests.simulation.oracle.tale import Tale
from tests.simulation.traces.trace import Requested, Written

#: A job whose definition says nothing else can only be late because functions are busy.
_PLAIN: Final = frozenset({"schedule", "priority", "target", "data"})

#: Docs promise that 10,000 low triggers delay a high one by less than a second. Where so many come together,
#: no other job has a high priority.
HERD: Final = 10_000
LATE_BESIDE_A_HERD_MS_MAX: Final = 1_000

#: Elsewhere a high trigger may meet the triggers of other high jobs, whose consumers answer within a fraction
#: of a second in the calm.
LATE_MS_MAX: Final = 1_500


def what_is_high_is_prompt(tale: Tale) -> Iterator[str]:
    """In the calm, a trigger of a plain job with a high priority leaves when it is due."""
    if tale.echo_ends_at is None:
        return
    plain = {each.uid for each in tale.of(Written) if _is_plain_and_high(each)}
    if not plain:
        return
    has_herd = any(_is_herd(each) for each in tale.of(Written))
    late_ms_max = LATE_BESIDE_A_HERD_MS_MAX if has_herd else LATE_MS_MAX
    spans = excused(tale)
    for each in tale.of(Requested):
        if each.uid not in plain or each.attempt > 1 or each.is_on_demand:
            continue
        if not tale.echo_ends_at <= each.due_at or any(a <= each.due_at <= b for a, b in spans):
            continue
        if each.at >= each.due_at + late_ms_max:
            late_ms = each.at - each.due_at
            what = f"{each.trigger_id}, of high priority, left {late_ms} ms late"
            yield f"{each.name}: {what} at {told(each.at)}"


def _is_plain_and_high(write: Written) -> bool:
    return write.definition.get("priority") == "high" and write.definition.keys() <= _PLAIN


def _is_herd(write: Written) -> bool:
    batch = write.definition.get("batch")
    return write.definition.get("priority") == "low" and batch is not None and batch["count"] >= HERD
