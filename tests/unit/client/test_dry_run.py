"""`apply --dry-run` shows no secrets, and refuses what `apply` would refuse."""

from typing import Any

import pytest
from tests.unit.client.conftest import CommandLine

JOB = """
jobs:
  - name: a
    target:
      type: http
      url: https://consumer.example/hook
      headers: {x-key: KEY, x-same: same-secret, x-ref: {secretRef: partner}}
    onComplete: {type: http, url: "https://consumer.example/done", headers: {x-key: KEY}}
    schedule: "@hourly"
    alertAfter: 1h
    onAlert: {type: http, url: "https://consumer.example/alert", headers: {x-key: KEY}}
"""


def test_a_plan_hides_the_values_of_headers_and_shows_which_of_them_change(sweephand: CommandLine) -> None:
    sweephand.ok("secret", "put", "partner", given="x")
    path = sweephand.file("jobs.yaml", JOB.replace("KEY", "old-secret"))
    created = sweephand.ok("apply", "-f", path, "--dry-run").out
    assert '"headers":{"x-key":"(hidden)","x-same":"(hidden)","x-ref":{"secretRef":"partner"}}' in created
    sweephand.ok("apply", "-f", path)
    sweephand.file("jobs.yaml", JOB.replace("KEY", "new-secret"))

    shown = sweephand.ok("apply", "-f", path, "--dry-run").out
    (step,) = sweephand.ok("apply", "-f", path, "--dry-run", "--json").json["steps"]

    fields: dict[str, Any] = {each["name"]: each for each in step["fields"]}
    assert fields["target"]["before"]["headers"] == {
        "x-key": "(hidden)",
        "x-same": "(hidden)",
        "x-ref": {"secretRef": "partner"},
    }
    assert fields["target"]["after"]["headers"] == {
        "x-key": "(hidden, changed)",
        "x-same": "(hidden)",
        "x-ref": {"secretRef": "partner"},
    }
    for name in ("onComplete", "onAlert"):
        assert fields[name]["before"]["headers"] == {"x-key": "(hidden)"}
        assert fields[name]["after"]["headers"] == {"x-key": "(hidden, changed)"}
    assert shown.count("(hidden, changed)") == 3
    assert "secret" not in (created + shown + str(step)).replace("secretRef", "")
    assert sweephand.ok("apply", "-f", path).out == "a changed\n1 changed, 0 unchanged\n"
    headers = sweephand.ok("job", "get", "a", "--json").json["target"]["headers"]
    assert headers["x-key"] == "new-secret", "what is written is not hidden"


def test_a_plan_hides_headers_that_the_stack_would_refuse(sweephand: CommandLine) -> None:
    for headers in ('"my-secret"', "[my-secret]", "{x-key: [my-secret]}", "{x-key: {value: my-secret}}"):
        target = f"{{type: http, url: 'https://x.example', headers: {headers}}}"
        text = f"jobs: [{{name: a, target: {target}}}, {{name: b, target: text}}]"
        ran = sweephand.run("apply", "-f", "-", "--dry-run", given=text)
        assert (ran.code, "(hidden)" in ran.out, "my-secret" in ran.out) == (2, True, False)


def test_a_dry_run_takes_what_a_calendar_of_the_file_would_let_fire(sweephand: CommandLine) -> None:
    sweephand.ok("calendar", "put", "shop", "--closed", "2026-12-25")
    text = """
calendars: {shop: {}}
defaults: {target: {type: http, url: "https://x.example"}, dueTime: "2026-12-25T12:00:00Z"}
jobs:
  - {name: a, calendar: {name: shop}}
  - {name: b, calendar: {name: shop, otherwise: next}, ttl: "2026-12-25T18:00:00Z"}
"""
    planned = sweephand.ok("apply", "-f", "-", "--dry-run", given=text)
    assert planned.out.endswith("1 to change, 2 to create, 0 unchanged\n")
    assert sweephand.ok("apply", "-f", "-", given=text).out.endswith("1 changed, 2 created, 0 unchanged\n")


@pytest.mark.parametrize("is_stored", [False, True])
@pytest.mark.parametrize(
    ("times", "pointer"),
    [
        ("schedule: '@every 1h', calendar: {name: shop, otherwise: next}", "/calendar/otherwise: "),
        ("calendar: {name: shop}", "/calendar"),
        ("dueTime: 2h, ttl: '2026-11-21T12:00:01Z', calendar: {name: shop}", "/ttl: "),
    ],
)
def test_a_dry_run_refuses_what_no_calendar_would_let_fire(
    sweephand: CommandLine, times: str, pointer: str, *, is_stored: bool
) -> None:
    if is_stored:
        sweephand.ok("calendar", "put", "shop", "--closed", "2026-11-21")
    job = f"{{name: a, target: {{type: http, url: 'https://x.example'}}, {times}}}"
    text = f"calendars: {{shop: {{weekend: []}}}}\njobs: [{job}]"
    for words in (("--dry-run",), ()):
        ran = sweephand.run("apply", "-f", "-", *words, given=text)
        assert ran.code == 2
        assert f"a refused: 1 field cannot be accepted.\n  line 2, /jobs/0{pointer}" in ran.out


def test_a_job_that_can_move_to_days_of_a_new_calendar_is_not_refused(sweephand: CommandLine) -> None:
    job = "{name: a, schedule: '@daily', target: {type: http, url: 'https://x.example'}, CALENDAR}"
    text = f"calendars: {{shop: {{}}}}\njobs: [{job}]"
    for otherwise in ("next", "skip", "null"):
        calendar = f"calendar: {{name: shop, otherwise: {otherwise}}}"
        given = text.replace("CALENDAR", calendar)
        assert sweephand.ok("apply", "-f", "-", "--dry-run", given=given).out.endswith(
            "2 to create, 0 unchanged\n"
        )


def test_a_dry_run_refuses_a_reason_that_apply_would_refuse(sweephand: CommandLine) -> None:
    path = sweephand.file("jobs.yaml", JOB.replace("x-ref: {secretRef: partner}", ""))
    words = ("apply", "-f", path, "--reason", "x" * 600)
    checked, applied = sweephand.run(*words, "--dry-run"), sweephand.run(*words)
    assert (checked.code, checked.err) == (applied.code, applied.err)
    assert (checked.code, "/reason: " in checked.err) == (2, True)
    sweephand.ok("apply", "-f", path, "--dry-run", "--reason", "Add a")
