"""The adapter for SQS runs preflight after connecting, and before every try of the SDK."""

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import urllib3.util.connection
from tests.fakes.consumer import Connection, Consumer, attempt_of
from tests.fakes.sqs import sqs_targets

from sweephand.base.concurrency import always
from sweephand.base.errors import StoreError
from sweephand.base.instants import SECOND_MS
from sweephand.delivery.checked_clients import (
    CONNECT_TIMEOUT_S,
    READ_TIMEOUT_S,
    SEND_S_MAX,
    TRIES_MAX,
    SqsClients,
)
from sweephand.delivery.sqs import SqsTargets
from sweephand.model.attempt import Answer, Attempt
from sweephand.targets.aws_resource import REQUEST_MS_MAX

SENT = json.dumps({"MessageId": "1"}).encode()


def taking(connection: Connection) -> None:
    """Take every message, as SQS does."""
    while connection.request():
        connection.answer("200 OK", SENT, "content-type: application/x-amz-json-1.0")


def hanging_up(connection: Connection) -> None:
    """Read a request, and end the connection without an answer."""
    connection.request()


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Consumer]:
    """An SQS on the loopback that takes every message."""
    with Consumer(taking) as engine:
        _name(monkeypatch, engine)
        yield engine


def _name(monkeypatch: pytest.MonkeyPatch, engine: Consumer) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL_SQS", f"http://127.0.0.1:{engine.port}")


def attempt_at(engine: Consumer, **fields: Any) -> Attempt:
    url = f"http://127.0.0.1:{engine.port}/123456789012/work"
    return attempt_of({"type": "sqs", "queueUrl": url})._replace(**fields)


@pytest.fixture
def clients() -> SqsClients:
    return SqsClients()


@pytest.fixture
def targets(clients: SqsClients) -> SqsTargets:
    return sqs_targets(clients, allow_insecure=True)


class Connecting:
    """Counts connections as they come about, and does something before each."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, before: Any = lambda: None) -> None:
        self.made = 0
        connect = urllib3.util.connection.create_connection

        def counted(*args: Any, **kwargs: Any) -> Any:
            before()
            sock = connect(*args, **kwargs)
            self.made += 1
            return sock

        monkeypatch.setattr(urllib3.util.connection, "create_connection", counted)


def test_a_message_that_preflight_allows_is_sent_and_its_connection_used_again(
    monkeypatch: pytest.MonkeyPatch, engine: Consumer, targets: SqsTargets
) -> None:
    connecting = Connecting(monkeypatch)
    for _ in range(3):
        assert targets.deliver(attempt_at(engine)) == Answer(succeeded=True)
    assert (len(engine.requests), connecting.made) == (3, 1)


def test_preflight_runs_after_the_connection_to_the_queue_is_made(
    monkeypatch: pytest.MonkeyPatch, engine: Consumer, targets: SqsTargets
) -> None:
    connecting = Connecting(monkeypatch)
    seen: list[int] = []

    def may_send() -> bool:
        seen.append(connecting.made)
        return True

    assert targets.deliver(attempt_at(engine, may_send=may_send)).succeeded
    assert set(seen) == {1}


def test_a_message_that_preflight_refuses_after_connecting_is_not_sent(
    monkeypatch: pytest.MonkeyPatch, engine: Consumer, targets: SqsTargets
) -> None:
    paused = threading.Event()
    Connecting(monkeypatch, before=paused.set)
    withdrawn = attempt_at(engine, may_send=lambda: not paused.is_set())
    assert targets.deliver(withdrawn).was_withdrawn
    assert engine.requests == []


def test_a_connection_over_which_nothing_was_sent_is_kept_for_the_next_attempt(
    monkeypatch: pytest.MonkeyPatch, engine: Consumer, targets: SqsTargets
) -> None:
    connecting = Connecting(monkeypatch)
    for may_send in (False, False, True):
        targets.deliver(attempt_at(engine, may_send=lambda: may_send))  # noqa: B023 - asked within this turn
    assert (len(engine.requests), connecting.made) == (1, 1)


def test_a_thread_whose_connection_another_thread_took_runs_preflight_again_after_connecting(
    monkeypatch: pytest.MonkeyPatch, engine: Consumer, clients: SqsClients, targets: SqsTargets
) -> None:
    connecting = Connecting(monkeypatch)
    taken: list[Any] = []
    session: Any = clients.client(None)._endpoint.http_session  # type: ignore[attr-defined] # botocore has no other way
    pool = session._manager.connection_from_url(f"http://127.0.0.1:{engine.port}")

    def may_send() -> bool:
        if connecting.made == 1:
            # WriteCondition for the first time, with a connection in the pool: another thread needs it now.
            taken.append(pool._get_conn())
        return connecting.made == 1

    assert targets.deliver(attempt_at(engine, may_send=may_send)).was_withdrawn
    assert (engine.requests, connecting.made) == ([], 2)
    for connection in taken:
        connection.close()


def test_a_message_that_preflight_refuses_is_not_sent_over_an_open_connection(
    engine: Consumer, targets: SqsTargets
) -> None:
    assert targets.deliver(attempt_at(engine)).succeeded
    assert targets.deliver(attempt_at(engine, may_send=lambda: False)).was_withdrawn
    assert targets.deliver(attempt_at(engine)).succeeded
    assert len(engine.requests) == 2


def test_preflight_runs_before_each_try_of_the_sdk(
    monkeypatch: pytest.MonkeyPatch, targets: SqsTargets
) -> None:
    with Consumer(hanging_up) as engine:
        _name(monkeypatch, engine)
        seen: list[int] = []

        def may_send() -> bool:
            seen.append(len(engine.requests))
            return True

        assert not targets.deliver(attempt_at(engine, may_send=may_send)).succeeded
        assert sorted(set(seen)) == list(range(TRIES_MAX))
        assert targets.deliver(attempt_at(engine, may_send=lambda: len(engine.requests) < 3)).was_withdrawn
        assert len(engine.requests) == TRIES_MAX + 1


def test_a_store_that_fails_in_preflight_is_no_refusal_of_the_queue(
    engine: Consumer, targets: SqsTargets
) -> None:
    def unreadable() -> bool:
        raise StoreError("throttled")

    with pytest.raises(StoreError, match="throttled"):
        targets.deliver(attempt_at(engine, may_send=unreadable))
    assert engine.requests == []
    assert targets.deliver(attempt_at(engine, may_send=always)).succeeded


def test_a_send_is_not_begun_if_the_sdk_could_not_finish_it_in_time(
    monkeypatch: pytest.MonkeyPatch, engine: Consumer, targets: SqsTargets
) -> None:
    connecting = Connecting(monkeypatch)
    assert targets.deliver(attempt_at(engine, within_ms=SEND_S_MAX * SECOND_MS - 1)).was_withdrawn
    assert connecting.made == 0
    assert targets.deliver(attempt_at(engine, within_ms=SEND_S_MAX * SECOND_MS)).succeeded


def test_the_time_outs_of_the_sdk_end_within_the_time_that_a_message_may_take() -> None:
    # TCP and TLS each have the time-out for connecting; the SDK waits up to a second before its second try.
    assert TRIES_MAX * (2 * CONNECT_TIMEOUT_S + READ_TIMEOUT_S) + (TRIES_MAX - 1) <= SEND_S_MAX
    assert SEND_S_MAX * SECOND_MS < REQUEST_MS_MAX
