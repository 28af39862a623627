"""Callbacks over HTTP, with the token of the attempt or with a key that may write."""

from typing import Any

import pytest
from tests.fakes.acceptance import RUN, Worker
from tests.fakes.http_events import ADMIN, READER, TARGET, WRITER, Answered, Client
from tests.fakes.world import NOON, key_of

from sweephand.model.attempt import Answer, Attempt

URL = f"/v1/namespaces/ns/jobs/job/runs/{RUN}"
JOB = {"dueTime": "10s", "target": TARGET, "completion": "async"}


def client_with_a_run(**written: Any) -> tuple[Client, str]:
    """A run that its consumer works on, and the token it was given."""
    client = Client()
    worker = Worker(client.world)
    client.put(job={**JOB, **written})
    client.world.run_until(NOON + 11_000)
    return client, worker.tokens[0]


def report(client: Client, token: str, what: str, body: Any = None) -> Answered:
    return client.send(
        "POST", f"{URL}/{what}", body, headers={"Authorization": f"Bearer {token}"}, caller=None
    )


def test_the_answer_to_a_heartbeat_has_the_deadlines_of_the_run() -> None:
    client, token = client_with_a_run()
    client.world.clock.time = NOON + 60_000
    beaten = report(client, token, "heartbeat")
    assert beaten.status == 200
    assert beaten.json == {
        "id": RUN,
        "state": "running",
        "attempt": 1,
        "heartbeatBy": "2026-11-21T12:06:00.000Z",
        "runUntil": "2026-11-22T12:00:10.000Z",
        "answeredAt": "2026-11-21T12:01:00.000Z",
    }


def test_a_second_report_of_completion_gets_the_same_answer_and_a_later_failure_gets_409() -> None:
    client, token = client_with_a_run()
    for _ in range(2):
        done = report(client, token, "complete")
        assert (done.status, done.json) == (200, {"id": RUN, "state": "succeeded", "attempt": 1})
    assert client.send("GET", URL).json["state"] == "succeeded"
    late = report(client, token, "fail", {"reason": "no"})
    assert (late.status, late.json["type"]) == (409, "urn:sweephand:problem:conflict")
    over = report(client, token, "heartbeat")
    assert (over.status, over.json["type"]) == (410, "urn:sweephand:problem:gone")


@pytest.mark.parametrize("body", [None, {}, {"reason": None, "retry": None}, {"retry": True}])
def test_a_reported_failure_is_accepted_and_the_run_is_tried_again(body: Any) -> None:
    client, token = client_with_a_run()
    assert report(client, token, "fail", body).status == 202
    client.world.run_until(client.world.clock.time + 10)
    run = client.send("GET", URL).json
    assert (run["state"], run["reason"]) == ("retrying", "The consumer reported a failure.")


def test_a_failure_reported_as_final_ends_the_run_with_its_reason() -> None:
    client, token = client_with_a_run()
    assert report(client, token, "fail", {"reason": "No such file", "retry": False}).status == 202
    client.world.run_until(client.world.clock.time + 10)
    run = client.send("GET", URL).json
    assert (run["state"], run["reason"]) == ("failed", "Attempt 1 failed for good: No such file.")


def test_a_report_on_a_cancelled_run_gets_410() -> None:
    client, token = client_with_a_run()
    cancelled = client.send("POST", f"{URL}/cancel", caller=WRITER)
    assert (cancelled.status, cancelled.json["state"]) == (200, "cancelled")
    assert cancelled.json["reason"] == "Cancelled with the key writer."
    assert report(client, token, "heartbeat").status == 410
    assert report(client, token, "complete").status == 410


def test_a_running_run_is_shown_with_its_deadlines_and_without_its_token() -> None:
    client, token = client_with_a_run()
    shown = client.send("GET", URL)
    assert shown.json["heartbeatBy"] == "2026-11-21T12:05:10.000Z"
    assert token not in str(shown.text)
    assert token not in str(client.send("GET", "/v1/namespaces/ns/jobs/job/runs?state=running").text)
    assert token not in str(client.get().text)
    assert token not in str(report(client, token, "complete").text)


@pytest.mark.parametrize("answer", [Answer(succeeded=True, code=202), Answer(succeeded=False, code=500)])
def test_a_reader_gets_no_token_from_a_consumer_that_repeats_it_in_its_answer(answer: Answer) -> None:
    client = Client()
    tokens = []

    def repeat(attempt: Attempt) -> Answer:
        tokens.append(attempt.run_token)
        return answer._replace(text=f'{{"got": "{attempt.run_token}"}}', error=f"Got {attempt.run_token}.")

    client.world.consumers.answering = repeat
    client.put(job={**JOB, "retry": {"maxAttempts": 2}})
    client.world.run_until(NOON + 11_000)
    (token,) = tokens
    shown = client.send("GET", URL, caller=READER)
    assert shown.json["answer"] == '{"got": "[secret]"}'
    kept = [*client.world.queue.waiting, *client.world.timers.everything(), shown.text]
    assert str(token) not in str(kept)
    stored = client.world.runs.get(key_of(), RUN)
    assert stored is not None
    assert str(token) not in f"{stored.answer} {stored.reason}"


