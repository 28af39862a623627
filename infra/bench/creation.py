"""Jobs created per second by the API function, compared with bare boto3 that makes the same requests."""

import json
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NamedTuple

from infra.bench.function import Log, alone, api_event, handler
from infra.bench.instant_dynamodb import InstantDynamoDB, answer_beneath_boto3
from infra.bench.race import Race, Task, race, replay, stages
from infra.bench.report import Cell, Report

from sweephand.base.limits import JOBS_PER_BULK_MAX
from sweephand.runtime.machine import WRITES_AT_ONCE
from sweephand.storage import connect

_ROUNDS: Final = 15
_JOBS_PER_ROUND: Final = 400

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


class Created(NamedTuple):
    """The race of one way to create jobs. A call makes `requests` to DynamoDB, and writes `log`."""

    race: Race
    requests: int
    log: str


def measure() -> Report:
    """Race the function and bare boto3 in turn."""
    return Report(
        title=f"Creating jobs, {_ROUNDS} rounds of {_JOBS_PER_ROUND} each",
        rows=[_row(*way, latency_ms) for latency_ms in _LATENCIES_MS for way in _WAYS],
        notes=(
            "The API's handler, compared with the same requests by the same boto3 client and nothing else.",
            "Requests: those of one call.",
            f"Both commit with {WRITES_AT_ONCE} threads. DynamoDB answers beneath boto3, without a network.",
        ),
    )


def _row(jobs: int, name: str, ratio_least: float, latency_ms: int) -> Mapping[str, Cell]:
    found = alone(create, jobs, latency_ms)
    cells = found.race.cells(ratio_least)
    return {"way": name, "DynamoDB": f"{latency_ms} ms", **cells, "requests": found.requests}


def create(jobs: int, latency_ms: int) -> Created:
    """Create jobs, that many with each request. DynamoDB answers after that time. Once in a process."""
    log, dynamodb = Log(), InstantDynamoDB(latency_ms)
    answer_beneath_boto3(dynamodb)
    handle = handler("api")
    calls = _JOBS_PER_ROUND // jobs
    names = (f"job-{number:08d}" for number in range(10**8))

    def call(events: Iterable[Mapping[str, Any]]) -> None:
        """Create jobs. Fail if the API refused a job, because a refusal would look fast."""
        for event in events:
            answer = handle(event)
            body = json.loads(answer["body"])
            results = body.get("results", [{"status": answer["statusCode"]}])
            assert {each["status"] for each in results} == {201}, body

    call([_event(jobs, names)])  # reads the number of shards
    asked = stages(dynamodb.record(lambda: call([_event(jobs, names)])), {"put_item": "commits"})
    written = log.of(lambda: call([_event(jobs, names)]))
    clients: Mapping[str, Any] = {"dynamodb": connect.dynamodb()}
    with ThreadPoolExecutor(WRITES_AT_ONCE) as threads:

        def prepare() -> tuple[Task, Task]:
            events = [_event(jobs, names) for _ in range(calls)]
            return lambda: call(events), lambda: replay(asked * calls, clients, threads)

        raced = race(_JOBS_PER_ROUND, _ROUNDS, prepare)
    return Created(raced, sum(map(len, asked)), written)


def _event(jobs: int, names: Iterator[str]) -> Mapping[str, Any]:
    if jobs == 1:
        return api_event("PUT", f"/v1/namespaces/bench/jobs/{next(names)}", _JOB)
    body = {"jobs": [{"name": next(names), **_JOB} for _ in range(jobs)]}
    return api_event("POST", "/v1/namespaces/bench/jobs", body)
