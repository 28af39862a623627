"""`python -m tests.simulation`: many seeds at once, their figures, and the story of the first that fails."""

import os
import sys
import time
from argparse import ArgumentParser, Namespace
from collections import Counter

from tests.simulation.many import Outcome, outcomes
from tests.simulation.report import figures_of, replay_of
from tests.simulation.shrink import shrunk
from tests.simulation.simulation import run
from tests.simulation.traces.story import story

#: Failing seeds after which the others are not run.
_FAILURES_MAX = 10


def main() -> int:
    """Return 0 if no seed has a complaint, else 1."""
    asked = _asked()
    seeds = range(asked.first, asked.first + asked.seeds) if asked.seed is None else [asked.seed]
    begun_at = time.perf_counter()
    figures: Counter[str] = Counter()
    failed: list[Outcome] = []
    for outcome in outcomes(seeds, asked.processes):
        figures.update(outcome.figures)
        figures["seeds"] += 1
        if outcome.complaints:
            failed.append(outcome)
            print(f"seed {outcome.seed}: {outcome.complaints[0]}", flush=True)
        if len(failed) == _FAILURES_MAX:
            break
    lasted_s = time.perf_counter() - begun_at
    print(figures_of(figures, lasted_s))
    if not failed:
        return 0
    worst = min(failed, key=lambda outcome: outcome.seed)
    print(f"\nThe story of seed {worst.seed}, shrunk to what its complaint needs:\n")
    _tell(worst.seed)
    return 1


def _asked() -> Namespace:
    parser = ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seeds", type=int, default=1_000, help="how many seeds (1,000)")
    parser.add_argument("--first", type=int, default=0, help="the first of them (0)")
    parser.add_argument("--seed", type=int, help="only this one")
    cores = os.cpu_count() or 1
    parser.add_argument("--processes", type=int, default=cores, help="at once (one for each core)")
    return parser.parse_args()


def _tell(seed: int) -> None:
    whole = run(seed)
    mask = shrunk(lambda mask: bool(run(seed, mask=mask).complaints), whole.actions)
    result = run(seed, mask=mask, is_telling=True)
    print(story(result))
    print()
    print(replay_of(seed, mask))


if __name__ == "__main__":
    sys.exit(main())
