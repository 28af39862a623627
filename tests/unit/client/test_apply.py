"""`apply` makes the jobs of a namespace those that a file declares, and nothing more."""

import pytest
from tests.fakes.http_events import document
from tests.fakes.http_server import Fault, Server
from tests.unit.client.conftest import CommandLine

from sweephand_client.api.client import Client
from sweephand_client.openapi.requests import NamedJobRequest
from sweephand_client.tasks.apply import carry_out, plan
from sweephand_client.tasks.job_fields import SET_BY_SWEEPHAND
from sweephand_client.tasks.jobs_file import read_jobs_file

TARGET = "{type: http, url: https://consumer.example/hook}"
FILE = f"""
labels: {{managed-by: web1}}
defaults:
  target: {TARGET}
jobs:
  - name: poll
    schedule: "*/5 8-18 * * mon-fri"
    data: {{price: 1.10, z: 1, a: 2}}
  - name: once
    dueTime: 2h
  - name: by-hand
"""


def names(sweephand: CommandLine) -> list[str]:
    return [each["name"] for each in sweephand.ok("job", "list", "--json").json]


def writes(sweephand: CommandLine) -> list[str]:
    """The calls that the server got and that are no GET."""
    return [each for each in sweephand.server.calls() if not each.startswith("GET")]


def test_the_fields_that_sweephand_sets_are_those_that_no_request_has() -> None:
    schemas = document()["components"]["schemas"]
    shown, written = (schemas[each]["properties"] for each in ("WholeJobResponse", "JobRequest"))
    assert shown.keys() - written.keys() == SET_BY_SWEEPHAND


def test_a_second_apply_changes_nothing(sweephand: CommandLine) -> None:
    path = sweephand.file("jobs.yaml", FILE)
    first = sweephand.ok("apply", "-f", path).out
    assert first == "by-hand created\nonce created\npoll created\n3 created, 0 unchanged\n"
    before = sweephand.ok("job", "list", "--json").json
    sweephand.server.requests.clear()

    assert sweephand.ok("apply", "-f", path).out == "3 unchanged\n"
    assert sweephand.ok("apply", "-f", path, "--dry-run", "--exit-code").out == "3 unchanged\n"
    assert writes(sweephand) == []
    assert sweephand.ok("job", "list", "--json").json == before


def test_data_of_any_length_is_applied_and_found_unchanged(sweephand: CommandLine) -> None:
    numbers = ", ".join(["9" * 5_000, "1e" + "9" * 20])
    path = sweephand.file("jobs.yaml", f"jobs: [{{name: a, target: {TARGET}, data: [{numbers}]}}]")
    assert sweephand.ok("apply", "-f", path).out == "a created\n1 created, 0 unchanged\n"
    assert sweephand.ok("apply", "-f", path).out == "1 unchanged\n"


def test_a_second_apply_changes_nothing_where_the_namespace_has_defaults(sweephand: CommandLine) -> None:
    defaults = (
        '{"limits": {}, "defaultTarget": {"type": "http", "url": "https://x.example"}, '
        '"defaultRetry": {"maxAttempts": 2}}'
    )
    sweephand.ok("namespace", "set", defaults)
    path = sweephand.file("jobs.yaml", "jobs: [{name: a, schedule: '@hourly', timezone: null}]")
    sweephand.ok("apply", "-f", path)

    assert sweephand.ok("apply", "-f", path).out == "1 unchanged\n"
    sweephand.ok("namespace", "set", defaults.replace("2}", "3}"))
    sweephand.server.api.world.clock.time += 61_000  # the API reads settings once a minute
    assert "retry" in sweephand.ok("apply", "-f", path, "--dry-run").out
    sweephand.ok("apply", "-f", path)
    assert sweephand.ok("job", "get", "a", "--json").json["retry"] == {"maxAttempts": 3}


def test_a_job_that_is_completed_does_not_begin_anew(sweephand: CommandLine) -> None:
    text = f"jobs: [{{name: a, dueTime: 5s, target: {TARGET}}}]"
    sweephand.ok("apply", "-f", "-", given=text)
    sweephand.server.api.world.clock.time += 60_000
    assert sweephand.ok("job", "get", "a", "--json").json["state"] == "completed"

    assert sweephand.ok("apply", "-f", "-", given=text).out == "1 unchanged\n"


