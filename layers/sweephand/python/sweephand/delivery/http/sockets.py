"""Sockets that bound what a consumer can cost: a time-out is a deadline, and an answer has a maximum size.

Python's sockets grant every call the whole time-out again. A consumer that sends one byte at a time could
therefore hold a request for as long as it likes. Here `settimeout` sets one deadline for all calls until
`settimeout` is called again. It also starts a new count of received bytes, which has a limit.
"""

import socket
import ssl
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer

    _Socket = socket.socket
else:
    _Socket = object

#: Far more than a status, headers and the part of a body that is read. Endless headers end here.
RECEIVED_BYTES_MAX: Final = 262_144

#: A call may end this much after its deadline.
_LATE_MAX_S: Final = 0.01


class AnswerTooLongError(OSError):
    """More than RECEIVED_BYTES_MAX came before the answer was read."""


class _Bounded(_Socket):
    """What both kinds of socket do before each call that can block."""

    _ends: float | None = None
    _armed_s: float | None = None
    _received: int = 0

    def __del__(self) -> None:
        # The pool that keeps a connection may be collected together with it. Python may then finalize the
        # socket before the object that would close it, and would warn. So the socket closes itself.
        self.close()

    def settimeout(self, value: float | None, /) -> None:
        """End all further calls this many seconds from now (None: never), and count bytes from zero."""
        self._ends = None if value is None else monotonic() + value
        self._received = 0
        self._arm(value)

    def recv_into(self, buffer: "WriteableBuffer", nbytes: int | None = None, flags: int = 0) -> int:
        """As for any socket. TimeoutError at the deadline, AnswerTooLongError beyond the limit of bytes."""
        self._check_deadline()
        if self._received > RECEIVED_BYTES_MAX:
            raise AnswerTooLongError(f"more than {RECEIVED_BYTES_MAX} bytes of answer")
        if nbytes is None:
            received = super().recv_into(buffer, flags=flags)
        else:
            received = super().recv_into(buffer, nbytes, flags)
        self._received += received
        return received

    def send(self, data: "ReadableBuffer", flags: int = 0, /) -> int:
        """As for any socket. TimeoutError at the deadline. TLS sends everything through this method."""
        self._check_deadline()
        return super().send(data, flags)

    def sendall(self, data: "ReadableBuffer", flags: int = 0, /) -> None:
        """As for any socket. TimeoutError at the deadline."""
        self._check_deadline()
        super().sendall(data, flags)

    def has_unread_data(self) -> bool:
        """Whether the consumer closed the connection or sent data that no request asked for.

        Call it only when the socket is readable. Messages of TLS itself do not count (has_application_data).
        """
        return not isinstance(self, ssl.SSLSocket) or has_application_data(self)

    def _check_deadline(self) -> None:
        if self._ends is None:
            return
        left_s = self._ends - monotonic()
        if left_s <= 0:
            raise TimeoutError("timed out")
        self._arm(left_s)

    def _arm(self, timeout_s: float | None) -> None:
        """Set the time-out of the next call, unless the present one is at most 10 ms longer.

        Setting a time-out is a system call, for which the thread releases the interpreter lock. With ten
        threads that deliver at once, getting the lock back costs more than the call.
        """
        armed_s = self._armed_s
        if not timeout_s or armed_s is None or not 0 <= armed_s - timeout_s <= _LATE_MAX_S:
            super().settimeout(timeout_s)
            self._armed_s = timeout_s


def has_application_data(sock: ssl.SSLSocket) -> bool:
    """Whether the consumer sent data, or closed the connection. Messages of TLS itself do not count.

    A server sends session tickets after the handshake (TLS 1.3; RFC 8446, 4.6.1). They stay unread until the
    first answer is read.
    """
    timeout_s = sock.gettimeout()
    socket.socket.settimeout(sock, 0)  # the base method: that of _Bounded would set a deadline
    try:
        sock.read(1)
    except ssl.SSLWantReadError:
        return False
    except OSError:
        return True
    finally:
        socket.socket.settimeout(sock, timeout_s)
    return True


class BoundedSocket(_Bounded, socket.socket):
    """A plain socket with a deadline and a limit of bytes."""


class BoundedTlsSocket(_Bounded, ssl.SSLSocket):
    """A TLS socket with the same bounds. An SSLContext makes it when this is its `sslsocket_class`."""


def tls_context(**trust: Any) -> ssl.SSLContext:
    """A TLS context that verifies certificates and host names, and makes bounded sockets.

    `trust` names other certificate authorities than the system's, with the arguments of
    `ssl.create_default_context`.
    """
    context = ssl.create_default_context(**trust)
    context.sslsocket_class = BoundedTlsSocket
    context.set_alpn_protocols(["http/1.1"])
    return context
