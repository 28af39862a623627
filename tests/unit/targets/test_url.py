"""Which URLs and addresses may be called."""

from ipaddress import ip_address, ip_network

import pytest
from tests.fakes.egress_urls import ADDRESSES, URLS
from tests.fakes.targets import HTTP, pointers

from sweephand.base import limits
from sweephand.targets.url import read_url, refusal


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


PUBLIC = (
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "52.94.236.248",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.0",
    "169.253.255.255",
    "169.255.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.0.1.0",
    "192.167.255.255",
    "192.169.0.0",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "2600:1f18::1",
    "2606:4700:4700::1111",
    "2001:200::1",
    "2a00:1450:4001::200e",
    "::ffff:8.8.8.8",
    "64:ff9b::808:808",
)

#: A network without IPv4 never reaches the loopback of the machine.
LOOPBACK = [
    address for address, reason in ADDRESSES if reason == "loopback" and not address.startswith("64:ff9b")
]
SPECIAL = [(address, reason) for address, reason in ADDRESSES if address not in LOOPBACK]


@pytest.mark.parametrize("address", PUBLIC)
@pytest.mark.parametrize("allow_loopback", [False, True])
def test_a_public_address_may_be_connected_to(address: str, allow_loopback: bool) -> None:  # noqa: FBT001
    assert refusal(ip_address(address), allow_loopback=allow_loopback) is None


@pytest.mark.parametrize(("address", "reason"), SPECIAL)
@pytest.mark.parametrize("allow_loopback", [False, True])
def test_a_special_address_may_not_even_where_loopback_may(
    address: str,
    reason: str,
    allow_loopback: bool,  # noqa: FBT001
) -> None:
    found = refusal(ip_address(address), allow_loopback=allow_loopback)
    assert found is not None
    assert found.startswith(reason)


@pytest.mark.parametrize("address", LOOPBACK)
def test_loopback_may_be_connected_to_only_where_the_stack_allows_it(address: str) -> None:
    assert refusal(ip_address(address), allow_loopback=False) == "loopback"
    assert refusal(ip_address(address), allow_loopback=True) is None


VPC = (ip_network("10.0.0.0/16"), ip_network("fd12::/32"))


@pytest.mark.parametrize("address", ["10.0.0.1", "10.0.255.255", "::ffff:10.0.3.4", "fd12::1"])
def test_a_private_address_in_a_network_of_the_operator_may_be_connected_to(address: str) -> None:
    assert refusal(ip_address(address), allow_loopback=False, private=VPC) is None


@pytest.mark.parametrize("address", ["10.1.0.1", "192.168.0.1", "fd01::1", "64:ff9b::a00:1"])
def test_a_private_address_elsewhere_may_not(address: str) -> None:
    assert refusal(ip_address(address), allow_loopback=False, private=VPC) is not None


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "169.254.169.254", "fd00:ec2::254", "224.0.0.1", "::1", "fe80::1"],
)
def test_no_network_of_the_operator_opens_addresses_that_are_special_otherwise(address: str) -> None:
    every = (ip_network("0.0.0.0/0"), ip_network("::/0"))
    assert refusal(ip_address(address), allow_loopback=False, private=every) is not None
