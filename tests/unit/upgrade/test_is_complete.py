"""The upgrade program says which due times were lost."""

from types import SimpleNamespace
from typing import cast

from infra.local.receiver import Receiver
from infra.upgrade import is_complete

END = 1_000_000


def came(*deliveries: tuple[str, int, int]) -> Receiver:
    """A receiver to which these came: the job, the due time, and the status that it answered."""
    taken = [
        SimpleNamespace(
            path=f"/{name}",
            trigger_id=f"uid-{due_at}-0",
            arrived_at=due_at + 5,
            answer=SimpleNamespace(status=status),
        )
        for name, due_at, status in deliveries
    ]
    return cast("Receiver", SimpleNamespace(deliveries=lambda: taken))


def test_nothing_is_lost_if_each_due_time_before_the_end_was_taken() -> None:
    expected = {"often-1": [END - 10_000, END - 5_000, END + 5_000]}
    assert is_complete(expected, came(("often-1", END - 10_000, 200), ("often-1", END - 5_000, 200)), END)


def test_a_due_time_that_did_not_come_is_lost() -> None:
    assert not is_complete({"often-1": [END - 10_000, END - 5_000]}, came(("often-1", END - 5_000, 200)), END)


def test_a_delivery_that_the_consumer_refused_does_not_count() -> None:
    refused = came(("failing-1", END - 200_000, 503), ("often-1", END - 10_000, 200))
    assert not is_complete({"failing-1": [END - 200_000], "often-1": [END - 10_000]}, refused, END)


def test_a_job_that_fails_at_first_has_time_for_its_retries() -> None:
    waiting = came(("failing-1", END - 60_000, 503), ("often-1", END - 10_000, 200))
    assert is_complete({"failing-1": [END - 60_000], "often-1": [END - 10_000]}, waiting, END)
