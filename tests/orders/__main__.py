"""Walks every order of small worlds: `python -m tests.orders [--scenario NAME] [--preemptions N]`.

For each world it prints the orders, the states, the worlds after an order, the bound and the seconds. It ends
with 1 if an order breaks a promise, and prints the story of that order. With `--broken`, production code is
broken as the world must notice, and the story is that of the order which shows it.
"""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from contextlib import nullcontext
from time import process_time
from typing import Final

from tests.orders.engine import Explored, explore, first_complaint
from tests.orders.scenarios import SCENARIOS, Scenario

#: What a step does, by its call. A call that is not here is named.
_WORDS: Final = {
    "begins": "begins",
    "batches.advance": "notes how far the batch is",
    "batches.mark": "marks its triggers as over",
    "batches.marks": "reads the marks of the batch",
    "calendars.content": "reads what the calendar was written as",
    "calendars.get": "reads the calendar",
    "calendars.put": "commits the calendar",
    "changes.put": "files the change of the version before",
    "clock.move": "lets time pass",
    "consumers.deliver": "sends the request",
    "consumers.answer": "gets the answer",
    "flow_queue.send": "sends a message about the gate",
    "gate_lines.put": "writes an entry of the line",
    "gates.change": "writes the gate",
    "gates.get": "reads the gate",
    "jobs.briefs": "reads the jobs of its timers",
    "jobs.delete": "deletes the job",
    "jobs.get": "reads the job",
    "jobs.put": "commits the job",
    "leases.claim": "claims the shard",
    "leases.commit": "commits the cursor",
    "leases.release": "commits the cursor and releases the shard",
    "leases.state": "reads the leases",
    "policies.get": "reads the policy",
    "queue.acknowledge": "acknowledges its messages",
    "queue.send": "sends messages",
    "runs.claim": "claims the attempt",
    "runs.of": "reads the run",
    "runs.record": "records the run",
    "timers.page": "reads timers",
    "timers.put": "writes timers",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Walk the worlds. Return 1 if an order breaks a promise, and 0 otherwise."""
    parser = ArgumentParser(prog="python -m tests.orders", description=__doc__)
    parser.add_argument("--scenario", choices=SCENARIOS, help="this one alone")
    parser.add_argument("--preemptions", type=int, help="no order has more; without it, there is no bound")
    parser.add_argument("--crashes", type=int, default=1, help="no order has more")
    parser.add_argument("--broken", action="store_true", help="break production code")
    asked = parser.parse_args(arguments)
    is_kept = True
    print(
        f"{'scenario':<28}{'preemptions':>12}{'crashes':>9}{'orders':>12}{'states':>9}{'ends':>7}{'seconds':>9}"
    )
    for name, scenario in SCENARIOS.items():
        if asked.scenario in {None, name}:
            is_kept &= _is_kept(name, scenario, asked)
    return 0 if is_kept else 1


def _is_kept(name: str, scenario: Scenario, asked: Namespace) -> bool:
    began = process_time()
    with scenario.breaks() if asked.broken else nullcontext():
        found = explore(scenario.build, asked.preemptions, asked.crashes)
        seconds = process_time() - began
        if found.complaint is not None:
            found = first_complaint(scenario.build)
    figures = f"{found.orders:>12,}{found.states:>9,}{found.ends:>7,}{seconds:>9.1f}"
    bound = "any" if asked.preemptions is None else asked.preemptions
    print(f"{name:<28}{bound:>12}{asked.crashes:>9}{figures}", flush=True)
    if found.complaint is not None:
        print("\n".join(story(found)))
    return found.complaint is None


def story(found: Explored) -> list[str]:
    """The steps of the order that breaks a promise, a line for each, and the promise."""
    lines = []
    for told in found.story:
        crashes = "crashes before it " if told.crashes else ""
        lines.append(f"  {told.actor} {crashes}{_WORDS.get(told.call, f'calls {told.call}')}")
    return [*lines, f"  Then: {found.complaint}"]


if __name__ == "__main__":
    sys.exit(main())
