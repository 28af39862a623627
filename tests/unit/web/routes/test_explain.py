"""Why a job fired or did not, over HTTP."""

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
