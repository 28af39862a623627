"""Bursts of failing calls: the fault of each, the calls that it meets, and its length. A seed decides."""

import random
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from typing import Any, Final

import urllib3
from infra.local import processes
from infra.local.places import MICROBURST, StackError, environment, free_port

#: The faults of each service, by what a report calls them, as microburst's rules have them. Throttling and
#: errors never reach the store. A call that is cut afterwards has reached it, and its caller sees an error.
#: A slow call reaches the store late, often after its caller has given up and tried again.
_ANY: Final[Mapping[str, Mapping[str, Any]]] = {
    "cut before": {"reset": True},
    "cut after": {"response": {"abort_bytes": 0}},
    "slow": {"latency": {"min": 1_000, "max": 6_000}},
}
_FAULTS: Final[Mapping[str, Mapping[str, Mapping[str, Any]]]] = {
    "dynamodb": {
        "throttled": {"error": {"code": "ProvisionedThroughputExceededException", "status": 400}},
        "throttled, ThrottlingException": {"error": {"code": "ThrottlingException", "status": 400}},
        "error 500": {"error": {"code": "InternalServerError", "status": 500}},
        **_ANY,
    },
    "sqs": {
        "throttled": {"error": {"code": "RequestThrottled", "status": 400}},
        "error 503": {"error": {"code": "ServiceUnavailable", "status": 503}},
        **_ANY,
    },
    "lambda": {
        "throttled": {"error": {"code": "TooManyRequestsException", "status": 429}},
        "error 500": {"error": {"code": "ServiceException", "status": 500}},
        **_ANY,
    },
}

#: How often each service is chosen.
_SHARES: Final = {"dynamodb": 6, "sqs": 3, "lambda": 1}

#: The seconds that a burst lasts, and those before the next.
_LASTS_S: Final = (1, 6)
_APART_S: Final = (1, 6)

#: Of each so many calls in turn, so many fail and so many pass. The SDK tries four times: after some bursts
#: it succeeds by itself, and in others the function sees the error.
_FAIL: Final = (1, 8)
_PASS: Final = (1, 4)

_START_S: Final = 30


@dataclass(frozen=True, slots=True)
class Burst:
    """One burst: when it begins and ends, in seconds after the first fault, and the rule that it sets."""

    from_s: float
    until_s: float
    service: str
    fault: str
    fails: int
    passes: int

    @property
    def rule(self) -> Mapping[str, Any]:
        """The rule of microburst."""
        turns = {"fail": self.fails, "pass": self.passes}
        return {"service": self.service, "sequence": turns, **_FAULTS[self.service][self.fault]}


@dataclass(frozen=True, slots=True)
class Fault:
    """One call that failed: when, in epoch ms, and what of it is counted."""

    at: int
    service: str
    fault: str


def bursts(chance: random.Random, seconds: float) -> Iterator[Burst]:
    """The bursts of a run. Each ends within `seconds`, and none overlaps another."""
    from_s = chance.uniform(*_APART_S)
    while (until_s := from_s + chance.uniform(*_LASTS_S)) <= seconds:
        [service] = chance.choices(list(_SHARES), list(_SHARES.values()))
        fault = chance.choice(list(_FAULTS[service]))
        yield Burst(from_s, until_s, service, fault, chance.randint(*_FAIL), chance.randint(*_PASS))
        from_s = until_s + chance.uniform(*_APART_S)


class Proxy:
    """microburst, between the functions and the local AWS."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._pool = urllib3.PoolManager()

    def play(self, all_bursts: Iterator[Burst], began: float, is_over: Event) -> Iterator[Fault]:
        """Play the bursts, and return the calls that failed. `began` is the first fault's monotonic time."""
        for burst in all_bursts:
            if is_over.wait(began + burst.from_s - time.monotonic()):
                return
            began_at = time.time()
            self._ask("POST", "rules", [burst.rule])
            is_over.wait(began + burst.until_s - time.monotonic())
            self._ask("POST", "rules", [])
            for each in self._ask("GET", f"fired?limit=2000&since={began_at}"):
                yield Fault(round(each["ts"] * 1_000), burst.service, burst.fault)

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        answer = self._pool.request(method, f"{self.url}/_microburst/{path}", json=body, timeout=10)
        if answer.status != 200:  # noqa: PLR2004 - OK
            raise StackError(f"microburst answered {answer.status} to {method} {path}: {answer.data!r}")
        return answer.json()

    def answers(self) -> bool:
        """Whether microburst answers."""
        try:
            self._ask("GET", "health")
        except (StackError, urllib3.exceptions.HTTPError):
            return False
        return True


@contextmanager
def proxy(upstream: str) -> Iterator[Proxy]:
    """Run microburst on a free port, before the local AWS at `upstream`, which may start later."""
    if not MICROBURST.exists():
        raise StackError("microburst is not installed: make setup")
    port = free_port()
    found = Proxy(f"http://127.0.0.1:{port}")
    command: list[object] = [MICROBURST, "--host", "127.0.0.1", "--port", port, "--upstream", upstream]
    with TemporaryDirectory() as folder:
        pid_file = Path(folder, "microburst.json")
        try:
            processes.start_until(command, environment(), pid_file, found.answers, _START_S)
            yield found
        finally:
            processes.stop(pid_file)
