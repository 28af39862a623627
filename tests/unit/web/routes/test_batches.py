"""Jobs with a batch over HTTP: what is accepted and refused, and what the API shows of such a job."""

from typing import Any

import pytest
from tests.fakes.http_events import JOB, TARGET, Client
from tests.fakes.world import NOON

from sweephand.base.instants import HOUR_MS, MINUTE_MS

URL = "/v1/namespaces/ns/jobs/job"
ONCE = {"dueTime": "10s", "target": TARGET}


def test_a_batch_is_stored_and_shown_as_it_was_written(client: Client) -> None:
    written = {**JOB, "schedule": "@every 2h", "batch": {"count": 50_000, "window": "PT1H"}}
    assert client.put(job=written).status == 201
    assert client.get().json["batch"] == {"count": 50_000, "window": "PT1H"}


@pytest.mark.parametrize(
    ("batch", "pointer"),
    [
        ({}, "/batch/count"),
        ({"count": 0}, "/batch/count"),
        ({"count": 10_000_001}, "/batch/count"),
        ({"count": 1.5}, "/batch/count"),
        ({"count": "5"}, "/batch/count"),
        ({"count": 5, "window": "0s"}, "/batch/window"),
        ({"count": 5, "window": "8d"}, "/batch/window"),
        ({"count": 5, "window": "soon"}, "/batch/window"),
        ({"count": 5, "spread": "1h"}, "/batch/spread"),
        (7, "/batch"),
    ],
)
def test_a_batch_out_of_range_is_refused_with_its_pointer(batch: Any, pointer: str) -> None:
    refused = Client().put(job={**ONCE, "batch": batch})
    assert (refused.status, refused.pointers) == (422, [pointer])


@pytest.mark.parametrize(
    ("schedule", "window", "shortest"),
    [
        ("@every 1h", "1h", "1h"),
        ("@every 2s", "2500ms", "2s"),
        ("0 9,10 * * *", "90m", "1h"),
        ("@daily", "7d", "24h"),
        ("R3/PT5S", "5s", "5s"),
        (["2026-12-24T14:00:00Z", "2026-12-24T14:00:30Z", "2026-12-25T14:00:00Z"], "1m", "30s"),
    ],
)
def test_a_window_that_is_not_shorter_than_the_period_is_refused_with_the_period(
    client: Client, schedule: Any, window: str, shortest: str
) -> None:
    job = {"schedule": schedule, "target": TARGET, "batch": {"count": 5, "window": window}}
    refused = client.put(job=job)
    assert (refused.status, refused.pointers) == (422, ["/batch/window"])
    assert f"give less than {shortest}." in refused.json["errors"][0]["detail"]
    assert client.get().status == 404


@pytest.mark.parametrize(
    "job",
    [
        {"dueTime": "10s", "batch": {"count": 5, "window": "7d"}},
        {"schedule": "@every 1h", "batch": {"count": 5, "window": "59m59.999s"}},
        {"schedule": "@every 1h", "repeats": 1, "batch": {"count": 5, "window": "5h"}},
        {"schedule": "@every 1s", "batch": {"count": 10_000_000}},
        {"batch": {"count": 5, "window": "1h"}},
    ],
)
def test_a_window_shorter_than_the_period_is_accepted_and_a_single_occurrence_has_no_period(job: Any) -> None:
    assert Client().put(job={**job, "target": TARGET}).status == 201


@pytest.mark.parametrize(("field", "value"), [("overlap", "wait"), ("deleteAfterCompletion", True)])
def test_a_field_that_a_batch_cannot_have_is_refused(field: str, value: Any) -> None:
    refused = Client().put(job={**ONCE, "batch": {"count": 2}, field: value})
    assert (refused.status, refused.pointers) == (422, [f"/{field}"])


def test_a_patch_of_the_schedule_is_judged_against_the_stored_window(client: Client) -> None:
    client.put(job={**JOB, "schedule": "@every 2h", "batch": {"count": 5, "window": "1h"}})
    refused = client.send("PATCH", URL, {"schedule": "@every 30m"})
    assert (refused.status, refused.pointers) == (422, ["/batch/window"])
    assert client.send("PATCH", URL, {"schedule": "@every 30m", "batch": None}).status == 200
    assert "batch" not in client.get().json


