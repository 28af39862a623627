"""Deliveries per second of the delivery function, compared with a bare urllib3 pool that posts the same."""

import os
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, NamedTuple

import urllib3
from infra.bench.consumer import elsewhere, write_certificate
from infra.bench.function import BATCH_MAX, Function, alone, event
from infra.bench.jobs import DATA
from infra.bench.race import Race, Task, race
from infra.bench.report import Cell, Figure, Report

from sweephand.delivery.http.request import delivery_headers
from sweephand.model.attempt import Attempt
from sweephand.model.trigger import TriggerMessage

#: The least ratio of the function's deliveries per second to the pool's, without TLS.
_RATIO_LEAST: Final = 0.6

_ROUNDS: Final = 21
_BATCHES: Final = 20

#: Any secrets will do: the pool's signatures are made beforehand, and have the same length.
_SECRETS: Final = ("whsec_" + "c3dlZXBoYW5kIHNpZ25zIGl0cyBkZWxpdmVyaWVz",)


class Setting(NamedTuple):
    """The history of the jobs, whether boto3 works, and whether the consumer takes TLS."""

    history: str
    has_boto3: bool
    has_tls: bool


_SETTINGS: Final = (
    Setting("failures", has_boto3=False, has_tls=False),
    Setting("outcome", has_boto3=False, has_tls=False),
    Setting("failures", has_boto3=True, has_tls=False),
    Setting("outcome", has_boto3=True, has_tls=False),
    Setting("failures", has_boto3=False, has_tls=True),
    Setting("outcome", has_boto3=True, has_tls=True),
)


def measure() -> Report:
    """Race function and pool in each setting."""
    raced = {each: compared(each) for each in _SETTINGS}
    return Report(
        title=f"Deliveries, {_ROUNDS} rounds of {_BATCHES * BATCH_MAX} each, ten at once",
        rows=[_row(setting, raced) for setting in _SETTINGS],
        notes=(
            "The handler with full batches, compared with ten threads that post the same by one pool,",
            "signed beforehand; in turn, to a consumer in a process of its own. DynamoDB answers at once: in",
            "boto3's place, or beneath it, so that boto3 does all of its work but the network's.",
            "Compared with no TLS: our deliveries a second, and our CPU time.",
        ),
    )


def compared(setting: Setting) -> Race:
    """Function and pool in turn, in a process of their own. So is the consumer."""
    with tempfile.TemporaryDirectory() as folder:
        certificate = write_certificate(Path(folder))
        with elsewhere(certificate if setting.has_tls else None) as url:
            return alone(_race, setting, url, certificate)


def _row(setting: Setting, races: Mapping[Setting, Race]) -> Mapping[str, Cell]:
    ours, place = races[setting], "beneath boto3" if setting.has_boto3 else "in its place"
    row: dict[str, Cell] = {
        "history, DynamoDB": f"{setting.history}, {place}{', TLS' * setting.has_tls}",
        **ours.cells(None if setting.has_tls else _RATIO_LEAST),
    }
    if setting.has_tls:
        plain = races[Setting(setting.history, setting.has_boto3, has_tls=False)]
        row["to no TLS"] = Figure(ours.ours.per_s / plain.ours.per_s)
        row["its CPU"] = Figure(ours.ours.cpu_us / plain.ours.cpu_us)
    return row


def _race(setting: Setting, url: str, certificate: Path) -> Race:
    if setting.has_tls:
        os.environ["SSL_CERT_FILE"] = str(certificate)  # OpenSSL trusts what this names
    function = Function(url, setting.history, has_boto3=setting.has_boto3)
    pool = urllib3.connection_from_url(url, maxsize=BATCH_MAX)
    with ThreadPoolExecutor(BATCH_MAX) as threads:

        def prepare() -> tuple[Task, Task]:
            batches = [function.batch() for _ in range(_BATCHES)]
            events = [event(batch) for batch in batches]
            posts = [_request(message) for batch in batches for message in batch]
            shares = [posts[thread::BATCH_MAX] for thread in range(BATCH_MAX)]

            def deliver() -> None:
                for each in events:
                    function.handle(each)

            return deliver, lambda: list(threads.map(lambda share: _post(pool, share), shares))

        return race(_BATCHES * BATCH_MAX, _ROUNDS, prepare)


def _post(pool: urllib3.HTTPConnectionPool, share: Sequence[tuple[bytes, Mapping[str, str]]]) -> None:
    for body, headers in share:
        response = pool.urlopen("POST", "/", body=body, headers=headers, retries=False)
        assert response.status == 200, response.status  # noqa: PLR2004 - what the consumer answers


def _request(message: TriggerMessage) -> tuple[bytes, Mapping[str, str]]:
    """The headers that the function sends for a message, except for the signature's secret."""
    body = DATA.encode()
    attempt = Attempt(message.trigger, message.attempt, {}, body, _SECRETS, sent_at=message.not_before)
    ours = {"user-agent": "Sweephand/0.0.0", "content-type": "application/json"}
    return body, {**ours, **delivery_headers(attempt, body)}
