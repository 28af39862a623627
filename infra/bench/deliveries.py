"""Deliveries per second of the delivery function, compared with a bare urllib3 pool that posts the same."""

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import urllib3
from infra.bench import consumer
from infra.bench.certificate import TRUST_VARIABLE, write_certificate
from infra.bench.function import BATCH_MAX, DATA, Function, alone, event
from infra.bench.report import OVER, Report

from sweephand.delivery.http.request import delivery_headers
from sweephand.model.trigger import TriggerMessage
from sweephand.ports import Attempt

#: The least ratio of the function's deliveries per second to the pool's.
_AIM: Final = 0.6

_ROUNDS: Final = 21
_BATCHES: Final = 20

#: Any secrets will do: the pool's signatures are made beforehand, and have the same length.
_SECRETS: Final = ("whsec_" + "c3dlZXBoYW5kIHNpZ25zIGl0cyBkZWxpdmVyaWVz",)

#: The history of the jobs, whether boto3 works, and whether the consumer takes TLS.
_SETTINGS: Final = (
    ("failures", False, False),
    ("outcome", False, False),
    ("failures", True, False),
    ("outcome", True, False),
    ("failures", False, True),
    ("outcome", True, True),
)


class _Round(NamedTuple):
    """Deliveries per second, and CPU µs for each, of the function and of the pool in the same round."""

    function_per_s: float
    pool_per_s: float
    function_us: float
    pool_us: float


@dataclass(frozen=True, slots=True)
class _Race:
    """The rounds of one setting, and the calls to DynamoDB for each delivery."""

    history: str
    has_boto3: bool
    has_tls: bool
    rounds: Sequence[_Round]
    calls: Mapping[str, float]

    @property
    def ratios(self) -> list[float]:
        """The ratio of function to pool in each round, in ascending order."""
        return sorted(each.function_per_s / each.pool_per_s for each in self.rounds)

    @property
    def ratio(self) -> float:
        """The median of the ratios."""
        return statistics.median(self.ratios)

    def median(self, of: Callable[[_Round], float]) -> float:
        """The median over the rounds."""
        return statistics.median(map(of, self.rounds))


def measure() -> Report:
    """Race function and pool in turn. Each setting has a process of its own, and so has the consumer."""
    with tempfile.TemporaryDirectory() as folder:
        certificate = write_certificate(Path(folder))
        with consumer.elsewhere() as plain, consumer.elsewhere(certificate) as secured:
            races = [
                alone(
                    _race,
                    secured.url if has_tls else plain.url,
                    history,
                    has_boto3=has_boto3,
                    certificate=str(certificate) if has_tls else None,
                )
                for history, has_boto3, has_tls in _SETTINGS
            ]
    return Report(
        title=f"Deliveries, {_ROUNDS} rounds of {_BATCHES * BATCH_MAX} each, ten at once",
        columns=("history, DynamoDB", "a second", "bare pool", "ratio", "quartiles", "CPU us", "pool's"),
        rows=[_row(race) for race in races],
        figures={
            "races": [_figures(race) for race in races],
            "tls": [{"perS": each.per_s, "cpu": each.cpu} for each in _tls(races)],
        },
        is_within=all(race.ratio >= _AIM for race in races if not race.has_tls),
        notes=(
            "The handler with full batches, compared with ten threads that post the same by one pool,",
            "signed beforehand; in turn, to a consumer in a process of its own. DynamoDB answers at once: in",
            "boto3's place, or beneath it, so that boto3 does all of its work but the network's.",
            *(each.told() for each in _tls(races)),
            *(f"Calls for each delivery, history {race.history}: {_told(race)}." for race in races[:2]),
        ),
    )


class _Tls(NamedTuple):
    """Deliveries with TLS compared with those without: the ratios of deliveries a second and of CPU time."""

    race: _Race
    plain: _Race

    @property
    def per_s(self) -> float:
        """Deliveries a second through TLS, divided by those without."""
        return self.race.median(_function_per_s) / self.plain.median(_function_per_s)

    @property
    def cpu(self) -> float:
        """The CPU time of a delivery through TLS, divided by that without."""
        return self.race.median(_function_us) / self.plain.median(_function_us)

    def told(self) -> str:
        """The ratios in a sentence."""
        beneath = "beneath boto3" if self.race.has_boto3 else "in boto3's place"
        ratios = f"{self.per_s:.2f} of the deliveries a second, and {self.cpu:.2f} of the CPU time"
        return f"TLS compared with none, history {self.race.history}, {beneath}: {ratios}."


