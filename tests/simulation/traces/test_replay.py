"""A seed leads to the same trace in every process, and after any other seed."""

import os
import subprocess
import sys
from functools import cache
from hashlib import sha256
from pathlib import Path

import pytest
from tests.simulation.simulation import run
from tests.simulation.traces.trace import Mishap, Requested
from tests.simulation.workload.bulk_writes import FIRST_TOGETHER
from tests.simulation.world.faults import KINDS, Mask

#: One process runs the seeds for all of these tests.
pytestmark = pytest.mark.xdist_group("replay")

ROOT = Path(__file__).parents[3]

#: Prints the digest of the trace of each seed. It runs in a process of its own.
DIGESTS = """
import sys
from hashlib import sha256
from tests.simulation.simulation import run
for seed in sys.argv[1:]:
    print(sha256(repr(run(int(seed)).events).encode()).hexdigest())
"""

#: Seeds with all kinds of trouble: one lasts for days, one uses the production adapters, and in one clients
#: write many jobs at once.
SEEDS = (0, 6, 14, 19, FIRST_TOGETHER)


def digest(seed: int) -> str:
    return sha256(repr(run(seed).events).encode()).hexdigest()


@cache
def digests() -> tuple[str, ...]:
    """Those of SEEDS in this process."""
    return tuple(map(digest, SEEDS))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_seed_leaves_the_same_trace_whatever_ran_before(seed: int) -> None:
    expected = digests()[SEEDS.index(seed)]
    run(seed + 1)
    assert digest(seed) == expected


@pytest.mark.parametrize(
    ("hash_seed", "zone"), [("0", "UTC"), ("1", "Pacific/Apia"), ("random", "Asia/Kolkata")]
)
def test_a_seed_leaves_the_same_trace_in_every_process_and_zone(hash_seed: str, zone: str) -> None:
    path = os.pathsep.join(str(ROOT / each) for each in ("", "client", "layers/sweephand/python"))
    environment = {"PYTHONHASHSEED": hash_seed, "TZ": zone, "PYTHONPATH": path, "PATH": os.environ["PATH"]}
    command = [sys.executable, "-c", DIGESTS, *map(str, SEEDS)]
    ran = subprocess.run(command, env=environment, check=True, capture_output=True)  # noqa: S603 - our own
    assert ran.stdout.decode().split() == list(digests())


def test_recording_the_story_of_a_seed_does_not_change_its_trace() -> None:
    assert run(6, is_telling=True).events == run(6).events


def test_two_seeds_are_two_worlds() -> None:
    assert digest(0) != digest(1)


def test_a_mask_leaves_out_troubles_actions_and_minutes() -> None:
    actions = run(6).actions
    masked = run(6, mask=Mask(frozenset(KINDS), frozenset(range(actions)), minutes=1))
    assert not [each for each in masked.events if isinstance(each, Mishap | Requested)]
    assert masked.figures["simulated minutes"] < run(6).figures["simulated minutes"]
