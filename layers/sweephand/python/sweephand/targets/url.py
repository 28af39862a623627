"""Which URLs may be called, and what parts one has: one strict grammar, so that nobody reads it otherwise."""

import re
from functools import lru_cache
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Final, NamedTuple

from sweephand.base.limits import URL_LENGTH_MAX
from sweephand.targets.addresses import refusal

#: Backslashes are read as slashes by some and as themselves by others; nothing else here is ambiguous.
_CHARACTERS: Final = re.compile(r"[\x21-\x5b\x5d-\x7e]*")
_PARTS: Final = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/?#]*)(?P<path>[^?#]*)(?P<query>\?[^#]*)?(?P<fragment>#.*)?"
)
_AUTHORITY: Final = re.compile(r"(?P<host>\[[^\]]*\]|[^:\[\]]*)(?::(?P<port>[0-9]{1,5}))?")
_LABEL: Final = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?")
_NUMBER: Final = re.compile(r"[0-9]+|0[xX][0-9A-Fa-f]*")

#: URLs kept as read, since each is read anew for every attempt: 2 MB if all are of the greatest length.
_KEPT_MAX: Final = 1_024

HOST_LENGTH_MAX: Final = 253
PORT_MAX: Final = 65_535
_DEFAULT_PORTS: Final = {"https": 443, "http": 80}


class Url(NamedTuple):
    """A URL in parts: `host` without brackets, `target` as it stands in the request line."""

    scheme: str
    host: str
    port: int
    target: str

    @property
    def authority(self) -> str:
        """Host and port as a request names them (RFC 9110, 7.2): the port if it is not the scheme's."""
        host = f"[{self.host}]" if ":" in self.host else self.host.rstrip(".")
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"


class UrlError(ValueError):
    """A URL that may not be called; the message is a sentence that says what would be valid."""


def read_url(text: object, *, allow_insecure: bool) -> Url:
    """The parts of a URL that may be called; UrlError otherwise.

    With `allow_insecure`, `http` and loopback addresses are allowed too. A host name is not resolved
    here: its addresses are judged when they are connected to. An address in its place is judged at once.
    """
    if not isinstance(text, str) or not text:
        raise UrlError("Give a URL, for instance https://example.com/hook.")
    return _read(text, allow_insecure=allow_insecure)


@lru_cache(_KEPT_MAX)
def _read(text: str, *, allow_insecure: bool) -> Url:
    if len(text) > URL_LENGTH_MAX:
        raise UrlError(f"Give a URL of at most {URL_LENGTH_MAX} characters (urlLengthMax).")
    if not _CHARACTERS.fullmatch(text):
        raise UrlError(
            "Use ASCII without spaces, control characters and backslashes: percent-encode the rest, "
            "and write an international host in its xn-- form."
        )
    parts = _PARTS.fullmatch(text)
    if parts is None:
        raise UrlError("Give a whole URL with scheme and host, for instance https://example.com/hook.")
    scheme = _scheme(parts["scheme"], allow_insecure=allow_insecure)
    if parts["fragment"] is not None:
        raise UrlError("Leave out the fragment (#…): it is never sent.")
    if "@" in parts["authority"]:
        raise UrlError("Put no user or password into the URL: send them in a header.")
    authority = _AUTHORITY.fullmatch(parts["authority"])
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
    """The host in lower case, brackets removed."""
    address: IPv4Address | IPv6Address
    if written.startswith("["):
        try:
            address = IPv6Address(written[1:-1])
        except AddressValueError:
            raise UrlError("Between the brackets, give an IPv6 address.") from None
        if address.scope_id is not None:
            raise UrlError("Leave out the zone of the IPv6 address: it means something on one machine only.")
    elif _NUMBER.fullmatch(written.rstrip(".").rpartition(".")[2]):
        # A host that ends in a number is an IPv4 address to whoever resolves it, in one of many
        # notations (WHATWG URL, section 3.5); one notation is enough.
        try:
            address = IPv4Address(written)
        except AddressValueError:
            raise UrlError("Write an IPv4 address as four decimal numbers, as in 192.0.2.1.") from None
    else:
        return _name(written)
    reason = refusal(address, allow_loopback=allow_loopback)
    if reason is not None:
        raise UrlError(f"Give a public address: {address} is {reason}.")
    return str(address)


def _name(written: str) -> str:
    name = written.lower()
    labels = name.removesuffix(".").split(".")
    if len(name) > HOST_LENGTH_MAX or not all(_LABEL.fullmatch(label) for label in labels):
        raise UrlError("Give a host name of letters, digits and hyphens, for instance example.com.")
    return name
