"""Which IP addresses a delivery may connect to: those of the public internet.

Sources: IANA's registries of special-purpose addresses (RFC 6890, and the entries added since).
"""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from typing import Final, TypeAlias

#: Networks of the operator's own, in which consumers may be.
Networks: TypeAlias = Sequence[IPv4Network | IPv6Network]

_SPECIAL: Final = tuple(
    (ip_network(network), reason)
    for network, reason in (
        ("0.0.0.0/8", "unspecified"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "shared by a carrier (RFC 6598)"),
        ("127.0.0.0/8", "loopback"),
        ("168.63.129.16/32", "a cloud's metadata service"),
        ("169.254.0.0/16", "link-local, where clouds keep their metadata"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "reserved for protocols"),
        ("192.0.2.0/24", "for documentation"),
        ("192.88.99.0/24", "a 6to4 relay"),
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "for benchmarks"),
        ("198.51.100.0/24", "for documentation"),
        ("203.0.113.0/24", "for documentation"),
        ("224.0.0.0/4", "multicast"),
        ("255.255.255.255/32", "broadcast"),
        ("240.0.0.0/4", "reserved"),
        ("::/128", "unspecified"),
        ("::1/128", "loopback"),
        ("2001::/32", "a Teredo tunnel"),
        ("2001::/23", "reserved for protocols"),
        ("2001:db8::/32", "for documentation"),
        ("2002::/16", "a 6to4 tunnel"),
        ("3fff::/20", "for documentation"),
        ("fd00:ec2::/32", "where AWS keeps its metadata"),
        ("fc00::/7", "private (unique local)"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "private (site-local)"),
        ("ff00::/8", "multicast"),
    )
)

#: What an operator may open: the addresses of a VPC. Metadata services and loopback are never among them.
_OPENABLE: Final = frozenset({"private", "private (unique local)", "shared by a carrier (RFC 6598)"})

#: Every global unicast address lies in this network (RFC 4291, IANA). An address outside it is in the table
#: above, or is reserved.
_GLOBAL_V6: Final = IPv6Network("2000::/3")

#: A network without IPv4 reaches IPv4 addresses through these (RFC 6052). The embedded address is judged.
_NAT64: Final = IPv6Network("64:ff9b::/96")


def refusal(
    address: IPv4Address | IPv6Address, *, allow_loopback: bool, private: Networks = ()
) -> str | None:
    """Why a delivery may not connect to an address, in a few words; None if it may.

    Private addresses are permitted in the networks of `private`, and no other special ones.

    An IPv4 address inside an IPv6 address (mapped, NAT64) is judged by itself. No consumer needs the tunnels
    6to4 and Teredo, so they are refused, whatever address they contain.
    """
    carried = embedded_ipv4(address)
    if carried is not None:
        if address in _NAT64:
            return refusal(carried, allow_loopback=False)
        return refusal(carried, allow_loopback=allow_loopback, private=private)
    if address.is_loopback and allow_loopback:
        return None
    for network, reason in _SPECIAL:
        if address in network:
            is_open = reason in _OPENABLE and any(address in each for each in private)
            return None if is_open else reason
    return None if address.version == 4 or address in _GLOBAL_V6 else "reserved"  # noqa: PLR2004 - a version


def embedded_ipv4(address: IPv4Address | IPv6Address) -> IPv4Address | None:
    """The IPv4 address that a connection to an IPv6 address reaches (mapped, NAT64); else None."""
    if not isinstance(address, IPv6Address):
        return None
    return IPv4Address(int(address) & 0xFFFF_FFFF) if address in _NAT64 else address.ipv4_mapped
