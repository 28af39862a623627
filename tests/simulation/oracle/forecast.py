"""What a forecast says at the end of a world: it has to be what the jobs that are left owe.

The oracle enumerates what they owe by itself. Nothing is written any more, so each job has its last series in
all of the span.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tests.simulation.oracle.lives import Life
from tests.simulation.oracle.tale import Tale


@dataclass(frozen=True, slots=True)
class Forecasted:
    """The answer to a question for a forecast: the triggers of each bucket, and how many jobs there are.

    The span is `since <= due < until`. Buckets without triggers are left out.
    """

    since: int
    until: int
    bucket_ms: int
    triggers: Mapping[int, int]
    jobs: int
    paused: int


def forecast_is_what_jobs_owe(tale: Tale, said: Forecasted) -> Iterator[str]:
    """The forecast has the triggers that are due in each bucket, and counts the jobs that are there."""
    there = [life for life in tale.lives.values() if _is_there(life, said.since)]
    if any("batch" in life.last.definition for life in there):
        # The oracle enumerates the occurrences of a batch, and no triggers (oracle/batches.py).
        return
    active = [life for life in there if not life.is_held]
    if (said.jobs, said.paused) != (len(active), len(there) - len(active)):
        yield (
            f"the forecast counts {said.jobs} jobs and {said.paused} paused ones, "
            f"and there are {len(active)} and {len(there) - len(active)}"
        )
    owed = Counter(
        (due_at - said.since) // said.bucket_ms
        for life in active
        for due_at, _ in life.occurrences[-1].between(said.since - 1, said.until - 1)
    )
    if owed != Counter(said.triggers):
        yield f"the forecast says {dict(said.triggers)} by buckets, and the jobs owe {dict(owed)}"


def _is_there(life: Life, at: int) -> bool:
    expires_at = life.last.expires_at
    is_expired = expires_at is not None and expires_at <= at and not life.is_held
    return life.deleted_at is None and life.removed_at is None and not is_expired
