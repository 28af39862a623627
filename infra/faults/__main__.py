"""Calls fail and functions are killed on a local stack, while jobs are written and fall due. Nothing is lost.

    python -m infra.faults --seconds 600 --seed 1

microburst stands between the functions and the local AWS. In short bursts it fails calls of DynamoDB, SQS and
Lambda: it throttles them, answers errors, cuts them before or after they reach the store, and holds them up.
Processes of functions get SIGKILL while they work. The same seed chooses the same faults and jobs. What they
meet depends on the machine. The exit code is 1 if a trigger was lost, early, or came twice without a fault.
"""

import argparse
import random
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Event
from typing import Final

from infra.bench.flow import most_open
from infra.bench.local_stack import deployed, now, show, title
from infra.bench.report import Cell, Figure, Report
from infra.faults.bursts import Fault, Proxy, bursts, proxy
from infra.faults.kills import Kill, kill, plan
from infra.faults.load import KINDS, SLOTS, Load, Writer, consumers
from infra.faults.verdict import Verdict, by_kind, came_after_deletion, judged
from infra.local import processes
from infra.local.places import Place, StackError, free_port

from sweephand.base.instants import SECOND_MS

#: What recurs is written within this time, before the first fault.
_BEGIN_MS: Final = 30 * SECOND_MS

#: Jobs go on falling due for so long after the last fault.
_CALM_MS: Final = 60 * SECOND_MS

#: What is late is waited for so long. The message of a killed function comes again after three minutes.
_PATIENCE_MS: Final = 900 * SECOND_MS

#: Duplicates would come within this time.
_AFTER_S: Final = 10

_SHOWN_EVERY_S: Final = 30
_NAMED_MAX: Final = 20


@dataclass
class _Happened:
    """The faults so far. Their threads add to them."""

    calls: list[Fault] = field(default_factory=list)
    kills: list[Kill] = field(default_factory=list)

    def times(self) -> Sequence[int]:
        """When each was, in epoch ms."""
        return sorted([each.at for each in self.calls] + [each.at for each in self.kills])


def main() -> int:
    """The exit code: 1 if a promise was broken, or nothing could be measured."""
    parser = argparse.ArgumentParser(
        prog="python -m infra.faults",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seconds", type=int, default=600, help="how long calls fail (default 600)")
    parser.add_argument("--seed", type=int, default=1, help="chooses the faults and the jobs (default 1)")
    arguments = parser.parse_args()
    processes.end_on_signals()
    try:
        return _run(arguments.seconds, arguments.seed)
    except StackError as error:
        print(error, file=sys.stderr)
        return 1


def _run(seconds: int, seed: int) -> int:
    port, happened = free_port(), _Happened()
    with proxy(f"http://127.0.0.1:{port}") as through, consumers() as receiving:
        place = Place(port, enforces_roles=False, functions_call=through.url)
        with deployed(place) as client:
            load, until = Load(receiving), now() + _BEGIN_MS + seconds * SECOND_MS + _CALM_MS
            writer = Writer(client, load, _chance(seed), until)
            writer.begin()
            calm_from = now() + seconds * SECOND_MS
            with ThreadPoolExecutor(1) as writing:
                written = writing.submit(writer.go_on)
                _fail(place, through, happened, seconds, seed)
                show("calls do not fail any more")
                written.result()
            _await_all(load)
    return _tell(load, happened, calm_from, f"seed {seed}, {seconds} s of faults")


def _chance(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311 - whoever repeats a run wants the same


def _fail(place: Place, through: Proxy, happened: _Happened, seconds: int, seed: int) -> None:
    """Let calls fail and kill functions for so long."""
    parent = processes.recorded(place.pid_file)
    assert parent is not None, "the local AWS has ended"
    is_over, began = Event(), time.monotonic()
    played = through.play(bursts(_chance(seed), seconds), began, is_over)
    killed = kill(plan(_chance(seed), seconds), parent, began, is_over)
    with ThreadPoolExecutor(2) as threads:
        failing = [
            threads.submit(happened.calls.extend, played),
            threads.submit(happened.kills.extend, killed),
        ]
        try:
            while (remaining_s := began + seconds - time.monotonic()) > 0:
                time.sleep(min(remaining_s, _SHOWN_EVERY_S))
                done_s = round(time.monotonic() - began)
                show(
                    f"{done_s} s: {len(happened.calls)} calls failed, {len(happened.kills)} processes killed"
                )
        finally:
            is_over.set()
        for each in failing:
            each.result()


def _await_all(load: Load) -> None:
    """Return when all that is owed has come, or is lost, and a little later for duplicates."""
    given_up_at = now() + _PATIENCE_MS
    while now() < given_up_at and (missing := sum(len(each.lost) for _, each in _verdicts(load, (), 0))):
        show(f"{missing} triggers have not come yet")
        time.sleep(_SHOWN_EVERY_S / 3)
    time.sleep(_AFTER_S)


def _verdicts(load: Load, faults_at: Sequence[int], calm_from: int) -> Iterator[tuple[str, Verdict]]:
    """The verdict on each kind of jobs, by whether they fell due while calls failed."""
    for kind in KINDS:
        arrivals = load.consumers[kind].arrivals()
        for is_calm, name in ((False, kind), (True, f"{kind}, afterwards")):
            owed = {
                key: each for key, each in load.owed[kind].items() if (each.due_at >= calm_from) is is_calm
            }
            if owed:
                yield name, judged(owed, arrivals, faults_at, is_retried=kind == "retried")


def _tell(load: Load, happened: _Happened, calm_from: int, run: str) -> int:
    """Print what came and what went wrong. Return the exit code."""
    verdicts = dict(_verdicts(load, happened.times(), calm_from))
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
    kinds = [*((each.service, each.fault) for each in happened.calls)]
    kinds += [("processes", f"SIGKILL of {each.function}") for each in happened.kills]
    reports = (
        Report(title(f"Faults: {run}"), [{"jobs": name, **each.cells()} for name, each in verdicts.items()]),
        Report("Other promises", [promises], [_repeated(load), *load.refused[:_NAMED_MAX]]),
        Report("What went wrong", by_kind(kinds)),
    )
    for report in reports:
        print(f"{report.text()}\n", flush=True)
    for name, each in verdicts.items():
        for key in each.lost[:_NAMED_MAX]:
            print(f"lost of {name}: {key}")
    is_good = all(each.is_good for each in verdicts.values())
    return 0 if is_good and not came_deleted and opened <= SLOTS and not load.refused else 1


def _repeated(load: Load) -> str:
    """What the answers were to calls that were repeated."""
    return "repeated: " + ", ".join(f"{count} x {why}" for why, count in sorted(load.repeated.items()))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("stopped")
