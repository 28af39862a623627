"""Looking up host names: a thread for each lookup, and a bound on the threads of each namespace.

The system's resolver takes no time-out, and nothing can cancel it (getaddrinfo, POSIX.1-2017). So an attempt
whose time is up leaves its lookup behind. A lookup that was left behind keeps its slot until it ends.
"""

from collections import Counter
from concurrent.futures import Future
from threading import Lock, Thread
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sweephand.delivery.http.egress import Address, Resolver

#: Lookups that one process has open at once. Each has a thread and a socket. A function of Lambda has 1,024
#: of both (AWS's quotas), and keeps up to IDLE_CONNECTIONS_MAX connections.
LOOKUPS_MAX: Final = 192

#: A namespace may have as many lookups open as a quarter of the slots that are free then. So it has a slot
#: for each of the DELIVERIES_AT_ONCE of a function, and eight namespaces whose name servers are dead leave
#: eight slots to the next one. A bound for each host would protect nobody: a zone can have any number of
#: names.
FREE_SLOTS_PER_LOOKUP: Final = 4


class Lookups:
    """The open lookups of one process. Safe to use from many threads.

    Whoever asks for a name that is being looked up waits for that lookup. So a host has one lookup at a time
    for each port.
    """

    def __init__(self, resolver: "Resolver") -> None:
        self._resolver = resolver
        self._open: dict[tuple[str, int], Future[Sequence[Address]]] = {}
        self._by_namespace: Counter[str] = Counter()
        self._lock = Lock()

    def addresses(self, host: str, port: int, timeout_s: float, namespace: str) -> "Sequence[Address] | None":
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

    def _begin(self, lookup: "Future[Sequence[Address]]", host: str, port: int, namespace: str) -> None:
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
