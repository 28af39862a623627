"""Runs without a record yet: the API derives them from the job."""

from dataclasses import replace
from typing import Any

import pytest
from tests.fakes.http_events import TARGET, Client
from tests.fakes.world import NOON, World

from sweephand.base.timing import CLOCK_SKEW_MAX_MS, PENDING_MAX_MS, TIMER_RETENTION_MS
from sweephand.model.attempt import Answer

JOB = {"schedule": "@every 10s", "target": TARGET}


def run_at(client: Client, due_at: int, index: str = "0") -> Any:
    return client.send("GET", f"/v1/namespaces/ns/jobs/job/runs/{due_at}-{index}")


def test_a_run_that_is_due_later_is_shown_as_scheduled(client: Client) -> None:
    client.put(job=JOB)
    shown = run_at(client, NOON + 20_000).json
    assert (shown["state"], shown["dueAt"]) == ("scheduled", "2026-11-21T12:00:20.000Z")
    assert (shown["attempts"], shown["sequence"], shown["startedAt"]) == (0, 2, None)


def test_a_due_run_without_a_record_is_shown_as_enqueued_under_the_id_of_its_record(client: Client) -> None:
    client.put(job=JOB)
    client.world.clock.time += 10_000
    shown = run_at(client, NOON + 10_000).json
    assert (shown["state"], shown["reason"]) == ("enqueued", None)
    client.world.run_until(NOON + 11_000)
    recorded = run_at(client, NOON + 10_000).json
    assert (recorded["state"], recorded["triggerId"]) == ("succeeded", shown["triggerId"])
    assert recorded["sequence"] == shown["sequence"]


@pytest.mark.parametrize(("reason", "told"), [("The database moves", ": The database moves"), (None, ".")])
def test_a_run_that_a_pause_holds_back_is_shown_as_waiting_with_the_reason(
    client: Client, reason: str | None, told: str
) -> None:
    client.put(job=JOB)
    job = client.world.stored()
    paused = replace(job, version="v", paused_at=NOON + 12_000, pause_reason=reason)
    assert client.world.jobs.put(paused, job.version)
    client.world.clock.time += 15_000
    shown = run_at(client, NOON + 10_000).json
    assert (shown["state"], shown["reason"]) == ("waiting", f"The job is paused{told}")


def test_a_run_that_was_never_due_is_not_found(client: Client) -> None:
    client.put(job=JOB)
    for due_at, index in (
        (NOON + 11_000, "0"),
        (NOON, "0"),
        (NOON + 10_000, "1"),
        (0, "0"),
        (10**15 - 1, "0"),
    ):
        assert run_at(client, due_at, index).status == 404
    assert client.send("GET", f"/v1/namespaces/ns/jobs/job/runs/0{NOON + 10_000}-0").status == 404
    assert client.send("GET", f"/v1/namespaces/ns/jobs/jbo/runs/{NOON + 10_000}-0").status == 404


def test_a_run_that_an_earlier_revision_owes_is_shown_until_its_record_is_there(client: Client) -> None:
    client.put(job=JOB)
    client.world.clock.time += 15_000
    client.put(job={**JOB, "data": 1})
    shown = run_at(client, NOON + 10_000).json
    assert (shown["state"], shown["sequence"]) == ("enqueued", 1)
    assert run_at(client, NOON + 20_000).json["state"] == "scheduled"
    client.world.run_until(NOON + 16_000)
    recorded = run_at(client, NOON + 10_000).json
    assert (recorded["state"], recorded["triggerId"]) == ("succeeded", shown["triggerId"])


def test_a_run_that_no_revision_owes_is_not_found(client: Client) -> None:
    client.put(job=JOB)
    client.world.clock.time += 15_000
    client.put(job={**JOB, "schedule": "@every 1h"})
    assert run_at(client, NOON + 11_000).status == 404
    assert run_at(client, NOON + 20_000).status == 404


def test_a_run_that_leaves_no_record_is_not_shown_as_enqueued(client: Client) -> None:
    client.put(job={**JOB, "history": "failures"})
    client.world.clock.time += 10_000
    assert run_at(client, NOON + 10_000).status == 404
    assert run_at(client, NOON + 20_000).json["state"] == "scheduled"


