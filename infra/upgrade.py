"""Deploys one version after another onto a local stack under load, and checks that no trigger is lost.

`python -m infra.upgrade` deploys A, B, A, B, C, B in turn onto one stack, whose jobs fire all the while:

- A: the version before packs and bundles. It puts back what it cannot read.
- B: reads packs and bundles, and writes neither.
- C: the commit that is checked out here. It writes both.

It exits with 1 if a due time was not delivered. It needs the commits of A and B, so a full clone.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from infra.local.client import Client
from infra.local.places import LOCAL, PYTHON, ROOT, Place
from infra.local.receiver import Answer, Receiver

#: The commit of each version; None is the one that is checked out here.
VERSIONS: Final[Mapping[str, str | None]] = {
    "A": "7a8eaf8f13734ef0f512eb8906c985f55287379d",
    "B": "16db202a331d673379d62677a3b538986a1e5a1c",
    "C": None,
}
WAY: Final = ("A", "B", "A", "B", "C", "B")

#: How long a version stays after its deployment, at least: a minute of the wheel that it has armed passes.
STAY_S: Final = 75

_HOME: Final = LOCAL / "upgrade"
_NAMESPACE: Final = "upgrade"
_PORT: Final = 4770

#: Jobs that fire every five seconds, jobs that fire at every :00, one-offs, and one-offs that fail twice.
_OFTEN: Final = 30
_MINUTELY: Final = 20
_ONE_OFFS: Final = 600
_FAILING: Final = 20
_OFTEN_S: Final = 5
_BULK: Final = 100

#: The one-offs are spread over this time. All deployments must take as long, since later ones do not count.
_SPREAD_S: Final = 13 * 60

#: After the last deployment, deliveries that are late are waited for.
_GRACE_S: Final = 45


#: A failing job is delivered with success after two waits of 40 s. So much later it counts as lost.
_RETRIES_MS: Final = 120_000


class MissingCommitError(Exception):
    """This clone lacks the commit of a version. The message says how to get it."""


class CannotDeployError(Exception):
    """A version could not be deployed. The message is what its command said."""


@contextmanager
def _trees() -> Iterator[Mapping[str, Path]]:
    """A checkout of each version. They share the folder in which a local stack keeps its state."""
    for name, commit in VERSIONS.items():
        if commit is not None and not _has(commit):
            message = f"This clone lacks commit {commit} of version {name}: run `git fetch --unshallow`."
            raise MissingCommitError(message)
    # An interrupted run leaves its checkouts behind, and git still knows them.
    shutil.rmtree(_HOME, ignore_errors=True)
    _git("worktree", "prune")
    state = _HOME / "state"
    state.mkdir(parents=True)
    (state / "venvs").symlink_to(LOCAL / "venvs")
    trees: dict[str, Path] = {}
    try:
        for name, commit in VERSIONS.items():
            tree = _HOME / name
            _git("worktree", "add", "--quiet", "--detach", str(tree), commit or "HEAD")
            (tree / ".venv").symlink_to(ROOT / ".venv")
            (tree / ".local").symlink_to(state)
            trees[name] = tree
        yield trees
    finally:
        for tree in trees.values():
            _git("worktree", "remove", "--force", str(tree))
        shutil.rmtree(_HOME, ignore_errors=True)


def _has(commit: str) -> bool:
    """Whether this clone has the commit."""
    asked = ["git", "cat-file", "-e", f"{commit}^{{commit}}"]
    return subprocess.run(asked, cwd=ROOT, stderr=subprocess.DEVNULL, check=False).returncode == 0


def _git(*words: str) -> None:
    subprocess.run(["git", *words], cwd=ROOT, check=True)


def _local(tree: Path, command: str, place: Place) -> None:
    """Run a command of that version's local stack."""
    done = subprocess.run(
        [PYTHON, "-m", "infra.local", command, "--port", str(place.port)],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise CannotDeployError(f"{tree.name}: {command} failed: {done.stdout}{done.stderr}")


def run(way: Sequence[str], place: Place) -> bool:
    """Deploy every version in turn, print what was delivered, and return whether nothing was lost."""
    with _trees() as trees, Receiver() as receiver:
        began = time.monotonic()

        def step(text: str) -> None:
            print(f"{time.monotonic() - began:6.1f} s  {text}", flush=True)

        step(f"deploying {way[0]}")
        _local(trees[way[0]], "up", place)
        try:
            stack = json.loads((_HOME / "state" / f"stack-{place.port}.json").read_text(encoding="utf-8"))
            with Client.of(stack) as client:
                expected = _write_jobs(client, receiver)
                step(f"{len(expected)} jobs fire")
                time.sleep(STAY_S)
                for name in way[1:]:
                    step(f"deploying {name}")
                    _local(trees[name], "up", place)
                    time.sleep(STAY_S)
                ended_at = time.time_ns() // 1_000_000
                step("waiting for what is late")
                time.sleep(_GRACE_S)
                return is_complete(expected, receiver, ended_at)
        finally:
            _local(trees[way[-1]], "down", place)


def _write_jobs(client: Client, receiver: Receiver) -> Mapping[str, Sequence[int]]:
    """Write the jobs, and return the due times of each in epoch ms."""
    now = time.time_ns() // 1_000_000
    jobs: dict[str, dict[str, Any]] = {}
    for number in range(_OFTEN):
        jobs[f"often-{number}"] = {"schedule": f"@every {_OFTEN_S}s", "history": "failures"}
    for number in range(_MINUTELY):
        jobs[f"minutely-{number}"] = {"schedule": "0 * * * * *"}
    for number in range(_ONE_OFFS):
        jobs[f"once-{number}"] = {"dueTime": f"{10 + number * _SPREAD_S // _ONE_OFFS}s"}
    for number in range(_FAILING):
        jobs[f"failing-{number}"] = {
            "dueTime": f"{10 + number * _SPREAD_S // (2 * _FAILING)}s",
            "retry": {"initialDelay": "40s", "multiplier": 1},
        }
        receiver.answer(f"/failing-{number}", Answer(503), Answer(503))
    for name, job in jobs.items():
        job["target"] = {"type": "http", "url": receiver.url(f"/{name}")}
    named = [{"name": name, **job} for name, job in jobs.items()]
    path = f"/v1/namespaces/{_NAMESPACE}/jobs"
    for start in range(0, len(named), _BULK):
        results = client.ask("POST", path, {"jobs": named[start : start + _BULK]})["results"]
        assert all(each["status"] == 201 for each in results), results[0]  # noqa: PLR2004 - created
    return {name: _dues(client, f"{path}/{name}", now) for name in jobs}


def _dues(client: Client, path: str, since: int) -> Sequence[int]:
    after = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(since / 1_000 - 1))
    found = client.ask("GET", f"{path}/occurrences?limit=200&after={after}")["occurrences"]
    return [round(datetime.fromisoformat(each["utc"]).timestamp() * 1_000) for each in found]


