"""Runs and due times of a job over HTTP, and the runs of a namespace that did not simply succeed."""

from typing import Any

import pytest
from tests.fakes.http_events import JOB, TARGET, Client
from tests.fakes.world import NOON

from sweephand.model.attempt import Answer

RUNS = "/v1/namespaces/ns/jobs/job/runs"


def client_with_runs() -> Client:
    """A job that fired at :10, :20 and :30, the second time in vain."""
    client = Client()
    client.put(job={"schedule": "@every 10s", "target": TARGET, "retry": {"maxAttempts": 1}})

    def answer(attempt: Any) -> Answer:
        failed = attempt.trigger.sequence == 2
        return Answer(succeeded=not failed, code=500 if failed else 204, text="no" if failed else "")

    client.world.consumers.answering = answer
    client.world.run_until(NOON + 31_000)
    return client


def test_runs_are_listed_newest_first() -> None:
    runs = client_with_runs().send("GET", RUNS).json["items"]
    assert [(each["dueAt"][14:19], each["state"]) for each in runs] == [
        ("00:30", "succeeded"),
        ("00:20", "failed"),
        ("00:10", "succeeded"),
    ]
    assert runs[1]["responseCode"] == 500
    assert runs[1]["answer"] == "no"
    assert runs[1]["attempts"] == 1
    assert runs[1]["latenessMs"] == 0


def test_runs_are_listed_page_by_page_and_by_state() -> None:
    client = client_with_runs()
    first = client.send("GET", f"{RUNS}?limit=2").json
    second = client.send("GET", f"{RUNS}?limit=2&cursor={first['nextCursor']}").json
    assert [each["sequence"] for each in first["items"] + second["items"]] == [3, 2, 1]
    failed = client.send("GET", f"{RUNS}?state=failed").json["items"]
    assert [each["sequence"] for each in failed] == [2]


def test_a_run_is_shown_under_its_id_and_as_the_last_run_of_its_job() -> None:
    client = client_with_runs()
    run = client.send("GET", f"{RUNS}/{NOON + 30_000}-0")
    assert run.status == 200
    shown = client.get().json["lastRun"]
    assert shown | {"attemptHistory": run.json["attemptHistory"]} == run.json


def test_a_run_shows_when_each_attempt_was_made_how_long_it_took_and_its_answer(client: Client) -> None:
    def answer(attempt: Any) -> Answer:
        client.world.clock.time += 250
        done = attempt.number == 2
        return Answer(succeeded=done, code=204 if done else 503, text="" if done else "busy")

    client.world.consumers.answering = answer
    client.put(job={"dueTime": "10s", "target": TARGET, "retry": {"initialDelay": "10s"}})
    client.world.run_until(NOON + 11_000)
    failed = {
        "attempt": 1,
        "startedAt": "2026-11-21T12:00:10.000Z",
        "durationMs": 250,
        "responseCode": 503,
        "answer": "busy",
    }
    run = f"{RUNS}/{NOON + 10_000}-0"
    retrying = client.send("GET", run).json
    assert (retrying["state"], retrying["attemptHistory"]) == ("retrying", [failed])
    client.world.run_until(NOON + 60_000)
    first, second = client.send("GET", run).json["attemptHistory"]
    assert first == failed
    assert second["startedAt"] == retrying["nextAttemptAt"]
    assert {**second, "startedAt": None} == {
        "attempt": 2,
        "startedAt": None,
        "durationMs": 250,
        "responseCode": 204,
        "answer": None,
    }
    assert all("attemptHistory" not in each for each in client.send("GET", RUNS).json["items"])


