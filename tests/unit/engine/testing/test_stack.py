"""A stack in simulated time: jobs, time, runs, and what a test sees of them."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from standardwebhooks.webhooks import Webhook

from sweephand.jobs.read import Reader
from sweephand_client import ConflictError, InvalidError, NotFoundError, StackFailedError
from sweephand_engine.testing import Delivery, Stack

#: A target that waits for its consumer for longer than by default.
PATIENT = {"type": "http", "url": "https://consumer.test/", "timeout": "30s"}


def states(stack: Stack, job: str) -> list[str]:
    return [each.state for each in stack.runs(job)]


def test_triggers_and_batches_that_fall_due_together_are_delivered(stack: Stack) -> None:
    """One function gets them all. Their strands share a thread, so none may block another one."""
    stack.deliver_to(lambda _: 200)
    for number in range(5):
        stack.put_job(f"single{number}", "@hourly")
    for number in range(5):
        stack.put_job(f"batch{number}", "@hourly", batch={"count": 3})
    stack.travel("2 hours")
    assert len(stack.deliveries) == 2 * (5 + 5 * 3)


def test_a_nightly_job_runs_once_each_night_over_the_change_of_clocks(stack: Stack) -> None:
    done: set[str] = set()
    secret = stack.secret()

    def invoices(delivery: Delivery) -> None:
        # The library compares the timestamp with the clock of Python.
        Webhook(secret).verify(delivery.body, dict(delivery.headers))
        done.add(delivery.id)

    stack.deliver_to(invoices)
    stack.put_job("invoices", "30 2 * * *", timezone="Europe/Paris")
    stack.fail_next(503, 503)
    stack.travel("3 weeks")

    runs = stack.runs("invoices")
    assert len(done) == 21
    assert [each.state for each in runs] == ["succeeded"] * 21
    assert [each.attempts for each in runs[:2]] == [3, 1]
    assert [each.status for each in stack.deliveries[:4]] == [503, 503, 204, 204]
    assert [each.due_at.hour for each in runs if each.due_at.day in (24, 25, 26)] == [0, 0, 1]


def test_each_delivery_comes_exactly_when_it_is_due(stack: Stack) -> None:
    stack.deliver_to(lambda _: None)
    stack.put_job("often", "*/7 * * * *")
    stack.put_job("seconds", "@every 90s")
    stack.put_job("once", dueTime="2026-10-12T14:00:00.250Z")
    stack.travel("3 hours")
    assert len(stack.deliveries) == 27 + 120 + 1
    assert {each.at - each.due_at for each in stack.deliveries} == {timedelta(0)}


def test_a_delivery_says_what_was_sent(stack: Stack) -> None:
    stack.deliver_to(lambda _: 200)
    target = {"type": "http", "url": "https://erp.test/run?x=1", "method": "PUT"}
    stack.put_job("report", dueTime="5m", data={"a": [1, 2]}, target=target)
    stack.travel("10 minutes")

    [delivery] = stack.deliveries
    assert (delivery.namespace, delivery.job, delivery.attempt) == ("default", "report", 1)
    assert delivery.at == delivery.due_at == datetime(2026, 10, 12, 12, 5, tzinfo=UTC)
    assert (delivery.method, delivery.url) == ("PUT", "https://erp.test/run?x=1")
    assert delivery.json == {"a": [1, 2]}
    assert delivery.headers["sweephand-job"] == "report"
    assert (delivery.status, delivery.error) == (200, None)


def test_nothing_happens_unless_time_passes(stack: Stack) -> None:
    stack.deliver_to(lambda _: None)
    stack.put_job("now", dueTime="0s")
    assert stack.deliveries == []
    stack.travel(0)
    assert [each.job for each in stack.deliveries] == ["now"]


def test_the_clock_of_python_shows_the_time_of_the_stack(stack: Stack) -> None:
    seen: list[datetime] = []
    stack.deliver_to(lambda _: seen.append(datetime.now(UTC)))
    stack.put_job("report", dueTime="90m")
    stack.travel("2 hours")

    assert seen == [datetime(2026, 10, 12, 13, 30, tzinfo=UTC)]
    assert stack.now == datetime.now(UTC) == datetime(2026, 10, 12, 14, tzinfo=UTC)
    assert time.time() == stack.now.timestamp()


def test_the_clock_of_python_is_true_again_afterwards() -> None:
    before = time.time()
    with Stack("2001-01-01T00:00:00Z") as stack:
        assert time.time() < before
        assert stack.now.year == 2001
    assert time.time() >= before


def test_the_clock_of_python_is_true_again_if_a_stack_cannot_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("broken")

    before = time.time()
    monkeypatch.setattr("sweephand_engine.testing.stack.Simulation", fail)
    with pytest.raises(RuntimeError, match="broken"):
        Stack("2001-01-01T00:00:00Z")
    assert time.time() >= before


def test_travel_to_an_instant(stack: Stack) -> None:
    stack.travel_to("2026-12-24T18:00:00+01:00")
    assert stack.now == datetime(2026, 12, 24, 17, tzinfo=UTC)
    with pytest.raises(ValueError, match="is past: it is 2026-12-24T17:00:00"):
        stack.travel_to("2026-12-24T16:59:59Z")


def test_handlers_overlap_while_they_sleep(stack: Stack) -> None:
    seen: list[tuple[str, int]] = []

    def slow(delivery: Delivery) -> None:
        seen.append((f"{delivery.job} begins", stack.now.second))
        stack.sleep(10 if delivery.job == "a" else "20s")
        seen.append((f"{delivery.job} ends", stack.now.second))

    stack.deliver_to(slow)
    stack.put_job("a", dueTime="1m5s", target=PATIENT)
    stack.put_job("b", dueTime="1m", target=PATIENT)
    stack.travel("2 minutes")

    assert seen == [("b begins", 0), ("a begins", 5), ("a ends", 15), ("b ends", 20)]


def test_an_occurrence_is_skipped_while_the_one_before_is_under_way(stack: Stack) -> None:
    stack.deliver_to(lambda _: stack.sleep("25s"))
    stack.put_job("often", "@every 10s", overlap="skip", target=PATIENT)
    stack.travel("59s")
    assert states(stack, "often") == ["succeeded", "skipped", "skipped", "claimed", "skipped"]


def test_a_policy_lets_two_through_at_once(stack: Stack) -> None:
    under_way = [0, 0]

    def slow(_: Delivery) -> None:
        under_way[0] += 1
        under_way[1] = max(under_way)
        stack.sleep("10s")
        under_way[0] -= 1

    stack.api("PUT", "/v1/namespaces/default/policies/erp", {"maxConcurrent": 2})
    stack.deliver_to(slow)
    for number in range(6):
        stack.put_job(f"job-{number}", dueTime="2m", policy="erp")
    stack.travel("10 minutes")

    assert under_way == [0, 2]
    assert [states(stack, f"job-{number}") for number in range(6)] == [["succeeded"]] * 6


def test_a_consumer_reports_the_end_of_its_work(stack: Stack) -> None:
    stack.deliver_to(lambda _: 202)
    stack.put_job("long", dueTime="1m", completion="async", heartbeatTimeout="10m")
    stack.travel("5 minutes")
    [run] = stack.runs("long")
    assert run.state == "running"

    path = f"/v1/namespaces/default/jobs/long/runs/{run.id}/complete"
    stack.api("POST", path, {"result": {"rows": 7}})

    [run] = stack.runs("long")
    assert (run.state, run.answer["result"]) == ("succeeded", {"rows": 7})


def test_a_handler_may_send_the_callback_itself(stack: Stack) -> None:
    def work(delivery: Delivery) -> int:
        run = delivery.headers["sweephand-run"]
        stack.sleep("3s")
        stack.api("POST", f"/v1/namespaces/default/jobs/{delivery.job}/runs/{run}/complete")
        return 202

    stack.deliver_to(work)
    stack.put_job("long", dueTime="1m", completion="async")
    stack.travel("2 minutes")
    assert states(stack, "long") == ["succeeded"]


def test_a_consumer_that_never_reports_is_tried_again(stack: Stack) -> None:
    stack.deliver_to(lambda _: 202)
    stack.put_job("long", dueTime="1m", completion="async", heartbeatTimeout="10m", retry={"maxAttempts": 2})
    stack.travel("1 day")
    assert states(stack, "long") == ["failed"]
    assert [each.attempt for each in stack.deliveries] == [1, 2]


def test_the_typed_client_can_do_all_that_the_api_can(stack: Stack) -> None:
    stack.deliver_to(lambda _: None)
    stack.put_job("nightly", "@daily")
    stack.client.jobs.pause("default", "nightly", reason="holidays")
    stack.travel("3 days")
    assert stack.deliveries == []

    stack.client.jobs.resume("default", "nightly", catchup="latest")
    stack.travel("1 minute")

    assert len(stack.deliveries) == 1
    assert [each["name"] for each in stack.client.jobs.list("default")] == ["nightly"]
    with pytest.raises(NotFoundError):
        stack.client.jobs.get("default", "weekly")


def test_the_api_refuses_as_the_client_does(stack: Stack) -> None:
    with pytest.raises(InvalidError, match="schedule"):
        stack.put_job("broken", "every now and then")
    stack.put_job("nightly", "@daily")
    run = stack.client.jobs.trigger("default", "nightly")["id"]
    with pytest.raises(ConflictError):
        stack.api("POST", f"/v1/namespaces/default/jobs/nightly/runs/{run}/cancel")
    assert stack.api("DELETE", "/v1/namespaces/default/jobs/nightly") is None


def test_a_stack_that_has_jumped_over_weeks_has_never_stood_still(stack: Stack) -> None:
    stack.deliver_to(lambda _: None)
    stack.put_job("monthly", "0 4 1 * *")
    stack.travel("10 weeks")
    stack.travel("40 seconds")

    assert [each.due_at.month for each in stack.runs("monthly")] == [11, 12]
    assert stack.client.health()["status"] == "ok"
    assert not stack._engine.stores.wheel_history.after(0, 10)
    explained = stack.client.jobs.explain("default", "monthly", at="2026-12-01T04:00:00Z")
    assert explained["verdict"] == "delivered"


def test_what_has_expired_is_forgotten(stack: Stack) -> None:
    stack.deliver_to(lambda _: None)
    stack.put_job("daily", "@daily", historyRetention="2d")
    stack.travel("4 weeks")
    first, *_, last = stack.runs("daily")
    assert first.due_at.day > 20
    assert last.due_at.day == 9


def test_runs_beyond_one_page_are_all_there_oldest_first(stack: Stack) -> None:
    stack.deliver_to(lambda _: None)
    stack.put_job("often", "*/5 * * * *")
    stack.travel("5 hours")
    runs = stack.runs("often")
    assert len(runs) == 60
    assert runs == sorted(runs, key=lambda each: each.due_at)


def test_a_handler_cannot_travel(stack: Stack) -> None:
    stack.deliver_to(lambda _: stack.travel("1 hour"))
    stack.put_job("report", dueTime="1m")
    stack.travel("1m")
    assert stack.deliveries[0].error == (
        "RuntimeError: A handler cannot travel, since time is passing already. Use sleep()."
    )


def test_a_thread_of_a_framework_cannot_sleep_and_is_told_what_to_do(stack: Stack) -> None:
    def handler(_: Delivery) -> None:
        with ThreadPoolExecutor(1) as threads:
            threads.submit(stack.sleep, "1s").result()

    stack.deliver_to(handler)
    stack.put_job("report", dueTime="1m")
    stack.travel("1m")
    assert stack.deliveries[0].error == (
        "RuntimeError: sleep() works in the thread of the test only. Call slow() in the test."
    )


def test_the_test_itself_may_sleep(stack: Stack) -> None:
    stack.deliver_to(lambda _: None)
    stack.put_job("report", dueTime="1m")
    stack.sleep("90s")
    assert len(stack.deliveries) == 1


def test_an_assertion_of_a_handler_fails_the_test(stack: Stack) -> None:
    def handler(delivery: Delivery) -> None:
        assert delivery.json == {"a": 1}, "another body"

    stack.deliver_to(handler)
    stack.put_job("report", dueTime="1m", data={"a": 2})
    with pytest.raises(AssertionError, match="another body"):
        stack.travel("2 minutes")


def test_a_failure_of_pytest_in_a_handler_fails_the_test(stack: Stack) -> None:
    stack.deliver_to(lambda _: pytest.fail("not this one"))
    stack.put_job("report", dueTime="1m")
    with pytest.raises(pytest.fail.Exception, match="not this one"):
        stack.travel("2 minutes")


def test_a_stack_ends_while_a_handler_waits() -> None:
    ended: list[bool] = []

    def handler(_: Delivery) -> None:
        try:
            stack.sleep("1 hour")
        finally:
            ended.append(True)

    with Stack() as stack:
        stack.deliver_to(handler)
        stack.put_job("report", dueTime="1m", target=PATIENT)
        stack.travel("70 seconds")
        assert ended == []
    assert ended == [True]


def test_a_stack_ends_while_an_asgi_application_waits() -> None:
    ended: list[bool] = []

    async def app(_scope: object, receive: Any, _send: object) -> None:
        await receive()
        try:
            stack.sleep("1 hour")
        finally:
            ended.append(True)

    with Stack() as stack:
        stack.deliver_to(app)
        stack.put_job("report", dueTime="1m")
        stack.travel("70 seconds")
    assert ended == [True]


def story(seed: int = 0) -> list[object]:
    with Stack(seed=seed) as stack:
        stack.deliver_to(lambda delivery: 500 if delivery.attempt == 1 else None)
        stack.put_job("often", "@every 10m", jitter="2m")
        stack.travel("3 hours")
        return [
            *((each.at, each.id, dict(each.headers), each.body) for each in stack.deliveries),
            *stack.runs("often"),
            stack.secret(),
        ]


def test_a_test_is_the_same_each_time_to_the_byte() -> None:
    assert story() == story()
    assert story() != story(seed=1)


def test_two_stacks_know_nothing_of_each_other(stack: Stack) -> None:
    stack.put_job("first", "@daily")
    with Stack() as other:
        assert list(other.client.jobs.list("default")) == []
    assert len(list(stack.client.jobs.list("default"))) == 1


def test_a_fault_of_the_api_is_an_error_of_the_client_and_one_record_of_the_log(
    stack: Stack, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(Reader, "get", fail)
    with pytest.raises(StackFailedError) as caught:
        stack.api("GET", "/v1/namespaces/default/jobs/report")
    assert caught.value.problem.status == 500
    (record,) = caplog.records
    assert record.message == "the request failed"
    assert record.exc_info is not None
    assert str(record.exc_info[1]) == "broken"


def test_the_namespace_of_the_jobs() -> None:
    with Stack(namespace="billing") as stack:
        stack.deliver_to(lambda _: None)
        stack.put_job("report", dueTime="1m")
        stack.travel("2 minutes")
        assert [each.namespace for each in stack.deliveries] == ["billing"]
        assert len(stack.runs("report")) == 1
