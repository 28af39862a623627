"""A receiver of the namespace `default`, and a stack in simulated time whose deliveries it gets by WSGI."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import pytest

from sweephand_client.receive import Receiver
from sweephand_engine.testing import Stack


def wsgi_of(receiver: Receiver) -> Callable[[Mapping[str, Any], Callable[..., Any]], Iterable[bytes]]:
    """The smallest application that hands requests to a receiver."""

    def application(environ: Mapping[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        headers = {
            name.removeprefix("HTTP_").replace("_", "-"): value
            for name, value in environ.items()
            if name.startswith("HTTP_") or name == "CONTENT_TYPE"
        }
        status, answered, body = receiver.respond(headers, environ["wsgi.input"].read())
        start_response(f"{int(status)} x", list(answered.items()))
        return [body]

    return application


@pytest.fixture
def stack() -> Iterator[Stack]:
    """A new stack."""
    with Stack() as stack:
        yield stack


@pytest.fixture
def receiver(stack: Stack) -> Receiver:
    """A receiver without handlers, which answers every delivery of the stack."""
    receiver = Receiver()
    receiver.use(stack.client)
    stack.deliver_to(wsgi_of(receiver))
    return receiver
