"""What the API stands on: the use cases and ports that its operations call."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from sweephand.access.signing_keys import SigningKeys
from sweephand.jobs.bulk import Bulk
from sweephand.jobs.change_history import Changes
from sweephand.jobs.on_demand import Demands
from sweephand.jobs.pause import Pauser
from sweephand.jobs.read import Reader
from sweephand.jobs.resume import Resumer
from sweephand.jobs.write import Writer
from sweephand.ports import Clock, Ids, KeyStore, LeaseStore, OverlapStore, RunStore
from sweephand.runs.callbacks import Reporter
from sweephand.runs.redrive import Redriver
from sweephand.targets.queues import NO_QUEUE, JobQueues

Result = TypeVar("Result")


class Concurrently(Protocol):
    """How tasks that do not concern each other are done."""

    def __call__(self, tasks: Sequence[Callable[[], Result]]) -> Iterable[Result]:
        """What each returned, in order; what one raises is raised."""
        ...


def one_by_one(tasks: Sequence[Callable[[], Result]]) -> Iterable[Result]:
    """Concurrently, without any threads."""
    return [task() for task in tasks]


@dataclass(frozen=True, slots=True)
class Services:
    """One of each. `allow_insecure_targets` is true where a stack lets targets be `http` and loopback.

    `queues` says which queues a job may name.
    """

    writer: Writer
    pauser: Pauser
    resumer: Resumer
    bulk: Bulk
    changes: Changes
    demands: Demands
    reader: Reader
    runs: RunStore
    slots: OverlapStore
    redriver: Redriver
    reporter: Reporter
    keys: KeyStore
    signing: SigningKeys
    leases: LeaseStore
    clock: Clock
    ids: Ids
    allow_insecure_targets: bool = False
    queues: JobQueues = NO_QUEUE
    concurrently: Concurrently = one_by_one
