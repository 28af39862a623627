"""The forecast of a namespace, by the client and by the command."""

import pytest
from tests.unit.client.conftest import TARGET, CommandLine

from sweephand.jobs import forecast
from sweephand_client import Client


@pytest.fixture
def jobs(client: Client) -> Client:
    for name, team in (("a", "ops"), ("b", "web"), ("c", "ops")):
        client.jobs.put("ns", name, {"schedule": "@every 1h", "target": TARGET, "labels": {"team": team}})
    return client


def test_the_client_adds_the_parts_of_a_forecast(jobs: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs.jobs.pause("ns", "c")
    whole = jobs.namespaces.forecast("ns")
    monkeypatch.setattr(forecast, "_WORK_US_MAX", 1)
    assert jobs.namespaces.forecast("ns") == whole
    assert (whole["jobs"], whole["paused"]) == (2, 1)
    assert [each["triggers"] for each in whole["buckets"]] == [2] * 23
    assert "nextCursor" not in whole


def test_the_command_shows_a_bucket_on_each_line(jobs: Client, sweephand: CommandLine) -> None:
    jobs.jobs.pause("ns", "c")
    shown = sweephand.ok("forecast", "--bucket", "12h", "--label", "team=ops")
    lines = [line.split() for line in shown.out.splitlines()]
    assert [line[2] for line in lines[1:]] == ["11", "12"]
    assert shown.err == "Not in it: 1 paused.\n"
    assert sweephand.ok("forecast", "--prefix", "b", "--json").json["jobs"] == 1


def test_a_span_that_no_forecast_can_have_is_bad_input(sweephand: CommandLine) -> None:
    refused = sweephand.run("forecast", "--bucket", "1s")
    assert refused.code == 2
    assert "at least 60s" in refused.err
