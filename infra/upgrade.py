"""Deploys a release and this checkout in turn onto one local stack, while jobs fall due. Nothing is lost.

    python -m infra.upgrade [--release v1.0.0] [--stay 100]

The stack begins with the release, gets this checkout, goes back to the release, and gets this checkout again.
Jobs are written and fall due all the while, as in infra.faults. The exit code is 1 if a trigger was lost,
early, or came twice without a deployment in between. It needs the tag of the release, so a full clone.

The local AWS ends functions at work when it gets new ones. Their messages come again after three minutes.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Final

from infra.bench.local_stack import now, show
from infra.faults.load import Load, Writer, consumers
from infra.faults.report import await_all, tell
from infra.local import processes, stack
from infra.local.client import Client
from infra.local.places import LOCAL, PYTHON, ROOT, Place, StackError, free_port

from sweephand.base.instants import SECOND_MS

_TREE: Final = LOCAL / "release"

#: What recurs is written within this time.
_BEGIN_S: Final = 30

#: What a deployment is expected to take. Jobs fall due until the end of the last stay.
_DEPLOYMENT_S: Final = 60

#: A minute of the wheel that a version has armed passes, with the next tick.
_STAY_S: Final = 100


def main() -> int:
    """The exit code: 1 if a promise was broken, or a version cannot be deployed."""
    parser = argparse.ArgumentParser(
        prog="python -m infra.upgrade",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--release", help="a tag or commit (default: the newest tag of a release)")
    parser.add_argument("--stay", type=int, default=_STAY_S, help=f"seconds of each version ({_STAY_S})")
    arguments = parser.parse_args()
    processes.end_on_signals()
    try:
        release = arguments.release or _newest_release()
        with _checked_out(release) as tree:
            return _run(tree, release, arguments.stay)
    except StackError as error:
        print(error, file=sys.stderr)
        return 1


def _newest_release() -> str:
    """The newest tag of a release that this commit has. Raises StackError."""
    found = _git("describe", "--tags", "--abbrev=0", "--match=v[0-9]*.[0-9]*.[0-9]*")
    if found.returncode != 0:
        raise StackError("This clone has no tag of a release. Run `git fetch --tags --unshallow`.")
    return found.stdout.strip()


@contextmanager
def _checked_out(release: str) -> Iterator[Path]:
    """The folder of a checkout of the release, which has the packages and the stacks of this one."""
    _remove(_TREE)  # an interrupted run leaves it behind
    added = _git("worktree", "add", "--detach", str(_TREE), release)
    if added.returncode != 0:
        raise StackError(f"{release} cannot be checked out: {added.stderr.strip()}")
    try:
        (_TREE / ".venv").symlink_to(ROOT / ".venv")
        (_TREE / ".local").symlink_to(LOCAL)
        yield _TREE
    finally:
        _remove(_TREE)


def _remove(tree: Path) -> None:
    shutil.rmtree(tree, ignore_errors=True)
    _git("worktree", "prune")


def _git(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)


def _run(tree: Path, release: str, stay_s: int) -> int:
    place, way = Place(free_port()), (tree, ROOT, tree, ROOT)
    times = [_deployed(tree, place)]
    try:
        with consumers() as receiving, Client.of(stack.describe(place)) as client:
            lasts_s = _BEGIN_S + len(way[1:]) * (_DEPLOYMENT_S + stay_s)
            load, until = Load(receiving), now() + lasts_s * SECOND_MS
            writer = Writer(client, load, random.Random(1), until)  # noqa: S311 - jobs, no secrets
            writer.begin()
            with ThreadPoolExecutor(1) as writing:
                written = writing.submit(writer.go_on)
                for each in way[1:]:
                    time.sleep(stay_s)
                    times.append(_deployed(each, place))
                _show_rest(written, until)
            await_all(load, client)
    finally:
        stack.down(place)
    # A message that a deployment has cut off is delivered again, whenever in the deployment that was.
    faults_at = [*chain.from_iterable(range(each.start, each.stop, SECOND_MS) for each in times[1:])]
    return tell(load, faults_at, times[-1].stop, f"Upgrades: {release}, this checkout, and both again")


def _deployed(tree: Path, place: Place) -> range:
    """Deploy the version in that folder. Return when it began and ended, in epoch ms. Raises StackError."""
    show(f"deploying {'this checkout' if tree == ROOT else 'the release'}")
    before = place.deployed.read_text(encoding="utf-8") if place.deployed.exists() else None
    began_at = now()
    done = subprocess.run(
        [PYTHON, "-m", "infra.local", "up", "--port", str(place.port)],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": f"{tree}/layers/sweephand/python:{tree}/client"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise StackError(f"The deployment failed: {done.stdout}{done.stderr}")
    if place.deployed.read_text(encoding="utf-8") == before:
        raise StackError("The release and this checkout have the same template and functions.")
    return range(began_at, now())


def _show_rest(written: Future[None], until: int) -> None:
    show(f"jobs fall due for {max(0, until - now()) // SECOND_MS} s more")
    written.result()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("stopped")
