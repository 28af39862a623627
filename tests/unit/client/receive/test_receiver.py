"""What a receiver does with the deliveries of a stack in simulated time."""

import datetime as dt
from typing import Any

import pytest
from tests.unit.client.receive.conftest import wsgi_of

from sweephand_client.http.errors import InputError
from sweephand_client.receive import ACCEPTED, FinalError, Gone, Receiver, RetryAfter, Run
from sweephand_engine.testing import Stack

ONCE: dict[str, Any] = {"dueTime": "1s"}


def statuses(stack: Stack) -> list[int | None]:
    return [each.status for each in stack.deliveries]


def answer_of(stack: Stack, job: str) -> Any:
    return stack.runs(job)[-1].answer


def test_a_handler_gets_typed_values(stack: Stack, receiver: Receiver) -> None:
    seen: list[Run] = []
    receiver.on("report")(seen.append)
    stack.put_job("report", **ONCE, data={"rows": [1, 2.5, "x"]})
    stack.travel("5s")

    [run] = seen
    assert (run.namespace, run.job, run.run_id) == ("default", "report", "1767603601000-0")
    assert run.due_at == dt.datetime(2026, 1, 5, 9, 0, 1, tzinfo=dt.UTC)
    assert (run.attempt, run.sequence, run.batch_index, run.event) == (1, 1, 0, "trigger")
    assert run.data == {"rows": [1, 2.5, "x"]}
    assert statuses(stack) == [204]


def test_a_handler_gets_the_labels_and_the_trace_context(stack: Stack, receiver: Receiver) -> None:
    seen: list[Run] = []
    receiver.on("report")(seen.append)
    job = {**ONCE, "labels": {"place": "Zürich"}, "target": {"type": "http", "url": "https://consumer.test/"}}
    sent = f"00-{'a' * 32}-{'b' * 16}-01"
    stack.api("PUT", "/v1/namespaces/default/jobs/report", job, headers={"traceparent": sent})
    stack.fail_next(503)
    stack.travel("1m")
    stack.api("POST", "/v1/namespaces/default/jobs/report/trigger", headers={"traceparent": sent})
    stack.travel("5s")

    retry, child = seen
    assert [each.labels for each in seen] == [{"place": "Zürich"}] * 2
    assert (retry.attempt, retry.trace_origin) == (2, sent)
    assert str(child.traceparent).startswith(sent[:36])
    assert child.trace_origin is None


def test_a_batch_gives_each_trigger_its_index(stack: Stack, receiver: Receiver) -> None:
    seen: list[int] = []
    receiver.on("mail")(lambda run: seen.append(run.batch_index))
    stack.put_job("mail", **ONCE, batch={"count": 3, "window": "1s"})
    stack.travel("1m")
    assert sorted(seen) == [0, 1, 2]


def test_the_most_exact_handler_gets_a_job(stack: Stack, receiver: Receiver) -> None:
    seen: list[tuple[str, str]] = []
    for name, where in (
        ("name", receiver.on("mail-eu")),
        ("long", receiver.on(prefix="mail-")),
        ("short", receiver.on(prefix="m")),
        ("rest", receiver.on()),
    ):
        where(lambda run, name=name: seen.append((run.job, name)))
    for job in ("mail-eu", "mail-us", "move", "other"):
        stack.put_job(job, **ONCE)
    stack.travel("5s")
    assert sorted(seen) == [("mail-eu", "name"), ("mail-us", "long"), ("move", "short"), ("other", "rest")]


def test_a_job_without_a_handler_is_tried_again_until_there_is_one(stack: Stack, receiver: Receiver) -> None:
    receiver.on("here")(lambda _: None)
    stack.put_job("new", **ONCE)
    stack.travel("1s")
    assert statuses(stack) == [404]
    assert answer_of(stack, "new")["answer"] == "No handler is there for new (trigger). There are: here."

    receiver.on("new")(lambda _: None)
    stack.travel("1h")
    assert answer_of(stack, "new")["state"] == "succeeded"