def test_a_dry_run_shows_each_difference_and_writes_nothing(sweephand: CommandLine) -> None:
    sweephand.ok("apply", "-f", sweephand.file("jobs.yaml", FILE))
    sweephand.server.requests.clear()
    changed = FILE.replace("*/5", "*/10").replace("price: 1.10", "price: 1.1")
    changed = changed.replace("by-hand", "other") + "    paused: later\n"
    before = sweephand.server.api.world.jobs.page("ns", "", "", 100)
    path = sweephand.file("changed.yaml", changed)

    ran = sweephand.run("apply", "-f", path, "--prune", "--dry-run", "--exit-code")

    assert ran.code == 1
    assert ran.out == (
        "- by-hand\n"
        "+ other (pause)\n"
        '    + labels: {"managed-by":"web1"}\n'
        '    + target: {"type":"http","url":"https://consumer.example/hook"}\n'
        "~ poll\n"
        '    - data: {"price":1.10,"z":1,"a":2}\n'
        '    + data: {"price":1.1,"z":1,"a":2}\n'
        '    - schedule: "*/5 8-18 * * mon-fri"\n'
        '    + schedule: "*/10 8-18 * * mon-fri"\n'
        "1 to change, 1 to create, 1 to delete, 1 unchanged\n"
    )
    assert writes(sweephand) == ["POST /v1/namespaces/ns/jobs"]
    assert sweephand.server.api.world.jobs.page("ns", "", "", 100) == before
    found = sweephand.ok("apply", "-f", path, "--dry-run", "--json").json["steps"]
    assert [(each["kind"], each["name"], each["pausing"]) for each in found] == [
        ("create", "other", "pause"),
        ("change", "poll", None),
    ]


def test_prune_deletes_only_what_the_file_owns(sweephand: CommandLine) -> None:
    sweephand.ok("apply", "-f", sweephand.file("jobs.yaml", FILE))
    sweephand.ok("job", "schedule", "foreign", "-s", "@hourly", "--url", "https://x.example")
    path = sweephand.file("fewer.yaml", FILE.partition("  - name: once")[0])

    sweephand.ok("apply", "-f", path)
    assert names(sweephand) == ["by-hand", "foreign", "once", "poll"]
    assert sweephand.ok("apply", "-f", path, "--prune").out.endswith("2 deleted, 1 unchanged\n")
    assert names(sweephand) == ["foreign", "poll"]


def test_prune_by_prefix_deletes_what_begins_so(sweephand: CommandLine) -> None:
    for name in ("web1-a", "web1-b", "web2-a"):
        sweephand.ok("job", "schedule", name, "-s", "@hourly", "--url", "https://x.example")
    text = f"prefix: web1-\njobs: [{{name: web1-a, schedule: '@hourly', target: {TARGET}}}]"

    sweephand.ok("apply", "-f", "-", "--prune", "--take-over", given=text)

    assert names(sweephand) == ["web1-a", "web2-a"]


def test_prune_needs_a_mark(sweephand: CommandLine) -> None:
    sweephand.ok("job", "schedule", "a", "-s", "@hourly", "--url", "https://x.example")
    ran = sweephand.run("apply", "-f", "-", "--prune", given="jobs: []")
    assert ran.code == 2
    assert "labels: or prefix:" in ran.err
    assert names(sweephand) == ["a"]


def test_a_refused_job_stops_no_other_and_keeps_the_file_from_deleting(sweephand: CommandLine) -> None:
    sweephand.ok("apply", "-f", sweephand.file("jobs.yaml", FILE))
    wrong = FILE.replace("dueTime: 2h", "dueTime: soon").replace("*/5", "*/10").replace("by-hand", "new")

    ran = sweephand.run("apply", "-f", sweephand.file("wrong.yaml", wrong), "--prune")

    assert ran.code == 2
    assert "once refused: 1 field cannot be accepted.\n  line 10, /jobs/1/dueTime: " in ran.out
    assert "by-hand refused: It was not deleted" in ran.out
    assert names(sweephand) == ["by-hand", "new", "once", "poll"]
    assert sweephand.ok("job", "get", "poll", "--json").json["schedule"].startswith("*/10")
    results = sweephand.run("apply", "-f", sweephand.file("wrong.yaml", wrong), "--json").json["results"]
    assert [each["problem"]["status"] for each in results] == [422]


