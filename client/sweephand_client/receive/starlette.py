"""Connects a receiver with FastAPI or Starlette.

app.add_route("/sweephand", endpoint(receiver), methods=["POST"])
"""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response

from sweephand_client.receive.receiver import Receiver


def endpoint(receiver: Receiver) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint that answers deliveries. A handler that is no coroutine function runs in a thread."""

    async def receive(request: Request) -> Response:
        status, headers, body = await receiver.respond_async(request.headers, await request.body())
        return Response(body, status, dict(headers))

    return receive
