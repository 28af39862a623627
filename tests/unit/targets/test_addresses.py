from ipaddress import ip_address, ip_network

import pytest

from sweephand.targets.addresses import refusal

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

SPECIAL = (
    "0.0.0.0",  # noqa: S104 - looked at, not bound to
    "0.255.255.255",
    "10.0.0.0",
    "10.255.255.255",
    "100.64.0.0",
    "100.100.100.200",
    "100.127.255.255",
    "168.63.129.16",
    "169.254.0.0",
    "169.254.169.254",
    "169.254.170.2",
    "172.16.0.0",
    "172.31.255.255",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.0.1",
    "192.168.255.255",
    "198.18.0.0",
    "198.19.255.255",
    "198.51.100.7",
    "203.0.113.7",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.0",
    "255.255.255.255",
    "::",
    "::2",
    "::127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:169.254.169.254",
    "::ffff:0.0.0.0",
    "64:ff9b::a00:1",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:0:7f00:1::",
    "2001:2::1",
    "2001:10::1",
    "2001:db8::1",
    "2002:7f00:1::1",
    "2002:808:808::1",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fdff:ffff::1",
    "fe80::1",
    "febf::1",
    "fec0::1",
    "ff02::1",
    "ff0e::1",
)

LOOPBACK = ("127.0.0.1", "127.0.0.0", "127.255.255.254", "::1", "::ffff:127.0.0.1")


@pytest.mark.parametrize("address", PUBLIC)
@pytest.mark.parametrize("allow_loopback", [False, True])
def test_a_public_address_may_be_connected_to(address: str, allow_loopback: bool) -> None:  # noqa: FBT001
    assert refusal(ip_address(address), allow_loopback=allow_loopback) is None


@pytest.mark.parametrize("address", SPECIAL)
@pytest.mark.parametrize("allow_loopback", [False, True])
def test_a_special_address_may_not_even_where_loopback_may(
    address: str,
    allow_loopback: bool,  # noqa: FBT001
) -> None:
    assert refusal(ip_address(address), allow_loopback=allow_loopback)


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
