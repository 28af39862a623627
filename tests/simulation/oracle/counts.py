"""What deliveries counted by the end of a world: never more than happened, and all of it without trouble.

Counts may be lost (decision 160): by a function that dies before it counts, and by an attempt whose record
fails after its request, which counts as a fault. A callback that is stored before its attempt is answered
rules, and the attempt then counts as no outcome. In this simulation no answer of the store of counts is lost,
so nothing is counted twice.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from tests.simulation.oracle.tale import Tale
from tests.simulation.traces.trace import Concluded, Mishap, Requested, RunAsked

from sweephand.base.instants import Instant
from sweephand.model.counters import Stats

#: Answers by which a consumer takes a trigger.
_TAKEN: Final = ("succeeded", "accepted")

#: Mishaps of a process name it first. These delivery functions deliver, and flow functions too.
_DELIVERS: Final = "deliver "

#: Mishaps of a whole store or queue.
_WIDE: Final = ("outage", "throttled writes")


def counts_are_what_consumers_saw(tale: Tale, counted: Stats, uncounted: int) -> Iterator[str]:
    """The counts agree with the answers of consumers. `uncounted` is how many calls could not count."""
    answers = Counter(each.outcome for each in tale.of(Concluded))
    taken = sum(answers[each] for each in _TAKEN)
    refused = answers.total() - taken
    counted_taken = counted.outcomes["succeeded"] + counted.outcomes["running"]
    counted_refused = counted.outcomes["retrying"] + counted.outcomes["failed"]
    first = sum(each.attempt == 1 for each in tale.of(Requested))
    if counted_taken > taken:
        yield f"{counted_taken} attempts are counted as taken, and consumers took {taken}"
    if counted.lateness.total() > first:
        yield f"the lateness of {counted.lateness.total()} first attempts is counted, and {first} were made"
    if uncounted or _had_trouble(tale):
        return
    if counted_taken < taken:
        yield f"consumers took {taken} attempts, and only {counted_taken} are counted as taken"
    # A deadline ends an attempt that its consumer took, so more may be counted.
    if counted_refused < refused - _ruled_by_callbacks(tale):
        yield f"consumers refused {refused} attempts, and only {counted_refused} are counted so"


def _ruled_by_callbacks(tale: Tale) -> int:
    """How many refused attempts had a callback before their answer: the consumer's answer was lost."""
    called_at: dict[tuple[str, int | None], Instant] = {}
    for asked in tale.of(RunAsked):
        called_at.setdefault((f"{asked.uid}-{asked.run_id}", asked.attempt), asked.at)
    return sum(
        called_at.get((each.trigger_id, each.attempt), each.at) < each.at
        for each in tale.of(Concluded)
        if each.outcome not in _TAKEN
    )


def _had_trouble(tale: Tale) -> bool:
    """Whether a function that delivers may have lost a count."""
    return any(each.where.startswith(_DELIVERS) or each.kind.startswith(_WIDE) for each in tale.of(Mishap))