def test_repeating_a_put_while_the_only_batch_runs_begins_no_second_one(client: Client) -> None:
    client.put(job={**ONCE, "batch": {"count": 60, "window": "1h"}})
    client.world.run_until(NOON + 10 * MINUTE_MS)
    assert client.put(job={**ONCE, "batch": {"count": 60, "window": "1h"}}).status == 200
    assert client.put(job={**ONCE, "batch": {"count": 60, "window": "1h"}, "data": 1}).status == 200
    client.world.run_until(NOON + 2 * HOUR_MS)
    ids = client.world.consumers.ids
    assert len(ids) == len(set(ids)) == 60
    assert {each.body for each in client.world.consumers.attempts} == {b"null", b"1"}


def test_consumers_learn_the_index_and_the_due_time_of_the_occurrence(client: Client) -> None:
    client.put(job={**ONCE, "batch": {"count": 3, "window": "30s"}})
    client.world.run_until(NOON + MINUTE_MS)
    made = client.world.consumers.attempts
    assert [(each.trigger.due_at - NOON, each.trigger.index) for each in made] == [
        (10_000, 0),
        (10_000, 1),
        (10_000, 2),
    ]
    assert [each.sent_at - NOON for each in made] == [10_000, 20_000, 30_000]


def test_a_trigger_by_hand_begins_a_whole_batch_with_its_data_also_of_a_paused_job(client: Client) -> None:
    client.put(job={"target": TARGET, "batch": {"count": 20, "window": "20m"}})
    client.send("POST", f"{URL}/pause")
    made = client.send("POST", f"{URL}/trigger", {"data": {"a": 1}})
    assert (made.status, made.json["count"]) == (202, 20)
    client.world.run_until(NOON + 25 * MINUTE_MS)
    attempts = client.world.consumers.attempts
    assert [each.trigger.index for each in attempts] == list(range(20))
    assert [each.sent_at - NOON for each in attempts] == [n * MINUTE_MS for n in range(20)]
    assert {each.body for each in attempts} == {b'{"a":1}'}
    assert attempts[0].trigger.run_id == made.json["id"]
    assert len({each.trigger.id for each in attempts}) == 20


def test_two_batches_by_hand_at_one_instant_are_both_delivered(client: Client) -> None:
    client.put(job={"target": TARGET, "batch": {"count": 20, "window": "20m"}})
    for _ in range(2):
        client.send("POST", f"{URL}/trigger")
    client.world.run_until(NOON + 25 * MINUTE_MS)
    assert len(set(client.world.consumers.ids)) == len(client.world.consumers.ids) == 40


def test_a_backfill_makes_whole_batches(client: Client) -> None:
    client.put(job={**JOB, "schedule": "0 * * * *", "batch": {"count": 4, "window": "40m"}})
    client.world.clock.time = NOON + 10 * MINUTE_MS
    client.send("POST", f"{URL}/pause")
    asked = {"from": "2026-11-21T11:00:00Z", "to": "2026-11-21T12:05:00Z"}
    made = client.send("POST", f"{URL}/backfill", asked)
    assert (made.status, made.json["count"]) == (202, 8)
    client.world.run_until(NOON + 50 * MINUTE_MS)
    attempts = client.world.consumers.attempts
    assert sorted((each.trigger.due_at - NOON, each.trigger.index) for each in attempts) == [
        (due, index) for due in (-HOUR_MS, 0) for index in range(4)
    ]
    last = max(attempts, key=lambda each: (each.trigger.due_at, each.trigger.index))
    assert last.sent_at == NOON + 30 * MINUTE_MS
    assert last.trigger.run_id == made.json["lastId"]


def test_a_chain_begins_a_whole_batch_with_the_notification_as_its_data(client: Client) -> None:
    client.put("mails", job={"target": TARGET, "batch": {"count": 8, "window": "8m"}})
    client.put("export", job={**ONCE, "onComplete": {"type": "job", "name": "mails", "when": "succeeded"}})
    client.world.run_until(NOON + 20 * MINUTE_MS)
    of_mails = [each for each in client.world.consumers.attempts if each.trigger.key.name == "mails"]
    assert [each.trigger.index for each in of_mails] == list(range(8))
    assert {b'"job":"export"' in each.body for each in of_mails} == {True}


def test_a_pause_holds_a_batch_in_its_middle_and_a_resume_completes_it(client: Client) -> None:
    client.put(job={**ONCE, "batch": {"count": 30, "window": "30m"}})
    client.world.run_until(NOON + 12 * MINUTE_MS)
    client.send("POST", f"{URL}/pause")
    before = len(client.world.consumers.ids)
    client.world.run_until(NOON + 40 * MINUTE_MS)
    assert len(client.world.consumers.ids) == before
    client.send("POST", f"{URL}/resume")
    client.world.run_until(NOON + 80 * MINUTE_MS)
    assert len(set(client.world.consumers.ids)) == len(client.world.consumers.ids) == 30
