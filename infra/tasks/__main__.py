"""The command: performs the tasks on `sweephand dev`, and writes their table on docs/console.md.

    python -m infra.tasks                              # all, in about four minutes
    python -m infra.tasks --only "Run a job now"       # those whose names contain this
    python -m infra.tasks --render                     # only the table anew

It calls nothing but loopback.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from typing import Final

from infra import chromium
from infra.local import processes
from infra.local.client import RefusedError
from infra.local.dev import running
from infra.tasks import page, results
from infra.tasks.perform import NOW, NotDoneError, Stage, before
from infra.tasks.scene import Consumer, Scene
from infra.tasks.steps import Place, Task

#: No performance of all tasks goes on for longer.
_BOUND_S: Final = 1_800


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code: 0 if each way did its task."""
    parser = argparse.ArgumentParser(prog="python -m infra.tasks", description=__doc__)
    parser.add_argument("--only", default="", help="the tasks whose names contain this text")
    parser.add_argument("--where", choices=("commands", "clicks"), help="only there")
    parser.add_argument("--render", action="store_true", help="only write the table anew")
    asked = parser.parse_args(arguments)
    processes.end_on_signals()
    performed, failed = results.load(), 0
    if not asked.render:
        places = [
            (task, place)
            for task in results.TASKS
            if asked.only in task.name
            for place, way in task.ways().items()
            if way.exists and asked.where in (None, place[0])
        ]
        failed = _perform(places, performed)
        results.save(performed)
    text = page.PAGE.read_text(encoding="utf-8")
    page.PAGE.write_text(page.rendered(text, performed), encoding="utf-8")
    print(page.table(performed))
    return 1 if failed else 0


def _perform(places: Sequence[tuple[Task, Place]], performed: results.Performed) -> int:
    """Perform ways of tasks, each in a scene of its own. Returns how many did not do their task."""
    program = chromium.found()
    if program is None:
        sys.exit(f"Chromium, which shows the console, is not installed: {chromium.INSTALL}")
    failed, deadline_s = 0, time.monotonic() + _BOUND_S
    with (
        before() as earlier,
        running() as dev,
        Consumer().listening() as consumer,
        chromium.running(program) as browser,
    ):
        stage = Stage(dev, browser, {False: earlier, True: NOW})
        for number, (task, place) in enumerate(places):
            named = results.named(place)
            performed.setdefault(task.name, {}).pop(named, None)
            try:
                scene = Scene(dev.client, f"n{number}", consumer)
                task.prepare(scene)
                stage.perform(task, place, scene)
            except (NotDoneError, RefusedError, TimeoutError) as error:
                failed += 1
                print(f"{task.name}, {named}: {error}", flush=True)
            else:
                performed[task.name][named] = task.ways()[place].digest
                print(f"{task.name}, {named}: {task.ways()[place].size}", flush=True)
            finally:
                consumer.is_released.set()
            if time.monotonic() > deadline_s:
                sys.exit(f"stopped after {_BOUND_S} s")
    return failed


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("stopped")
