"""Errors of the limits on stored jobs and on their data."""

from unittest.mock import patch

from tests.simulation.mutations.registry import Broken, mutation
from tests.simulation.workload.quotas import FIRST_WITH_QUOTAS

from sweephand.jobs.quotas import Quotas, Reserved


@mutation("A new job takes no place among those that its namespace may store", first=FIRST_WITH_QUOTAS)
def stores_jobs_without_a_place() -> Broken:
    return patch.object(Quotas, "reserve", lambda _, namespace, wanted=1: Reserved(namespace, wanted, None))


@mutation("Data of any size is stored, whatever the namespace allows", first=FIRST_WITH_QUOTAS)
def stores_data_of_any_size() -> Broken:
    return patch.object(Quotas, "check_payload", lambda *_: None)