def test_a_dry_run_refuses_what_apply_would_refuse(sweephand: CommandLine) -> None:
    sweephand.ok("apply", "-f", sweephand.file("jobs.yaml", FILE))
    wrong = FILE.replace("*/5 8-18", "61 8-18").replace("dueTime: 2h", "policy: nowhere")
    wrong = wrong.replace("by-hand", "new\n    retri: {}")
    path = sweephand.file("wrong.yaml", wrong)
    before = sweephand.server.api.world.jobs.page("ns", "", "", 100)

    checked = sweephand.run("apply", "-f", path, "--prune", "--dry-run", "--exit-code")
    as_json = sweephand.run("apply", "-f", path, "--prune", "--dry-run", "--json")
    assert sweephand.server.api.world.jobs.page("ns", "", "", 100) == before
    applied = sweephand.run("apply", "-f", path, "--prune")

    assert checked.code == as_json.code == applied.code == 2
    for said in (
        "new refused: 1 field cannot be accepted.\n  line 12, /jobs/2/retri: ",
        "  line 10, /jobs/1/policy: ",
        "  line 7, /jobs/0/schedule: ",
        "by-hand refused: It was not deleted",
    ):
        assert said in checked.out
        assert said in applied.out
    assert checked.out.endswith("4 refused, 0 unchanged\n")
    steps = as_json.json["steps"]
    assert [(each["name"], each["problem"]["status"]) for each in steps] == [
        ("by-hand", 409),
        ("new", 422),
        ("once", 422),
        ("poll", 422),
    ]
    assert steps[1]["problem"]["errors"][0]["pointer"] == "/retri"


def test_a_dry_run_asks_about_all_jobs_in_pages_and_leaves_what_would_not_be_refused(
    sweephand: CommandLine,
) -> None:
    jobs = [f"  - {{name: job-{at:03}, schedule: '@hourly', target: {TARGET}}}" for at in range(150)]
    jobs[120] = jobs[120].replace("@hourly", "@never")
    jobs[130] = "  - name: job-130"
    text = "\n".join(["defaults:", "  target: {type: http, url: 'ftp://x.example'}", "jobs:", *jobs])
    ran = sweephand.run("apply", "-f", "-", "--dry-run", given=text)
    assert ran.code == 2
    assert writes(sweephand) == ["POST /v1/namespaces/ns/jobs"] * 2
    assert "job-120 refused: 1 field cannot be accepted.\n  line 124, /jobs/120/schedule: " in ran.out
    assert "  line 134, /jobs/130/target/url (line 2, /defaults/target/url): " in ran.out
    assert ran.out.endswith("148 to create, 2 refused, 0 unchanged\n")
    assert names(sweephand) == []


def test_a_dry_run_takes_a_calendar_that_apply_would_create_first(sweephand: CommandLine) -> None:
    job = f"{{name: a, schedule: '@daily', target: {TARGET}, calendar: {{name: a}}}}"
    text = f"calendars: {{a: {{closed: [2026-12-25]}}}}\njobs: [{job}]"
    planned = sweephand.ok("apply", "-f", "-", "--dry-run", given=text)
    assert planned.out.endswith("2 to create, 0 unchanged\n")

    for right, wrong in (("{name: a}", "{name: b}"), ("{name: a}", "a"), ("@daily", "@never")):
        ran = sweephand.run("apply", "-f", "-", "--dry-run", given=text.replace(right, wrong))
        assert ran.code == 2
        assert "\na refused: 1 field cannot be accepted.\n  line 2, /jobs/0/" in ran.out
        assert ran.out.endswith("1 to create, 1 refused, 0 unchanged\n"), "the calendar has the job's name"


def test_a_dry_run_with_a_key_that_only_reads_is_refused_as_apply_is(sweephand: CommandLine) -> None:
    path = sweephand.file("jobs.yaml", FILE)
    checked = sweephand.run("apply", "-f", path, "--dry-run", SWEEPHAND_KEY="sh_reader")
    applied = sweephand.run("apply", "-f", path, SWEEPHAND_KEY="sh_reader")
    assert (checked.code, checked.err) == (applied.code, applied.err)
    assert checked.code == 4


def test_a_dry_run_is_repeated_when_its_answer_is_lost(client: Client, server: Server) -> None:
    server.faults = [Fault(reaches_api=True)]
    job: NamedJobRequest = {"name": "a", "target": {"type": "http", "url": "https://x.example"}}
    (result,) = client.jobs.put_many("ns", [job], dry_run=True)
    assert (result["status"], result.get("outcome")) == (201, "created")
    assert server.calls() == ["POST /v1/namespaces/ns/jobs"] * 2