def test_a_run_that_was_due_long_ago_is_not_shown_as_enqueued(client: Client) -> None:
    client.put(job=JOB)
    client.world.clock.time = NOON + 10_000 + PENDING_MAX_MS - 1
    assert run_at(client, NOON + 10_000).json["state"] == "enqueued"
    client.world.clock.time += 1
    assert run_at(client, NOON + 10_000).status == 404


def asked_for(client: Client) -> Any:
    return client.send("POST", "/v1/namespaces/ns/jobs/job/trigger").json


def test_a_run_by_hand_is_shown_as_enqueued_until_its_record_is_written(client: Client) -> None:
    client.put(job=JOB)
    asked = asked_for(client)
    path = f"/v1/namespaces/ns/jobs/job/runs/{asked['id']}"
    shown = client.send("GET", path).json
    assert (shown["state"], shown["attempts"], shown["reason"]) == ("enqueued", 0, None)
    assert {key: shown[key] for key in asked} == asked
    client.world.run_until(NOON + 1_000)
    recorded = client.send("GET", path).json
    assert (recorded["state"], recorded["triggerId"]) == ("succeeded", asked["triggerId"])


def test_a_run_by_hand_that_cannot_exist_is_not_found(client: Client) -> None:
    client.world.clock.time += PENDING_MAX_MS
    client.put(job=JOB)
    now = client.world.clock.time
    for name in (
        f"manual-{now + CLOCK_SKEW_MAX_MS + 1}-0-a",
        f"manual-{now - 1}-0-a",
        f"manual-{now}-1-a",
        f"backfill-{now}-0-a",
        f"chained-{now}-0-a",
    ):
        assert client.send("GET", f"/v1/namespaces/ns/jobs/job/runs/{name}").status == 404, name


def test_an_old_run_by_hand_or_one_without_a_record_is_not_shown_as_enqueued(client: Client) -> None:
    client.put(job=JOB)
    path = f"/v1/namespaces/ns/jobs/job/runs/{asked_for(client)['id']}"
    client.world.clock.time = NOON + PENDING_MAX_MS
    assert client.send("GET", path).status == 404
    client.put(job={**JOB, "history": "failures"})
    assert client.send("GET", f"/v1/namespaces/ns/jobs/job/runs/{asked_for(client)['id']}").status == 404


def test_a_deleted_job_has_no_scheduled_runs(client: Client) -> None:
    client.put(job=JOB)
    client.send("DELETE", "/v1/namespaces/ns/jobs/job")
    assert run_at(client, NOON + 20_000).status == 404


def test_a_waiting_trigger_is_shown_with_the_run_that_it_waits_for(client: Client) -> None:
    client.world.consumers.answering = lambda _: Answer(succeeded=False, code=503)
    client.put(job={**JOB, "overlap": "wait", "retry": {"initialDelay": "10m"}})
    client.world.run_until(NOON + 25_000)
    (failed,) = client.send("GET", "/v1/namespaces/ns/jobs/job/runs").json["items"]
    shown = run_at(client, NOON + 20_000).json
    assert (shown["state"], shown["sequence"]) == ("waiting", 2)
    assert shown["reason"] == f"Run {failed['id']} of this job is not over."
    asked_for = client.send("POST", "/v1/namespaces/ns/jobs/job/trigger").json["id"]
    client.world.run_until(NOON + 27_000)
    shown = client.send("GET", f"/v1/namespaces/ns/jobs/job/runs/{asked_for}").json
    assert (shown["id"], shown["state"], shown["reason"][:4]) == (asked_for, "waiting", "Run ")


def client_with_a_line() -> Client:
    """A job whose first run is not over, and whose next three wait for it."""
    client = Client()
    client.world.consumers.answering = lambda _: Answer(succeeded=False, code=503)
    client.put(job={**JOB, "overlap": "wait", "retry": {"initialDelay": "10m"}})
    client.world.run_until(NOON + 45_000)
    return client


def waiting(client: Client, query: str = "") -> Any:
    return client.send("GET", f"/v1/namespaces/ns/jobs/job/runs?state=waiting{query}").json


def test_waiting_runs_are_listed_newest_first() -> None:
    client = client_with_a_line()
    found = waiting(client)
    assert [each["sequence"] for each in found["items"]] == [4, 3, 2]
    assert found["items"][0] == run_at(client, NOON + 40_000).json
    assert "nextCursor" not in found


