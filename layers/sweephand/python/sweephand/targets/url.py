"""Which URLs may be called, and the parts of each.

The grammar is strict. Programs read a loose URL in different ways, and what was judged would not be what is
called.
"""

import re
from functools import lru_cache
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Any, Final, NamedTuple

from sweephand.base.limits import URL_LENGTH_MAX
from sweephand.base.text_schema import text_schema
from sweephand.targets.addresses import refusal

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