def test_a_job_that_was_changed_meanwhile_is_not_deleted(sweephand: CommandLine) -> None:
    sweephand.ok("apply", "-f", sweephand.file("jobs.yaml", FILE))
    problem = b'{"detail": "The job has another revision."}'
    fault = Fault(412, {"content-type": "application/problem+json"}, problem)
    text = FILE.partition("  - name: by-hand")[0]
    sweephand.server.requests.clear()
    sweephand.ok("apply", "-f", "-", "--prune", "--dry-run", given=text)
    reads = len(sweephand.server.requests)

    class AfterReads(list[Fault]):
        def __bool__(self) -> bool:
            return len(sweephand.server.requests) == 2 * reads + 1

    sweephand.server.faults = AfterReads([fault])
    ran = sweephand.run("apply", "-f", "-", "--prune", given=text)

    assert ran.code == 4
    method, path, headers = sweephand.server.requests[-1]
    assert (method, path) == ("DELETE", "/v1/namespaces/ns/jobs/by-hand")
    assert headers["if-match"].startswith('"')


def test_paused_jobs_are_created_paused_and_resumed_only_where_the_file_says_so(
    sweephand: CommandLine,
) -> None:
    def apply(paused: str) -> str:
        text = f"jobs: [{{name: a, schedule: '* * * * * *', target: {TARGET}{paused}}}]"
        return sweephand.ok("apply", "-f", "-", given=text).out

    def state() -> tuple[str, str | None]:
        job = sweephand.ok("job", "get", "a", "--json").json
        return job["state"], job.get("pauseReason")

    apply(", paused: because")
    assert state() == ("paused", "because")
    replaced, paused, created = sweephand.ok("job", "changes", "a", "--json").json
    assert [each["what"] for each in (created, paused, replaced)] == ["created", "paused", "replaced"]
    schedule = {"name": "schedule", "before": None, "after": "* * * * * *"}
    assert schedule in replaced["fields"], "it had no due time before it was paused"
    assert apply(", paused: because") == "1 unchanged\n"
    assert apply("") == "1 unchanged\n"
    assert state() == ("paused", "because"), "a pause by hand is not undone"
    assert apply(", paused: false") == "a resumed\n1 resumed, 0 unchanged\n"
    assert state() == ("active", None)
    assert apply(", paused: true") == "a paused\n1 paused, 0 unchanged\n"


def test_the_reason_of_an_apply_is_in_the_changes_of_the_jobs_that_it_writes(sweephand: CommandLine) -> None:
    def apply(jobs: str, reason: str) -> None:
        text = f"labels: {{managed-by: web1}}\ndefaults: {{target: {TARGET}}}\njobs: {jobs}"
        sweephand.ok("apply", "-f", "-", "--prune", "--reason", reason, given=text)

    def changes(name: str) -> list[tuple[str, str | None]]:
        listed = sweephand.ok("job", "changes", name, "--json").json
        return [(each["what"], each["reason"]) for each in listed]

    apply("[{name: a}, {name: b}, {name: c, paused: tonight}]", "Add jobs: ½ & 1")
    apply("[{name: a, description: x}, {name: c, description: x, paused: false}]", "Change a")
    apply("[{name: a, description: x}, {name: c, description: x}]", "Nothing")

    assert changes("a") == [("replaced", "Change a"), ("created", "Add jobs: ½ & 1")]
    assert changes("b") == [("deleted", "Change a"), ("created", "Add jobs: ½ & 1")]
    assert changes("c") == [
        ("resumed", None),
        ("replaced", "Change a"),
        ("replaced", "Add jobs: ½ & 1"),
        ("paused", "tonight"),
        ("created", None),
    ]


def test_a_paused_job_that_is_refused_leaves_nothing_behind(sweephand: CommandLine) -> None:
    text = f"jobs: [{{name: a, schedule: never, target: {TARGET}, paused: true}}]"
    assert sweephand.run("apply", "-f", "-", given=text).code == 2
    assert names(sweephand) == []


def test_the_namespace_of_the_file_is_used_and_must_not_differ(sweephand: CommandLine) -> None:
    text = f"namespace: web1\njobs: [{{name: a, target: {TARGET}}}]"
    sweephand.ok("apply", "-f", "-", given=text)
    assert sweephand.ok("job", "list", "-n", "web1", "--json").json[0]["name"] == "a"
    ran = sweephand.run("apply", "-f", "-", "-n", "web2", given=text)
    assert ran.code == 2
    assert "web1" in ran.err


@pytest.mark.parametrize("text", ["jobs: [{name: a/b}]", "jobs: [{name: ..}]"])
def test_a_name_that_cannot_be_sent_exits_with_2(sweephand: CommandLine, text: str) -> None:
    assert sweephand.run("apply", "-f", "-", given=text).code == 2