def test_waiting_runs_are_listed_page_by_page_though_the_line_moves_on_meanwhile() -> None:
    client = client_with_a_line()
    first = waiting(client, "&limit=2")
    assert [each["sequence"] for each in first["items"]] == [4, 3]
    second = waiting(client, f"&limit=2&cursor={first['nextCursor']}")
    assert [each["sequence"] for each in second["items"]] == [2]
    assert "nextCursor" not in second
    client.world.consumers.answering = lambda _: Answer(succeeded=True, code=204)
    client.world.run_until(NOON + 1_000_000)
    assert waiting(client, f"&limit=2&cursor={first['nextCursor']}") == {"items": []}


def test_the_list_of_waiting_runs_is_empty_for_a_deleted_job_and_for_a_job_whose_runs_may_overlap() -> None:
    client = client_with_a_line()
    client.send("DELETE", "/v1/namespaces/ns/jobs/job")
    assert waiting(client) == {"items": []}
    client.put(job=JOB)
    assert waiting(client) == {"items": []}
    assert client.send("GET", "/v1/namespaces/ns/jobs/jbo/runs?state=waiting").status == 404


def test_a_cursor_of_another_list_of_runs_is_refused() -> None:
    client = client_with_a_line()
    client.world.consumers.answering = lambda _: Answer(succeeded=True, code=204)
    client.world.run_until(NOON + 1_000_000)
    recorded = client.send("GET", "/v1/namespaces/ns/jobs/job/runs?limit=1").json["nextCursor"]
    answer = client.send("GET", f"/v1/namespaces/ns/jobs/job/runs?state=waiting&cursor={recorded}")
    assert (answer.status, answer.pointers) == (422, ["/cursor"])


def test_the_overlap_of_a_job_is_shown_as_it_was_written(client: Client) -> None:
    client.put(job={**JOB, "overlap": "wait", "waitLimit": 7})
    shown = client.get().json
    assert (shown["overlap"], shown["waitLimit"]) == ("wait", 7)


POLICY = "/v1/namespaces/ns/policies/mailer"


def client_with_policy() -> Client:
    """A client whose job is due every ten seconds, under a policy."""
    world = World()
    world.flow_functions_max = 5
    client = Client(world)
    client.send("PUT", POLICY, {"maxConcurrent": 5})
    client.put(job={**JOB, "policy": "mailer"})
    return client


def test_a_due_run_of_a_job_with_a_policy_is_waiting_and_names_the_policy() -> None:
    client = client_with_policy()
    later = run_at(client, NOON + 20_000).json
    assert (later["state"], "policy" in later) == ("scheduled", False)
    client.world.clock.time += 10_000
    shown = run_at(client, NOON + 10_000).json
    assert (shown["state"], shown["policy"]) == ("waiting", "mailer")
    assert "permit of the policy mailer" in shown["reason"]


def test_a_due_run_of_a_paused_policy_says_that_it_is_paused() -> None:
    client = client_with_policy()
    client.send("POST", f"{POLICY}/pause")
    client.world.run_until(NOON + 25_000)
    assert client.get().json["policyBlock"] == "paused"
    shown = client.send("GET", f"/v1/namespaces/ns/jobs/job/runs/{NOON + 20_000}-0").json
    assert (shown["state"], shown["policy"]) == ("waiting", "mailer")
    assert "The policy mailer is paused" in shown["reason"]
    client.send("POST", f"{POLICY}/resume")
    client.world.run_until(NOON + 35_000)
    assert "policyBlock" not in client.get().json
    assert client.world.consumers.attempts


def test_a_run_by_hand_of_a_job_with_a_policy_is_waiting_too() -> None:
    client = client_with_policy()
    run_id = client.send("POST", "/v1/namespaces/ns/jobs/job/trigger").json["id"]
    client.world.clock.time += PENDING_MAX_MS
    shown = client.send("GET", f"/v1/namespaces/ns/jobs/job/runs/{run_id}").json
    assert (shown["state"], shown["policy"]) == ("waiting", "mailer")