def _function_per_s(each: _Round) -> float:
    return each.function_per_s


def _function_us(each: _Round) -> float:
    return each.function_us


def _tls(races: Sequence[_Race]) -> list[_Tls]:
    plain = {(race.history, race.has_boto3): race for race in races if not race.has_tls}
    return [_Tls(race, plain[race.history, race.has_boto3]) for race in races if race.has_tls]


def _race(url: str, history: str, *, has_boto3: bool, certificate: str | None) -> _Race:
    if certificate is not None:
        os.environ[TRUST_VARIABLE] = certificate
    function = Function(url, history, has_boto3=has_boto3)
    pool = urllib3.connection_from_url(url, maxsize=BATCH_MAX)
    with ThreadPoolExecutor(BATCH_MAX) as threads:

        def post(shares: Sequence[Sequence[tuple[bytes, Mapping[str, str]]]]) -> None:
            list(threads.map(lambda share: _post(pool, share), shares))

        _round(function, post, 1)  # warms both up
        function.dynamodb.calls.clear()
        rounds = [_round(function, post, number) for number in range(_ROUNDS)]
    delivered = _ROUNDS * _BATCHES * BATCH_MAX
    calls = {name: count / delivered for name, count in sorted(function.dynamodb.calls.items())}
    return _Race(history, has_boto3, certificate is not None, rounds, calls)


def _round(
    function: Function,
    post: Callable[[Sequence[Sequence[tuple[bytes, Mapping[str, str]]]]], None],
    number: int,
) -> _Round:
    """One round: both do the same work, and the order changes from round to round."""
    batches = [function.batch() for _ in range(_BATCHES)]
    events = [event(batch) for batch in batches]
    posts = [_request(message) for batch in batches for message in batch]
    shares = [posts[thread::BATCH_MAX] for thread in range(BATCH_MAX)]

    def deliver() -> None:
        for each in events:
            function.handle(each)

    if number % 2:
        pool_s, pool_cpu_s = _timed(lambda: post(shares))
        function_s, function_cpu_s = _timed(deliver)
    else:
        function_s, function_cpu_s = _timed(deliver)
        pool_s, pool_cpu_s = _timed(lambda: post(shares))
    count = len(posts)
    microseconds = 1_000_000 / count
    return _Round(
        count / function_s, count / pool_s, function_cpu_s * microseconds, pool_cpu_s * microseconds
    )


def _timed(task: Callable[[], None]) -> tuple[float, float]:
    """Seconds by the clock, and seconds of this process's CPU."""
    began, cpu_began = time.perf_counter(), time.process_time()
    task()
    return time.perf_counter() - began, time.process_time() - cpu_began


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


def _row(race: _Race) -> tuple[str, ...]:
    ratios = race.ratios
    mark = "" if round(race.ratio, 2) >= _AIM else OVER
    return (
        f"{race.history}, {'beneath boto3' if race.has_boto3 else 'in its place'}{', TLS' * race.has_tls}",
        f"{race.median(lambda each: each.function_per_s):.0f}",
        f"{race.median(lambda each: each.pool_per_s):.0f}",
        f"{mark}{race.ratio:.2f} of {_AIM:g}",
        f"{ratios[len(ratios) // 4]:.2f}-{ratios[-1 - len(ratios) // 4]:.2f}",
        f"{race.median(lambda each: each.function_us):.0f}",
        f"{race.median(lambda each: each.pool_us):.0f}",
    )


def _told(race: _Race) -> str:
    return ", ".join(f"{count:.2f} {name}" for name, count in race.calls.items())


def _figures(race: _Race) -> dict[str, Any]:
    return {
        "history": race.history,
        "boto3": race.has_boto3,
        "tls": race.has_tls,
        "perS": round(race.median(lambda each: each.function_per_s)),
        "poolPerS": round(race.median(lambda each: each.pool_per_s)),
        "ratio": round(race.ratio, 3),
        "ratios": [round(ratio, 3) for ratio in race.ratios],
        "cpuUs": round(race.median(lambda each: each.function_us)),
        "poolCpuUs": round(race.median(lambda each: each.pool_us)),
        "callsEach": {name: round(count, 3) for name, count in race.calls.items()},
    }