def test_a_token_is_good_for_reports_and_for_nothing_else() -> None:
    client, token = client_with_a_run()
    bearer = {"Authorization": f"Bearer {token}"}
    for method, url in (
        ("GET", URL),
        ("POST", f"{URL}/cancel"),
        ("POST", f"{URL}/redrive"),
        ("GET", "/v1/namespaces/ns/jobs"),
        ("GET", "/v1/limits"),
        ("GET", "/v1/keys"),
        ("DELETE", "/v1/namespaces/ns/jobs/job"),
    ):
        assert client.send(method, url, headers=bearer, caller=None).status == 401


@pytest.mark.parametrize("what", ["heartbeat", "complete", "fail"])
def test_a_token_of_another_run_gets_one_answer_whether_the_run_exists_or_not(what: str) -> None:
    client, _ = client_with_a_run()
    stranger = "shr_" + "x" * 43
    there = report(client, stranger, what)
    assert there.status == 410
    for url in ("/v1/namespaces/ns/jobs/none/runs/1-0", "/v1/namespaces/no/jobs/job/runs/1-0", f"{URL}x"):
        elsewhere = client.send(
            "POST", f"{url}/{what}", headers={"Authorization": f"Bearer {stranger}"}, caller=None
        )
        assert (elsewhere.status, elsewhere.text) == (there.status, there.text)


def test_a_malformed_token_lets_no_caller_in() -> None:
    client, token = client_with_a_run()
    for written in (token[:-1], token + "x", token.upper(), f"{token}\n{token}"):
        assert report(client, written, "complete").status == 401
    assert client.send("GET", URL).json["state"] == "running"


@pytest.mark.parametrize(
    ("body", "pointers"),
    [({"reason": 5}, ["/reason"]), ({"reason": "x" * 513}, ["/reason"]), ({"retry": "no"}, ["/retry"])],
)
def test_an_invalid_failure_report_is_refused_by_its_field(body: Any, pointers: list[str]) -> None:
    client, token = client_with_a_run()
    refused = report(client, token, "fail", body)
    assert (refused.status, refused.pointers) == (422, pointers)


@pytest.mark.parametrize(
    ("written", "pointers"),
    [
        ({"completion": "later"}, ["/completion"]),
        ({"heartbeatTimeout": "0s"}, ["/heartbeatTimeout"]),
        ({"heartbeatTimeout": "31d"}, ["/heartbeatTimeout"]),
        ({"maxRunTime": "x"}, ["/maxRunTime"]),
        ({"maxRunTime": "31d"}, ["/maxRunTime"]),
    ],
)
def test_invalid_fields_for_asynchronous_completion_are_refused(written: Any, pointers: list[str]) -> None:
    refused = Client().put(job={**JOB, **written})
    assert (refused.status, refused.pointers) == (422, pointers)


def test_a_job_shows_its_fields_for_asynchronous_completion(client: Client) -> None:
    client.put(job={**JOB, "heartbeatTimeout": "1m", "maxRunTime": "2h"})
    shown = client.get(caller=ADMIN).json
    assert (shown["completion"], shown["heartbeatTimeout"], shown["maxRunTime"]) == ("async", "1m", "2h")


def test_a_run_shows_the_result_of_its_report_and_a_different_result_gets_409() -> None:
    client, token = client_with_a_run()
    done = report(client, token, "complete", {"result": {"rows": 12, "price": 1.50}})
    assert done.status == 200
    assert client.send("GET", URL).json["result"] == {"rows": 12, "price": 1.5}
    assert client.send("GET", "/v1/namespaces/ns/jobs/job").json["lastRun"]["result"]["rows"] == 12
    assert report(client, token, "complete", {"result": {"rows": 12, "price": 1.50}}).status == 200
    assert report(client, token, "complete").status == 200
    assert report(client, token, "complete", {"result": {"rows": 13}}).status == 409


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"result": "x" * 2_047}, "/result"),
        ({"results": 1}, "/results"),
        ({"result": "ä" * 1_024}, "/result"),
    ],
)
def test_a_result_that_cannot_be_kept_is_refused_and_the_run_goes_on(body: Any, pointer: str) -> None:
    client, token = client_with_a_run()
    refused = report(client, token, "complete", body)
    assert (refused.status, refused.json["errors"][0]["pointer"]) == (422, pointer)
    assert client.send("GET", URL).json["state"] == "running"
    assert report(client, token, "complete", {"result": "x" * 2_046}).status == 200


def test_a_run_without_a_result_shows_none() -> None:
    client, token = client_with_a_run()
    assert report(client, token, "complete", {}).status == 200
    assert "result" not in client.send("GET", URL).json


def test_the_last_failure_is_shown_when_a_later_attempt_succeeds() -> None:
    client, token = client_with_a_run(retry={"initialDelay": "1s"})
    assert report(client, token, "fail", {"reason": "out of paper"}).status == 202
    client.world.run_until(NOON + 20_000)
    run = client.send("GET", URL).json
    assert run["lastFailure"] == {"attempt": 1, "reason": "out of paper", "responseCode": None}


def test_the_first_of_two_reports_decides_and_a_second_cancel_gets_409() -> None:
    client, token = client_with_a_run()
    assert report(client, token, "fail", {"reason": "no"}).status == 202
    assert report(client, token, "complete").status == 409
    assert report(client, token, "fail", {"reason": "no"}).status == 202
    assert report(client, token, "fail", {"reason": "another"}).status == 409
    assert report(client, token, "heartbeat").status == 410
    client.world.run_until(client.world.clock.time + 10)
    assert client.send("POST", f"{URL}/cancel").status == 200
    assert client.send("POST", f"{URL}/cancel").status == 409
