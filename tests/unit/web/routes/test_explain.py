"""Why a job fired or did not, and the due times shown at an instant, over HTTP."""

from typing import Any

import pytest
from tests.fakes.http_events import TARGET, Client
from tests.fakes.world import World
from tests.unit.runs.explain.every_way import WAYS

from sweephand.base.instants import rfc3339

EXPLAIN = "/v1/namespaces/ns/jobs/job/explain"


def explained(name: str) -> Any:
    """The answer about a way. Client checks it against the OpenAPI document."""
    world = World()
    at = WAYS[name].bring_about(world)
    answer = Client(world).send("GET", f"{EXPLAIN}?at={rfc3339(at)}")
    assert answer.status == 200, answer.text
    return answer.json


@pytest.mark.parametrize("name", WAYS)
def test_every_way_has_an_answer_as_the_document_describes_it(name: str) -> None:
    found = explained(name)
    assert found["verdict"] == WAYS[name].verdict
    assert WAYS[name].words in found["summary"]


def test_the_evidence_of_a_pause_says_who_and_why_and_who_ended_it() -> None:
    evidence = explained("somebody_paused_the_job")["evidence"]
    assert [evidence["change"][each] for each in ("what", "who", "reason")] == ["paused", "test", "tonight"]
    assert explained("the_resume_caught_nothing_up")["evidence"]["resumed"]["what"] == "resumed"


def test_the_evidence_of_a_clock_change_names_the_local_time_and_the_rule() -> None:
    assert explained("the_local_time_does_not_exist_and_is_moved")["evidence"] == {
        "clockChange": {
            "kind": "gap",
            "local": "2027-03-28T02:30:00",
            "timezone": "Europe/Paris",
            "rule": "shift",
        }
    }


def test_the_evidence_of_a_calendar_names_the_day_its_reason_and_where_it_went() -> None:
    skipped = explained("the_calendar_skips_the_day")
    closed = {"date": "2026-11-23", "isClosed": True, "reason": "works closed"}
    evidence = {"name": "works", "day": closed, "otherwise": "skip", "movedTo": None}
    assert (skipped["evidence"]["calendar"], skipped["dueAt"]) == (evidence, None)
    moved = {**evidence, "otherwise": "next", "movedTo": "2026-11-24T09:00:00.000Z"}
    for name in (
        "the_calendar_moves_the_day_to_one_that_is_to_come",
        "a_trigger_fired_that_the_calendar_had_moved",
    ):
        found = explained(name)
        assert (found["evidence"]["calendar"], found["dueAt"]) == (moved, moved["movedTo"])


def test_the_evidence_of_what_waits_names_what_it_waits_for() -> None:
    assert explained("it_waits_for_a_permit")["evidence"] == {"policy": "mailer"}
    assert "waitsFor" in explained("it_waits_for_its_turn")["evidence"]
    limit = explained("it_waits_for_the_limit_of_the_stack")["evidence"]["limit"]
    assert (limit["level"], limit["triggersPerMinute"]) == ("stack", 1)


def test_a_standstill_is_evidence_while_it_lasts_and_after_it() -> None:
    assert explained("the_stack_does_not_tick")["evidence"]["standstill"]["until"] is None
    past = explained("it_was_delivered_late_because_the_stack_was_off")["evidence"]["standstill"]
    assert (past["kind"], past["until"]) == ("off", "2026-11-21T12:20:00.000Z")


def test_an_answer_has_the_run_and_what_comes_next() -> None:
    found = explained("the_consumer_failed_and_it_is_tried_again")
    assert (found["run"]["state"], found["run"]["responseCode"]) == ("retrying", 503)
    assert found["next"] == {"at": found["run"]["nextAttemptAt"], "step": "Attempt 2 begins."}
    assert (found["dueAt"], found["history"]) == (found["run"]["dueAt"], "kept")


@pytest.mark.parametrize(
    ("query", "pointer"), [("at=yesterday", "/at"), ("at=2026-11-21T12:00:00", "/at"), ("when=now", "/when")]
)
def test_an_instant_that_cannot_be_read_is_refused(client: Client, query: str, pointer: str) -> None:
    client.put(job={"schedule": "@hourly", "target": TARGET})
    refused = client.send("GET", f"{EXPLAIN}?{query}")
    assert (refused.status, [each["pointer"] for each in refused.json["errors"]]) == (422, [pointer])


@pytest.mark.parametrize(
    "at", ["0001-01-01T00:00:00%2B23:59", "1970-01-01T00:00:00Z", "9999-12-31T23:59:59.999-23:59"]
)
@pytest.mark.parametrize("fields", [{}, {"jitter": "1h"}, {"timezone": "Europe/Paris"}, {"ttl": "48h"}])
def test_an_instant_of_any_year_is_explained(client: Client, at: str, fields: Any) -> None:
    client.put(job={"schedule": "30 2 * * *", "target": TARGET, **fields})
    found = client.send("GET", f"{EXPLAIN}?at={at}")
    assert found.status == 200, found.text
    assert found.json["verdict"] in ("not-created", "not-scheduled", "after-ttl")


