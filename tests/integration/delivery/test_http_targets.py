"""The requests that an HTTP consumer receives, and how its answer, or the lack of one, is read."""

import socket
from collections.abc import Sequence
from time import monotonic, time

import pytest
from standardwebhooks.webhooks import Webhook
from tests.fakes import webhooks
from tests.fakes.consumer import LINKED, ORIGIN, SECRET, Connection, Consumer, attempt_of, forgetful, in_time
from tests.fakes.doubles import HandClock

from sweephand import __version__
from sweephand.base.errors import StoreError
from sweephand.base.instants import SECOND_MS, rfc3339, to_datetime
from sweephand.delivery.http.connections import IDLE_MAX_S
from sweephand.delivery.http.egress import Egress
from sweephand.delivery.http.request import delivery_headers
from sweephand.delivery.http.sockets import BoundedSocket
from sweephand.delivery.http.targets import HttpTargets
from sweephand.model.attempt import Answer
from sweephand.targets.destinations import Destinations


@pytest.fixture
def targets() -> HttpTargets:
    return HttpTargets(HandClock(), allow_insecure=True)


def test_the_head_and_the_body_of_a_request_are_sent_in_one_call(
    targets: HttpTargets, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[bytes] = []
    send = BoundedSocket.sendall

    def noted(sock: BoundedSocket, data: bytes) -> None:
        sent.append(bytes(data))
        send(sock, data)

    monkeypatch.setattr(BoundedSocket, "sendall", noted)
    with Consumer() as consumer:
        for _ in range(2):
            assert targets.deliver(attempt_of(consumer.spec(), b'{"a":1}')).succeeded
        assert [each.body for each in consumer.requests] == [b'{"a":1}'] * 2
    assert len(sent) == 2
    assert all(each.startswith(b"POST /hook") and each.endswith(b'\r\n\r\n{"a":1}') for each in sent)


def hanging_up(connection: Connection) -> None:
    """Read a request, and close."""
    connection.request()


def test_a_consumer_receives_the_data_signed_and_named(targets: HttpTargets) -> None:
    body = '{"task":"db-backup","ü":1.10}'.encode()
    with Consumer() as consumer:
        answer = targets.deliver(attempt_of(consumer.spec(headers={"X-Team": "ops é"}), body))
        (request,) = consumer.requests
    assert answer == Answer(succeeded=True, code=200, text="ok")
    assert (request.line, request.body) == ("POST /hook?from=test HTTP/1.1", body)
    signature = Webhook(SECRET).sign(
        request.headers["webhook-id"],
        to_datetime(int(request.headers["webhook-timestamp"]) * SECOND_MS),
        body.decode(),
    )
    assert request.headers["webhook-signature"] == signature
    assert request.headers == {
        "host": f"127.0.0.1:{consumer.port}",
        "accept-encoding": "identity",
        "content-length": str(len(body)),
        "content-type": "application/json",
        "user-agent": f"Sweephand/{__version__}",
        "x-team": "ops é",
        **delivery_headers(attempt_of({}), body),
    }


def test_a_request_carries_labels_and_the_context_of_a_linked_attempt(targets: HttpTargets) -> None:
    with Consumer() as consumer:
        attempt = attempt_of(consumer.spec())._replace(
            origin=ORIGIN, labels={"team": "ops", "place": "Zürich"}
        )
        assert targets.deliver(attempt).succeeded
        (request,) = consumer.requests
    assert webhooks.check_received(request.headers, request.body) == "trigger"
    assert request.headers["sweephand-labels"] == '{"team":"ops","place":"Z\\u00fcrich"}'
    assert request.headers["traceparent"] == LINKED["traceparent"]
    assert request.headers["sweephand-trace-origin"] == LINKED["traceOrigin"]


def test_a_child_has_the_trace_of_its_origin_and_no_link(targets: HttpTargets) -> None:
    with Consumer() as consumer:
        attempt = attempt_of(consumer.spec())._replace(number=1, origin=ORIGIN._replace(is_parent=True))
        assert targets.deliver(attempt).succeeded
        (request,) = consumer.requests
    assert webhooks.check_received(request.headers, request.body) == "trigger"
    assert request.headers["traceparent"].startswith(ORIGIN.traceparent[:36])
    assert request.headers["traceparent"] != ORIGIN.traceparent
    assert "sweephand-trace-origin" not in request.headers


def test_a_request_without_labels_and_context_has_no_header_for_them(targets: HttpTargets) -> None:
    with Consumer() as consumer:
        assert targets.deliver(attempt_of(consumer.spec())._replace(labels={})).succeeded
        (request,) = consumer.requests
    assert not {"sweephand-labels", "traceparent", "sweephand-trace-origin"} & request.headers.keys()


def test_a_request_carries_the_values_of_its_trigger_in_place_of_placeholders(targets: HttpTargets) -> None:
    with Consumer() as consumer:
        spec = consumer.spec(headers={"X-Mail": "{{index}} of {{due}}"})
        spec["url"] += "&mail={{index}}&try={{attempt}}"
        for index in (3, 4):
            attempt = attempt_of(spec)
            made = attempt._replace(trigger=attempt.trigger._replace(index=index), number=2)
            assert targets.deliver(made).succeeded
        assert [each.line for each in consumer.requests] == [
            "POST /hook?from=test&mail=3&try=2 HTTP/1.1",
            "POST /hook?from=test&mail=4&try=2 HTTP/1.1",
        ]
        due = rfc3339(attempt_of(spec).trigger.due_at)
        assert [each.headers["x-mail"] for each in consumer.requests] == [f"3 of {due}", f"4 of {due}"]


def test_an_attempt_that_preflight_refuses_once_connected_sends_nothing(targets: HttpTargets) -> None:
    with Consumer() as consumer:
        assert targets.deliver(attempt_of(consumer.spec())).succeeded  # leaves a connection to use again
        withdrawn = attempt_of(consumer.spec())._replace(may_send=lambda: False)
        answer = targets.deliver(withdrawn)
        assert targets.deliver(attempt_of(consumer.spec())).succeeded
        assert len(consumer.requests) == 2
    assert (answer.was_withdrawn, answer.succeeded) == (True, False)


def test_preflight_runs_after_the_connection_is_made() -> None:
    connected: list[tuple[str, int]] = []

    class Watched(Egress):
        def connect(
            self,
            host: str,
            port: int,
            timeout_s: float,
            lists: Sequence[Destinations] = (),
            *,
            namespace: str,
        ) -> BoundedSocket:
            sock = super().connect(host, port, timeout_s, lists, namespace=namespace)
            connected.append((host, port))
            return sock

    seen: list[int] = []

    def may_send() -> bool:
        seen.append(len(connected))
        return True

    targets = HttpTargets(HandClock(), allow_insecure=True, egress=Watched(allow_loopback=True))
    with Consumer() as consumer:
        targets.deliver(attempt_of(consumer.spec())._replace(may_send=may_send))
    assert seen == [1]


def test_a_connection_over_which_nothing_was_sent_is_used_for_the_next_attempt(targets: HttpTargets) -> None:
    def unreadable() -> bool:
        raise StoreError("throttled")

    with Consumer() as consumer:
        assert targets.deliver(attempt_of(consumer.spec())._replace(may_send=lambda: False)).was_withdrawn
        with pytest.raises(StoreError):
            targets.deliver(attempt_of(consumer.spec())._replace(may_send=unreadable))
        assert targets.deliver(attempt_of(consumer.spec())).succeeded
        assert (consumer.accepted, len(consumer.requests)) == (1, 1)


def test_an_attempt_succeeds_although_the_consumer_has_closed_the_unused_connection(
    targets: HttpTargets,
) -> None:
    def impatient(connection: Connection) -> None:
        if connection.number > 1 and connection.request():
            connection.answer()

    with Consumer(impatient) as consumer:
        assert targets.deliver(attempt_of(consumer.spec())._replace(may_send=lambda: False)).was_withdrawn
        assert targets.deliver(attempt_of(consumer.spec())).succeeded


@pytest.mark.parametrize(("within_ms", "timeout"), [(200, "30s"), (30_000, "200ms")])
def test_an_attempt_ends_with_the_time_it_has_or_with_the_target_s_time_out(
    targets: HttpTargets, within_ms: int, timeout: str
) -> None:
    with Consumer(lambda connection: connection.hang()) as consumer, in_time():
        began = monotonic()
        attempt = attempt_of(consumer.spec(timeout=timeout))._replace(within_ms=within_ms)
        answer = targets.deliver(attempt)
        assert monotonic() - began >= 0.2
    assert answer.error == "No answer within 0.2 s."


def test_a_job_may_set_content_type_and_user_agent(targets: HttpTargets) -> None:
    headers = {"Content-Type": "application/vnd.api+json", "User-Agent": "backup/1"}
    with Consumer() as consumer:
        targets.deliver(attempt_of(consumer.spec(headers=headers)))
        (request,) = consumer.requests
    assert request.headers["content-type"] == "application/vnd.api+json"
    assert request.headers["user-agent"] == "backup/1"


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_a_method_without_a_body_is_signed_over_nothing(targets: HttpTargets, method: str) -> None:
    with Consumer() as consumer:
        assert targets.deliver(attempt_of(consumer.spec(method=method), b"null")).succeeded
        (request,) = consumer.requests
    assert request.line.startswith(f"{method} /hook")
    assert (request.body, "content-length" in request.headers) == (b"", False)
    assert request.headers["webhook-signature"] == delivery_headers(attempt_of({}), b"")["webhook-signature"]


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_a_method_with_a_body_sends_it(targets: HttpTargets, method: str) -> None:
    with Consumer() as consumer:
        assert targets.deliver(attempt_of(consumer.spec(method=method), b"null")).succeeded
        assert consumer.requests[0].body == b"null"


def test_connections_are_used_again_also_after_a_failure(targets: HttpTargets) -> None:
    def moody(connection: Connection) -> None:
        while connection.request():
            connection.answer("503 Busy" if len(connection.requests) % 2 else "200 OK", b"x" * 2_000)

    with Consumer(moody) as consumer:
        codes = [targets.deliver(attempt_of(consumer.spec())).code for _ in range(6)]
        assert (codes, consumer.accepted) == ([503, 200] * 3, 1)


INTERIM = {
    "100": b"HTTP/1.1 100 Continue\r\n\r\n",
    "102": b"HTTP/1.1 102 Processing\r\n\r\n",
    "103": b"HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\ncontent-length: 5\r\n\r\n",
    "unknown": b"HTTP/1.1 142 Whatever\r\nconnection: close\r\n\r\n",
    "several": b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n" * 3,
}


@pytest.mark.parametrize("interim", INTERIM.values(), ids=INTERIM)
def test_interim_answers_are_ignored(targets: HttpTargets, interim: bytes) -> None:
    def hinting(connection: Connection) -> None:
        while connection.request():
            connection.send(interim)
            connection.answer("201 Created", b"made")

    with Consumer(hinting) as consumer:
        for _ in range(2):
            answer = targets.deliver(attempt_of(consumer.spec()))
            assert answer == Answer(succeeded=True, code=201, text="made")
        assert consumer.accepted == 1


def test_a_consumer_that_switches_protocols_has_failed_and_its_connection_is_not_used_again(
    targets: HttpTargets,
) -> None:
    def switching(connection: Connection) -> None:
        while connection.request():
            connection.send(b"HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\n\r\n")

    with Consumer(switching) as consumer:
        for _ in range(2):
            answer = targets.deliver(attempt_of(consumer.spec()))
            assert (answer.succeeded, answer.code, answer.is_final) == (False, 101, False)
        assert consumer.accepted == 2


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", "ok"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", ""),
        (b"HTTP/1.1 204 No Content\r\n\r\n", ""),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok", "ok"),
    ],
)
def test_an_answer_with_a_known_end_leaves_its_connection_for_reuse(
    targets: HttpTargets, raw: bytes, text: str
) -> None:
    def answering(connection: Connection) -> None:
        while connection.request():
            connection.send(raw)

    with Consumer(answering) as consumer:
        answers = [targets.deliver(attempt_of(consumer.spec())) for _ in range(3)]
        assert consumer.accepted == 1
    assert {(answer.succeeded, answer.text) for answer in answers} == {(True, text)}


