"""Jobs created per second by the API function, compared with bare boto3 that makes the same requests."""

import importlib
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from infra.bench.api_event import api_event
from infra.bench.environment import ENVIRONMENT, answer_beneath_boto3
from infra.bench.function import alone
from infra.bench.instant_dynamodb import InstantDynamoDB
from infra.bench.report import OVER, Report

from sweephand.base.limits import JOBS_PER_BULK_MAX
from sweephand.runtime.threads import WRITES_AT_ONCE
from sweephand.storage import connect

_ROUNDS: Final = 15
_JOBS_PER_ROUND: Final = 400

_FOLDER: Final = Path(__file__).parents[2] / "functions" / "api"
_CONTEXT: Final = SimpleNamespace(get_remaining_time_in_millis=lambda: 25_000)

#: A recurring job with little data, as most are.
_JOB: Final = {
    "schedule": "@every 1h",
    "target": {"type": "http", "url": "https://example.com/hooks/refresh"},
    "data": {"tenant": 4711, "task": "refresh"},
}

#: How many jobs a request has, what that is called, and the least ratio to bare boto3.
_WAYS: Final = ((1, "one by one, PUT", 0.6), (JOBS_PER_BULK_MAX, "in bulk, POST", 0.9))

#: How long DynamoDB takes for an answer: no time, so that the CPU's share is seen, and as long as on AWS.
_LATENCIES_MS: Final = (0, 4)

#: A request of boto3: the operation, and its parameters.
_Asked = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class _Race:
    """The rounds of one way: jobs per second of the function and of bare boto3, and the requests per call."""

    jobs: int
    name: str
    aim: float
    latency_ms: int
    rounds: Sequence[tuple[float, float]]
    requests: Mapping[str, int]

    @property
    def ratios(self) -> list[float]:
        """The ratio of function to boto3 in each round, in ascending order."""
        return sorted(function / bare for function, bare in self.rounds)

    @property
    def ratio(self) -> float:
        """The median of the ratios."""
        return statistics.median(self.ratios)


def measure() -> Report:
    """Race the function and bare boto3 in turn. Each way has a process of its own."""
    races = [alone(_race, *way, latency_ms) for latency_ms in _LATENCIES_MS for way in _WAYS]
    return Report(
        title=f"Creating jobs, {_ROUNDS} rounds of {_JOBS_PER_ROUND} each",
        columns=(
            "way",
            "DynamoDB",
            "jobs a second",
            "bare boto3",
            "ratio",
            "quartiles",
            "aim",
            "requests of a call",
        ),
        rows=[_row(race) for race in races],
        figures={"ways": [_figures(race) for race in races]},
        is_within=all(race.ratio >= race.aim for race in races),
        notes=(
            "The API's handler, compared with the same requests by the same boto3 client and nothing else.",
            f"Both commit with {WRITES_AT_ONCE} threads. DynamoDB answers beneath boto3, without a network.",
        ),
    )


def _race(jobs: int, name: str, aim: float, latency_ms: int) -> _Race:
    os.environ |= ENVIRONMENT
    dynamodb = InstantDynamoDB(latency_ms)
    answer_beneath_boto3(dynamodb)
    sys.path.insert(0, str(_FOLDER))
    handler = importlib.import_module("handler").handler
    calls = _JOBS_PER_ROUND // jobs
    names = (f"job-{number:08d}" for number in range(10**8))

    def create(events: Sequence[Mapping[str, Any]]) -> None:
        for each in events:
            _check(handler(each, _CONTEXT))

    create([_event(jobs, names)])  # warms up, and reads the number of shards
    dynamodb.calls.clear()
    asked: list[_Asked] = []
    dynamodb.listen(lambda operation, parameters: asked.append((operation, parameters)))
    create([_event(jobs, names)])
    dynamodb.listen(None)
    requests = dict(dynamodb.calls)
    client = connect.dynamodb()
    with ThreadPoolExecutor(WRITES_AT_ONCE) as threads:

        def replay() -> None:
            for _ in range(calls):
                _replay(client, asked, threads)

        replay()
        rounds = []
        for number in range(_ROUNDS):
            events = [_event(jobs, names) for _ in range(calls)]
            tasks: list[Callable[[], None]] = [lambda events=events: create(events), replay]  # type: ignore[misc]
            if number % 2:
                seconds = [_timed(task) for task in reversed(tasks)][::-1]
            else:
                seconds = [_timed(task) for task in tasks]
            function_s, bare_s = seconds
            rounds.append((_JOBS_PER_ROUND / function_s, _JOBS_PER_ROUND / bare_s))
    return _Race(jobs, name, aim, latency_ms, rounds, requests)


def _event(jobs: int, names: Any) -> Mapping[str, Any]:
    if jobs == 1:
        return api_event("PUT", f"/v1/namespaces/bench/jobs/{next(names)}", _JOB)
    body = {"jobs": [{"name": next(names), **_JOB} for _ in range(jobs)]}
    return api_event("POST", "/v1/namespaces/bench/jobs", body)


def _check(answer: Mapping[str, Any]) -> None:
    """Fail if a job was not created: a refusal would look fast."""
    body = json.loads(answer["body"])
    statuses = [each["status"] for each in body["results"]] if "results" in body else [answer["statusCode"]]
    assert set(statuses) == {201}, body


def _replay(client: Any, asked: Sequence[_Asked], threads: ThreadPoolExecutor) -> None:
    """Make the requests again, in order. Commits in a row go out at the same time."""
    for operation, group in groupby(asked, key=lambda each: each[0]):
        method = getattr(client, _METHODS[operation])
        parameters = [each for _, each in group]
        if operation == "PutItem" and len(parameters) > 1:
            list(threads.map(lambda each: method(**each), parameters))  # noqa: B023 - it is called at once
        else:
            for each in parameters:
                method(**each)


_METHODS: Final = {
    "GetItem": "get_item",
    "BatchGetItem": "batch_get_item",
    "PutItem": "put_item",
    "BatchWriteItem": "batch_write_item",
}


def _timed(task: Callable[[], None]) -> float:
    began = time.perf_counter()
    task()
    return time.perf_counter() - began


def _row(race: _Race) -> tuple[str, ...]:
    ratios = race.ratios
    function, bare = (statistics.median(each[side] for each in race.rounds) for side in (0, 1))
    mark = "" if round(race.ratio, 2) >= race.aim else OVER
    return (
        race.name,
        f"{race.latency_ms} ms",
        f"{function:.0f}",
        f"{bare:.0f}",
        f"{race.ratio:.2f}{mark}",
        f"{ratios[len(ratios) // 4]:.2f} to {ratios[-1 - len(ratios) // 4]:.2f}",
        f"{race.aim}",
        ", ".join(f"{count} {operation}" for operation, count in sorted(race.requests.items())),
    )


def _figures(race: _Race) -> Mapping[str, Any]:
    return {
        "way": race.name,
        "latencyMs": race.latency_ms,
        "ratio": race.ratio,
        "aim": race.aim,
        "functionPerS": [function for function, _ in race.rounds],
        "boto3PerS": [bare for _, bare in race.rounds],
        "requests": race.requests,
    }
