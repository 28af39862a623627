"""Which URLs, addresses, hosts and networks HTTP targets may be in."""

from ipaddress import ip_address, ip_network

import pytest
from tests.fakes.egress_urls import ADDRESSES, URLS
from tests.fakes.targets import HTTP, pointers

from sweephand.base import limits
from sweephand.model.namespace import AllowedTargets
from sweephand.targets.destinations import Destinations, of_namespace, read_network, read_rule
from sweephand.targets.url import UrlError, read_url, refusal


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("example.com", "example.com"),
        ("Example.COM", "example.com"),
        ("example.com.", "example.com"),
        ("*.Example.com.", "*.example.com"),
        ("*.com", "*.com"),
        ("localhost", "localhost"),
        ("XN--mnchen-3ya.example", "xn--mnchen-3ya.example"),
        ("203.0.113.7", "203.0.113.7"),
        ("2001:DB8:0::1", "2001:db8::1"),
        ("[2001:db8::1]", "2001:db8::1"),
    ],
)
def test_a_host_of_a_list_is_read_into_one_form(text: str, rule: str) -> None:
    assert read_rule(text) == rule


@pytest.mark.parametrize(
    "text",
    [
        "",
        "*",
        "*.",
        "*example.com",
        "a.*.example.com",
        "*.*.example.com",
        "example.*",
        "*.203.0.113.7",
        "*.2001:db8::1",
        "example.com:443",
        "https://example.com",
        "example.com/",
        "user@example.com",
        "münchen.example",
        "exa mple.com",
        "203.0.113",
        "0x7f000001",
        "203.0.113.0/24",
        "fe80::1%eth0",
        ".example.com",
    ],
)
def test_another_text_is_no_host_and_the_refusal_says_what_is_one(text: str) -> None:
    with pytest.raises(UrlError, match=r"Give a host name such as example\.com") as caught:
        read_rule(text)
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize(
    ("rule", "host", "fits"),
    [
        ("example.com", "example.com", True),
        ("example.com", "example.com.", True),
        ("example.com", "www.example.com", False),
        ("example.com", "notexample.com", False),
        ("example.com", "example.com.evil.example", False),
        ("*.example.com", "www.example.com", True),
        ("*.example.com", "a.b.example.com", True),
        ("*.example.com", "www.example.com.", True),
        ("*.example.com", "example.com", False),
        ("*.example.com", "notexample.com", False),
        ("*.example.com", "www.example.com.evil.example", False),
        ("203.0.113.7", "203.0.113.7", True),
        ("203.0.113.7", "203.0.113.70", False),
        ("2001:db8::1", "2001:db8::1", True),
    ],
)
def test_a_rule_fits_its_own_host_or_every_host_below_it(rule: str, host: str, *, fits: bool) -> None:
    assert (Destinations(denied_hosts=(rule,)).host_refusal(host) is not None) == fits
    assert (Destinations(allowed_hosts=(rule,)).host_refusal(host) is None) == fits


def test_what_is_denied_is_denied_although_it_is_allowed() -> None:
    lists = Destinations(allowed_hosts=("*.example.com",), denied_hosts=("bad.example.com",))
    assert lists.host_refusal("good.example.com") is None
    assert lists.host_refusal("bad.example.com") == (
        "This stack does not deliver to bad.example.com, which its parameter DeniedTargetHosts names. Give "
        "another host, or have its operator change that list."
    )
    assert lists.host_refusal("example.org") == (
        "This stack does not deliver to example.org: give a host that its parameter AllowedTargetHosts "
        "names, or have its operator add this one there."
    )
    networks = Destinations(
        allowed_networks=(ip_network("198.51.100.0/24"),), denied_networks=(ip_network("198.51.100.128/25"),)
    )
    assert networks.address_refusal(ip_address("198.51.100.1")) is None
    assert networks.address_refusal(ip_address("198.51.100.200")) == "in the stack's DeniedTargetCidrs"
    assert networks.address_refusal(ip_address("8.8.8.8")) == "in none of the stack's AllowedTargetCidrs"


@pytest.mark.parametrize("address", ["8.8.4.4", "::ffff:8.8.4.4", "64:ff9b::808:404"])
def test_a_network_holds_an_address_in_each_of_its_forms(address: str) -> None:
    network = (ip_network("8.8.4.0/24"),)
    assert Destinations(denied_networks=network).address_refusal(ip_address(address)) is not None
    assert Destinations(allowed_networks=network).address_refusal(ip_address(address)) is None


def test_a_network_of_ipv6_holds_the_translated_addresses_in_it() -> None:
    nat64 = (ip_network("64:ff9b::/96"),)
    assert Destinations(denied_networks=nat64).address_refusal(ip_address("64:ff9b::808:404")) is not None
    assert Destinations(denied_networks=nat64).address_refusal(ip_address("8.8.4.4")) is None


def test_an_address_in_the_place_of_a_name_is_judged_by_hosts_and_networks() -> None:
    lists = Destinations(denied_networks=(ip_network("8.8.4.0/24"),))
    assert lists.refusal("8.8.4.4") == ("Give another address: 8.8.4.4 is in the stack's DeniedTargetCidrs.")
    assert lists.refusal("8.8.8.8") is None
    assert lists.refusal("dns.example") is None, "each delivery judges the addresses of a name"
    assert Destinations(allowed_hosts=("*.example",)).refusal("8.8.8.8") is not None


def test_the_refusals_of_a_namespace_name_its_settings() -> None:
    lists = of_namespace(AllowedTargets(("example.com",), ("198.51.100.0/24",)))
    assert lists.host_refusal("example.org") == (
        "The namespace does not deliver to example.org: give a host that `allowedTargets.hosts` in its "
        "settings names, or have an admin add this one there."
    )
    assert lists.address_refusal(ip_address("8.8.8.8")) == (
        "in none of the networks in `allowedTargets.networks` of the namespace's settings"
    )


def test_empty_lists_refuse_nothing() -> None:
    assert Destinations().refusal("example.com") is None
    assert Destinations().address_refusal(ip_address("8.8.8.8")) is None


@pytest.mark.parametrize(
    "text", ["", "example.com", "203.0.113.1/24", "203.0.113/24", "203.0.113.0/33", "::/129"]
)
def test_what_is_no_network_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UrlError, match=r"203\.0\.113\.0/24 or 2001:db8::/32"):
        read_network(text)


def test_a_network_without_a_length_is_one_address() -> None:
    assert str(read_network("203.0.113.7")) == "203.0.113.7/32"


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