def test_a_run_can_wait_under_a_policy_for_two_weeks() -> None:
    client = client_with_policy()
    client.world.clock.time = NOON + 10_000 + TIMER_RETENTION_MS - 1
    assert run_at(client, NOON + 10_000).json["state"] == "waiting"
    client.world.clock.time += 1
    assert run_at(client, NOON + 10_000).status == 404


def test_a_run_waits_for_a_permit_of_a_policy_that_was_deleted_as_before() -> None:
    client = client_with_policy()
    client.send("DELETE", POLICY)
    client.world.clock.time += 10_000
    assert "policyBlock" not in client.get().json
    shown = run_at(client, NOON + 10_000).json
    assert (shown["state"], shown["policy"]) == ("waiting", "mailer")
    assert "permit of the policy mailer" in shown["reason"]
    client.world.run_until(NOON + 11_000)
    assert run_at(client, NOON + 10_000).json["state"] == "succeeded"


def test_the_job_and_its_due_run_say_that_the_stack_has_no_item_of_their_policy() -> None:
    client = client_with_policy()
    client.world.policies._policies.clear()
    client.world.clock.time += 10_000
    assert client.get().json["policyBlock"] == "missing"
    shown = run_at(client, NOON + 10_000).json
    assert (shown["state"], shown["policy"]) == ("waiting", "mailer")
    assert "does not exist" in shown["reason"]


def test_the_job_and_its_due_run_say_that_policies_are_off_in_the_stack() -> None:
    world = client_with_policy().world
    world.flow_functions_max = 0
    client = Client(world)
    world.clock.time += 10_000
    assert client.get().json["policyBlock"] == "off"
    assert "are off in this stack" in run_at(client, NOON + 10_000).json["reason"]


def test_a_pause_comes_before_the_policy_in_what_a_run_waits_for() -> None:
    client = client_with_policy()
    client.world.clock.time += 10_000
    client.send("POST", "/v1/namespaces/ns/jobs/job/pause", {"reason": "The database moves"})
    shown = run_at(client, NOON + 10_000).json
    assert (shown["state"], "policy" in shown) == ("waiting", False)
    assert "paused" in shown["reason"]


def cancelled(client: Client, run_id: str) -> Any:
    return client.send("POST", f"/v1/namespaces/ns/jobs/job/runs/{run_id}/cancel")


@pytest.mark.parametrize(("after_ms", "state"), [(0, "scheduled"), (10_000, "waiting")])
def test_a_run_that_waits_for_its_policy_is_not_cancelled_and_the_answer_says_what_stops_it(
    after_ms: int, state: str
) -> None:
    client = client_with_policy()
    client.world.clock.time += after_ms
    refused = cancelled(client, f"{NOON + 10_000}-0")
    assert refused.status == 409
    assert refused.json["detail"] == (
        f"The run is {state}. Only a run that is running or retrying can be cancelled. Until its first "
        "attempt begins, a pause of its job holds it back, and a deletion of its job drops it."
    )
    client.world.run_until(NOON + 11_000)
    assert run_at(client, NOON + 10_000).json["state"] == "succeeded"


def test_a_run_that_waits_for_its_turn_is_not_cancelled(client: Client) -> None:
    client.world.consumers.answering = lambda _: Answer(succeeded=False, code=503)
    client.put(job={**JOB, "overlap": "wait", "retry": {"initialDelay": "1h"}})
    client.world.run_until(NOON + 21_000)
    assert run_at(client, NOON + 20_000).json["state"] == "waiting"
    assert cancelled(client, f"{NOON + 20_000}-0").status == 409
    assert cancelled(client, f"{NOON + 10_000}-0").status == 200


def test_of_a_run_by_hand_nobody_says_that_a_pause_holds_it_back() -> None:
    client = client_with_policy()
    run_id = client.send("POST", "/v1/namespaces/ns/jobs/job/trigger").json["id"]
    refused = cancelled(client, run_id)
    assert refused.status == 409
    assert refused.json["detail"].endswith("Until its first attempt begins, a deletion of its job drops it.")


def test_a_run_that_was_never_due_or_whose_job_is_deleted_has_nothing_to_cancel() -> None:
    client = client_with_policy()
    assert cancelled(client, f"{NOON + 11_000}-0").status == 404
    client.send("DELETE", "/v1/namespaces/ns/jobs/job")
    assert cancelled(client, f"{NOON + 10_000}-0").status == 404
