"""Which address a request connects to. The host is resolved once, and only permitted addresses are used.

The connection goes to the very address that was checked. So a name that resolves to another address the next
time gains nothing. Resolving and trying each address all end by one deadline.
"""

import socket
from collections.abc import Callable, Iterable, Sequence
from ipaddress import ip_address
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from sweephand.base.errors import SweephandError
from sweephand.delivery.http.lookups import Lookups
from sweephand.delivery.http.sockets import BoundedSocket
from sweephand.targets.addresses import Networks, refusal

if TYPE_CHECKING:
    # Many stacks and namespaces have no such lists.
    from sweephand.targets.destinations import Destinations


class Address(NamedTuple):
    """An IP address and port to which a socket can connect."""

    family: socket.AddressFamily
    location: tuple[Any, ...]

    @property
    def ip(self) -> str:
        """The IP address alone."""
        return str(self.location[0])


Resolver: TypeAlias = Callable[[str, int], Sequence[Address]]

#: How many of a name's addresses are tried.
ADDRESSES_MAX: Final = 8


class EgressError(SweephandError):
    """No connection may be made: the host has no address, or none of its addresses is permitted."""


def resolve(host: str, port: int) -> Sequence[Address]:
    """The addresses of a host, in the order that the system prefers. OSError if it has none."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [Address(family, location) for family, _, _, _, location in found]


class Egress:
    """The only way by which connections to consumers leave. Safe to use from many threads."""

    def __init__(self, *, allow_loopback: bool, private: Networks = (), resolver: Resolver = resolve) -> None:
        """`private` are the networks of the operator's own in which private addresses are permitted."""
        self._allow_loopback = allow_loopback
        self._private = private
        self._lookups = Lookups(resolver)

    def connect(
        self,
        host: str,
        port: int,
        timeout_s: float,
        lists: "Sequence[Destinations]" = (),
        *,
        namespace: str,
    ) -> BoundedSocket:
        """A socket that is connected to a permitted address of the host, which all of these lists allow.

        `namespace` is that of the target: it may have only some of the process's lookups open. The socket's
        deadline is the time that is left. The addresses are tried in order. Each gets an equal share of the
        time that is left. Raises EgressError if the name is not resolved or no address is permitted,
        TimeoutError when the time is up, and the last address's OSError if no address accepts a connection.
        """
        ends = monotonic() + timeout_s
        found = self._resolved(host, port, timeout_s, namespace)
        addresses = self._permitted(host, found, lists)[:ADDRESSES_MAX]
        failure: OSError | None = None
        for tried, address in enumerate(addresses):
            share_s = (ends - monotonic()) / (len(addresses) - tried)
            if share_s <= 0:
                break
            try:
                sock = _connected(address, share_s)
            except OSError as error:
                failure = error
            else:
                # Zero would mean "do not block". A millisecond has the same effect as an expired time-out.
                sock.settimeout(max(ends - monotonic(), 0.001))
                return sock
        raise failure or TimeoutError("timed out")

    def _permitted(
        self, host: str, addresses: Iterable[Address], lists: "Sequence[Destinations]"
    ) -> list[Address]:
        permitted: list[Address] = []
        reasons: list[str] = []
        for address in addresses:
            ip = ip_address(address.ip)
            reason = refusal(ip, allow_loopback=self._allow_loopback, private=self._private)
            for each in lists:
                reason = reason or each.address_refusal(ip)
            if reason is None:
                permitted.append(address)
            else:
                reasons.append(f"{address.ip} is {reason}")
        if not permitted:
            listed = "; ".join(reasons[:ADDRESSES_MAX]) or "it has none"
            raise EgressError(f"{host} has no address that may be connected to: {listed}.")
        return permitted

    def _resolved(self, host: str, port: int, timeout_s: float, namespace: str) -> Sequence[Address]:
        try:
            found = self._lookups.addresses(host, port, timeout_s, namespace)
        except TimeoutError:
            raise
        except (OSError, UnicodeError) as error:
            raise EgressError(f"{host} could not be resolved: {error}.") from error
        if found is None:
            raise EgressError(
                f"{host} was not resolved: {self._lookups.open_in(namespace)} other names of the namespace's "
                "targets have had no answer from their name servers yet."
            )
        return found


def _connected(address: Address, timeout_s: float) -> BoundedSocket:
    sock = BoundedSocket(address.family, socket.SOCK_STREAM)
    try:
        # A request is one or two small writes. Nagle's algorithm would delay the second one.
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.settimeout(timeout_s)
        sock.connect(address.location)
    except BaseException:
        sock.close()
        raise
    return sock