def test_two_handlers_of_one_job_are_refused(receiver: Receiver) -> None:
    receiver.on("mail")(lambda _: None)
    receiver.on("mail", event="end")(lambda _: None)
    with pytest.raises(ValueError, match=r"There is a handler already for mail \(trigger\)"):
        receiver.on("mail")(lambda _: None)


def test_a_result_stays_with_the_run(stack: Stack, receiver: Receiver) -> None:
    receiver.on("report")(lambda _: {"rows": 7})
    stack.put_job("report", **ONCE)
    stack.put_job("later", **ONCE, completion="async")
    receiver.on("later")(lambda _: {"rows": 8})
    stack.travel("5s")
    assert answer_of(stack, "report")["answer"] == '{"rows": 7}'
    assert (answer_of(stack, "later")["state"], answer_of(stack, "later")["result"]) == (
        "succeeded",
        {"rows": 8},
    )


@pytest.mark.parametrize(
    ("completion", "result"), [("sync", {1, 2}), ("async", {1, 2}), ("async", "x" * 3_000)]
)
def test_work_whose_result_cannot_be_kept_is_not_done_again(
    stack: Stack, receiver: Receiver, completion: str, result: Any
) -> None:
    seen: list[int] = []

    @receiver.on("report")
    def report(run: Run) -> Any:
        seen.append(run.attempt)
        return result

    stack.put_job("report", **ONCE, completion=completion)
    stack.travel("1 day")
    assert seen == [1]
    [run] = stack.runs("report")
    assert (run.state, statuses(stack)) == ("failed", [422])
    assert run.answer["answer"].startswith("The handler's result cannot be kept: ")


