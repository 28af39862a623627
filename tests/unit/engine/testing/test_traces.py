"""The trace context of a request in simulated time, as production sends it."""

import json
from typing import Any

from sweephand_engine.testing import Stack

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
SENT = f"00-{TRACE}-00f067aa0ba902b7-01"
JOBS = "/v1/namespaces/default/jobs"


def traced(stack: Stack, name: str, **job: Any) -> None:
    """PUT a job by a request that has a trace context."""
    target = {"type": "http", "url": "https://consumer.test/"}
    stack.api("PUT", f"{JOBS}/{name}", {"target": target, **job}, headers={"traceparent": SENT})


def contexts(stack: Stack) -> list[tuple[str, str | None]]:
    """The trace id of each request, and the context to which it links."""
    sent = [
        (each.headers["traceparent"], each.headers.get("sweephand-trace-origin")) for each in stack.deliveries
    ]
    assert len(dict(sent)) == len(sent), "two attempts have one context"
    return [(traceparent[3:35], origin) for traceparent, origin in sent]


def test_a_job_that_fires_once_continues_the_trace_and_its_retries_link_to_it(stack: Stack) -> None:
    stack.deliver_to(lambda _: None)
    traced(stack, "report", dueTime="1h", labels={"team": "ops"})
    stack.fail_next(503, 503)
    stack.travel("2 hours")
    (first, origin), *retries = contexts(stack)
    assert (first, origin) == (TRACE, None)
    assert len(retries) == 2
    assert {origin for _, origin in retries} == {SENT}
    (run,) = stack.runs("report")
    last = stack.deliveries[-1]
    assert run.answer["traceparent"] == last.headers["traceparent"]
    assert run.answer["traceOrigin"] == SENT
    assert json.loads(last.headers["sweephand-labels"]) == {"team": "ops"}


def test_each_night_of_a_recurring_job_begins_a_trace(stack: Stack) -> None:
    stack.deliver_to(lambda _: None)
    traced(stack, "nightly", schedule="30 2 * * *")
    stack.travel("2 weeks")
    found = contexts(stack)
    assert len({trace for trace, _ in found} - {TRACE}) == len(found) == 14
    assert {origin for _, origin in found} == {SENT}


def test_a_delivery_that_comes_twice_has_one_context(stack: Stack) -> None:
    stack.deliver_to(lambda _: None)
    traced(stack, "report", dueTime="1h")
    stack.deliver_twice()
    stack.travel("2 hours")
    one, other = stack.deliveries
    assert one.headers["traceparent"] == other.headers["traceparent"]


def test_a_trigger_by_hand_has_the_context_of_its_own_request(stack: Stack) -> None:
    stack.deliver_to(lambda _: None)
    stack.put_job("nightly", "30 2 * * *")
    stack.api("POST", f"{JOBS}/nightly/trigger", headers={"traceparent": SENT})
    stack.travel("1 minute")
    assert contexts(stack) == [(TRACE, None)]


def test_a_job_without_a_context_sends_none(stack: Stack) -> None:
    stack.deliver_to(lambda _: None)
    stack.put_job("nightly", "30 2 * * *")
    stack.travel("2 days")
    assert all("traceparent" not in each.headers for each in stack.deliveries)
    assert all("traceparent" not in each.answer for each in stack.runs("nightly"))
