"""Which URLs may be called, and the parts that are read from them."""

import pytest
from tests.fakes.egress_urls import URLS
from tests.fakes.targets import HTTP, pointers

from sweephand.base import limits
from sweephand.targets.url import read_url


@pytest.mark.parametrize(
    "url",
    [None, 5, "https://example.com/" + "a" * limits.URL_LENGTH_MAX, *(each.url for each in URLS)],
    ids=lambda each: ascii(str(each)[:60]),
)
def test_a_url_that_may_not_be_called_is_refused(url: object) -> None:
    assert pointers(HTTP | {"url": url}) == ["/target/url"]


@pytest.mark.parametrize("url", ["http://127.0.0.1:8080/x", "http://localhost/x", "https://[::1]:8443"])
def test_an_insecure_stack_takes_http_and_loopback_too(url: str) -> None:
    assert pointers(HTTP | {"url": url}, allow_insecure=True) == []


@pytest.mark.parametrize("url", ["http://10.0.0.1/", "http://169.254.169.254/", "ftp://localhost/"])
def test_an_insecure_stack_takes_nothing_else(url: str) -> None:
    assert pointers(HTTP | {"url": url}, allow_insecure=True) == ["/target/url"]


def test_a_url_is_read_into_what_is_connected_to_and_what_is_asked_for() -> None:
    assert read_url("https://Example.com?q=1", allow_insecure=False) == ("https", "example.com", 443, "/?q=1")
    assert read_url("http://[::1]:81/a/b", allow_insecure=True) == ("http", "::1", 81, "/a/b")


@pytest.mark.parametrize(
    ("url", "authority"),
    [
        ("https://Example.com/", "example.com"),
        ("https://example.com.:443/", "example.com"),
        ("https://example.com:8443/", "example.com:8443"),
        ("http://example.com:443/", "example.com:443"),
        ("http://[::1]/", "[::1]"),
        ("http://[::1]:81/", "[::1]:81"),
    ],
)
def test_a_request_names_its_host_and_a_port_that_is_not_the_schemes_own(url: str, authority: str) -> None:
    assert read_url(url, allow_insecure=True).authority == authority
