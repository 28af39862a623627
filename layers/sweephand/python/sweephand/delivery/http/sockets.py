"""Sockets that bound what a consumer can cost: a time-out is a deadline, and an answer has an end.

Python's sockets allow their time-out anew to every call, so that a consumer who sends a byte now and
then holds a request for as long as it likes. Here `settimeout` says when everything ends, until it is
called again; from then on, too, no more than so many bytes are taken.
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

#: Far more than status, headers and the part of a body that is read; endless headers end here.
RECEIVED_BYTES_MAX: Final = 262_144

#: A call may end this much after its deadline.
_LATE_MAX_S: Final = 0.01


class AnswerTooLongError(OSError):
    """More than RECEIVED_BYTES_MAX came without the answer having been read."""


class _Bounded(_Socket):
    """What both kinds of socket do before each call that can block."""

    _ends: float | None = None
    _armed_s: float | None = None
    _received: int = 0

    def __del__(self) -> None:
        # A kept connection ends with the pool that kept it. The socket closes itself: among objects that
        # refer to each other Python may finalize the socket before whatever else would close it.
        self.close()

    def settimeout(self, value: float | None, /) -> None:
        """End all further calls this many seconds from now (None: never), and count bytes from zero."""
        self._ends = None if value is None else monotonic() + value
        self._received = 0
        self._arm(value)

    def recv_into(self, buffer: "WriteableBuffer", nbytes: int | None = None, flags: int = 0) -> int:
        """As of any socket; TimeoutError at the deadline, AnswerTooLongError past the limit."""
        self._hurry()
        if self._received > RECEIVED_BYTES_MAX:
            raise AnswerTooLongError(f"more than {RECEIVED_BYTES_MAX} bytes of answer")
        if nbytes is None:
            received = super().recv_into(buffer, flags=flags)
        else:
            received = super().recv_into(buffer, nbytes, flags)
        self._received += received
        return received

    def send(self, data: "ReadableBuffer", flags: int = 0, /) -> int:
        """As of any socket; TimeoutError at the deadline. TLS sends all it sends through this."""
        self._hurry()
        return super().send(data, flags)

    def sendall(self, data: "ReadableBuffer", flags: int = 0, /) -> None:
        """As of any socket; TimeoutError at the deadline."""
        self._hurry()
        super().sendall(data, flags)

    def has_come(self) -> bool:
        """Whether anything came unasked, the connection's end for one. To be asked when something arrived.

        What TLS says for itself is passed over (has_application_data).
        """
        return not isinstance(self, ssl.SSLSocket) or has_application_data(self)

    def _hurry(self) -> None:
        if self._ends is None:
            return
        left_s = self._ends - monotonic()
        if left_s <= 0:
            raise TimeoutError("timed out")
        self._arm(left_s)

    def _arm(self, timeout_s: float | None) -> None:
        """Have the next call end in that time, or so little later that it does not matter.

        Telling the socket is a call to the system, for which the thread lets go of the interpreter: that of
        ten threads which deliver at once costs more than the call.
        """
        armed_s = self._armed_s
        if not timeout_s or armed_s is None or not 0 <= armed_s - timeout_s <= _LATE_MAX_S:
            super().settimeout(timeout_s)
            self._armed_s = timeout_s


def has_application_data(sock: ssl.SSLSocket) -> bool:
    """Whether more has arrived than what TLS says for itself, or the connection has ended.

    A server sends session tickets after the handshake (TLS 1.3, RFC 8446, 4.6.1), which stay unread until the
    first answer is read.
    """
    timeout_s = sock.gettimeout()
    socket.socket.settimeout(sock, 0)  # not that of _Bounded, which would take it for a deadline
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
    """A plain socket with bounds."""


class BoundedTlsSocket(_Bounded, ssl.SSLSocket):
    """A TLS socket with bounds: what an SSLContext makes when this is its `sslsocket_class`."""


def tls_context(**trust: Any) -> ssl.SSLContext:
    """A context that verifies certificates and host names and makes sockets with bounds.

    `trust` names other authorities than the system's, as `ssl.create_default_context` takes them.
    """
    context = ssl.create_default_context(**trust)
    context.sslsocket_class = BoundedTlsSocket
    context.set_alpn_protocols(["http/1.1"])
    return context
