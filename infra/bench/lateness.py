"""How late triggers are on the local stack: one-offs off the wheel, and jobs that fire often or at `:00`."""

import random
import time
from collections.abc import Mapping, Sequence
from typing import Final

from infra.bench.consumer import Arrival, Consumer
from infra.bench.local_stack import by_due_time, deployed, job, now, series_owed, sleep_until, title
from infra.bench.punctuality import judge
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
    with deployed(place) as client, Consumer() as consumer:
        _write(client, "ticking", f"@every {_PERIOD_MS // SECOND_MS}s", consumer.url)
        _write(client, "minutes", "* * * * *", consumer.url)
        sleep_until(now() + _WARM_UP_MS)
        warm_at = now()
        client.ask("PUT", "/v1/namespaces/once/policies/wide", {"maxConcurrent": _WIDE})
        due_at = _create(client, consumer.url, triggers, _LEAD_MS, "wide")
        created_at = now()
        arrivals = _arrivals(consumer, due_at)
    until = max(due_at.values())

    def often(name: str, namespace: str, period_ms: int, after: int, until: int) -> Mapping[str, Cell]:
        came = _of(namespace, arrivals)
        owed = series_owed(came, period_ms, after=after, until=until)
        return {"jobs": name, **judge(owed, by_due_time(came)).cells(_TOGETHER_P99_MS)}

    return _report(
        "Lateness",
        [
            _one_offs("one-offs", due_at, arrivals, _P99_MS, "job-"),
            _one_offs("one-offs under a policy", due_at, arrivals, _P99_MS, "wide-"),
            often("@every 5s", "ticking", _PERIOD_MS, created_at, until),
            often("@every 5s, while the API creates", "ticking", _PERIOD_MS, warm_at, created_at),
            # Earlier triggers were armed directly, so no tick has sent them.
            often("at `:00`", "minutes", MINUTE_MS, warm_at + DIRECT_WINDOW_MS, until),
        ],
    )


def measure_idle(place: Place, triggers: int) -> Report:
    """Leave a new stack idle, and wait for the one-offs. None is left out."""
    with deployed(place) as client, Consumer() as consumer:
        due_at = _create(client, consumer.url, triggers, _IDLE_MS)
        arrivals = _arrivals(consumer, due_at)
    name = f"one-offs after {_IDLE_MS // MINUTE_MS} idle minutes"
    return _report("Lateness after an idle time", [_one_offs(name, due_at, arrivals, _IDLE_P99_MS)])


def _write(client: Client, namespace: str, schedule: str, url: str) -> None:
    times = {"schedule": schedule}
    write_jobs(client, namespace, [job(f"job-{number}", times, url) for number in range(_JOBS)])


def _create(
    client: Client, url: str, triggers: int, lead_ms: int, policy: str | None = None
) -> Mapping[str, int]:
    """Write the one-offs, the earliest due first, and return their due times by name.

    The first is due at least `lead_ms` after the last is written. With a policy, every second one names it.
    """
    chance = random.Random(7)  # noqa: S311 - any spread will do, as long as it is the same
    first_at = now() + lead_ms + triggers * _WRITING_MS
    dues = sorted(first_at + chance.randrange(_SPREAD_MS) for _ in range(triggers))
    kinds: list[dict[str, str]] = [{}, {} if policy is None else {"policy": policy}]
    due_at = {f"{kinds[number % 2].get('policy', 'job')}-{number}": due for number, due in enumerate(dues)}
    jobs = [
        job(name, {"dueTime": rfc3339(due), **kinds[number % 2]}, url)
        for number, (name, due) in enumerate(due_at.items())
    ]
    write_jobs(client, "once", jobs)
    assert now() + DIRECT_WINDOW_MS < dues[0], "this machine writes too slowly: one-offs miss the wheel"
    return due_at


def _arrivals(consumer: Consumer, due_at: Mapping[str, int]) -> Sequence[Arrival]:
    """What came until each one-off had come, or was lost, and a little longer for duplicates."""
    sleep_until(max(due_at.values()) + 2 * SECOND_MS)
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline:
        if len({each.trigger_id for each in _of("once", consumer.arrivals())}) == len(due_at):
            break
        time.sleep(2)
    time.sleep(5)
    return consumer.arrivals()


def _of(namespace: str, arrivals: Sequence[Arrival]) -> Sequence[Arrival]:
    return [each for each in arrivals if each.namespace == namespace]


def _one_offs(
    name: str, due_at: Mapping[str, int], arrivals: Sequence[Arrival], p99_most_ms: int, of: str = ""
) -> Mapping[str, Cell]:
    owed = {each: due for each, due in due_at.items() if each.startswith(of)}
    came = [(each.job, each.arrived_at) for each in _of("once", arrivals) if each.job.startswith(of)]
    return {"jobs": name, **judge(owed, came).cells(p99_most_ms)}


def _report(subject: str, rows: Sequence[Mapping[str, Cell]]) -> Report:
    return Report(
        title=title(subject),
        rows=rows,
        notes=(
            "From the due time to the first byte at the consumer. All programs share this machine's cores.",
        ),
    )
