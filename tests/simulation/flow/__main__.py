"""Runs seeds of worlds with one policy: `python -m tests.simulation.flow --seeds 100 [--first N]`.

It ends with 1 if a seed has a complaint. `--kind` says in which worlds. There are `usual` ones. Clocks
`agree` in others, and a rate is kept exactly. In others the policy changes its `rates`, or there are `few`
functions. In `calm` ones nothing goes wrong. In those with `pauses`, or `calm-pauses`, the policy is paused.

With `--use`, it shows how much of each limit is in use while work waits, if nothing goes wrong. With
`--crashes`, it shows the same of the slots that are left while one function has crashed. With `--rates`, it
shows the use of rates. With `--spread`, it shows how late the events of a batch are that is spread over a
window. With `--hot`, it shows what the hottest partition keys take in a second.
"""

import argparse
import os
import sys
from collections import Counter
from collections.abc import Sequence
from statistics import mean
from typing import Final

from tests.simulation.flow.crashes import after_a_crash
from tests.simulation.flow.hot_keys import hottest
from tests.simulation.flow.many import KINDS, Kind, outcomes
from tests.simulation.flow.seeds import rate_use, spread_lateness_ms, use

from sweephand.base.instants import MINUTE_MS, SECOND_MS
from sweephand.model.policy import Rate

#: The limits whose use is measured, and the triggers of an entry.
_LIMITS: Final = (1, 5, 12, 50, 200)
_ENTRIES: Final = (1, 10, 100)

#: The rates whose use is measured, each with a limit that is no bound and the seconds of work.
_RATES: Final = (
    (Rate(1_000, SECOND_MS), 300, 20),
    (Rate(500, SECOND_MS), 200, 20),
    (Rate(100, SECOND_MS), 40, 20),
    (Rate(30, SECOND_MS), 40, 60),
    (Rate(5, SECOND_MS), 40, 60),
    (Rate(1, SECOND_MS), 40, 600),
    (Rate(45, MINUTE_MS), 40, 600),
    (Rate(30, MINUTE_MS), 40, 600),
    (Rate(10, MINUTE_MS), 40, 600),
    (Rate(1, MINUTE_MS), 40, 3_600),
)

#: The limits whose use is measured after a crash, the functions of the stack, and when the consumer answers.
_CRASHES: Final = (
    (4, 1_000, 500),
    (4, 5, 500),
    (5, 1_000, 100),
    (12, 1_000, 500),
    (50, 1_000, 500),
    (50, 5, 2_000),
)

#: The limits, the functions, and the seconds of work of the worlds whose partition keys are looked at.
_LARGE: Final = ((200, 20, 2), (1_000, 100, 2))

#: The limit of a batch that is spread, and the shares of it that the batch needs on average.
_SPREAD_LIMIT: Final = 50
_LOADS: Final = (0.33, 0.6, 0.8, 0.95)


def _show_use(seeds: Sequence[int], seconds: int, answer_ms: int) -> None:
    for limit in _LIMITS:
        for of_entry in _ENTRIES:
            found = [use(seed, limit, seconds, of_entry, answer_ms) for seed in seeds]
            print(
                f"limit {limit}, entries of {of_entry}: mean {mean(found):.1%}, least {min(found):.1%}",
                flush=True,
            )


def _show_rates(seeds: Sequence[int]) -> None:
    for rate, limit, seconds in _RATES:
        found = [rate_use(seed, rate, seconds, limit) for seed in seeds]
        of = f"{rate.limit} in {rate.per_ms // SECOND_MS} s"
        print(f"rate of {of}: mean {mean(found):.1%}, least {min(found):.1%}", flush=True)


def _show_crashes(seeds: Sequence[int]) -> None:
    for limit, functions, answer_ms in _CRASHES:
        found = [after_a_crash(seed, limit, functions, answer_ms).use for seed in seeds]
        what = f"limit {limit}, {functions} functions, answer after {answer_ms} ms"
        print(f"{what}: mean {mean(found):.1%}, least {min(found):.1%}", flush=True)


def _show_spread(seeds: Sequence[int], seconds: int) -> None:
    for load in _LOADS:
        late = sorted(
            each for seed in seeds for each in spread_lateness_ms(seed, _SPREAD_LIMIT, load, seconds)
        )
        p50, p99 = (late[int(len(late) * share)] for share in (0.5, 0.99))
        print(f"load {load:.0%}: p50 {p50} ms, p99 {p99} ms, latest {late[-1]} ms", flush=True)


def _show_hot(seed: int) -> None:
    for limit, functions, seconds in _LARGE:
        found = hottest(seed, limit, functions, seconds)
        wrote, read = f"{found.writes} of {found.written}", f"{found.reads} of {found.read}"
        print(f"limit {limit}, {functions} functions: writes {wrote}, reads {read}", flush=True)


def _show_seeds(seeds: Sequence[int], kind: Kind, processes: int) -> int:
    figures: Counter[str] = Counter()
    bad: dict[str, list[int]] = {}
    for outcome in outcomes(seeds, kind, processes):
        figures.update(outcome.figures)
        for complaint in outcome.complaints:
            print(f"seed {outcome.seed}: {complaint}", flush=True)
            bad.setdefault(complaint, []).append(outcome.seed)
    print(len(seeds), f"{kind} seeds", dict(figures))
    print("bad", {name: (len(found), sorted(found)[:8]) for name, found in bad.items()})
    return 1 if bad else 0


def main() -> int:
    """Run the seeds, and print what is wrong with them. Return 1 if anything is, else 0."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--kind", choices=KINDS, default=KINDS[0], help="of the worlds (default usual)")
    cores = os.cpu_count() or 1
    parser.add_argument("--processes", type=int, default=cores, help="at once (one for each core)")
    parser.add_argument("--use", action="store_true", help="how much of a limit is in use while work waits")
    parser.add_argument("--crashes", action="store_true", help="the same while one function has crashed")
    parser.add_argument("--rates", action="store_true", help="how much of a rate is used while work waits")
    parser.add_argument("--spread", action="store_true", help="how late a spread batch is, at four loads")
    parser.add_argument("--hot", action="store_true", help="what the hottest keys take, in the first seed")
    parser.add_argument(
        "--seconds", type=int, default=30, help="of work for each use, or of the window (default 30)"
    )
    parser.add_argument(
        "--answer-ms", type=int, default=100, help="of the consumer, for each use (default 100)"
    )
    asked = parser.parse_args()
    seeds = range(asked.first, asked.first + asked.seeds)
    if asked.use:
        _show_use(seeds, asked.seconds, asked.answer_ms)
    elif asked.crashes:
        _show_crashes(seeds)
    elif asked.rates:
        _show_rates(seeds)
    elif asked.spread:
        _show_spread(seeds, asked.seconds)
    elif asked.hot:
        _show_hot(asked.first)
    else:
        return _show_seeds(seeds, asked.kind, asked.processes)
    return 0


if __name__ == "__main__":
    sys.exit(main())
