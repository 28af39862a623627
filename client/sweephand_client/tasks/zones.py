"""Finds due times that move if the stack gets other zone data: those that are installed here."""

import datetime as dt
import re
import zoneinfo
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from importlib.resources import files
from typing import Any, Final, NamedTuple

import tzdata

from sweephand_client.api.client import Client
from sweephand_client.http.errors import InputError, NotFoundError
from sweephand_client.openapi.job_answers import JobResponse, OccurrenceResponse
from sweephand_client.tasks.placing import instant, rfc3339

#: Due times of one job that are compared: the next ones, a year of a nightly job.
COMPARED_MAX: Final = 400

_AT_ONCE: Final = 8
_PAGE_MAX: Final = 200

#: Schedules that count elapsed time, so that no clock change moves them: `@every`, `rate()`, and ISO 8601
#: repetitions by hours, minutes or seconds.
_ELAPSED: Final = re.compile(r"@every\b|rate\(|R\d*/(?:[^/]+/)?PT", re.IGNORECASE)

_ZONE_PREFIX: Final = re.compile(r"(?:CRON_)?TZ=(\S+)\s")


class Move(NamedTuple):
    """A due time that moves. `local` is the time on the wall; `is_next`: it is the job's next one."""

    job: str
    timezone: str
    local: str
    was: str
    becomes: str
    is_next: bool


def installed_version() -> str:
    """The version of the zone data here, such as 2026f."""
    return str(tzdata.IANA_VERSION)


def moves(client: Client, namespace: str, *, until: dt.datetime, seen: Callable[[], None]) -> Iterator[Move]:
    """The due times of a namespace's jobs, up to `until`, that the zone data here place elsewhere.

    If the time on the wall does not exist by the zone data here, it is read as if the clock had not changed
    yet. `seen` is called for each job. Raises InputError for a zone that is not known here.
    """
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        compared = partial(_moves_of, client, namespace, until)
        for found in threads.map(compared, client.jobs.list(namespace)):
            seen()
            yield from found


def _moves_of(client: Client, namespace: str, until: dt.datetime, job: JobResponse) -> list[Move]:
    name = zone_of(job)
    if name is None:
        return []
    try:
        due = list(_due_times(client, namespace, job["name"], until))
    except NotFoundError:
        return []  # it was deleted during the comparison
    zone, found = _zone(name), []
    for number, each in enumerate(due):
        utc, local = instant(each["utc"]), dt.datetime.fromisoformat(each["local"])
        if utc.astimezone(zone).utcoffset() != local.utcoffset():
            becomes = local.replace(tzinfo=zone).astimezone(dt.UTC)
            wall = local.replace(tzinfo=None).isoformat(" ", "seconds")
            found.append(Move(job["name"], name, wall, each["utc"], rfc3339(becomes), number == 0))
    return found


def zone_of(job: Mapping[str, Any]) -> str | None:
    """The zone by whose wall clock a job fires; None if no clock change moves it."""
    schedule = job.get("schedule")
    if schedule is None or isinstance(schedule, list) or job["state"] == "completed":
        return None
    named = None
    if isinstance(schedule, str):
        if _ELAPSED.match(schedule):
            return None
        named = _ZONE_PREFIX.match(schedule)
    name = named[1] if named else job.get("timezone", "UTC")
    return None if name == "UTC" else str(name)


def _due_times(client: Client, namespace: str, name: str, until: dt.datetime) -> Iterator[OccurrenceResponse]:
    after: str | None = None
    for _ in range(COMPARED_MAX // _PAGE_MAX):
        page = client.jobs.occurrences(namespace, name, after=after, limit=_PAGE_MAX)["occurrences"]
        for each in page:
            if instant(each["utc"]) > until:
                return
            yield each
        if len(page) < _PAGE_MAX:
            return
        after = page[-1]["utc"]


@cache
def _zone(name: str) -> zoneinfo.ZoneInfo:
    """A zone of the package tzdata, and never of the operating system."""
    path = files("tzdata").joinpath("zoneinfo", *name.split("/"))
    if not path.is_file():
        raise InputError(f"The zone {name} is not in the zone data here ({installed_version()}).")
    with path.open("rb") as stream:
        return zoneinfo.ZoneInfo.from_file(stream, key=name)