def test_a_run_shows_the_runs_before_and_after_it_if_the_call_asks_for_them() -> None:
    client = client_with_runs()
    shown = [
        {"id": f"{NOON + late}-0", "state": state, "dueAt": f"2026-11-21T12:00:{late // 1_000}.000Z"}
        for late, state in ((10_000, "succeeded"), (20_000, "failed"), (30_000, "succeeded"))
    ]
    first, second, third = shown
    for run, before, after in ((first, None, second), (second, first, third), (third, second, None)):
        found = client.send("GET", f"{RUNS}/{run['id']}?include=neighbours").json
        assert found["neighbours"] == {"before": before, "after": after}
        assert found == client.send("GET", f"{RUNS}/{run['id']}").json | {"neighbours": found["neighbours"]}
    coming = client.send("GET", f"{RUNS}/{NOON + 40_000}-0?include=neighbours").json
    assert (coming["state"], coming["neighbours"]) == ("scheduled", {"before": third, "after": None})
    refused = client.send("GET", f"{RUNS}/{first['id']}?include=attempts")
    assert (refused.status, refused.pointers) == (422, ["/include"])


def test_beside_a_run_of_a_batch_are_others_of_the_batch(client: Client) -> None:
    client.put(job={"schedule": "@every 10s", "target": TARGET, "batch": {"count": 3}})
    client.world.run_until(NOON + 21_000)
    beside = client.send("GET", f"{RUNS}/{NOON + 20_000}-0?include=neighbours").json["neighbours"]
    assert [beside[each]["id"] for each in ("before", "after")] == [
        f"{NOON + 10_000}-2",
        f"{NOON + 20_000}-1",
    ]


def test_a_job_does_not_show_a_run_of_an_earlier_job_of_its_name_as_its_last() -> None:
    client = client_with_runs()
    client.send("DELETE", "/v1/namespaces/ns/jobs/job")
    client.put(job={"schedule": "0 * * * * *", "target": TARGET})
    assert client.get().json["lastRun"] is None
    span = {"from": "2026-11-21T11:59:00Z", "to": "2026-11-21T12:00:00Z"}
    made = client.send("POST", "/v1/namespaces/ns/jobs/job/backfill", span).json
    client.world.run_until(NOON + 32_000)
    assert client.get().json["lastRun"]["id"] == made["firstId"]
    client.world.run_until(NOON + 61_000)
    assert client.get().json["lastRun"]["dueAt"] == "2026-11-21T12:01:00.000Z"


def test_runs_outlive_their_job() -> None:
    client = client_with_runs()
    client.send("DELETE", "/v1/namespaces/ns/jobs/job")
    assert len(client.send("GET", RUNS).json["items"]) == 3
    assert client.send("GET", f"{RUNS}?state=retrying").json["items"] == []


@pytest.mark.parametrize(
    "run_id", [f"{NOON}-0", "x", "1-", "-0", "1-0-0", "9" * 5_000 + "-0", "%00", "1-%C2%B2"]
)
def test_an_unknown_run_is_not_found(run_id: str) -> None:
    assert client_with_runs().send("GET", f"{RUNS}/{run_id}").status == 404


def test_a_job_that_has_not_fired_has_no_runs_and_an_unknown_job_is_not_found(client: Client) -> None:
    client.put()
    assert client.send("GET", RUNS).json == {"items": []}
    assert client.send("GET", "/v1/namespaces/ns/jobs/jbo/runs").status == 404


@pytest.mark.parametrize(
    ("query", "pointer"), [("state=over", "/state"), ("cursor=x", "/cursor"), ("limit=1000", "/limit")]
)
def test_an_invalid_query_parameter_of_runs_is_refused_by_its_name(query: str, pointer: str) -> None:
    assert client_with_runs().send("GET", f"{RUNS}?{query}").pointers == [pointer]


def test_due_times_are_shown_in_utc_and_on_the_wall_clock(client: Client) -> None:
    client.put(job={**JOB, "schedule": "30 2 * * *", "timezone": "Europe/Paris"})
    url = "/v1/namespaces/ns/jobs/job/occurrences"
    shown = client.send("GET", f"{url}?limit=2&after=2027-03-26T12:00:00%2B01:00").json["occurrences"]
    assert shown == [
        {"utc": "2027-03-27T01:30:00.000Z", "local": "2027-03-27T02:30:00.000+01:00"},
        # 02:30 does not exist that day: it fires as the gap ends.
        {
            "utc": "2027-03-28T01:00:00.000Z",
            "local": "2027-03-28T03:00:00.000+02:00",
            "reason": "gap-shifted",
        },
    ]


