"""`apply --all-or-nothing` judges everything first, and every `apply` counts what it did."""

from tests.fakes.http_server import Fault
from tests.unit.client.conftest import CommandLine
from tests.unit.client.test_apply import names, writes

HEAD = "defaults: {target: {type: http, url: 'https://consumer.example/hook'}}\njobs:\n"


def jobs(count: int, *more: str) -> str:
    lines = [f"{{name: job-{number:03}, schedule: '@hourly'}}" for number in range(count)]
    return HEAD + "".join(f"  - {each}\n" for each in (*lines, *more))


def test_nothing_is_written_if_one_of_many_is_refused(sweephand: CommandLine) -> None:
    sweephand.ok("job", "schedule", "own", "--url", "https://x.example")
    text = jobs(150, "{name: wrong, schedule: '@never'}", "{name: own, schedule: '@daily'}")
    text = "windows: {night: {schedule: '@daily', duration: 2h}}\n" + text
    sweephand.server.requests.clear()
    ran = sweephand.run("apply", "-f", "-", "--all-or-nothing", given=text)
    assert ran.code == 4
    assert "\nwrong refused: 1 field cannot be accepted.\n  line 154, /jobs/150/schedule: " in ran.out
    assert "\nown refused: line 155, /jobs/151: No file owns the job. " in ran.out
    assert ran.out.endswith("\n151 to create, 2 refused, 0 unchanged\n")
    assert ran.err == "Nothing was written.\n"
    assert names(sweephand) == ["own"]
    assert sweephand.ok("window", "list", "--json").json == []

    found = sweephand.run("apply", "-f", "-", "--all-or-nothing", "--json", given=text)
    counted = {name: each for name, each in found.json.items() if name != "steps"}
    assert counted == {"create": 151, "change": 0, "delete": 0, "refused": 2, "pausing": 0, "unchanged": 0}
    assert found.code == 4

    right = text.replace("@never", "@daily")
    done = sweephand.ok("apply", "-f", "-", "--all-or-nothing", "--take-over", given=right)
    assert done.out.endswith("\n1 changed, 152 created, 0 unchanged\n")


def test_without_the_option_the_others_are_written(sweephand: CommandLine) -> None:
    ran = sweephand.run("apply", "-f", "-", "--json", given=jobs(2, "{name: wrong, schedule: '@never'}"))
    counted = {name: each for name, each in ran.json.items() if name != "results"}
    assert counted == {"created": 2, "changed": 0, "deleted": 0, "refused": 1, "unchanged": 0}
    assert names(sweephand) == ["job-000", "job-001"]


def test_the_same_command_goes_on_after_the_network_has_failed_in_the_middle(sweephand: CommandLine) -> None:
    class AfterFirstWrite(list[Fault]):
        def __bool__(self) -> bool:
            return len(names_of_writes()) > 2 and len(self) > 0

    def names_of_writes() -> list[str]:
        return [each for each in writes(sweephand) if each == "POST /v1/namespaces/ns/jobs"]

    text = jobs(120, "{name: late, schedule: '@daily', paused: tonight}")
    sweephand.ok("apply", "-f", "-", "--dry-run", given=text)
    sweephand.server.requests.clear()
    sweephand.server.faults = AfterFirstWrite([Fault(500) for _ in range(20)])
    ran = sweephand.run("apply", "-f", "-", "--all-or-nothing", given=text)
    assert ran.code == 3
    sweephand.server.faults = []
    assert 0 < len(names(sweephand)) < 121
    sweephand.ok("apply", "-f", "-", "--all-or-nothing", given=text)
    assert len(names(sweephand)) == 121
    assert sweephand.ok("apply", "-f", "-", given=text).out == "121 unchanged\n"


def test_a_job_named_settings_is_not_the_settings(sweephand: CommandLine) -> None:
    text = "settings: {limits: {jobs: -1}}\njobs: [{name: settings, target: {type: http, url: 'https://x.example'}}]"
    ran = sweephand.run("apply", "-f", "-", "--dry-run", "--json", given=text)
    first, second = ran.json["steps"]
    assert (first["settings"], "problem" in first, "problem" in second) == (True, True, False)
    assert (ran.json["create"], ran.json["refused"]) == (1, 1)