def is_complete(expected: Mapping[str, Sequence[int]], receiver: Receiver, ended_at: int) -> bool:
    """Whether each due time before the end was delivered with success."""
    taken = [each for each in receiver.deliveries() if each.answer.status == 200]  # noqa: PLR2004 - the default
    came: Counter[tuple[str, int]] = Counter()
    late_ms: list[int] = []
    for each in taken:
        due_at = int(each.trigger_id.split("-")[1])
        came[each.path.strip("/"), due_at] += 1
        late_ms.append(each.arrived_at - due_at)
    owed = {
        (name, due_at)
        for name, dues in expected.items()
        for due_at in dues
        if due_at < ended_at - (_RETRIES_MS if name.startswith("failing") else 0)
    }
    lost = sorted(owed - came.keys())
    late_ms.sort()
    print(f"{len(owed)} due times, {len(lost)} lost, {sum(came.values()) - len(came)} delivered twice")
    print(f"late: median {late_ms[len(late_ms) // 2]} ms, p99 {late_ms[len(late_ms) * 99 // 100]} ms")
    for name, due_at in lost[:20]:
        print(f"lost: {name} due {due_at}")
    return not lost


def main() -> int:
    """The exit code: 0 if nothing was lost."""
    parser = argparse.ArgumentParser(prog="python -m infra.upgrade", description=__doc__)
    parser.add_argument("way", nargs="*", default=WAY, help=f"versions, by default {' '.join(WAY)}")
    parser.add_argument("--port", type=int, default=_PORT, help=f"for a local AWS (default {_PORT})")
    arguments = parser.parse_args()
    unknown = set(arguments.way) - set(VERSIONS)
    if unknown:
        parser.error(f"there is no version {', '.join(sorted(unknown))}")
    return 0 if run(arguments.way, Place(arguments.port)) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("stopped")
    except (CannotDeployError, MissingCommitError) as error:
        sys.exit(str(error))