def test_a_preview_shows_the_due_times_of_a_schedule_that_is_not_stored(client: Client) -> None:
    body = {"schedule": "@every 1h", "timezone": "America/St_Johns", "repeats": 2}
    shown = client.send("POST", "/v1/occurrences", body).json["occurrences"]
    assert shown == [
        {"utc": "2026-11-21T13:00:00.000Z", "local": "2026-11-21T09:30:00.000-03:30"},
        {"utc": "2026-11-21T14:00:00.000Z", "local": "2026-11-21T10:30:00.000-03:30"},
    ]
    assert client.world.jobs.page("ns", "", "", 1).items == ()


def test_a_preview_of_a_one_off_and_from_an_instant_on(client: Client) -> None:
    assert len(client.send("POST", "/v1/occurrences", {"dueTime": "10s"}).json["occurrences"]) == 1
    body = {"schedule": "@daily", "after": "2027-01-01T00:00:00.5Z", "limit": 1}
    shown = client.send("POST", "/v1/occurrences", body).json["occurrences"]
    assert shown[0]["utc"] == "2027-01-02T00:00:00.000Z"


@pytest.mark.parametrize(
    ("body", "pointers"),
    [
        ({}, ["/dueTime"]),
        (
            {"schedule": "x", "timezone": "y", "after": "z", "limit": 0},
            ["/after", "/limit", "/schedule", "/timezone"],
        ),
        ({"schedule": "@daily", "after": "2027-01-01"}, ["/after"]),
        ({"schedule": "@daily", "after": "2027-02-30T00:00:00Z"}, ["/after"]),
        ({"schedule": "@daily", "after": 5}, ["/after"]),
        ({"schedule": "@daily", "limit": 201}, ["/limit"]),
        ({"schedule": "@daily", "target": TARGET}, ["/target"]),
        ({"schedule": "@daily", "data": 1}, ["/data"]),
    ],
)
def test_an_invalid_preview_names_every_field(body: Any, pointers: list[str]) -> None:
    refused = Client().send("POST", "/v1/occurrences", body)
    assert (refused.status, refused.pointers) == (422, pointers)


@pytest.mark.parametrize("after", ["x", "2027-01-01T00:00:00", "2027-13-01T00:00:00Z", "", "5"])
def test_an_invalid_instant_in_a_query_is_refused_by_its_name(client: Client, after: str) -> None:
    client.put()
    refused = client.send("GET", f"/v1/namespaces/ns/jobs/job/occurrences?after={after}")
    assert (refused.status, refused.pointers) == (422, ["/after"])


@pytest.mark.parametrize("after", ["0001-01-01T00:00:00%2B23:59", "9999-12-31T23:59:59-23:59"])
def test_instants_at_both_ends_of_the_calendar_are_accepted(client: Client, after: str) -> None:
    client.put()
    assert client.send("GET", f"/v1/namespaces/ns/jobs/job/occurrences?after={after}").status == 200


def test_the_last_hours_of_the_year_9999_are_shown_in_utc() -> None:
    body = {"dueTime": "9999-12-31T23:30:00Z", "timezone": "Europe/Paris"}
    shown = Client().send("POST", "/v1/occurrences", body).json["occurrences"]
    assert shown[0]["local"] == shown[0]["utc"] == "9999-12-31T23:30:00.000Z"


def test_the_misfires_skipped_after_an_outage_are_one_run_with_their_count(client: Client) -> None:
    client.put(job={"schedule": "@every 10m", "target": TARGET, "catchup": {"mode": "none", "window": "30m"}})
    client.world.clock.time = NOON + 2 * 3_600_000
    client.world.tick()
    (run,) = client.send("GET", f"{RUNS}?state=skipped").json["items"]
    assert (run["state"], run["reason"], run["attempts"]) == ("skipped", "misfire", 0)
    assert (run["dueAt"][11:19], run["lastDueAt"][11:19], run["count"]) == ("12:10:00", "13:20:00", 8)
    assert client.send("GET", f"{RUNS}/{run['id']}").json == {**run, "attemptHistory": []}


