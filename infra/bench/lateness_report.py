"""The table of what a lateness measurement found."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import NamedTuple

from infra.bench.one_offs import Created
from infra.bench.punctuality import Punctuality
from infra.bench.report import Report, against


class Judged(NamedTuple):
    """The punctuality of one group of triggers, and the aim of its p99 in milliseconds."""

    found: Punctuality
    p99_max_ms: int

    @property
    def is_within(self) -> bool:
        """Whether none is lost or early, and the p99 is within its aim."""
        return not self.found.lost and not self.found.early and self.found.p99_ms <= self.p99_max_ms


def report(subject: str, groups: Mapping[str, Judged], created: Created, loads: Sequence[float]) -> Report:
    """The report of all groups. `loads` are the machine's load averages, in the order of time."""
    shown = ", ".join(f"{load:.1f}" for load in loads)
    wheel = f"{created.beyond} of {len(created.due_at)}"
    return Report(
        title=f"{subject}, on the local stack, {os.cpu_count()} cores, load {shown}",
        columns=("jobs", "owed", "delivered", "lost", "early", "twice", "p50 ms", "p99 ms", "max ms"),
        rows=[_row(name, each) for name, each in groups.items()],
        figures={
            "groups": {name: asdict(each.found) for name, each in groups.items()},
            "created": {"jobsPerS": round(created.jobs_per_s, 1), "seconds": round(created.seconds, 1)},
            "beyondDirectWindow": created.beyond,
            "loads": [round(load, 2) for load in loads],
        },
        is_within=all(each.is_within for each in groups.values()),
        notes=(
            f"Created in {created.seconds:.0f} s, {created.jobs_per_s:.0f} a second; {wheel} by the wheel.",
            "From the due time to the first byte at the consumer. The local AWS, the functions, the consumer",
            "and all other programs share this machine's cores.",
        ),
    )


def _row(name: str, judged: Judged) -> Sequence[str]:
    found = judged.found
    return (
        name,
        str(found.owed),
        str(found.delivered),
        against(found.lost, 0, 0),
        against(found.early, 0, 0),
        str(found.duplicates),
        str(found.p50_ms),
        against(found.p99_ms, judged.p99_max_ms, 0),
        str(found.max_ms),
    )