def test_a_job_that_was_changed_since_it_was_read_is_paused_and_not_written_over(client: Client) -> None:
    client.jobs.put(
        "ns", "a", {"schedule": "@hourly", "target": {"type": "http", "url": "https://x.example"}}
    )
    steps = plan(client, "ns", read_jobs_file("jobs: [{name: a, schedule: '@daily', paused: tonight}]"))
    client.jobs.patch("ns", "a", {"description": "by another writer"})

    (done,) = carry_out(client, "ns", steps)

    assert done.problem is not None
    assert done.problem.status == 412
    stored = client.jobs.get("ns", "a")
    assert (stored["schedule"], stored.get("description")) == ("@hourly", "by another writer")
    assert (stored["state"], stored.get("pauseReason")) == ("paused", "tonight")


CALENDARS = f"""
calendars:
  fr: {{holidays: [{{country: FR}}], weekend: null}}
jobs:
  - name: month-end
    schedule: "0 17 L * *"
    calendar: {{name: fr, otherwise: previous}}
    target: {TARGET}
"""


def test_a_calendar_of_a_file_is_written_before_the_jobs_that_name_it(sweephand: CommandLine) -> None:
    path = sweephand.file("jobs.yaml", CALENDARS)
    shown = sweephand.ok("apply", "-f", path, "--dry-run").out
    assert shown.startswith('+ calendar fr\n    + holidays: [{"country":"FR"}]\n+ month-end\n')
    assert sweephand.ok("calendar", "list", "--json").json == []
    done = sweephand.ok("apply", "-f", path).out
    assert done == "calendar fr created\nmonth-end created\n2 created, 0 unchanged\n"
    sweephand.server.requests.clear()
    assert sweephand.ok("apply", "-f", path).out == "2 unchanged\n"
    assert writes(sweephand) == ["POST /v1/namespaces/ns/calendars/fr/preview"]


def test_a_dry_run_shows_the_days_that_a_calendar_of_a_file_would_change(sweephand: CommandLine) -> None:
    sweephand.ok("apply", "-f", sweephand.file("jobs.yaml", CALENDARS))
    path = sweephand.file("jobs.yaml", CALENDARS.replace("weekend: null", "closed: [2026-12-24]"))
    assert sweephand.ok("apply", "-f", path, "--dry-run").out == (
        '~ calendar fr\n    + closed: ["2026-12-24"]\n'
        '    + days: [{"date":"2026-12-24","isClosed":true,"reason":"closed"}]\n'
        "1 to change, 1 unchanged\n"
    )
    steps = sweephand.ok("apply", "-f", path, "--dry-run", "--json").json["steps"]
    assert [(each["name"], each["calendar"]) for each in steps] == [("fr", True)]
    results = sweephand.ok("apply", "-f", path, "--json").json["results"]
    assert results == [{"name": "fr", "did": "changed", "calendar": True}]
    assert sweephand.ok("calendar", "get", "fr", "--json").json["closed"] == ["2026-12-24"]


def test_holidays_that_a_newer_stack_knows_are_a_change_of_an_unchanged_calendar(
    sweephand: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = sweephand.file("jobs.yaml", CALENDARS)
    sweephand.ok("apply", "-f", path)
    monkeypatch.setattr("sweephand.web.calendar_sources._YEARS_AHEAD", 16)
    shown = sweephand.ok("apply", "-f", path, "--dry-run").out
    assert '- knownUntil: "2041-12-31"' in shown
    assert '+ knownUntil: "2042-12-31"' in shown
    assert '{"date":"2042-05-01","isClosed":true,"reason":"Labor Day"}' in shown
    assert sweephand.ok("apply", "-f", path).out == "calendar fr changed\n1 changed, 1 unchanged\n"
    assert sweephand.ok("calendar", "get", "fr", "--json").json["knownUntil"] == "2042-12-31"


@pytest.mark.parametrize(
    ("written", "says"),
    [
        (
            "fr: {holidays: [{country: FX}]}",
            "refused: 1 field cannot be accepted.\n  line 1, /calendars/fr/holidays",
        ),
        ("fr: [2026-12-24]", "/calendars/fr: give an object"),
        ("[fr]", "/calendars: give an object"),
    ],
)
def test_a_wrong_calendar_of_a_file_is_refused_before_anything_is_written(
    sweephand: CommandLine, written: str, says: str
) -> None:
    calendars = f"{{{written}}}" if ":" in written else written
    text = f"calendars: {calendars}\njobs: [{{name: a, target: {TARGET}}}]"
    path = sweephand.file("jobs.yaml", text)
    refused = sweephand.run("apply", "-f", path)
    assert refused.code == 2
    assert says in refused.out + refused.err
    assert names(sweephand) == []
