"""The command: measures schedulers in turn, and writes docs/shootout.md: `python -m infra.shootout`."""

import argparse
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from infra.local import processes
from infra.shootout import eventbridge, faults, page, scenarios
from infra.shootout.bench import Bench, SlowError, running
from infra.shootout.lineup import PEERS
from infra.shootout.peer import Peer
from infra.shootout.results import Record, Result
from infra.shootout.scenarios import Size

#: The figures that docs/shootout.md shows.
RESULTS: Final = Path(__file__).with_name("results.json")

_ALONE: Final = "eventbridge"


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code: 0 if every scheduler could be measured, whatever the figures are."""
    chosen = _arguments(arguments)
    processes.end_on_signals()
    record, is_complete = Record(chosen.results), True
    if not chosen.render:
        peers = [each for each in PEERS if each.name in chosen.peers]
        is_complete = _measure(record, peers, chosen)
    if chosen.render or chosen.results == RESULTS:
        page.write(record)
    return 0 if is_complete else 1


def _measure(record: Record, peers: Sequence[Peer], chosen: argparse.Namespace) -> bool:
    size = Size(chosen.triggers, chosen.seconds, chosen.herds, chosen.recurring, chosen.faulty)
    names = [name for name in _names(size) if name.partition("-")[0] in chosen.scenarios]
    for peer in peers:
        peer.install()
        told = {"setting": peer.setting, "delivers": peer.delivers, "lacks": dict(peer.lacks)}
        record.peers[peer.name] = {**told, "versions": dict(peer.versions())}
    record.forget([each.name for each in peers], names)
    is_complete = True
    for number in range(1, chosen.rounds + 1):
        for peer in peers:
            began_s = time.monotonic()
            try:
                for name, figures, why in _turn(peer, names, size):
                    record.add(Result(peer.name, name, number, figures, why))
                    shown = why or ", ".join(f"{key} {value:,.0f}" for key, value in figures.items())
                    print(f"  {name}: {shown}", flush=True)
            except Exception as error:  # noqa: BLE001 - the others are measured all the same
                print(f"  {peer.name} failed: {error!r}", flush=True)
                is_complete = False
            print(f"round {number}, {peer.name}: {time.monotonic() - began_s:.0f} s", flush=True)
    if _ALONE in chosen.scenarios:
        record.forget(eventbridge.NAMES, [_ALONE])
        for peer_name, figures in eventbridge.measure(chosen.minutes).items():
            record.add(Result(peer_name, _ALONE, 1, figures))
            print(f"  {peer_name}: {figures}", flush=True)
    return is_complete


def _names(size: Size) -> Sequence[str]:
    return [*scenarios.scenarios(size), *faults.FAULTS]


def _turn(peer: Peer, names: Sequence[str], size: Size) -> Iterator[tuple[str, Mapping[str, float], str]]:
    """Each scenario's figures, or why there are none. Each scenario gets a new scheduler."""
    for name in names:
        if why := peer.lacks.get(name.partition("-")[0]):
            yield name, {}, why
            continue
        with running(peer, faults.clock_env if name == "clock" else None) as bench:
            bench.probe()
            try:
                yield name, _step(name, bench, size), ""
            except SlowError as slow:
                yield name, {}, str(slow)


def _step(name: str, bench: Bench, size: Size) -> Mapping[str, float]:
    if name in faults.FAULTS:
        return faults.measure(bench, name, size)
    return scenarios.scenarios(size)[name](bench)


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    size, peers = Size(), [each.name for each in PEERS]
    known = [*dict.fromkeys(name.partition("-")[0] for name in _names(size)), _ALONE]
    parser = argparse.ArgumentParser(
        prog="python -m infra.shootout",
        description=__doc__,
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument(
        "--peers", nargs="+", choices=peers, default=peers, metavar="peer", help="those to measure"
    )
    parser.add_argument(
        "--scenarios", nargs="+", choices=known, default=known, metavar="scenario", help="in which"
    )
    parser.add_argument("--rounds", type=int, default=3, help="turns of each scheduler")
    parser.add_argument("--triggers", type=int, default=size.triggers, help="one-offs over a time")
    parser.add_argument(
        "--seconds", type=int, default=size.seconds, help="that time, and that of recurring jobs"
    )
    parser.add_argument("--herds", type=int, nargs="+", default=size.herds, help="one-offs at one instant")
    parser.add_argument("--recurring", type=int, default=size.recurring, help="jobs that fire each second")
    parser.add_argument("--faulty", type=int, default=size.faulty, help="one-offs of each fault")
    parser.add_argument("--minutes", type=int, default=5, help="how long `eventbridge` lasts")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the file of figures")
    parser.add_argument("--render", action="store_true", help="only write the page anew")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("stopped")
