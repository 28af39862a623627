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
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Event
from typing import Final

from infra.bench.local_stack import deployed, now, show
from infra.bench.report import Report
from infra.faults.bursts import Fault, Proxy, bursts, proxy
from infra.faults.kills import Kill, kill, plan
from infra.faults.load import Load, Writer, consumers
from infra.faults.report import await_all, tell
from infra.faults.verdict import by_kind
from infra.local import processes
from infra.local.places import Place, StackError, free_port

from sweephand.base.instants import SECOND_MS

#: What recurs is written within this time, before the first fault.
_BEGIN_MS: Final = 30 * SECOND_MS

#: Jobs go on falling due for so long after the last fault.
_CALM_MS: Final = 60 * SECOND_MS

_SHOWN_EVERY_S: Final = 30


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
            await_all(load, client)
    kinds = [*((each.service, each.fault) for each in happened.calls)]
    kinds += [("processes", f"SIGKILL of {each.function}") for each in happened.kills]
    run = f"Faults: seed {seed}, {seconds} s of faults"
    return tell(load, happened.times(), calm_from, run, Report("What went wrong", by_kind(kinds)))


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


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("stopped")
