"""Connects a receiver with Flask.

app.add_url_rule("/sweephand", view_func=view(receiver), methods=["POST"])
"""

from collections.abc import Callable

import flask

from sweephand_client.receive.receiver import Receiver


def view(receiver: Receiver, name: str = "sweephand") -> Callable[[], flask.Response]:
    """A view that answers deliveries. `name` is its endpoint."""

    def receive() -> flask.Response:
        status, headers, body = receiver.respond(dict(flask.request.headers), flask.request.get_data())
        return flask.Response(body, status, dict(headers))

    receive.__name__ = name
    return receive
