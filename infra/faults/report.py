"""What came of a run: waits for what is late, prints the verdict on each kind, and gives the exit code."""

import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Final

from infra.bench.flow import most_open
from infra.bench.local_stack import now, show, title
from infra.bench.report import Cell, Figure, Report
from infra.faults.load import KINDS, SLOTS, Load
from infra.faults.verdict import Verdict, came_after_deletion, judged
from infra.local.client import Client

from sweephand.base.instants import SECOND_MS, rfc3339

#: What is late is waited for so long. The message of a killed function comes again after three minutes.
_PATIENCE_MS: Final = 900 * SECOND_MS

#: Duplicates would come within this time.
_AFTER_S: Final = 10

_SHOWN_EVERY_S: Final = 10
_NAMED_MAX: Final = 20


def await_all(load: Load, client: Client) -> None:
    """Return when all that is owed has come, or is lost, and a little later for duplicates.

    Print what the stack says of what is lost.
    """
    given_up_at = now() + _PATIENCE_MS
    while now() < given_up_at and (missing := sum(len(each.lost) for _, each in _verdicts(load, (), 0))):
        show(f"{missing} triggers have not come yet")
        time.sleep(_SHOWN_EVERY_S)
    time.sleep(_AFTER_S)
    for name, each in _verdicts(load, (), 0):
        namespace, _, _ = name.partition(",")
        for key in each.lost[:_NAMED_MAX]:
            path = f"/v1/namespaces/{namespace}/jobs/{key.job}/explain?at={rfc3339(key.due_at)}"
            show(f"lost: {key}: {client.call('GET', path).body}")


def tell(load: Load, faults_at: Sequence[int], calm_from: int, run: str, *more: Report) -> int:
    """Print what came, what went wrong, and more reports. Return the exit code: 1 if a promise was broken.

    `faults_at` are the times of the faults in their order, and `calm_from` is when they ended, in epoch ms.
    """
    verdicts = dict(_verdicts(load, faults_at, calm_from))
    came_deleted = came_after_deletion(load.deleted_at, load.consumers["deleted"].arrivals())
    opened = most_open(load.consumers["limited"].requests())
    promises: dict[str, Cell] = {
        "deleted jobs": len(load.deleted_at),
        "that came": Figure(came_deleted, 0, 0),
        "most open": Figure(opened, 0, SLOTS),
        "API calls repeated": load.repeated.total(),
        "answered too late": load.late,
        "refused": Figure(len(load.refused), 0, 0),
    }
    repeated = ", ".join(f"{count} x {why}" for why, count in sorted(load.repeated.items()))
    rows: Sequence[Mapping[str, Cell]] = [{"jobs": name, **each.cells()} for name, each in verdicts.items()]
    reports = (
        Report(title(run), rows),
        Report("Other promises", [promises], [f"repeated: {repeated}", *load.refused[:_NAMED_MAX]]),
    )
    for report in chain(reports, more):
        print(f"{report.text()}\n", flush=True)
    is_good = all(each.is_good for each in verdicts.values())
    return 0 if is_good and not came_deleted and opened <= SLOTS and not load.refused else 1


def _verdicts(load: Load, faults_at: Sequence[int], calm_from: int) -> Iterator[tuple[str, Verdict]]:
    """The verdict on each kind of jobs, by whether they fell due while something went wrong."""
    for kind in KINDS:
        arrivals = load.consumers[kind].arrivals()
        for is_calm, name in ((False, kind), (True, f"{kind}, afterwards")):
            owed = {
                key: each for key, each in load.owed[kind].items() if (each.due_at >= calm_from) is is_calm
            }
            if owed:
                yield name, judged(owed, arrivals, faults_at, is_retried=kind == "retried")