def test_an_error_is_the_answer_of_the_run_without_secrets(
    stack: Stack, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAILER_TOKEN", "correct horse")

    @receiver.on("report")
    def report(run: Run) -> None:
        raise ConnectionError(f"postgres://app:pass@db refused correct horse, {run.token}, {stack.secret()}")

    stack.put_job("report", **ONCE, completion="async")
    stack.travel("1s")
    shown = answer_of(stack, "report")["answer"]
    assert shown == "ConnectionError: postgres://[secret]@db refused [secret], [secret], [secret]"


def test_an_error_of_any_text_is_the_answer(
    stack: Stack, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The names of files may have bytes that are no UTF-8."""
    # The processes of pytest-xdist cannot send such a text to each other.
    monkeypatch.setattr(receiver.log, "disabled", True)

    @receiver.on("report")
    def report(_: Run) -> None:
        raise OSError("caf\udce9")

    stack.put_job("report", **ONCE, retry={"maxAttempts": 1})
    stack.travel("1s")
    assert answer_of(stack, "report")["answer"] == "OSError: caf\\udce9"


def test_a_long_reason_is_cut(stack: Stack, receiver: Receiver) -> None:
    receiver.on("convert")(lambda run: run.fail("x" * 2_000, retry=False))
    stack.put_job("convert", **ONCE, completion="async")
    stack.travel("1m")
    assert answer_of(stack, "convert")["state"] == "failed"
    assert statuses(stack) == [202]


def test_retry_after_is_the_earliest_next_attempt(stack: Stack, receiver: Receiver) -> None:
    attempts: list[dt.datetime] = []

    @receiver.on("report")
    def report(_: Run) -> None:
        attempts.append(stack.now)
        if len(attempts) == 1:
            raise RetryAfter(dt.timedelta(minutes=50), "The export runs until ten.")

    stack.put_job("report", **ONCE)
    stack.travel("2h")
    assert attempts[1] - attempts[0] >= dt.timedelta(minutes=50)
    assert statuses(stack) == [503, 204]


def test_a_final_error_ends_the_run_and_gone_pauses_the_job(stack: Stack, receiver: Receiver) -> None:
    @receiver.on("final")
    def final(_: Run) -> None:
        raise FinalError("There is no customer 7.")

    @receiver.on("gone")
    def gone(_: Run) -> None:
        raise Gone("The customer has left.")

    for job in ("final", "gone"):
        stack.put_job(job, "@every 1h")
    stack.travel("1h")
    assert {each.job: each.status for each in stack.deliveries} == {"final": 422, "gone": 410}
    assert stack.client.jobs.get("default", "final")["state"] == "active"
    assert stack.client.jobs.get("default", "gone")["state"] == "paused"


@pytest.mark.parametrize("completion", ["sync", "async"])
def test_a_duplicate_is_not_done_again(stack: Stack, receiver: Receiver, completion: str) -> None:
    seen: list[int] = []
    receiver.on("pay")(lambda run: seen.append(run.attempt))
    stack.put_job("pay", **ONCE, completion=completion)
    stack.deliver_twice()
    stack.lose_answer()
    stack.travel("1h")
    assert seen == [1]
    assert set(statuses(stack)) <= {None, 204}
    assert answer_of(stack, "pay")["state"] == "succeeded"


def test_a_failed_attempt_leaves_the_work_to_the_next_one(stack: Stack, receiver: Receiver) -> None:
    seen: list[int] = []

    @receiver.on("pay")
    def pay(run: Run) -> None:
        seen.append(run.attempt)
        if run.attempt == 1:
            raise OSError("no")

    stack.put_job("pay", **ONCE)
    stack.travel("1h")
    assert seen == [1, 2]


def test_a_duplicate_of_what_is_being_done_comes_again_later(stack: Stack, receiver: Receiver) -> None:
    seen: list[int] = []

    @receiver.on("slow")
    def slow(run: Run) -> None:
        seen.append(run.attempt)
        stack.sleep("2m")

    target = {"type": "http", "url": "https://app.test/", "timeout": "10s"}
    stack.put_job("slow", **ONCE, target=target)
    stack.travel("1h")
    assert seen == [1], "the first attempt outlasts its time-out, and does the work"
    assert 503 in statuses(stack)
    assert answer_of(stack, "slow")["state"] == "succeeded"


def test_an_accepted_run_is_ended_by_a_callback(stack: Stack, receiver: Receiver) -> None:
    kept: list[Run] = []

    @receiver.on("convert")
    def convert(run: Run) -> object:
        kept.append(run)
        return ACCEPTED

    stack.put_job("convert", **ONCE, completion="async", heartbeatTimeout="5m")
    stack.deliver_twice()
    stack.travel("2m")
    [run] = kept
    assert answer_of(stack, "convert")["state"] == "running"
    assert run.heartbeat() == stack.now + dt.timedelta(minutes=5)
    run.complete({"pages": 3})
    assert answer_of(stack, "convert")["result"] == {"pages": 3}
    assert set(statuses(stack)) == {202}


def test_an_attempt_after_a_missed_heartbeat_does_the_work_anew(stack: Stack, receiver: Receiver) -> None:
    seen: list[int] = []

    @receiver.on("convert")
    def convert(run: Run) -> object:
        seen.append(run.attempt)
        return ACCEPTED if run.attempt == 1 else None

    stack.put_job("convert", **ONCE, completion="async", heartbeatTimeout="1m")
    stack.travel("1h")
    assert seen == [1, 2]
    assert answer_of(stack, "convert")["state"] == "succeeded"


def test_a_failure_by_callback_can_be_final(stack: Stack, receiver: Receiver) -> None:
    receiver.on("convert")(lambda run: run.fail("No such file.", retry=False))
    stack.put_job("convert", **ONCE, completion="async")
    stack.travel("1h")
    assert answer_of(stack, "convert")["reason"] == "Attempt 1 failed for good: No such file."
    assert statuses(stack) == [202]


def test_only_an_asynchronous_run_takes_callbacks(stack: Stack, receiver: Receiver) -> None:
    receiver.on("beat")(lambda run: run.heartbeat())
    receiver.on("accept")(lambda _: ACCEPTED)
    for job in ("beat", "accept"):
        stack.put_job(job, **ONCE, retry={"maxAttempts": 1})
    stack.travel("5s")
    assert answer_of(stack, "beat")["answer"].endswith('Give the job "completion": "async", or return.')
    assert "can be accepted" in answer_of(stack, "accept")["answer"]


def test_the_end_of_a_batch_and_an_alert_have_handlers_of_their_own(stack: Stack, receiver: Receiver) -> None:
    told: list[tuple[str, str]] = []
    for event in ("batch-end", "alert"):
        receiver.on(event=event)(lambda run: told.append((run.job, run.event)))
    receiver.on("mail")(lambda _: None)
    to_ends = {"type": "http", "url": "https://app.test/ends"}
    stack.put_job("mail", **ONCE, batch={"count": 2, "window": "1s"}, onComplete=to_ends)
    stack.put_job("late", "@every 1h", alertAfter="10m", onAlert=to_ends)
    stack.travel("4h")
    assert ("mail", "batch-end") in told
    assert ("late", "alert") in told


def test_notifications_have_handlers_of_their_own(stack: Stack, receiver: Receiver) -> None:
    ends: list[Any] = []
    receiver.on("report")(lambda _: None)
    receiver.on("report", event="end")(lambda run: ends.append(run.data["state"]))
    stack.put_job("report", **ONCE, onComplete={"type": "http", "url": "https://app.test/ends"})
    stack.travel("1m")
    assert ends == ["succeeded"]


@pytest.mark.parametrize("format_", ["cloudevents", "cloudevents-binary"])
def test_a_cloud_event_is_the_same_run(stack: Stack, receiver: Receiver, format_: str) -> None:
    seen: list[Any] = []
    receiver.on("report")(lambda run: seen.append(run.data))
    target = {"type": "http", "url": "https://app.test/", "format": format_}
    stack.put_job("report", **ONCE, target=target, data={"rows": 1})
    stack.travel("5s")
    assert seen == [{"rows": 1}]


def test_triggers_by_hand_and_backfills_are_received(stack: Stack, receiver: Receiver) -> None:
    seen: list[str | None] = []
    receiver.on("nightly")(lambda run: seen.append(run.run_id))
    stack.put_job("nightly", "@every 1h")
    stack.travel("150m")
    stack.client.jobs.trigger("default", "nightly")
    stack.client.jobs.backfill(
        "default", "nightly", since="2026-01-05T09:30:00Z", until="2026-01-05T10:30:00Z"
    )
    stack.travel("1m")
    assert [str(each).partition("-")[0] for each in seen[2:]] == ["manual", "backfill"]


def test_scheduled_functions_are_jobs(stack: Stack, receiver: Receiver) -> None:
    seen: list[str] = []

    @receiver.scheduled("0 2 * * *", timezone="Europe/Paris", overlap="skip")
    def nightly_backup(run: Run) -> None:
        seen.append(run.job)

    receiver.scheduled("@every 1h", name="hourly")(lambda _: None)
    assert receiver.jobs == [
        {"name": "nightly-backup", "schedule": "0 2 * * *", "timezone": "Europe/Paris", "overlap": "skip"},
        {"name": "hourly", "schedule": "@every 1h"},
    ]
    stack.put_job(**receiver.jobs[0])  # type: ignore[arg-type]
    stack.travel("1 day")
    assert seen == ["nightly-backup"]


def test_a_receiver_of_a_module_serves_one_test_after_another() -> None:
    receiver, seen = Receiver(), list[str]()
    receiver.on("pay")(lambda run: seen.append(run.id))
    for _ in range(2):
        with Stack() as stack:
            receiver.use(stack.client)
            stack.deliver_to(wsgi_of(receiver))
            stack.put_job("pay", **ONCE)
            stack.travel("5s")
    assert len(seen) == 2
    assert len(set(seen)) == 1, "each stack gives its triggers the same ids"


@pytest.mark.parametrize("environment", [{}, {"SWEEPHAND_URL": "", "SWEEPHAND_SIGNING_SECRET": ""}])
def test_without_a_stack_the_answer_says_what_to_set(environment: dict[str, str]) -> None:
    status, _, body = Receiver(environment=environment, now=lambda: 1000.0).respond(
        {"webhook-id": "a-1", "webhook-timestamp": "1000", "webhook-signature": "v1,AAAA"}, b""
    )
    assert status == 500
    assert b"Set SWEEPHAND_URL, or give Receiver(client=" in body


def test_a_wrong_secret_is_refused_when_the_first_request_comes() -> None:
    with pytest.raises(InputError, match="A secret begins with whsec_"):
        _ = Receiver(secrets="abc")._secrets
