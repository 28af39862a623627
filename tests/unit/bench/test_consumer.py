"""The consumer of the lateness benchmark."""

import asyncio
import threading
from pathlib import Path

import pytest
import urllib3
from infra.bench.consumer import Consumer, Request, _Connection, elsewhere, write_certificate


def test_the_consumer_records_each_request_on_a_kept_connection() -> None:
    headers = {
        "sweephand-job": "job",
        "sweephand-sequence": "7",
        "sweephand-due": "2026-11-21T12:00:17.250Z",
    }
    with Consumer() as consumer, urllib3.PoolManager(maxsize=1) as pool:
        for _ in range(3):
            assert pool.request("POST", consumer.url, headers=headers, body=b'{"a": 1}').status == 200

        arrivals = consumer.arrivals()

    assert [each.due_at for each in arrivals] == [1_795_262_417_250] * 3
    assert {(each.job, each.sequence) for each in arrivals} == {("job", 7)}


def test_the_consumer_in_its_own_process_accepts_tls_when_it_has_a_certificate(tmp_path: Path) -> None:
    certificate = write_certificate(tmp_path)
    with elsewhere(certificate) as url, urllib3.PoolManager(ca_certs=str(certificate)) as pool:
        assert url.startswith("https://127.0.0.1:")
        assert pool.request("POST", url, body=b"1").status == 200


def test_a_client_that_does_not_trust_the_certificate_refuses_the_consumer(tmp_path: Path) -> None:
    with Consumer(certificate=write_certificate(tmp_path)) as consumer, urllib3.PoolManager() as pool:
        with pytest.raises(urllib3.exceptions.MaxRetryError, match="certificate verify failed"):
            pool.request("POST", consumer.url, body=b"1", retries=0)
        assert not consumer.requests()


def test_the_consumer_tells_from_when_to_when_a_request_was_open() -> None:
    with Consumer(answer_s=0.05) as consumer, urllib3.PoolManager(maxsize=1) as pool:
        pool.request("POST", consumer.url, body=b"1")

        [opened] = consumer.requests()

    assert opened.until_ns is not None
    assert opened.until_ns - opened.from_ns >= 50_000_000


def test_a_request_whose_client_has_gone_is_open_no_longer() -> None:
    came: list[Request] = []

    async def hang_up() -> None:
        connection = _Connection(came, answer_s=60, refusing=threading.Event())
        connection.data_received(b"POST / HTTP/1.1\r\n\r\n")
        assert came[0].until_ns is None
        connection.connection_lost(None)

    asyncio.run(hang_up())

    assert came[0].until_ns is not None


def test_the_first_attempts_of_a_trigger_fail_if_the_consumer_is_told_so() -> None:
    headers = {"sweephand-job": "job", "sweephand-sequence": "1", "sweephand-due": "2026-11-21T12:00:17Z"}
    with Consumer(failures=2) as consumer, urllib3.PoolManager(maxsize=1) as pool:
        answers = [
            pool.request("POST", consumer.url, headers={**headers, "sweephand-attempt": attempt}, body=b"1")
            for attempt in ("1", "2", "3")
        ]
        attempts = [each.attempt for each in consumer.arrivals()]

    assert [each.status for each in answers] == [503, 503, 200]
    assert attempts == [1, 2, 3]
