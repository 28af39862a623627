"""A socket to a consumer is closed when the pool that kept it is collected."""

import gc
import os

import pytest

from sweephand.delivery.http.sockets import BoundedSocket


def test_an_unreferenced_socket_is_closed_without_a_warning() -> None:
    # Among objects that refer to each other Python chooses which one it finalizes first.
    kept: dict[str, object] = {"socket": BoundedSocket()}
    kept["itself"] = kept
    sock = kept["socket"]
    assert isinstance(sock, BoundedSocket)
    descriptor = sock.fileno()
    del sock, kept
    gc.collect()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)
