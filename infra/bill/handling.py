"""Measures the CPU time of a call, and the bytes that it writes to its log and to consumers."""

import importlib
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, NamedTuple

from infra.bench import consumer
from infra.bench.api_event import api_event
from infra.bench.consumer import Consumer
from infra.bench.environment import ENVIRONMENT, answer_beneath_boto3
from infra.bench.function import BATCH_MAX, Function, alone, event
from infra.bench.instant_dynamodb import InstantDynamoDB
from infra.bill.measured import Handling
from infra.bill.tls import handshake_cpu_ms

from sweephand.base.limits import JOBS_PER_BULK_MAX

_ROUNDS: Final = 31
_CALLS: Final = 40

_API_FOLDER: Final = Path(__file__).parents[2] / "functions" / "api"
_CONTEXT: Final = SimpleNamespace(get_remaining_time_in_millis=lambda: 25_000)

#: A one-off with little data, as most are.
_JOB: Final = {
    "dueTime": "1h",
    "history": "failures",
    "target": {"type": "http", "url": "https://example.com/hooks/refresh"},
    "data": {"tenant": 4711, "task": "refresh"},
}

#: What Lambda adds to the log of each call. The REPORT line is as AWS documents it.
_OF_LAMBDA: Final = """\
START RequestId: 8f507cfc-xmpl-4697-b07a-ac58fc914c95 Version: 12
END RequestId: 8f507cfc-xmpl-4697-b07a-ac58fc914c95
REPORT RequestId: 8f507cfc-xmpl-4697-b07a-ac58fc914c95\tDuration: 1523.60 ms\tBilled Duration: 1524 ms\t\
Memory Size: 256 MB\tMax Memory Used: 112 MB
"""


class _Delivering(NamedTuple):
    """CPU ms of calls with one trigger and with ten; the log's bytes of both, and the metrics' names."""

    one_ms: float
    ten_ms: float
    one_bytes: int
    ten_bytes: int
    metrics: tuple[str, ...]


def measure() -> Handling:
    """Every point. It takes a minute."""
    with consumer.elsewhere() as receiver:
        plain = alone(_deliver, receiver.url, "failures")
        kept = alone(_deliver, receiver.url, "outcome")
    trigger_ms = (plain.ten_ms - plain.one_ms) / (BATCH_MAX - 1)
    put_ms, log_bytes = alone(_create, 1)
    bulk_ms, _ = alone(_create, JOBS_PER_BULK_MAX)
    trigger_bytes = (plain.ten_bytes - plain.one_bytes) / (BATCH_MAX - 1)
    of_lambda = len(_OF_LAMBDA)
    return Handling(
        deliver_call_ms=round(max(0.0, plain.one_ms - trigger_ms), 3),
        deliver_trigger_ms=round(trigger_ms, 3),
        history_ms=round((kept.ten_ms - plain.ten_ms) / BATCH_MAX, 3),
        tls_ms=round(handshake_cpu_ms(), 3),
        put_ms=round(put_ms, 3),
        bulk_job_ms=round(bulk_ms, 3),
        log_call_bytes=round(plain.one_bytes - trigger_bytes) + of_lambda,
        log_trigger_bytes=round(trigger_bytes, 1),
        api_log_bytes=log_bytes + of_lambda,
        request_bytes=alone(_request_bytes),
        metrics=len(plain.metrics),
    )


def _deliver(url: str, history: str) -> _Delivering:
    function = Function(url, history, has_boto3=True)

    def call(messages: int) -> None:
        function.handle(event(function.batch()[:messages]))

    one_ms = _cpu_ms(lambda: call(1))
    ten_ms = _cpu_ms(lambda: call(BATCH_MAX))
    with _written() as one:
        call(1)
    with _written() as ten:
        call(BATCH_MAX)
    return _Delivering(one_ms, ten_ms, _bytes(one), _bytes(ten), tuple(_metrics(ten)))


def _create(jobs: int) -> tuple[float, int]:
    """CPU ms of the API function for each job, with that many to a call, and the bytes of a call's log."""
    os.environ |= ENVIRONMENT
    answer_beneath_boto3(InstantDynamoDB())
    sys.path.insert(0, str(_API_FOLDER))
    handler = importlib.import_module("handler").handler
    names = (f"job-{number:08d}" for number in range(10**8))

    def call() -> None:
        answer = handler(_request(jobs, names), _CONTEXT)
        body = json.loads(answer["body"])
        statuses = [each["status"] for each in body["results"]] if jobs > 1 else [answer["statusCode"]]
        assert set(statuses) == {201}, body

    for _ in range(10):
        call()
    cpu_ms = _cpu_ms(call, calls=max(1, _CALLS // jobs)) / jobs
    with _written() as written:
        call()
    return cpu_ms, _bytes(written)


def _request(jobs: int, names: Iterator[str]) -> Mapping[str, Any]:
    if jobs == 1:
        return api_event("PUT", f"/v1/namespaces/bench/jobs/{next(names)}", _JOB)
    body = {"jobs": [{"name": next(names), **_JOB} for _ in range(jobs)]}
    return api_event("POST", "/v1/namespaces/bench/jobs", body)


def _request_bytes() -> int:
    """The bytes of a request that the delivery function makes, head and body."""
    with Consumer() as receiver:
        function = Function(receiver.url, "failures", has_boto3=True)
        function.handle(event(function.batch()))
        return round(statistics.mean(receiver.request_bytes()))


def _cpu_ms(call: Callable[[], None], calls: int = _CALLS) -> float:
    """The median over the rounds of this process's CPU ms for a call."""
    rounds = []
    for _ in range(_ROUNDS):
        began = time.process_time()
        for _ in range(calls):
            call()
        rounds.append((time.process_time() - began) * 1_000 / calls)
    return statistics.median(rounds)


@contextmanager
def _written() -> Iterator[list[str]]:
    """Collects the lines that this process writes to its standard output within the context."""
    lines: list[str] = []
    sys.stdout.flush()
    before = os.dup(1)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 1)
        try:
            yield lines
        finally:
            sys.stdout.flush()
            os.dup2(before, 1)
            os.close(before)
        file.seek(0)
        lines += file.read().decode().splitlines()


def _bytes(lines: Sequence[str]) -> int:
    return sum(len(line.encode()) for line in lines)


def _metrics(lines: Sequence[str]) -> Iterator[str]:
    """The metrics that the lines report. CloudWatch bills each name once for each set of dimensions."""
    for line in lines:
        for directive in json.loads(line).get("_aws", {}).get("CloudWatchMetrics", ()):
            assert len(directive["Dimensions"]) == 1, directive
            yield from (each["Name"] for each in directive["Metrics"])
