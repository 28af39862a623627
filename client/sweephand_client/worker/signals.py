"""Waits for the signals that stop a worker."""

import select
import signal
import socket
from typing import Final, Self

_STOPPING: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Signals:
    """Takes SIGTERM, SIGINT and SIGHUP while its context lasts. Only the main thread can enter it.

    A handler that set a threading.Event could wait for the very thread that it interrupts. So the handlers do
    nothing, and Python writes each signal to a socket.
    """

    def __init__(self) -> None:
        self._read, self._written = socket.socketpair()
        self._written.setblocking(False)

    def __enter__(self) -> Self:
        self._former = {each: signal.signal(each, lambda *_: None) for each in _STOPPING}
        signal.set_wakeup_fd(self._written.fileno())
        return self

    def __exit__(self, *_: object) -> None:
        signal.set_wakeup_fd(-1)
        for number, handler in self._former.items():
            signal.signal(number, handler)
        self._read.close()
        self._written.close()

    def came(self, within_s: float) -> bool:
        """Wait for a signal for that time at most. Returns whether one came, also before this call."""
        ready, _, _ = select.select([self._read], [], [], within_s)
        return bool(ready and self._read.recv(1))
