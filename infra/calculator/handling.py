"""Measures the functions on one core: CPU time, triggers a second, and bytes of logs and of requests."""

import importlib
import io
import json
import os
import socket
import ssl
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from infra.bench import consumer, deliveries
from infra.bench import sweeper as sweeper_bench
from infra.bench.api_event import api_event
from infra.bench.certificate import write_certificate
from infra.bench.consumer import Consumer
from infra.bench.environment import ENVIRONMENT, answer_beneath_boto3
from infra.bench.function import BATCH_MAX, Function, alone, event
from infra.bench.instant_dynamodb import InstantDynamoDB
from infra.calculator.measured import FunctionPoint, Handling, SweeperPoint

from sweephand.base.limits import JOBS_PER_BULK_MAX

_ROUNDS: Final = 31
_CALLS: Final = 40
_HANDSHAKES: Final = 200

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
    """CPU ms of calls with one trigger and with ten, and what both write to the log."""

    one_ms: float
    ten_ms: float
    one: str
    ten: str


def measure() -> Handling:
    """The points of a call of the delivery function and of the API. It takes a minute."""
    with consumer.elsewhere() as receiver:
        plain = alone(_deliver, receiver.url, "failures")
        kept = alone(_deliver, receiver.url, "outcome")
    trigger_ms = (plain.ten_ms - plain.one_ms) / (BATCH_MAX - 1)
    trigger_bytes = (_bytes(plain.ten) - _bytes(plain.one)) / (BATCH_MAX - 1)
    put_ms, log_bytes = alone(_create, 1)
    bulk_ms, _ = alone(_create, JOBS_PER_BULK_MAX)
    return Handling(
        deliver_call_ms=round(max(0.0, plain.one_ms - trigger_ms), 3),
        deliver_trigger_ms=round(trigger_ms, 3),
        history_ms=round((kept.ten_ms - plain.ten_ms) / BATCH_MAX, 3),
        tls_ms=round(_handshake_ms(), 3),
        put_ms=round(put_ms, 3),
        bulk_job_ms=round(bulk_ms, 3),
        log_call_bytes=round(_bytes(plain.one) - trigger_bytes) + len(_OF_LAMBDA),
        log_trigger_bytes=round(trigger_bytes, 1),
        api_log_bytes=log_bytes + len(_OF_LAMBDA),
        request_bytes=alone(_request_bytes),
        metrics=len(list(_metrics(plain.ten))),
    )


def function() -> list[FunctionPoint]:
    """The CPU time of a delivery, by the bench of deliveries."""
    report = deliveries.measure()
    print(report.text())
    races = [each for each in report.figures["races"] if each["boto3"]]
    return [FunctionPoint(each["history"], each["tls"], each["cpuUs"]) for each in races]


def sweeper() -> list[SweeperPoint]:
    """The triggers a second of a sweeper and the CPU time of each, by the bench of the sweeper."""
    report = sweeper_bench.measure()
    print(report.text())
    return [
        SweeperPoint(each["work"], each["latencyMs"], round(each["perS"]), round(1_000_000 / each["perCpuS"]))
        for each in report.figures["works"]
    ]


def _deliver(url: str, history: str) -> _Delivering:
    log, delivery = _Log(), Function(url, history, has_boto3=True)

    def call(messages: int) -> None:
        delivery.handle(event(delivery.batch()[:messages]))

    one, ten = partial(call, 1), partial(call, BATCH_MAX)
    return _Delivering(_cpu_ms(one), _cpu_ms(ten), log.of(one), log.of(ten))


def _create(jobs: int) -> tuple[float, int]:
    """CPU ms of the API function for each job, with that many to a call, and the bytes of a call's log."""
    log = _Log()
    os.environ |= ENVIRONMENT
    answer_beneath_boto3(InstantDynamoDB())
    sys.path.insert(0, str(_API_FOLDER))
    handler = importlib.import_module("handler").handler
    names = (f"job-{number:08d}" for number in range(10**8))

    def call() -> None:
        body = {"jobs": [{"name": next(names), **_JOB} for _ in range(jobs)]}
        request = api_event("POST", "/v1/namespaces/bench/jobs", body)
        if jobs == 1:
            request = api_event("PUT", f"/v1/namespaces/bench/jobs/{next(names)}", _JOB)
        answer = handler(request, _CONTEXT)
        results = json.loads(answer["body"]).get("results", [{"status": answer["statusCode"]}])
        assert {each["status"] for each in results} == {201}, answer

    for _ in range(10):
        call()
    return _cpu_ms(call, max(1, _CALLS // jobs)) / jobs, _bytes(log.of(call))


def _request_bytes() -> int:
    """The bytes of a request that the delivery function makes, head and body."""
    with Consumer() as receiver:
        delivery = Function(receiver.url, "failures", has_boto3=True)
        delivery.handle(event(delivery.batch()))
        return round(statistics.mean(receiver.request_bytes()))


def _handshake_ms() -> float:
    """The median CPU ms of the client for a new TLS connection, with the check of an RSA certificate."""
    with tempfile.TemporaryDirectory() as folder:
        certificate = write_certificate(Path(folder))
        context = ssl.create_default_context(cafile=certificate)
        with consumer.elsewhere(certificate) as receiver:
            address = urlsplit(receiver.url)

            def connect() -> None:
                plain = socket.create_connection((address.hostname, address.port))
                with plain, context.wrap_socket(plain, server_hostname=address.hostname) as secured:
                    secured.sendall(b"POST / HTTP/1.1\r\ncontent-length: 0\r\n\r\n")
                    secured.recv(1)

            return _cpu_ms(connect, calls=1, rounds=_HANDSHAKES)


def _cpu_ms(call: Callable[[], None], calls: int = _CALLS, rounds: int = _ROUNDS) -> float:
    """The median over the rounds of this process's CPU ms for a call."""
    took: list[float] = []
    for _ in range(rounds):
        began = time.process_time()
        for _ in range(calls):
            call()
        took.append((time.process_time() - began) * 1_000 / calls)
    return statistics.median(took)


class _Log(io.StringIO):
    """The standard output of this process from now on. A function takes it when it is made."""

    def __init__(self) -> None:
        super().__init__()
        sys.stdout = self

    def of(self, call: Callable[[], None]) -> str:
        """What a call writes."""
        begins_at = self.tell()
        call()
        return self.getvalue()[begins_at:]


def _bytes(log: str) -> int:
    """The bytes of its lines. CloudWatch keeps no line breaks."""
    return sum(len(line.encode()) for line in log.splitlines())


def _metrics(log: str) -> Iterator[str]:
    """The metrics that a log reports. CloudWatch bills each name once for each set of dimensions."""
    for line in log.splitlines():
        for directive in json.loads(line).get("_aws", {}).get("CloudWatchMetrics", ()):
            assert len(directive["Dimensions"]) == 1, directive
            yield from (each["Name"] for each in directive["Metrics"])
