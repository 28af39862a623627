"""Which hosts and networks lists let HTTP targets be in."""

from ipaddress import ip_address, ip_network

import pytest

from sweephand.model.namespace import AllowedTargets
from sweephand.targets.destinations import Destinations, of_namespace, read_network, read_rule
from sweephand.targets.url import UrlError


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
