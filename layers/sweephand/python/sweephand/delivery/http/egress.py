"""Which address a request connects to. The host is resolved once, and only permitted addresses are used.

The connection goes to the very address that was checked. So a name that resolves to another address the next
time gains nothing. Resolving and trying each address all end by one deadline.
"""

import socket
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from ipaddress import ip_address
from threading import Lock, Thread
from time import monotonic
from typing import Any, Final, NamedTuple, TypeAlias

from sweephand.base.errors import SweephandError
from sweephand.delivery.http.sockets import BoundedSocket
from sweephand.targets.destinations import Destinations
from sweephand.targets.url import Networks, refusal


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

#: Lookups that one process has open at once. Each has a thread and a socket. A function of Lambda has 1,024
#: of both (AWS's quotas), and keeps up to IDLE_CONNECTIONS_MAX connections.
LOOKUPS_MAX: Final = 192

#: A namespace may have as many lookups open as a quarter of the slots that are free then. So it has a slot
#: for each of the DELIVERIES_AT_ONCE of a function. Eight namespaces whose name servers are dead leave eight
#: slots to the next one. A bound for each host would protect nobody: a zone can have any number of names.
FREE_SLOTS_PER_LOOKUP: Final = 4


class EgressError(SweephandError):
    """No connection may be made: the host has no address, or none of its addresses is permitted."""


def resolve(host: str, port: int) -> Sequence[Address]:
    """The addresses of a host, in the order that the system prefers. OSError if it has none."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [Address(family, location) for family, _, _, _, location in found]


class Lookups:
    """The open lookups of one process. Safe to use from many threads.

    The system's resolver takes no time-out, and nothing can cancel it (getaddrinfo, POSIX.1-2017). So each
    lookup has a thread of its own, and an attempt whose time is up leaves it behind. A lookup that was left
    behind keeps its slot until it ends.

    Whoever asks for a name that is being looked up waits for that lookup. So a host has one lookup at a time
    for each port.
    """

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self._open: dict[tuple[str, int], Future[Sequence[Address]]] = {}
        self._by_namespace: Counter[str] = Counter()
        self._lock = Lock()

    def addresses(self, host: str, port: int, timeout_s: float, namespace: str) -> Sequence[Address] | None:
        """The host's addresses; None if the namespace has too many lookups open, so that none began.

        Raises TimeoutError when the time is up, and the resolver's error.
        """
        with self._lock:
            lookup = self._open.get((host, port))
            begins = lookup is None
            if lookup is None:
                if not self._has_slot(namespace):
                    return None
                lookup = self._open[host, port] = Future()
                self._by_namespace[namespace] += 1
        if begins:
            self._begin(lookup, host, port, namespace)
        return lookup.result(timeout_s)

    def open_in(self, namespace: str) -> int:
        """How many lookups that namespace has open."""
        return self._by_namespace[namespace]

    def _has_slot(self, namespace: str) -> bool:
        free = LOOKUPS_MAX - len(self._open)
        return self._by_namespace[namespace] < free // FREE_SLOTS_PER_LOOKUP

    def _begin(self, lookup: Future[Sequence[Address]], host: str, port: int, namespace: str) -> None:
        def look_up() -> None:
            try:
                found = self._resolver(host, port)
            except Exception as error:  # noqa: BLE001 - each attempt that waits for the lookup raises it
                self._end(host, port, namespace)
                lookup.set_exception(error)
            else:
                self._end(host, port, namespace)
                lookup.set_result(found)

        try:
            Thread(target=look_up, name=f"resolve {host}", daemon=True).start()
        except RuntimeError as error:  # the process has no thread left, for another reason than lookups
            self._end(host, port, namespace)
            lookup.set_exception(error)

    def _end(self, host: str, port: int, namespace: str) -> None:
        with self._lock:
            del self._open[host, port]
            self._by_namespace[namespace] -= 1
            if not self._by_namespace[namespace]:
                del self._by_namespace[namespace]


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
        lists: Sequence[Destinations] = (),
        *,
        namespace: str,
    ) -> BoundedSocket:
        """A socket that is connected to a permitted address of the host, which all of these lists allow.

        `namespace` is that of the target: it may have only some of the process's lookups open. The socket's
        deadline is the time that is left. The addresses are tried in order. Each gets an equal share of the
        time that is left. Raises EgressError if the name is not resolved or no address is permitted. Raises
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
        self, host: str, addresses: Iterable[Address], lists: Sequence[Destinations]
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
