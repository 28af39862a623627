"""How punctual a scheduler is, how fast it takes triggers, and how much memory it takes."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from infra.bench.local_stack import now, sleep_until
from infra.bench.punctuality import Punctuality, judge
from infra.shootout.bench import Bench, SlowError
from infra.shootout.sink import Came

from sweephand.base.instants import SECOND_MS

#: What recurring jobs owe may come so long after their last second. After a silence it counts as lost.
_RECURRING_PATIENCE_MS: Final = 30 * SECOND_MS
_SILENCE_MS: Final = 5 * SECOND_MS

#: Jobs that recur may begin so long after they were created.
_SETTLE_MS: Final = 2 * SECOND_MS


@dataclass(frozen=True, slots=True)
class Size:
    """How much is asked of each scheduler."""

    triggers: int = 5_000
    seconds: int = 60
    herds: Sequence[int] = (1_000, 10_000)
    recurring: int = 200
    faulty: int = 2_000


def figures(found: Punctuality) -> Mapping[str, float]:
    """The figures of a result."""
    return {
        "owed": found.owed,
        "lost": found.lost,
        "early": found.early,
        "twice": found.twice,
        "p50 ms": found.p50_ms,
        "p99 ms": found.p99_ms,
        "max ms": found.max_ms,
    }


def spread(count: int, seconds: float) -> Sequence[int]:
    """So many delays in ms, evenly over so many seconds."""
    return [round(number * seconds * SECOND_MS / count) for number in range(count)]


def oneoffs(bench: Bench, size: Size) -> Mapping[str, float]:
    """One-offs that are due evenly over a time."""
    due_at = bench.create(spread(size.triggers, size.seconds))
    created_per_s = bench.created_per_s
    return {**figures(bench.wait(due_at)), "created/s": created_per_s}


def herd(bench: Bench, count: int) -> Mapping[str, float]:
    """One-offs that are due in one instant, with the memory that the scheduler takes before."""
    due_at = bench.create([0] * count)
    memory = {"idle MB": bench.idle_mb, "stored MB": bench.stored_mb()}
    created_per_s = bench.created_per_s
    return {**figures(bench.wait(due_at)), "created/s": created_per_s, **memory}


def recurring(bench: Bench, size: Size) -> Mapping[str, float]:
    """Jobs that fire at each second."""
    keys = [f"r{number}" for number in range(size.recurring)]
    took_s = bench.peer.recur(keys)
    begin_at = (now() + _SETTLE_MS) // SECOND_MS * SECOND_MS + SECOND_MS
    seconds = range(begin_at, begin_at + size.seconds * SECOND_MS, SECOND_MS)
    sleep_until(seconds.stop)
    found = judge_seconds(bench.sink.came(), keys, seconds)
    changed_at = now()
    while found["lost"] and now() < changed_at + _SILENCE_MS:
        if now() > seconds.stop + _RECURRING_PATIENCE_MS:
            count = found["owed"] - found["lost"]
            raise SlowError(f"{count:,} of {found['owed']:,} came until 30 s after the last second")
        time.sleep(0.5)
        before, found = found, judge_seconds(bench.sink.came(), keys, seconds)
        if found["lost"] < before["lost"]:
            changed_at = now()
    if "due" in bench.peer.lacks:
        kept = ("owed", "lost", "twice")
        return {name: value for name, value in found.items() if name in kept}
    return {**found, "created/s": len(keys) / took_s}


def judge_seconds(came: Sequence[Came], keys: Sequence[str], seconds: range) -> Mapping[str, float]:
    """The figures of jobs that fire at each of these seconds.

    If a scheduler does not tell the due time, its first fire is taken as that of the first second, and so on:
    only counts can be judged.
    """
    owed = {(key, at): at for key in keys for at in seconds}
    seen: dict[str, int] = {}
    arrivals: list[tuple[tuple[str, int], int]] = []
    for each in sorted(came, key=lambda each: each.arrived_at):
        due_at = each.due_at
        if due_at is None and seconds.start <= each.arrived_at < seconds.stop:
            due_at = seconds[min(seen.get(each.key, 0), len(seconds) - 1)]
            seen[each.key] = seen.get(each.key, 0) + 1
        if due_at is not None:
            arrivals.append(((each.key, due_at), each.arrived_at))
    return figures(judge(owed, arrivals))


def scenarios(size: Size) -> Mapping[str, Callable[[Bench], Mapping[str, float]]]:
    """What one started scheduler is measured in, by name."""
    return {
        "oneoffs": lambda bench: oneoffs(bench, size),
        **{f"instant-{count}": partial(herd, count=count) for count in size.herds},
        "recurring": lambda bench: recurring(bench, size),
    }
