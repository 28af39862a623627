"""Counts what lists and an audit of many jobs ask of DynamoDB, and measures how long they take."""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final, NamedTuple
from unittest.mock import patch
from urllib.parse import urlencode

from infra.bench.clock import HandClock
from infra.bench.function import api_event, handler
from infra.bench.instant_dynamodb import InstantDynamoDB, answer_beneath_boto3
from infra.bench.jobs import named, put

from sweephand.base.instants import DAY_MS, MINUTE_MS
from sweephand.runtime import tables
from sweephand.runtime.api import services
from sweephand.runtime.machine import SystemClock

#: How long DynamoDB takes for an answer here.
LATENCY_MS: Final = 10

#: Lists look for a label, and for a text in the name. One job in so many has both.
_RARE: Final = 100

#: A page of a list, at most.
_PAGE: Final = 200


class Found(NamedTuple):
    """What a task found, in how many calls of the API, with its requests, read units and seconds."""

    found: int
    calls: int
    requests: Mapping[str, int]
    rru: float
    seconds: Sequence[float]
    cpu_s: float


def listed(jobs: int, rounds: int, **query: str) -> Found:
    """List the jobs that a query selects, page by page. Once in a process."""

    def task(handle: Callable[[Mapping[str, Any]], Any]) -> tuple[int, int]:
        found = calls = 0
        cursor: dict[str, str] = {}
        while True:
            asked = urlencode({"limit": _PAGE, **query, **cursor})
            event = {**api_event("GET", "/v1/namespaces/bench/jobs", None), "rawQueryString": asked}
            page = _body(handle({**event, "body": None}))
            found, calls = found + len(page["items"]), calls + 1
            if "nextCursor" not in page:
                return found, calls
            cursor = {"cursor": page["nextCursor"]}

    return _measured(jobs, rounds, task)


def audited(jobs: int, rounds: int) -> Found:
    """Audit the jobs, call by call. Nothing was lost. Once in a process."""

    def task(handle: Callable[[Mapping[str, Any]], Any]) -> tuple[int, int]:
        found = calls = 0
        cursor: dict[str, str] = {}
        while True:
            done = _body(handle(api_event("POST", "/v1/audit", {"namespace": "bench", **cursor})))
            assert not any(done[each] for each in ("late", "timers", "runs", "failed")), done
            found, calls = found + done["jobs"], calls + 1
            if "nextCursor" not in done:
                return found, calls
            cursor = {"cursor": done["nextCursor"]}

    return _measured(jobs, rounds, task)


def _measured(
    jobs: int, rounds: int, task: Callable[[Callable[[Mapping[str, Any]], Any]], tuple[int, int]]
) -> Found:
    aws, clock = InstantDynamoDB(), HandClock(SystemClock().now())
    answer_beneath_boto3(aws)
    with patch.object(tables, "clock", lambda: clock):
        handle = handler("api")
        list(put(services().bulk_writer, list(named(_written(jobs))), clock.now()))
        counted: list[tuple[int, int]] = []
        asked = aws.record(lambda: counted.append(task(handle)), repeats=True)
        aws.latency_ms = LATENCY_MS
        seconds, cpu_s = [], 0.0
        for _ in range(rounds):
            began, cpu_began = time.perf_counter(), time.process_time()
            counted.append(task(handle))
            seconds.append(time.perf_counter() - began)
            cpu_s = time.process_time() - cpu_began
    assert len(set(counted)) == 1, counted
    requests = Counter(each.method for each in asked)
    return Found(*counted[0], requests, sum(map(aws.read_units, asked)), seconds, cpu_s)


def _body(answer: Mapping[str, Any]) -> Any:
    assert answer["statusCode"] == HTTPStatus.OK, answer
    return json.loads(answer["body"])


def _written(jobs: int) -> Iterator[Mapping[str, Any]]:
    """Jobs of each minute of the day, as many users have them."""
    for number in range(jobs):
        minute = number % (DAY_MS // MINUTE_MS)
        labels = {"team": "ops" if number % _RARE == 0 else "web", "tenant": f"t{number}"}
        yield {
            "schedule": f"0 {minute % 60} {minute // 60} * * *",
            "timezone": "Europe/Paris",
            "labels": labels,
            "description": "Refreshes what the search of a tenant shows",
        }