def test_a_job_shows_catch_up_as_it_was_written_and_an_equal_rule_changes_nothing(client: Client) -> None:
    job = {"schedule": "@every 10m", "target": TARGET, "catchup": {"window": "90m", "mode": None}}
    rev = client.put(job=job).json["rev"]
    assert client.get().json["catchup"] == {"window": "90m"}
    assert client.put(job=job).json["rev"] == rev
    changed = client.put(job={**job, "catchup": {"mode": "all", "window": "90m"}})
    assert changed.json["rev"] != rev


ALL_RUNS = "/v1/namespaces/ns/runs"


@pytest.fixture
def troubled() -> Client:
    """Two jobs that fired at :10, :20 and :30, the second time in vain."""
    troubled = Client()

    def answer(attempt: Any) -> Answer:
        failed = attempt.trigger.sequence == 2
        return Answer(succeeded=not failed, code=500 if failed else 204, text="no" if failed else "")

    troubled.world.consumers.answering = answer
    for name, team in (("a", "ops"), ("b", "web")):
        job = {"schedule": "@every 10s", "target": TARGET, "retry": {"maxAttempts": 1}}
        troubled.send("PUT", f"/v1/namespaces/ns/jobs/{name}", {**job, "labels": {"team": team}})
    troubled.world.run_until(NOON + 31_000)
    return troubled


def jobs(troubled: Client, query: str = "") -> list[str]:
    return sorted(each["job"] for each in troubled.send("GET", f"{ALL_RUNS}?{query}").json["items"])


def test_the_list_shows_the_failed_runs_of_all_jobs_with_the_names_of_the_jobs(troubled: Client) -> None:
    items = troubled.send("GET", ALL_RUNS).json["items"]
    assert sorted(each["job"] for each in items) == ["a", "b"]
    for each in items:
        shown = troubled.send("GET", f"/v1/namespaces/ns/jobs/{each['job']}/runs/{each['id']}").json
        assert {**each, "attemptHistory": shown["attemptHistory"]} == {"job": each["job"], **shown}
        assert (each["state"], each["responseCode"], each["answer"]) == ("failed", 500, "no")


def test_the_list_is_filtered_and_read_page_by_page(troubled: Client) -> None:
    assert jobs(troubled, "state=failed") == ["a", "b"]
    assert jobs(troubled, "state=skipped") == []
    assert jobs(troubled, "label=team:web") == ["b"]
    assert jobs(troubled, "since=2026-11-21T12:00:20Z") == ["a", "b"]
    assert jobs(troubled, "since=2026-11-21T12:00:20.001Z") == []
    assert jobs(troubled, "until=2026-11-21T12:00:20.001Z") == ["a", "b"]
    assert jobs(troubled, "until=2026-11-21T12:00:20Z") == []
    assert jobs(troubled, "prefix=b&reason=500") == ["b"]
    assert jobs(troubled, "reason=no") == ["a", "b"]
    assert jobs(troubled, "reason=yes") == []
    first = troubled.send("GET", f"{ALL_RUNS}?limit=1").json
    second = troubled.send("GET", f"{ALL_RUNS}?limit=1&cursor={first['nextCursor']}").json
    assert sorted(each["job"] for each in first["items"] + second["items"]) == ["a", "b"]
    assert "nextCursor" not in second


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ("state=succeeded", "/state"),
        ("state=waiting", "/state"),
        ("since=yesterday", "/since"),
        ("since=2026-11-21T12:00:20", "/since"),
        ("label=ops", "/label/0"),
        ("limit=0", "/limit"),
        ("cursor=x", "/cursor"),
        ("since=2026-11-21T12:00:20Z&until=2026-11-21T12:00:20Z", "/until"),
    ],
)
def test_a_filter_that_means_nothing_is_refused_by_name(troubled: Client, query: str, pointer: str) -> None:
    refused = troubled.send("GET", f"{ALL_RUNS}?{query}")
    assert refused.status == 422
    assert [each["pointer"] for each in refused.json["errors"]] == [pointer]


def test_a_namespace_without_such_runs_has_an_empty_list(troubled: Client) -> None:
    assert troubled.send("GET", "/v1/namespaces/other/runs").json == {"items": []}
