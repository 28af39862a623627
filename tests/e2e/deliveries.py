"""Reads the trigger from a delivery, and asserts what every delivery has to be."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from tests.fakes.receiver import Delivery

from sweephand.base.instants import Instant, from_datetime

#: Deliveries are asked to be on time to the second (promise 5). A machine that runs two whole AWS beside
#: the tests may stall; what the stack itself guarantees is measured by `make bench`.
ON_TIME_MS = 15_000


def instant(text: str) -> Instant:
    """The instant that the API or a header names."""
    return from_datetime(datetime.fromisoformat(text))


def due_of(delivery: Delivery) -> Instant:
    return instant(delivery.headers["sweephand-due"])


def dues_of(deliveries: Iterable[Delivery]) -> list[Instant]:
    """Earliest first, whatever the order in which they came."""
    return sorted(due_of(each) for each in deliveries)


def assert_signed_and_on_time(delivery: Delivery) -> None:
    assert delivery.is_signed
    assert 0 <= delivery.arrived_at - due_of(delivery) < ON_TIME_MS


def assert_one_trigger_on_time(deliveries: Sequence[Delivery]) -> None:
    """A rebuild sends again what a sweeper has sent and nobody has delivered yet, under the same id.

    The tests of the command line rebuild this stack, too.
    """
    assert_signed_and_on_time(deliveries[0])
    assert len({each.headers["webhook-id"] for each in deliveries}) == 1
