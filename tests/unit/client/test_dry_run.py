"""`apply --dry-run` shows no secrets, and refuses what `apply` would refuse."""

from typing import Any

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