def test_a_consumer_that_announces_its_close_gets_a_new_connection(targets: HttpTargets) -> None:
    def closing(connection: Connection) -> None:
        while connection.request():
            connection.answer("200 OK", b"ok", "connection: close")

    with Consumer(closing) as consumer:
        assert all(targets.deliver(attempt_of(consumer.spec())).succeeded for _ in range(3))
        assert consumer.accepted == 3


def test_a_connection_that_was_idle_for_too_long_is_not_used_again(
    targets: HttpTargets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sweephand.delivery.http.connections.IDLE_MAX_S", -1)
    with Consumer() as consumer:
        assert all(targets.deliver(attempt_of(consumer.spec())).succeeded for _ in range(3))
        assert consumer.accepted == 3


def test_a_connection_that_a_frozen_function_kept_is_not_used_again(
    targets: HttpTargets, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Consumer() as consumer:
        assert targets.deliver(attempt_of(consumer.spec())).succeeded
        thawed_at = time() + IDLE_MAX_S + 1
        monkeypatch.setattr(
            "sweephand.delivery.http.connections.time",
            lambda: thawed_at,
        )
        assert targets.deliver(attempt_of(consumer.spec())).succeeded
        assert consumer.accepted == 2


@pytest.mark.parametrize("limit", ["HOSTS_MAX", "IDLE_CONNECTIONS_MAX"])
def test_the_host_unused_for_longest_loses_its_connections_first(
    targets: HttpTargets, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(f"sweephand.delivery.http.connections.{limit}", 2)
    with Consumer() as first, Consumer() as second, Consumer() as third:
        for consumer in (first, second, first, third, first, second):
            assert targets.deliver(attempt_of(consumer.spec())).succeeded
        assert (first.accepted, second.accepted, third.accepted) == (1, 2, 1)


def test_a_kept_connection_that_its_other_end_closed_costs_no_attempt(targets: HttpTargets) -> None:
    with Consumer(forgetful) as consumer:
        answers = [targets.deliver(attempt_of(consumer.spec())) for _ in range(4)]
        assert all(answer.succeeded for answer in answers)


def test_an_attempt_over_a_new_connection_that_closes_fails_and_is_not_repeated(targets: HttpTargets) -> None:
    with Consumer(hanging_up) as consumer:
        answer = targets.deliver(attempt_of(consumer.spec()))
        assert consumer.accepted == 1
    assert answer.error == (
        "The connection ended before an answer came: Remote end closed connection without response"
    )


@pytest.mark.parametrize(
    ("status", "is_final"),
    [
        ("302 Found", False),
        ("307 Temporary Redirect", False),
        ("404 Gone?", False),
        ("422 No", True),
        ("500 No", False),
    ],
)
def test_a_failure_shows_its_status_and_a_redirect_is_not_followed(
    targets: HttpTargets,
    status: str,
    is_final: bool,  # noqa: FBT001
) -> None:
    def elsewhere(connection: Connection) -> None:
        while connection.request():
            connection.answer(status, b"why", "location: /elsewhere", "retry-after: 30")

    with Consumer(elsewhere) as consumer:
        answer = targets.deliver(attempt_of(consumer.spec()))
        assert len(consumer.requests) == 1
    assert answer == Answer(
        succeeded=False,
        code=int(status[:3]),
        text="why",
        is_final=is_final,
        retry_after_at=HandClock().time + 30_000,
    )


def test_a_refused_connection_is_named_in_the_answer(targets: HttpTargets) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        answer = targets.deliver(attempt_of({"type": "http", "url": f"http://localhost:{port}/"}))
    assert answer.error == f"No connection to localhost, port {port}: [Errno 111] Connection refused"


def test_a_stored_http_target_is_refused_with_a_reason_when_the_stack_no_longer_allows_http() -> None:
    targets = HttpTargets(HandClock(), allow_insecure=False)
    answer = targets.deliver(attempt_of({"type": "http", "url": "http://example.com/"}))
    assert answer.error == ("The target's URL cannot be called: Use https: this stack does not allow http.")


def test_a_header_that_was_stored_by_mistake_cannot_split_the_request(targets: HttpTargets) -> None:
    with Consumer() as consumer:
        spec = consumer.spec(headers={"x-a": "b\r\nwebhook-id: forged"})
        answer = targets.deliver(attempt_of(spec))
        assert consumer.requests == []
    assert answer.error is not None
    assert answer.error.startswith("The request cannot be made: Invalid header value")


def test_a_job_cannot_replace_what_sweephand_sets(targets: HttpTargets) -> None:
    with Consumer() as consumer:
        targets.deliver(
            attempt_of(consumer.spec(headers={"Webhook-Id": "forged", "sweephand-run": "forged"}))
        )
        (request,) = consumer.requests
    assert "forged" not in request.headers.values()
