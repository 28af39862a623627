"""The page of an inbox takes deliveries, and shows each of them to every caller."""

from collections.abc import Mapping

import pytest
from tests.fakes.doubles import HandClock

from sweephand_engine.inbox import Inbox
from sweephand_engine.sites import InboxSite

LOCAL = {"host": "127.0.0.1:4700"}
NOTHING = "Nothing has arrived yet.\n"


@pytest.fixture
def site() -> InboxSite:
    return InboxSite(Inbox(HandClock().now), lambda _: (), wait_s=0)


def ask(site: InboxSite, method: str, path: str, body: bytes = b"") -> str:
    return site.answer(method, path, LOCAL, body).body.decode()


def test_the_list_shows_every_delivery_with_its_body(site: InboxSite) -> None:
    assert ask(site, "GET", "/") == NOTHING
    ask(site, "POST", "/a", b'{"n": 1}')
    ask(site, "PUT", "/b", b'{"n": 2}')
    for _ in range(2):
        _, first, second = ask(site, "GET", "/").splitlines()
        assert first.endswith('/a   WRONG SIGNATURE  {"n": 1}')
        assert second.endswith('/b   WRONG SIGNATURE  {"n": 2}')


def test_a_request_for_the_next_delivery_is_answered_even_if_none_comes(site: InboxSite) -> None:
    assert ask(site, "GET", "/next") == NOTHING
    ask(site, "POST", "/a", b"first")
    assert "first" in ask(site, "GET", "/next")
    assert ask(site, "GET", "/next") == NOTHING


def test_a_get_of_any_path_is_a_delivery_except_those_that_show_deliveries(site: InboxSite) -> None:
    for path in ("/", "/next", "/mine"):
        ask(site, "GET", path)
    assert [each.to for each in site.inbox.arrivals()] == ["/mine"]


def test_signatures_are_verified_with_the_secrets_of_the_namespace_that_the_delivery_names() -> None:
    asked: list[str] = []

    def secrets(namespace: str) -> list[str]:
        asked.append(namespace)
        return []

    site = InboxSite(Inbox(HandClock().now), secrets)
    site.answer("POST", "/a", LOCAL | {"sweephand-namespace": "shop"}, b"")
    site.answer("POST", "/a", LOCAL, b"")
    assert asked == ["shop"]


@pytest.mark.parametrize(
    "headers",
    [{"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}, {"host": "evil.example:4701"}],
)
def test_a_page_of_another_site_reads_no_delivery_and_makes_none(
    site: InboxSite, headers: Mapping[str, str]
) -> None:
    ask(site, "POST", "/a", b"first")
    for method, path in (("GET", "/"), ("GET", "/next"), ("POST", "/b")):
        answer = site.answer(method, path, {**LOCAL, **headers}, b"")
        assert (answer.status, b"The header" in answer.body) == (403, True)
    assert [each.to for each in site.inbox.arrivals()] == ["/a"]
    assert "first" in ask(site, "GET", "/next")
