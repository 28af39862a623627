"""The process that `infra.bench.simulated` starts. It measures its own tests: `first`, `later` or `weeks`."""

import json
import sys
from collections.abc import Mapping, Sequence
from time import process_time
from typing import TYPE_CHECKING, Final

from sweephand_engine.testing import Stack

if TYPE_CHECKING:
    from collections.abc import Callable

_LATER: Final = 20


def _nightly() -> None:
    """A small test: three weeks of a nightly job, over the end of summer time."""
    with Stack("2026-10-12T12:00:00Z") as stack:
        stack.deliver_to(lambda _: None)
        stack.put_job("nightly", "30 2 * * *", timezone="Europe/Paris")
        stack.fail_next(503, 503)
        stack.travel("3 weeks")
        assert [each.state for each in stack.runs("nightly")] == ["succeeded"] * 21


def _first() -> Sequence[float]:
    """The CPU seconds of the process until the first test is over."""
    _nightly()
    return [process_time()]


def _later() -> Sequence[float]:
    """The CPU milliseconds of each later test."""
    _nightly()
    found: list[float] = []
    for _ in range(_LATER):
        before = process_time()
        _nightly()
        found.append(1_000 * (process_time() - before))
    return found


def _weeks() -> Sequence[float]:
    """The CPU seconds of three weeks of a job each minute, and the number of its deliveries."""
    with Stack() as stack:
        stack.deliver_to(lambda _: None)
        stack.put_job("often", "* * * * *")
        before = process_time()
        stack.travel("3 weeks")
        return [process_time() - before, len(stack.deliveries)]


_PARTS: "Final[Mapping[str, Callable[[], Sequence[float]]]]" = {
    "first": _first,
    "later": _later,
    "weeks": _weeks,
}

if __name__ == "__main__":
    print(json.dumps(_PARTS[sys.argv[1]]()))
