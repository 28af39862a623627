"""The settings, policies, calendars and windows of a namespace stand in the file of its jobs."""

from typing import Any

import pytest
from tests.unit.client.conftest import CommandLine
from tests.unit.client.test_apply import names, writes

EVERYTHING = """
settings:
  limits: {jobs: 50, payload: null}
  defaultTarget: {type: http, url: "https://consumer.example/default", headers: {x-key: my-secret}}
  defaultRetry: {maxAttempts: 3}
  allowedTargets: {hosts: [Consumer.Example], networks: [203.0.113.7]}
policies:
  mailer: {maxConcurrent: 5, rate: {limit: 100, per: 60s}, breaker: {failures: 10, probeAfter: PT1M}}
calendars:
  fr: {holidays: [{country: FR}]}
windows:
  night: {schedule: "0 1 * * *", timezone: Europe/Paris, duration: PT2H, labels: {team: ops}}
  freeze: {from: "2036-12-23T18:00:00+01:00", to: "2037-01-04T06:00:00Z"}
  zoned: {schedule: "TZ=Europe/Paris 0 5 * * *", duration: 90m, spread: 0s, prefix: ""}
jobs:
  - name: mail
    schedule: "0 8 * * *"
    policy: mailer
    calendar: {name: fr, otherwise: next}
"""
ALL = ["settings", "policy mailer", "calendar fr", "window freeze", "window night", "window zoned", "mail"]


def stored(sweephand: CommandLine) -> list[Any]:
    return [
        sweephand.ok(*words, "--json").json
        for words in (
            ("namespace", "show"),
            ("policy", "list"),
            ("calendar", "list"),
            ("window", "list"),
            ("job", "list"),
        )
    ]


def test_what_jobs_need_is_written_before_them_and_only_what_differs(sweephand: CommandLine) -> None:
    path = sweephand.file("jobs.yaml", EVERYTHING)
    before = stored(sweephand)
    planned = sweephand.ok("apply", "-f", path, "--dry-run").out
    assert stored(sweephand) == before
    assert [each[2:] for each in planned.split("\n") if each.startswith("+ ")] == ALL
    assert '    + rate: {"limit":100,"per":"60s"}' in planned
    assert "my-secret" not in planned
    assert planned.endswith("\n7 to create, 0 unchanged\n")

    applied = sweephand.ok("apply", "-f", path).out
    assert applied == "".join(f"{each} created\n" for each in ALL) + "7 created, 0 unchanged\n"
    assert sweephand.ok("job", "get", "mail", "--json").json["retry"] == {"maxAttempts": 3}
    sweephand.server.requests.clear()
    assert sweephand.ok("apply", "-f", path).out == "7 unchanged\n"
    assert sweephand.ok("apply", "-f", path, "--dry-run", "--exit-code").out == "7 unchanged\n"
    assert {each for each in writes(sweephand) if "preview" not in each} == set()

    sweephand.file("jobs.yaml", EVERYTHING.replace("PT2H", "3h").replace("limit: 100", "limit: 50"))
    changed = sweephand.ok("apply", "-f", path, "--dry-run", "--json").json["steps"]
    assert [
        (each["kind"], each["name"], each.get("policy"), each.get("window"), each["fields"])
        for each in changed
    ] == [
        (
            "change",
            "mailer",
            True,
            None,
            [
                {
                    "name": "rate",
                    "before": {"limit": 100, "per": "1m"},
                    "after": {"limit": 50, "per": "60s"},
                }
            ],
        ),
        ("change", "night", None, True, [{"name": "duration", "before": "2h", "after": "3h"}]),
    ]
    results = sweephand.ok("apply", "-f", path, "--json").json["results"]
    assert results == [
        {"name": "mailer", "did": "changed", "policy": True},
        {"name": "night", "did": "changed", "window": True},
    ]
    assert sweephand.ok("policy", "get", "mailer", "--json").json["rate"]["limit"] == 50