def test_a_job_that_never_was_is_not_found() -> None:
    assert Client().send("GET", EXPLAIN).status == 404


NOW = "2026-11-21T12:00:00.000Z"
OCCURRENCES = "/v1/namespaces/ns/jobs/job/occurrences"

#: Schedules and dueTimes of which the first fire is due at the instant of the request.
DUE_NOW = pytest.mark.parametrize(
    "timing",
    [
        {"schedule": "rate(5 minutes)"},
        {"schedule": "R3/PT1M"},
        {"schedule": "R/PT1M"},
        {"schedule": "@every 1h", "dueTime": "0s"},
        {"schedule": "@every 1h", "dueTime": "2026-11-21T11:59:30Z"},
        {"schedule": "0 0 12 * * *", "dueTime": "0s"},
        {"schedule": [NOW]},
        {"dueTime": NOW},
    ],
)


def previewed(body: Any) -> list[str]:
    answer = Client().send("POST", "/v1/occurrences", body)
    assert answer.status == 200, answer.text
    return [each["utc"] for each in answer.json["occurrences"]]


@DUE_NOW
def test_a_preview_begins_with_the_fire_that_is_due_now(timing: Any) -> None:
    assert previewed(timing)[0] == NOW


@DUE_NOW
def test_a_job_whose_first_fire_is_due_now_shows_it_as_the_next_run(client: Client, timing: Any) -> None:
    written = client.put(job={**timing, "target": TARGET}).json
    assert (written["state"], written["nextRun"]) == ("active", NOW)
    shown = client.get().json
    assert (shown["state"], shown["nextRun"]) == ("active", NOW)
    assert client.send("GET", OCCURRENCES).json["occurrences"][0]["utc"] == NOW


def test_a_fire_that_is_due_in_the_past_is_not_the_next_run(client: Client) -> None:
    client.put(job={"schedule": "rate(5 minutes)", "target": TARGET})
    client.world.clock.time += 1
    assert client.get().json["nextRun"] == "2026-11-21T12:05:00.000Z"
    assert client.send("GET", OCCURRENCES).json["occurrences"][0]["utc"] == "2026-11-21T12:05:00.000Z"


def test_a_preview_leaves_out_a_fire_at_the_instant_of_after() -> None:
    assert previewed({"schedule": "rate(5 minutes)", "after": NOW})[0] == "2026-11-21T12:05:00.000Z"


@pytest.mark.parametrize(
    ("body", "first"),
    [
        ({"schedule": "0 30 2 * * *"}, "2020-02-28T02:30:00.000Z"),
        ({"schedule": "@every 1h"}, "2020-02-28T01:00:00.000Z"),
        ({"schedule": "rate(2 hours)"}, "2020-02-28T02:00:00.000Z"),
        ({"schedule": "R/2020-01-01T09:00:00Z/P1D"}, "2020-02-28T09:00:00.000Z"),
        ({"schedule": "at(2020-03-01T00:00:00)"}, "2020-03-01T00:00:00.000Z"),
        ({"schedule": ["2020-01-01T00:00:00Z", "2020-05-01T00:00:00Z"]}, "2020-05-01T00:00:00.000Z"),
        ({"dueTime": "2020-03-01T00:00:00Z"}, "2020-03-01T00:00:00.000Z"),
        ({"dueTime": "10s"}, "2020-02-28T00:00:10.000Z"),
        ({"schedule": "@every 1h", "dueTime": "2020-01-01T00:20:00Z"}, "2020-02-28T00:20:00.000Z"),
    ],
)
def test_a_past_after_shows_the_due_times_from_then_on(body: Any, first: str) -> None:
    assert previewed({**body, "after": "2020-02-28T00:00:00Z"})[0] == first


def test_a_past_after_reads_ttl_and_repeats_as_of_then() -> None:
    body = {"schedule": "@daily", "after": "2020-02-27T12:00:00Z", "ttl": "3d", "repeats": 2}
    assert previewed(body) == ["2020-02-28T00:00:00.000Z", "2020-02-29T00:00:00.000Z"]


def test_a_preview_shows_no_due_time_before_1970() -> None:
    body = {"schedule": "@daily", "timezone": "Europe/Paris", "after": "0001-01-01T00:00:00Z", "limit": 1}
    assert previewed(body) == ["1970-01-01T23:00:00.000Z"]


@pytest.mark.parametrize("after", [{}, {"after": "2027-01-01T00:00:00Z"}])
def test_a_past_due_time_is_refused_unless_the_past_is_asked_for(after: Any) -> None:
    body = {"schedule": "@daily", "dueTime": "2020-01-01T00:00:00Z", **after}
    refused = Client().send("POST", "/v1/occurrences", body)
    assert (refused.status, refused.pointers) == (422, ["/dueTime"])


@pytest.mark.parametrize(
    "after", ["2027-01-01t00:00:00z", "2027-01-01T00:00:00.000000000000Z", "2026-12-31T23:59:60Z"]
)
def test_after_takes_every_instant_that_due_time_takes(after: str) -> None:
    assert previewed({"schedule": "@daily", "after": after})[0] == "2027-01-02T00:00:00.000Z"
