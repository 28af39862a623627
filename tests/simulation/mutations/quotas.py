"""Errors of the limits on stored jobs and on their data."""

from collections.abc import Iterator
from unittest.mock import patch

from tests.simulation.mutations.registry import mutation
from tests.simulation.workload.quotas import FIRST_WITH_QUOTAS

from sweephand.jobs.quotas import Quotas, Reserved


@mutation("A new job takes no place among those that its namespace may store", first=FIRST_WITH_QUOTAS)
def stores_jobs_without_a_place() -> Iterator[None]:
    with patch.object(Quotas, "reserve", lambda _, namespace, wanted=1: Reserved(namespace, wanted, None)):
        yield


@mutation("Data of any size is stored, whatever the namespace allows", first=FIRST_WITH_QUOTAS)
def stores_data_of_any_size() -> Iterator[None]:
    with patch.object(Quotas, "check_payload", lambda *_: None):
        yield
