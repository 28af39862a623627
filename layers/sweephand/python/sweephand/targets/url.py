"""Which URLs and addresses may be called, and the parts of a URL.

The grammar of URLs is strict. Programs read a loose URL in different ways, and what was judged would not be
what is called. Addresses are those of the public internet. Sources: IANA's registries of special-purpose
addresses (RFC 6890, and the entries added since).
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from ipaddress import AddressValueError, IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from typing import Any, Final, NamedTuple, TypeAlias

from sweephand.base.limits import URL_LENGTH_MAX
from sweephand.base.names import text_schema

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


#: How a URL is written, as JSON Schema.
URL_SCHEMA: Final[dict[str, Any]] = text_schema(
    r'^[Hh][Tt][Tt][Pp][Ss]?://[!"$-\[\]-~]+$', URL_LENGTH_MAX, format="uri"
)

# re compiles these when they are first used, so that importing this module stays cheap.

#: Printable ASCII without the backslash: some programs read a backslash as a slash, others do not.
_CHARACTERS: Final = r"[\x21-\x5b\x5d-\x7e]*"
_PARTS: Final = r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/?#]*)(?P<path>[^?#]*)(?P<query>\?[^#]*)?(?P<fragment>#.*)?"
_AUTHORITY: Final = r"(?P<host>\[[^\]]*\]|[^:\[\]]*)(?::(?P<port>[0-9]{1,5}))?"
_LABEL: Final = r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
_NUMBER: Final = r"[0-9]+|0[xX][0-9A-Fa-f]*"

#: How many URLs stay in the cache: every attempt reads its URL again. The longest URLs take 2 MB.
_KEPT_MAX: Final = 1_024

HOST_LENGTH_MAX: Final = 253
PORT_MAX: Final = 65_535
_DEFAULT_PORTS: Final = {"https": 443, "http": 80}


class Url(NamedTuple):
    """The parts of a URL. `host` has no brackets. `target` is what the request line contains."""

    scheme: str
    host: str
    port: int
    target: str

    @property
    def authority(self) -> str:
        """Host and port for the `host` header (RFC 9110, 7.2), without the default port of the scheme."""
        host = f"[{self.host}]" if ":" in self.host else self.host.rstrip(".")
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"


class UrlError(ValueError):
    """A URL may not be called. The message is a sentence that says what would be valid."""


def read_url(text: object, *, allow_insecure: bool) -> Url:
    """The parts of a URL that may be called.

    With `allow_insecure`, `http` and loopback addresses are allowed too. Raises UrlError for any other value.
    A host name is not resolved here: the delivery function judges its addresses when it connects. An IP
    address in place of a host name is judged here.
    """
    if not isinstance(text, str) or not text:
        raise UrlError("Give a URL, for instance https://example.com/hook.")
    return _read(text, allow_insecure=allow_insecure)


@lru_cache(_KEPT_MAX)
def _read(text: str, *, allow_insecure: bool) -> Url:
    if len(text) > URL_LENGTH_MAX:
        raise UrlError(f"Give a URL of at most {URL_LENGTH_MAX} characters (urlLengthMax).")
    if not re.fullmatch(_CHARACTERS, text):
        raise UrlError(
            "Use ASCII without spaces, control characters and backslashes: percent-encode the rest, "
            "and write an international host in its xn-- form."
        )
    parts = re.fullmatch(_PARTS, text)
    if parts is None:
        raise UrlError("Give a whole URL with scheme and host, for instance https://example.com/hook.")
    scheme = _scheme(parts["scheme"], allow_insecure=allow_insecure)
    if parts["fragment"] is not None:
        raise UrlError("Leave out the fragment (#…): it is never sent.")
    if "@" in parts["authority"]:
        raise UrlError("Put no user or password into the URL: send them in a header.")
    authority = re.fullmatch(_AUTHORITY, parts["authority"])
    if authority is None:
        raise UrlError("Give a host and, if need be, a port from 1 to 65535, as in example.com:8443.")
    port = int(authority["port"]) if authority["port"] else _DEFAULT_PORTS[scheme]
    if not 1 <= port <= PORT_MAX:
        raise UrlError("Give a port from 1 to 65535.")
    host = _host(authority["host"], allow_loopback=allow_insecure)
    return Url(scheme, host, port, (parts["path"] or "/") + (parts["query"] or ""))


def _scheme(written: str, *, allow_insecure: bool) -> str:
    scheme = written.lower()
    if scheme == "https" or (scheme == "http" and allow_insecure):
        return scheme
    if scheme == "http":
        raise UrlError("Use https: this stack does not allow http.")
    raise UrlError("Use https.")


def _host(written: str, *, allow_loopback: bool) -> str:
    """The host in lower case, without brackets."""
    host = read_host(written)
    if isinstance(host, str):
        return host
    reason = refusal(host, allow_loopback=allow_loopback)
    if reason is not None:
        raise UrlError(f"Give a public address: {host} is {reason}.")
    return str(host)


def read_host(written: str) -> str | IPv4Address | IPv6Address:
    """The host of a URL: a name in lower case, or an address. IPv6 addresses are in brackets.

    Raises UrlError for any other text. It does not judge where the host is.
    """
    address: IPv4Address | IPv6Address
    if written.startswith("["):
        try:
            address = IPv6Address(written[1:-1])
        except AddressValueError:
            raise UrlError("Between the brackets, give an IPv6 address.") from None
        if address.scope_id is not None:
            raise UrlError("Leave out the zone of the IPv6 address: it means something on one machine only.")
    elif re.fullmatch(_NUMBER, written.rstrip(".").rpartition(".")[2]):
        # Resolvers read a host that ends in a number as an IPv4 address, in one of many notations (WHATWG
        # URL, section 3.5). One notation is enough here.
        try:
            address = IPv4Address(written)
        except AddressValueError:
            raise UrlError("Write an IPv4 address as four decimal numbers, as in 192.0.2.1.") from None
    else:
        return _name(written)
    return address


def _name(written: str) -> str:
    name = written.lower()
    labels = name.removesuffix(".").split(".")
    if len(name) > HOST_LENGTH_MAX or not all(re.fullmatch(_LABEL, label) for label in labels):
        raise UrlError("Give a host name of letters, digits and hyphens, for instance example.com.")
    return name