def test_a_window_that_leaves_out_a_field_goes_back_to_its_default(sweephand: CommandLine) -> None:
    text = (
        "windows: {night: {schedule: '@daily', duration: 2h, timezone: Europe/Paris, spread: 5m}}\njobs: []"
    )
    sweephand.ok("apply", "-f", "-", given=text)
    fewer = text.replace(", timezone: Europe/Paris, spread: 5m", "")
    assert sweephand.ok("apply", "-f", "-", "--dry-run", given=fewer).out.startswith(
        '~ window night\n    - spread: "5m"\n    + spread: "1m"\n    - timezone: "Europe/Paris"\n'
    )
    sweephand.ok("apply", "-f", "-", given=fewer)
    assert sweephand.ok("apply", "-f", "-", given=fewer).out == "1 unchanged\n"


@pytest.mark.parametrize("words", [("--dry-run",), ()])
def test_every_wrong_field_is_named_with_its_line_and_nothing_is_written(
    sweephand: CommandLine, words: tuple[str, ...]
) -> None:
    wrong = EVERYTHING.replace("limits: {jobs: 50", "limits: {jobs: -1").replace("per: 60s", "per: soon")
    wrong = (
        wrong.replace("country: FR", "country: FX").replace("PT2H", "30h").replace("0 8 * * *", "61 * * * *")
    )
    before = stored(sweephand)
    ran = sweephand.run("apply", "-f", "-", *words, given=wrong)
    assert ran.code == 2
    for said in (
        "settings refused: 1 field cannot be accepted.\n  line 3, /settings/limits/jobs: ",
        "policy mailer refused: 1 field cannot be accepted.\n  line 8, /policies/mailer/rate/per: ",
        "calendar fr refused: 1 field cannot be accepted.\n  line 10, /calendars/fr/holidays/0/country: ",
        "window night refused: 1 field cannot be accepted.\n  line 12, /windows/night/duration: ",
        "mail refused: 1 field cannot be accepted.\n  line 17, /jobs/0/schedule: ",
    ):
        assert said in ran.out
    assert ran.out.endswith("\n2 to create, 5 refused, 0 unchanged\n")
    assert (ran.err == "Nothing was written.\n") == (not words)
    assert stored(sweephand) == before


@pytest.mark.parametrize(
    "text",
    ["settings: {}", "settings: {defaultRetry: null}", "policies: {a: {}}", "windows: {a: {duration: null}}"],
)
def test_what_has_no_field_is_refused_by_the_dry_run_too(sweephand: CommandLine, text: str) -> None:
    for words in (("--dry-run",), ()):
        ran = sweephand.run("apply", "-f", "-", *words, given=f"{text}\njobs: []")
        assert (ran.code, "refused: 1 field cannot be accepted.\n  line 1, /" in ran.out) == (2, True)


@pytest.mark.parametrize(
    "text",
    [
        "policies: {a: {rate: {limit: 5, per: 1d}, breaker: {failures: 3, probeAfter: 1m30s}, by: null}}",
        "policies: {a: {maxConcurrent: 5.0, rate: {limit: 5, per: PT90M}}}",
        "windows: {a: {schedule: '@daily', duration: 1.5h, then: null, labels: {}}}",
        "windows: {a: {schedule: 'CRON_TZ=Europe/Paris 0 22 * * *', duration: 90m0s, spread: PT0S}}",
        "calendars: {a: {holidays: [{country: FR, market: null}], open: null}}",
        "calendars: {a: {closed: [{from: 2026-12-24, to: 2026-12-26, note: null}]}}",
        "settings: {limits: {jobs: 5.0}, allowedTargets: {}}",
        "settings: {limits: {}, allowedTargets: {hosts: ['*.X.example', x.example, '*.x.example']}}",
    ],
)
def test_what_means_the_same_is_unchanged(sweephand: CommandLine, text: str) -> None:
    sweephand.ok("apply", "-f", "-", given=f"{text}\njobs: []")
    assert sweephand.ok("apply", "-f", "-", given=f"{text}\njobs: []").out == "1 unchanged\n"


