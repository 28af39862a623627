"""Runs seeds of worlds with one policy: `python -m tests.simulation.flow --seeds 100 [--first N]`."""

import argparse
from collections import Counter

from tests.simulation.flow.seeds import run


def main() -> None:
    """Run the seeds, and print what is wrong with them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    asked = parser.parse_args()
    figures: Counter[str] = Counter()
    bad: dict[str, list[int]] = {}
    for seed in range(asked.first, asked.first + asked.seeds):
        world = run(seed)
        figures.update(world.figures)
        figures["triggers"] += len(world.triggers)
        for complaint in world.complaints:
            bad.setdefault(complaint, []).append(seed)
    print(asked.seeds, "seeds", dict(figures))
    print("bad", {name: (len(seeds), seeds[:8]) for name, seeds in bad.items()})


if __name__ == "__main__":
    main()
