"""Every way in which a job fires or does not, by its name."""

from tests.unit.runs.explain import (
    ways_of_calendars,  # noqa: F401 - enters its ways into the table
    ways_of_jobs,  # noqa: F401 - enters its ways into the table
    ways_of_runs,  # noqa: F401 - enters its ways into the table
)
from tests.unit.runs.explain.ways import WAYS as WAYS  # noqa: PLC0414 - whoever needs all ways imports it here
