"""Measures the points of the file: what triggers use on DynamoDB Local, and the functions on one core.

Of the functions these are CPU time, triggers a second, and bytes of logs and of requests.
"""

import json
import socket
import ssl
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from infra import dynamodb_local
from infra.bench.consumer import Consumer, elsewhere, write_certificate
from infra.bench.cost import Case, count, count_idle
from infra.bench.creation import create
from infra.bench.deliveries import Setting, compared
from infra.bench.function import BATCH_MAX, Function, Log, alone, event
from infra.bench.sweeper import AWS_LATENCY_MS, WORKS, sweep

from sweephand.base.limits import JOBS_PER_BULK_MAX
from sweephand_engine.costs.measured import Handling, SweeperPoint

#: Triggers a second. At higher rates the units of a trigger stay the same: what is counted once for each
#: minute no longer matters.
_RATES: Final = (0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 100.0)
_RATES_OF_OTHERS: Final = (1.0, 5.0, 20.0, 100.0)

#: Triggers that fall due together: at the beginning of each minute, and once.
_HERDS: Final = (1, 3, 10, 60, 1_000)
_ONE_OFFS: Final = 1_000

_CASES: Final = (
    *(Case("recurring", None, herd) for herd in _HERDS),
    *(Case("recurring", rate, round(60 * rate)) for rate in _RATES),
    *(
        Case(kind, rate, round(60 * rate))
        for kind in ("recurringWithHistory", "oneOffInBulk", "oneOffSingly")
        for rate in _RATES_OF_OTHERS
    ),
    *(Case(kind, None, _ONE_OFFS) for kind in ("oneOffInBulk", "oneOffSingly")),
)

#: Counting a case stops after about this many triggers, or after 20 minutes.
_TRIGGERS: Final = 4_000
_MINUTES: Final = 20

_ROUNDS: Final = 31
_CALLS: Final = 40
_HANDSHAKES: Final = 200

#: What Lambda adds to the log of each call. The REPORT line is as AWS documents it.
_OF_LAMBDA: Final = """\
START RequestId: 8f507cfc-xmpl-4697-b07a-ac58fc914c95 Version: 12
END RequestId: 8f507cfc-xmpl-4697-b07a-ac58fc914c95
REPORT RequestId: 8f507cfc-xmpl-4697-b07a-ac58fc914c95\tDuration: 1523.60 ms\tBilled Duration: 1524 ms\t\
Memory Size: 256 MB\tMax Memory Used: 112 MB
"""


def counts() -> Mapping[str, Any]:
    """A count of each kind at each rate, and what a minute costs in which nothing is due."""
    with dynamodb_local.running() as url:
        idle = count_idle(url)
        found = [count(url, idle, each, min(_TRIGGERS, _MINUTES * each.jobs)) for each in _CASES]
    return {"counts": found, "idle": idle}


def handling() -> Handling:
    """The points of a call of the delivery function and of the API. It takes a minute."""
    with elsewhere() as url:
        (one_ms, one_log), (ten_ms, ten_log) = alone(_deliver, url, "failures")
        _, (kept_ms, _) = alone(_deliver, url, "outcome")
    trigger_ms = (ten_ms - one_ms) / (BATCH_MAX - 1)
    trigger_bytes = (_bytes(ten_log) - _bytes(one_log)) / (BATCH_MAX - 1)
    singly, in_bulk = (alone(create, jobs, 0) for jobs in (1, JOBS_PER_BULK_MAX))
    return Handling(
        deliver_call_ms=round(max(0.0, one_ms - trigger_ms), 3),
        deliver_trigger_ms=round(trigger_ms, 3),
        history_ms=round((kept_ms - ten_ms) / BATCH_MAX, 3),
        tls_ms=round(_handshake_ms(), 3),
        put_ms=round(singly.race.ours.cpu_us / 1_000, 3),
        bulk_job_ms=round(in_bulk.race.ours.cpu_us / 1_000, 3),
        log_call_bytes=round(_bytes(one_log) - trigger_bytes) + len(_OF_LAMBDA),
        log_trigger_bytes=round(trigger_bytes, 1),
        api_log_bytes=_bytes(singly.log) + len(_OF_LAMBDA),
        request_bytes=alone(_request_bytes),
        metrics=len(list(_metrics(ten_log))),
    )


def function_cpu_us() -> int:
    """The CPU time of a delivery, by the bench of deliveries."""
    return round(compared(Setting("outcome", has_boto3=True, has_tls=True)).ours.cpu_us)


def sweeper() -> list[SweeperPoint]:
    """The triggers a second of a sweeper and the CPU time of each, by the bench of the sweeper."""
    raced = [(work.name, alone(sweep, work, AWS_LATENCY_MS)[0].ours) for work in WORKS]
    return [SweeperPoint(name, round(ours.per_s), round(ours.cpu_us)) for name, ours in raced]


def _deliver(url: str, history: str) -> list[tuple[float, str]]:
    """The CPU ms of calls of one delivery function with a trigger and with ten, and what each call logs."""
    log, delivery = Log(), Function(url, history, has_boto3=True)

    def call(messages: int) -> None:
        delivery.handle(event(delivery.batch()[:messages]))

    calls = [partial(call, messages) for messages in (1, BATCH_MAX)]
    return [(_cpu_ms(each), log.of(each)) for each in calls]


def _request_bytes() -> int:
    """The bytes of a request that the delivery function makes, head and body."""
    with Consumer() as receiver:
        delivery = Function(receiver.url, "failures", has_boto3=True)
        delivery.handle(event(delivery.batch()))
        return round(statistics.mean(each.size for each in receiver.requests()))


def _handshake_ms() -> float:
    """The median CPU ms of the client for a new TLS connection, with the check of an RSA certificate."""
    with tempfile.TemporaryDirectory() as folder:
        certificate = write_certificate(Path(folder))
        context = ssl.create_default_context(cafile=certificate)
        with elsewhere(certificate) as url:
            address = urlsplit(url)

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


def _bytes(log: str) -> int:
    """The bytes of its lines. CloudWatch keeps no line breaks."""
    return sum(len(line.encode()) for line in log.splitlines())


def _metrics(log: str) -> Iterator[str]:
    """The metrics that a log reports. CloudWatch bills each name once for each set of dimensions."""
    for line in log.splitlines():
        for directive in json.loads(line).get("_aws", {}).get("CloudWatchMetrics", ()):
            assert len(directive["Dimensions"]) == 1, directive
            yield from (each["Name"] for each in directive["Metrics"])
