"""The failed runs of a namespace, by the command."""

from tests.fakes.world import NOON
from tests.unit.client.conftest import TARGET, CommandLine

from sweephand.model.attempt import Answer
from sweephand_client import Client
from sweephand_client.openapi.requests import JobRequest


def test_the_failed_runs_of_all_jobs_are_listed(sweephand: CommandLine, client: Client) -> None:
    for name, team in (("a", "ops"), ("b", "web")):
        once: JobRequest = {
            "target": TARGET,
            "dueTime": "10s",
            "retry": {"maxAttempts": 1},
            "labels": {"team": team},
        }
        client.jobs.put("ns", name, once)
    world = sweephand.server.api.world
    world.consumers.answering = lambda _: Answer(succeeded=False, code=503)
    world.run_until(NOON + 11_000)

    shown = sweephand.ok("run", "list", "--state", "failed").out.splitlines()
    assert {line.split()[0] for line in shown[1:]} == {"a", "b"}
    asked = ("run", "list", "--label", "team=ops", "--since", "2026-11-21T12:00:10Z", "--json")
    assert [each["job"] for each in sweephand.ok(*asked).json] == ["a"]
    assert sweephand.ok("run", "list", "--since", "2026-11-21T12:00:11Z", "--json").json == []
    assert sweephand.ok("run", "list", "--limit", "1", "--json").json[0]["state"] == "failed"
    assert sweephand.run("run", "list", "--state", "succeeded").code == 2
