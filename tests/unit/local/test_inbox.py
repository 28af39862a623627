"""The inbox of a local stack takes deliveries, and shows each of them to every caller."""

from collections.abc import Iterator

import pytest
import urllib3
from infra.local.inbox import FAILING, Inbox


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    with Inbox(lambda _: (), wait_s=0.05) as inbox:
        yield inbox


def ask(inbox: Inbox, method: str, path: str, body: bytes | None = None, **more: str) -> str:
    headers = {"sweephand-job": "hello", "sweephand-attempt": "1", **more}
    with urllib3.PoolManager() as pool:
        return pool.request(method, inbox.url(path), body=body, headers=headers, timeout=60).data.decode()


def test_the_list_shows_every_delivery_with_its_body(inbox: Inbox) -> None:
    assert ask(inbox, "GET", "/") == "Nothing has arrived yet.\n"
    ask(inbox, "POST", "/a", b'{"n": 1}')
    ask(inbox, "PUT", "/b", b'{"n": 2}')
    for _ in range(2):
        _, first, second = ask(inbox, "GET", "/").splitlines()
        assert first.endswith('/a   WRONG SIGNATURE  {"n": 1}')
        assert second.endswith('/b   WRONG SIGNATURE  {"n": 2}')
        assert "hello" in first


def test_the_line_of_a_later_trigger_of_a_batch_shows_its_index_and_no_lateness(inbox: Inbox) -> None:
    due = {"sweephand-due": "2026-11-21T12:00:00.000Z"}
    for index in ("0", "17"):
        ask(inbox, "POST", "/a", b"", **due, **{"sweephand-batch-index": index})
    _, first, later = ask(inbox, "GET", "/").splitlines()
    assert " ms " in first
    assert " ms " not in later
    assert "    # 17" in later


def test_the_inbox_shows_each_next_delivery_once(inbox: Inbox) -> None:
    ask(inbox, "POST", "/a", b"first")
    assert "first" in ask(inbox, "GET", "/next")
    ask(inbox, "POST", "/a", b"second")
    answer = ask(inbox, "GET", "/next")
    assert "second" in answer
    assert "first" not in answer


def test_the_next_delivery_is_none_that_came_long_before() -> None:
    now = [100.0]
    with Inbox(lambda _: (), wait_s=0.05, clock=lambda: now[0]) as inbox:
        ask(inbox, "POST", "/a", b"long before")
        now[0] += 11
        ask(inbox, "POST", "/a", b"just before")
        now[0] += 9
        answer = ask(inbox, "GET", "/next")
        assert "just before" in answer
        assert "long before" not in answer
        assert ask(inbox, "GET", "/next") == "Nothing has arrived yet.\n"


def test_a_request_for_the_next_delivery_is_answered_even_if_none_comes(inbox: Inbox) -> None:
    assert ask(inbox, "GET", "/next") == "Nothing has arrived yet.\n"


def test_the_inbox_records_a_get_of_any_path_except_those_that_show_deliveries(inbox: Inbox) -> None:
    ask(inbox, "GET", "/")
    ask(inbox, "GET", "/next")
    ask(inbox, "GET", "/mine")
    assert [each.path for each in inbox.deliveries()] == ["/mine"]


def test_a_run_that_is_delivered_to_the_failing_path_is_accepted_at_its_third_attempt(inbox: Inbox) -> None:
    for attempt in ("1", "2", "3"):
        ask(inbox, "POST", FAILING, b"", **{"sweephand-attempt": attempt})
    assert [each.answer.status for each in inbox.deliveries()] == [503, 503, 200]


def test_signatures_are_verified_with_the_secrets_of_the_namespace_that_the_delivery_names() -> None:
    asked: list[str] = []

    def secrets(namespace: str) -> list[str]:
        asked.append(namespace)
        return []

    with Inbox(secrets) as inbox, urllib3.PoolManager() as pool:
        pool.request("POST", inbox.url("/a"), headers={"sweephand-namespace": "shop"}, timeout=60)
    assert asked == ["shop"]


@pytest.mark.parametrize(
    "headers",
    [{"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}, {"host": "evil.example:4701"}],
)
def test_a_page_of_another_site_reads_no_delivery_and_makes_none(
    inbox: Inbox, headers: dict[str, str]
) -> None:
    ask(inbox, "POST", "/a", b"first")
    for method, path in (("GET", "/"), ("GET", "/next"), ("POST", "/b")):
        assert "The header" in ask(inbox, method, path, None, **headers)
    assert [each.path for each in inbox.deliveries()] == ["/a"]
    assert "first" in ask(inbox, "GET", "/next")
