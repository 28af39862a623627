"""The first true verdict about a job and an instant. Pure: everything it knows is in the facts."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from sweephand.runs.explain.facts import Explanation, Facts, Verdict
from sweephand.runs.explain.of_job import (
    absent,
    clock_change,
    expired,
    forgotten,
    held_by_pause,
    not_scheduled,
    out_of_bounds,
    overtaken,
    paused,
    retimed,
)
from sweephand.runs.explain.of_run import (
    coming,
    held_by_limit,
    held_by_stack,
    held_by_sweep,
    held_by_turn,
    recorded,
    without_record,
)

#: In this order (docs/guide.md): the job, its pauses, its schedule, the run, and what holds the trigger back.
_CHECKS: Final[Sequence[Callable[[Facts], Explanation | None]]] = (
    expired,
    absent,
    paused,
    forgotten,
    held_by_pause,
    retimed,
    overtaken,
    out_of_bounds,
    clock_change,
    not_scheduled,
    recorded,
    coming,
    held_by_stack,
    held_by_turn,
    held_by_sweep,
    held_by_limit,
)


#: If jitter or a clock change has moved a trigger that goes as it should, that is why nothing fired at the
#: instant itself.
_AS_IT_SHOULD: Final[frozenset[Verdict]] = frozenset({"delivered", "running", "scheduled", "enqueued"})


def explain(facts: Facts) -> Explanation:
    """The first check that is true, with the trigger, its nearest due times and its run."""
    found = next((each for check in _CHECKS if (each := check(facts)) is not None), None)
    if found is None:
        found = without_record(facts)
    moved_by = None if facts.subject is None else facts.subject.moved_by
    if moved_by is not None and found.verdict in _AS_IT_SHOULD:
        found = replace(found, verdict="jitter" if moved_by == "jitter" else "clock-change")
    return found.about(facts)
