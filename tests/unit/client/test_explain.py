"""Why a job did not fire, by the client and by the command."""

from tests.unit.client.conftest import TARGET, CommandLine

from sweephand_client import Client


def test_the_command_says_why_and_what_comes_next(client: Client, sweephand: CommandLine) -> None:
    client.jobs.put("ns", "nightly", {"schedule": "30 2 * * *", "target": TARGET})

    shown = sweephand.ok("why", "nightly", "--at", "2026-11-22T01:30:00Z").out
    assert shown.startswith("The schedule has no due time then: the next one after is 2026-11-22T02:30:00Z.")
    assert "not-scheduled" in shown
    client.jobs.pause("ns", "nightly", reason="tonight")
    asked = ("why", "nightly", "--at", "2026-11-22T02:30:00Z")
    assert "paused by" in sweephand.ok(*asked).out
    assert sweephand.ok(*asked, "--json").json["evidence"]["change"]["reason"] == "tonight"
    assert sweephand.run("why", "nightly", "--at", "soon").code == 2
    assert sweephand.run("why", "nobody").code == 4
    assert client.jobs.explain("ns", "nightly")["verdict"] == "not-scheduled"
