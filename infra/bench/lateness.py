"""How late triggers are on the local stack: one-offs off the wheel, and jobs that fire often or at `:00`."""

import random
import time
from collections.abc import Mapping, Sequence
from typing import Final

from infra.bench.consumer import Consumer
from infra.bench.local_stack import deployed, job, now, sleep_until, title
from infra.bench.punctuality import judge, judge_series
from infra.bench.report import Cell, Report
from infra.local.client import Client, write_jobs
from infra.local.places import Place

from sweephand.base.instants import MINUTE_MS, SECOND_MS, rfc3339
from sweephand.base.timing import DIRECT_WINDOW_MS

#: The jobs of each kind that recurs. Those of `minutes` are due at second 0, as most cron jobs are.
_JOBS: Final = 100
_PERIOD_MS: Final = 5 * SECOND_MS

#: The one-offs fall due within this range of time. Writing one takes no longer than the given time.
_SPREAD_MS: Final = 120 * SECOND_MS
_WRITING_MS: Final = 10

#: The first one-off is due so long after the end of creation that it goes by the wheel.
_LEAD_MS: Final = DIRECT_WINDOW_MS + MINUTE_MS

#: The functions start meanwhile, all at once on this machine's few cores. On AWS each has cores of its own.
_WARM_UP_MS: Final = 15 * SECOND_MS

#: After the creation of the one-offs of an idle stack, nothing is due for this long.
_IDLE_MS: Final = 10 * MINUTE_MS

#: Every second one-off names a policy with so many slots, which its triggers never fill.
_WIDE: Final = 200

#: A trigger that has not come this long after the last due time counts as lost.
_PATIENCE_S: Final = 90

#: The aims of the design: one-offs spread over two minutes, the same after an idle time, and all others,
#: which fall due together.
_P99_MS: Final = 250
_IDLE_P99_MS: Final = 500
_TOGETHER_P99_MS: Final = 1_000


def measure(place: Place, triggers: int) -> Report:
    """Fill a stack, and wait until everything is due."""
    with deployed(place) as client, Consumer() as ticking, Consumer() as minutes, Consumer() as once:
        _write(client, "ticking", f"@every {_PERIOD_MS // SECOND_MS}s", ticking.url)
        _write(client, "minutes", "* * * * *", minutes.url)
        sleep_until(now() + _WARM_UP_MS)
        warm_at = now()
        client.ask("PUT", "/v1/namespaces/once/policies/wide", {"maxConcurrent": _WIDE})
        due_at = _create(client, once.url, triggers, _LEAD_MS, ("job", "wide"))
        created_at, until = now(), max(due_at.values())
        _await_all(once, due_at)
        often = judge_series(ticking.arrivals(), _PERIOD_MS, after=created_at, until=until)
        meanwhile = judge_series(ticking.arrivals(), _PERIOD_MS, after=warm_at, until=created_at)
        # Earlier triggers were armed directly, so no tick has sent them.
        swept_at = warm_at + DIRECT_WINDOW_MS
        sharp = judge_series(minutes.arrivals(), MINUTE_MS, after=swept_at, until=until)
    return _report(
        "Lateness",
        [
            _one_offs("one-offs", due_at, once, _P99_MS, "job-"),
            _one_offs("one-offs under a policy", due_at, once, _P99_MS, "wide-"),
            {"jobs": "@every 5s", **often.cells(_TOGETHER_P99_MS)},
            {"jobs": "@every 5s, while the API creates", **meanwhile.cells(_TOGETHER_P99_MS)},
            {"jobs": "at `:00`", **sharp.cells(_TOGETHER_P99_MS)},
        ],
    )


def measure_idle(place: Place, triggers: int) -> Report:
    """Leave a new stack idle, and wait for the one-offs. None is left out."""
    with deployed(place) as client, Consumer() as once:
        due_at = _create(client, once.url, triggers, _IDLE_MS)
        _await_all(once, due_at)
    name = f"one-offs after {_IDLE_MS // MINUTE_MS} idle minutes"
    return _report("Lateness after an idle time", [_one_offs(name, due_at, once, _IDLE_P99_MS)])


def _write(client: Client, namespace: str, schedule: str, url: str) -> None:
    times = {"schedule": schedule}
    write_jobs(client, namespace, [job(f"job-{number}", times, url) for number in range(_JOBS)])


def _create(
    client: Client, url: str, triggers: int, lead_ms: int, kinds: Sequence[str] = ("job",)
) -> Mapping[str, int]:
    """Write one-offs of these kinds in turn, the earliest due first, and return their due times by name.

    The first is due at least `lead_ms` after the last is written. Those of the kind `wide` name that policy.
    """
    chance = random.Random(7)  # noqa: S311 - any spread will do, as long as it is the same
    first_at = now() + lead_ms + triggers * _WRITING_MS
    dues = sorted(first_at + chance.randrange(_SPREAD_MS) for _ in range(triggers))
    due_at = {f"{kinds[number % len(kinds)]}-{number}": due for number, due in enumerate(dues)}
    policies = {name: {"policy": "wide"} if name.startswith("wide") else {} for name in due_at}
    times = {name: {"dueTime": rfc3339(due), **policies[name]} for name, due in due_at.items()}
    write_jobs(client, "once", [job(name, each, url) for name, each in times.items()])
    assert now() + DIRECT_WINDOW_MS < dues[0], "this machine writes too slowly: one-offs miss the wheel"
    return due_at


def _await_all(once: Consumer, due_at: Mapping[str, int]) -> None:
    """Return when each one-off has come, or is lost, and a little later for duplicates."""
    sleep_until(max(due_at.values()) + 2 * SECOND_MS)
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline and len({each.job for each in once.arrivals()}) < len(due_at):
        time.sleep(2)
    time.sleep(5)


def _one_offs(
    name: str, due_at: Mapping[str, int], once: Consumer, p99_most_ms: int, of: str = ""
) -> Mapping[str, Cell]:
    """The row of those one-offs whose names begin with `of`."""
    owed = {each: due for each, due in due_at.items() if each.startswith(of)}
    came = [(each.job, each.arrived_at) for each in once.arrivals()]
    return {"jobs": name, **judge(owed, came).cells(p99_most_ms)}


def _report(subject: str, rows: Sequence[Mapping[str, Cell]]) -> Report:
    return Report(
        title=title(subject),
        rows=rows,
        notes=(
            "From the due time to the first byte at the consumer. All programs share this machine's cores.",
        ),
    )
