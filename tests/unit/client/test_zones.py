"""Due times that move with other zone data, by the command."""

import datetime as dt
import zoneinfo
from typing import Any, Final

import pytest
from tests.unit.client.conftest import TARGET, CommandLine

from sweephand_client import Client
from sweephand_client.commands.session import Session
from sweephand_client.openapi.requests import JobRequest
from sweephand_client.tasks import zones

PARIS: Final[JobRequest] = {"timezone": "Europe/Paris", "target": TARGET}
#: Half past two in Paris, on each first of a month.
MONTHLY: Final[JobRequest] = {"schedule": "30 2 1 * *", **PARIS}


class OneHourEast(dt.tzinfo):
    """Paris from the year 2027 on, if it took the time of Helsinki then."""

    def utcoffset(self, at: dt.datetime | None) -> dt.timedelta | None:
        return self._local(at).utcoffset()

    def dst(self, at: dt.datetime | None) -> dt.timedelta | None:
        return self._local(at).dst()

    def tzname(self, at: dt.datetime | None) -> str | None:
        return self._local(at).tzname()

    def fromutc(self, at: dt.datetime) -> dt.datetime:
        zone = self._local(at).tzinfo
        return at.replace(tzinfo=dt.UTC).astimezone(zone).replace(tzinfo=self)

    def _local(self, at: dt.datetime | None) -> dt.datetime:
        assert at is not None
        return at.replace(tzinfo=zoneinfo.ZoneInfo("Europe/Helsinki" if at.year >= 2027 else "Europe/Paris"))


@pytest.fixture
def newer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Zone data here that are newer than those of the stack."""
    real = zones._zone
    monkeypatch.setattr(zones, "_zone", lambda name: OneHourEast() if name == "Europe/Paris" else real(name))


def put(client: Client, **jobs: JobRequest) -> None:
    for name, job in jobs.items():
        client.jobs.put("ns", name, job)


def test_nothing_moves_if_the_stack_has_the_same_zone_data(client: Client, sweephand: CommandLine) -> None:
    put(client, monthly=MONTHLY, hourly={**PARIS, "schedule": "0 * * * *"})
    shown = sweephand.ok("zones")
    assert "None moves." in shown.err
    assert sweephand.ok("zones", "--json").json["moves"] == []


@pytest.mark.usefixtures("newer")
def test_a_due_time_that_moves_is_shown_with_both_instants(
    client: Client, sweephand: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Session, "now", lambda _: dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC))
    put(client, monthly=MONTHLY, utc={**MONTHLY, "timezone": "UTC"})
    found = sweephand.ok("zones", "--json").json
    first = found["moves"][0]
    assert first == {
        "job": "monthly",
        "timezone": "Europe/Paris",
        "local": "2027-01-01 02:30:00",
        "was": "2027-01-01T01:30:00.000Z",
        "becomes": "2027-01-01T00:30:00.000Z",
        "is_next": False,
    }
    assert len(found["moves"]) == 12
    assert {each["job"] for each in found["moves"]} == {"monthly"}


@pytest.mark.usefixtures("newer")
def test_a_job_whose_next_due_time_moves_is_to_be_paused_and_resumed(
    client: Client, sweephand: CommandLine
) -> None:
    put(client, yearly={**PARIS, "schedule": "CRON_TZ=Europe/Paris 0 9 2 1 *", "timezone": "Europe/Paris"})
    shown = sweephand.ok("zones")
    assert "2027-01-02 09:00:00" in shown.out
    assert "pause and resume" in shown.err


@pytest.mark.parametrize(
    "schedule",
    ["@every 1h", "rate(1 hour)", "R/PT6H", "R5/2027-01-01T00:00:00Z/PT1H", ["2027-06-01T00:00:00Z"], None],
)
def test_a_schedule_of_elapsed_time_or_of_instants_does_not_move(schedule: Any) -> None:
    assert zones.zone_of({"schedule": schedule, "timezone": "Europe/Paris", "state": "active"}) is None


@pytest.mark.parametrize("schedule", ["@daily", "R/P1D", "at(2027-06-01T09:00:00)", {"hour": 3}])
def test_a_schedule_by_the_wall_clock_may_move(schedule: Any) -> None:
    job = {"schedule": schedule, "timezone": "Europe/Paris", "state": "active"}
    assert zones.zone_of(job) == "Europe/Paris"


def test_a_zone_that_is_not_known_here_is_named() -> None:
    with pytest.raises(Exception, match="Europe/Nowhere"):
        zones._zone("Europe/Nowhere")
