"""How a request reaches applications of each kind."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import pytest
from werkzeug.wrappers import Request as WsgiRequest
from werkzeug.wrappers import Response as WsgiResponse

from sweephand_engine.testing.applications import Reply, Request, application
from sweephand_engine.testing.loops import Loops

REQUEST = Request(
    "PUT",
    "https://consumer.test:8443/caf%C3%A9/a%20b?day=1&day=2",
    {"content-type": "application/json", "webhook-id": "7", "x-name": "caf\xe9"},
    b'{"a": 1}',
)


@pytest.fixture
def loops() -> Iterator[Loops]:
    loops = Loops()
    yield loops
    loops.close()


def ask(handler: Any, loops: Loops, request: Request = REQUEST, argument: object = None) -> Reply:
    return application(handler, loops)(request, argument)


def test_a_wsgi_application_gets_the_request_and_answers(loops: Loops) -> None:
    seen: list[WsgiRequest] = []

    def app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        request = WsgiRequest(environ)
        seen.append(request)
        assert request.get_json() == {"a": 1}
        response = WsgiResponse("done", 201, {"Retry-After": "7"})
        return response(environ, start_response)

    reply = ask(app, loops)

    [request] = seen
    assert (request.method, request.path, request.host) == ("PUT", "/café/a b", "consumer.test:8443")
    assert request.args.getlist("day") == ["1", "2"]
    assert (request.headers["webhook-id"], request.headers["x-name"]) == ("7", "café")
    assert request.is_secure
    assert (reply.status, reply.headers["retry-after"], reply.body) == (201, "7", b"done")


def test_a_wsgi_application_may_write_and_its_answer_is_closed(loops: Loops) -> None:
    closed: list[bool] = []

    class Chunks:
        def __iter__(self) -> Iterator[bytes]:
            yield b"second"

        def close(self) -> None:
            closed.append(True)

    def app(_: Any, start_response: Callable[..., Callable[[bytes], object]]) -> Chunks:
        start_response("500 Broken", [])
        start_response("200 OK", [("X-A", "b")])(b"first ")
        return Chunks()

    assert ask(app, loops) == Reply(200, {"x-a": "b"}, b"first second")
    assert closed == [True]


class Asgi:
    """An ASGI application as frameworks make it: an object with an asynchronous __call__."""

    def __init__(self) -> None:
        self.scopes: list[Mapping[str, Any]] = []
        self.messages: list[Mapping[str, Any]] = []

    async def __call__(self, scope: Mapping[str, Any], receive: Any, send: Any) -> None:
        self.scopes.append(scope)
        self.messages.append(await receive())
        # A framework listens for the end of the connection while it answers.
        listening = asyncio.create_task(receive())
        await asyncio.sleep(0)
        assert not listening.done()
        await send({"type": "http.response.start", "status": 202, "headers": [(b"X-A", b"b")]})
        await send({"type": "http.response.body", "body": b"do", "more_body": True})
        await send({"type": "http.response.body", "body": b"ne"})
        self.messages.append(await listening)


def test_an_asgi_application_gets_the_request_and_answers(loops: Loops) -> None:
    app = Asgi()

    reply = ask(app, loops)

    assert reply == Reply(202, {"x-a": "b"}, b"done")
    [scope] = app.scopes
    assert (scope["type"], scope["method"], scope["scheme"]) == ("http", "PUT", "https")
    assert (scope["path"], scope["raw_path"]) == ("/café/a b", b"/caf%C3%A9/a%20b")
    assert (scope["query_string"], scope["server"]) == (b"day=1&day=2", ("consumer.test", 8443))
    assert dict(scope["headers"]) == {
        b"host": b"consumer.test:8443",
        b"content-length": b"8",
        b"content-type": b"application/json",
        b"webhook-id": b"7",
        b"x-name": b"caf\xe9",
    }
    assert [each["type"] for each in app.messages] == ["http.request", "http.disconnect"]
    assert app.messages[0]["body"] == b'{"a": 1}'


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (None, Reply(204)),
        (202, Reply(202)),
        ((429, {"retry-after": "7"}), Reply(429, {"retry-after": "7"})),
        (Reply(429, {"Retry-After": "7"}), Reply(429, {"retry-after": "7"})),
        (Reply(200, {}, b"done"), Reply(200, {}, b"done")),
    ],
)
def test_a_callable_gets_its_argument_and_answers(loops: Loops, said: Any, expected: Reply) -> None:
    seen: list[object] = []

    def handler(delivery: object) -> Any:
        seen.append(delivery)
        return said

    assert ask(handler, loops, argument="delivery") == expected
    assert seen == ["delivery"]


def test_a_callable_may_be_asynchronous(loops: Loops) -> None:
    async def handler(_: object) -> int:
        await asyncio.sleep(0)
        return 202

    assert ask(handler, loops) == Reply(202)


def test_a_callable_may_be_a_list_that_gathers(loops: Loops) -> None:
    gathered: list[object] = []
    assert ask(gathered.append, loops, argument="delivery") == Reply(204)
    assert gathered == ["delivery"]


def test_an_answer_of_another_kind_is_refused_with_what_would_be_right(loops: Loops) -> None:
    with pytest.raises(TypeError, match="A consumer answers None, a status or a Reply, not 'done'"):
        ask(lambda _: "done", loops)


async def silent_asgi(_scope: object, _receive: object, _send: object) -> None:
    pass


@pytest.mark.parametrize("handler", [lambda _environ, _start: [], silent_asgi])
def test_an_application_without_an_answer_is_told_so(loops: Loops, handler: Any) -> None:
    with pytest.raises(RuntimeError, match="The application ended without an answer"):
        ask(handler, loops)


def of_four(first: object, second: object, third: object, fourth: object) -> None:
    raise AssertionError(first, second, third, fourth)


@pytest.mark.parametrize("handler", ["app", 7, None, of_four])
def test_what_is_no_consumer_is_refused(loops: Loops, handler: Any) -> None:
    with pytest.raises(TypeError, match=r"is no consumer|takes 4 arguments"):
        application(handler, loops)