def test_a_default_retry_with_nulls_is_found_unchanged(sweephand: CommandLine) -> None:
    settings = "settings: {limits: {}, defaultRetry: {maxAttempts: 3, maxAge: null}, defaultTarget: null}"
    text = f"{settings}\njobs: [{{name: a, target: {{type: http, url: 'https://x.example'}}}}]"
    sweephand.ok("apply", "-f", "-", given=text)
    assert sweephand.ok("apply", "-f", "-", given=text).out == "2 unchanged\n"


def test_a_job_is_refused_for_what_the_file_does_not_write_either(sweephand: CommandLine) -> None:
    for right, wrong, pointer in (
        ("policy: mailer", "policy: other", "policy"),
        ("name: fr", "name: de", "calendar/name"),
        ("policy: mailer", "target: {type: default, path: /a/../b}", "target"),
        ("policy: mailer", "target: {type: http, url: 'ftp://consumer.example'}", "target/url"),
    ):
        ran = sweephand.run("apply", "-f", "-", "--dry-run", given=EVERYTHING.replace(right, wrong))
        assert ran.code == 2, wrong
        assert "mail refused: 1 field cannot be accepted.\n  line " in ran.out
        assert f", /jobs/0/{pointer}" in ran.out


def test_settings_of_a_file_need_an_admin_only_where_they_differ(sweephand: CommandLine) -> None:
    text = "settings: {limits: {jobs: 5}}\njobs: [{name: a, target: {type: http, url: 'https://x.example'}}]"
    for words in (("--dry-run",), ()):
        ran = sweephand.run("apply", "-f", "-", *words, given=text, SWEEPHAND_KEY="sh_writer")
        assert ran.code == 4
        assert "settings refused: line 1, /settings: " in ran.out
    assert names(sweephand) == []
    sweephand.ok("apply", "-f", "-", given=text)
    again = sweephand.ok("apply", "-f", "-", given=text, SWEEPHAND_KEY="sh_writer")
    assert again.out == "2 unchanged\n"


def test_null_deletes_by_prune_after_the_jobs_in_the_reverse_order(sweephand: CommandLine) -> None:
    marked = "labels: {by: web1}\n" + EVERYTHING
    sweephand.ok("apply", "-f", "-", given=marked)
    text = """
labels: {by: web1}
policies: {mailer: null, never: null}
calendars: {fr: null}
windows: {night: null}
jobs: []
"""
    assert sweephand.ok("apply", "-f", "-", given=text).out == "0 unchanged\n"
    planned = sweephand.ok("apply", "-f", "-", "--prune", "--dry-run", given=text).out
    assert planned == "- policy mailer\n- calendar fr\n- window night\n- mail\n4 to delete, 0 unchanged\n"
    done = sweephand.ok("apply", "-f", "-", "--prune", given=text).out
    assert done == (
        "mail deleted\nwindow night deleted\ncalendar fr deleted\npolicy mailer deleted\n"
        "4 deleted, 0 unchanged\n"
    )
    assert [len(each) for each in stored(sweephand)[1:]] == [0, 0, 2, 0]


def test_nothing_is_deleted_if_a_job_is_refused(sweephand: CommandLine) -> None:
    sweephand.ok("apply", "-f", "-", given="windows: {night: {schedule: '@daily', duration: 2h}}\njobs: []")
    text = "prefix: web\nwindows: {night: null}\njobs: [{name: web1, schedule: never}]"
    for words in (("--dry-run",), ()):
        ran = sweephand.run("apply", "-f", "-", "--prune", *words, given=text)
        assert ran.code == 2
        assert "window night refused: It was not deleted, because something else was refused." in ran.out
    assert [each["name"] for each in sweephand.ok("window", "list", "--json").json] == ["night"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("settings: 3", "line 1, /settings: give an object with the settings"),
        ("policies: [a]", "line 1, /policies: give an object with a policy at each name"),
        ("windows: {night: 2h}", "line 1, /windows/night: give an object with the fields of a window"),
    ],
)
def test_what_is_no_object_is_named(sweephand: CommandLine, text: str, said: str) -> None:
    ran = sweephand.run("apply", "-f", "-", given=f"{text}\njobs: []")
    assert ran.code == 2
    assert said in ran.err
