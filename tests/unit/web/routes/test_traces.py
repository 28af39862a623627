"""The header `traceparent` of requests that make triggers, and the trace context that a run shows."""

from typing import Any

import pytest
from tests.fakes.deliveries import FAILED, answers
from tests.fakes.http_events import TARGET, Client
from tests.fakes.world import NOON

URL = "/v1/namespaces/ns/jobs/job"

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
SENT = f"00-{TRACE}-00f067aa0ba902b7-01"

ONCE = {"dueTime": "10s", "target": TARGET}
RECURRING = {"schedule": "0 * * * *", "target": TARGET}
A_DAY = {"from": "2026-11-20T00:00:00Z", "to": "2026-11-20T02:00:00Z"}

#: Each request that makes triggers of the job, which exists.
REQUESTS: list[tuple[str, str, Any]] = [
    ("PUT", URL, ONCE),
    ("PATCH", URL, {"schedule": None, "dueTime": "10s"}),
    ("POST", "/v1/namespaces/ns/jobs", {"jobs": [{**ONCE, "name": "job"}]}),
    ("POST", f"{URL}/trigger", None),
    ("POST", f"{URL}/backfill", A_DAY),
]


def contexts(client: Client) -> list[tuple[str | None, str | None]]:
    """What each attempt of the next minute sends."""
    client.world.run_until(NOON + 60_000)
    return [(each.context.traceparent, each.context.link) for each in client.world.consumers.attempts]


@pytest.mark.parametrize(("method", "url", "body"), REQUESTS)
@pytest.mark.parametrize("name", ["traceparent", "Traceparent"])
def test_a_request_hands_its_trace_context_on(
    client: Client, method: str, url: str, body: Any, name: str
) -> None:
    client.put(job=RECURRING)
    assert client.send(method, url, body, headers={name: SENT}).status in (200, 202)
    sent = contexts(client)
    assert sent
    for traceparent, origin in sent:
        assert traceparent is not None
        assert (TRACE in traceparent) == (not url.endswith("/backfill")) == (origin is None)


@pytest.mark.parametrize(("method", "url", "body"), REQUESTS)
@pytest.mark.parametrize("header", ["", "hello", SENT[:-1], SENT.upper(), f"{SENT}, {SENT}", f"ff{SENT[2:]}"])
def test_a_header_that_is_not_valid_is_ignored(
    client: Client, method: str, url: str, body: Any, header: str
) -> None:
    client.put(job=RECURRING)
    assert client.send(method, url, body, headers={"traceparent": header}).status in (200, 202)
    assert set(contexts(client)) == {(None, None)}


def test_a_later_version_is_read_and_sent_on_as_version_00(client: Client) -> None:
    client.put(headers={"traceparent": f"cc{SENT[2:]}-more", "tracestate": "vendor=1"}, job=ONCE)
    ((traceparent, _),) = contexts(client)
    assert traceparent is not None
    assert traceparent.startswith(f"00-{TRACE}-")


def test_the_context_is_no_part_of_the_job(client: Client) -> None:
    job = client.put(job=RECURRING, headers={"traceparent": SENT})
    assert SENT not in str(client.get().json)
    again = client.put(job=RECURRING, headers={"traceparent": SENT.replace(TRACE, "a" * 32)})
    assert (again.status, again.etag) == (200, job.etag)
    assert client.put(job=RECURRING).etag == job.etag
    stored = client.world.stored()
    assert stored.origin is not None
    assert stored.origin.traceparent == SENT


def test_a_run_shows_the_context_of_its_latest_attempt(client: Client) -> None:
    client.put(job=RECURRING)
    made = client.send("POST", f"{URL}/trigger", headers={"traceparent": SENT}).json["id"]
    assert "traceparent" not in client.send("GET", f"{URL}/runs/{made}").json
    answers(client.world, FAILED)
    client.world.run_until(NOON + 1_000)
    run = client.send("GET", f"{URL}/runs/{made}").json
    first = client.world.consumers.attempts[0].context.traceparent
    assert (run["traceparent"], "traceOrigin" in run) == (first, False)
    client.world.run_until(NOON + 60_000)
    (run,) = client.send("GET", f"{URL}/runs").json["items"]
    _, second = client.world.consumers.attempts
    assert (run["traceparent"], run["traceOrigin"]) == (second.context.traceparent, SENT)


def test_a_run_without_a_context_has_no_field_for_one(client: Client) -> None:
    client.put(job=ONCE)
    client.world.run_until(NOON + 60_000)
    (run,) = client.send("GET", f"{URL}/runs").json["items"]
    assert not {"traceparent", "traceOrigin"} & run.keys()


def test_a_precondition_that_a_call_does_not_take_is_still_refused(client: Client) -> None:
    client.put(job=ONCE)
    refused = client.send("POST", f"{URL}/trigger", headers={"If-Match": "*", "traceparent": SENT})
    assert (refused.status, refused.pointers) == (422, ["/If-Match"])
    assert "it takes no precondition" in refused.json["errors"][0]["detail"]


def test_the_labels_leave_less_room_for_the_data_of_a_trigger_by_hand(client: Client) -> None:
    queue = {"type": "sqs", "queueUrl": "https://sqs.eu-west-1.amazonaws.com/123456789012/orders"}
    client.put(job={"target": queue, "labels": {"team": "ops"}})
    for size, status in ((261_120 - 14, 202), (261_120 - 13, 422)):
        assert client.send("POST", f"{URL}/trigger", {"data": "x" * (size - 2)}).status == status
