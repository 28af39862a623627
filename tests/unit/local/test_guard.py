"""A local stack answers programs and its own pages, and refuses pages of other sites."""

import asyncio
import threading
import zipfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest
from infra.local.guard import API, SharedLayers, guarded, look_often, refusal

HOST: Final = "127.0.0.1:4700"
OWN: Final = f"http://{HOST}"

#: What a browser adds to its requests for a page of another site, and the header that gives it away.
FOREIGN: Final = [
    ({"host": HOST, "origin": "https://evil.example", "sec-fetch-site": "cross-site"}, "origin"),
    ({"host": HOST, "origin": "null"}, "origin"),
    ({"host": HOST, "origin": ""}, "origin"),
    ({"host": HOST, "origin": "http://127.0.0.1"}, "origin"),
    ({"host": HOST, "origin": "http://127.0.0.1:3000", "sec-fetch-site": "same-site"}, "origin"),
    ({"host": HOST, "origin": "http://localhost:4700", "sec-fetch-site": "cross-site"}, "origin"),
    ({"host": HOST, "origin": f"https://{HOST}"}, "origin"),
    ({"host": HOST, "origin": f"{OWN}.evil.example"}, "origin"),
    ({"host": HOST, "sec-fetch-site": "cross-site"}, "sec-fetch-site"),
    ({"host": HOST, "sec-fetch-site": "same-site"}, "sec-fetch-site"),
    ({"host": HOST, "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}, "sec-fetch-site"),
    ({"host": HOST, "origin": OWN, "sec-fetch-site": "cross-site"}, "sec-fetch-site"),
    ({"host": "evil.example:4700", "origin": "http://evil.example:4700"}, "host"),
    ({"host": "evil.example:4700", "sec-fetch-site": "same-origin"}, "host"),
    ({"host": "127.0.0.1.evil.example:4700"}, "host"),
    ({"host": "localhost.evil.example"}, "host"),
    ({"host": "0.0.0.0:4700"}, "host"),
    ({"host": "127.0.0.1:4700@evil.example"}, "host"),
    ({"host": "127.0.0.1:4700, evil.example"}, "host"),
    ({"host": ""}, "host"),
    ({}, "host"),
]

#: What programs send, and a browser for a page of the local stack or an address that was typed.
OF_OURS: Final = [
    {"host": HOST},
    {"host": "localhost:4700"},
    {"host": "LOCALHOST:4700"},
    {"host": "127.0.0.1"},
    {"host": HOST, "origin": OWN, "sec-fetch-site": "same-origin"},
    {"host": "localhost:8080", "origin": "http://localhost:8080", "sec-fetch-site": "same-origin"},
    {"host": HOST, "sec-fetch-site": "none", "sec-fetch-mode": "navigate"},
]


@pytest.mark.parametrize(("headers", "wrong"), FOREIGN)
def test_a_request_for_a_page_of_another_site_is_refused_by_the_header_that_shows_it(
    headers: Mapping[str, str], wrong: str
) -> None:
    why = refusal(headers)
    assert why is not None
    assert why.startswith(f"The header {wrong} must ")


@pytest.mark.parametrize("headers", OF_OURS)
def test_programs_and_pages_of_the_stack_are_answered(headers: Mapping[str, str]) -> None:
    assert refusal(headers) is None


class Server:
    """An ASGI application behind the guard, which counts what reaches it."""

    def __init__(self) -> None:
        self.reached = 0

    async def _app(self, _scope: object, _receive: object, send: Any) -> None:
        self.reached += 1
        await send({"type": "reached"})

    def ask(
        self, kind: str, *headers: tuple[bytes, bytes], method: str = "POST", path: str = "/"
    ) -> Sequence[Mapping[str, Any]]:
        """What is sent for a request."""
        sent: list[Mapping[str, Any]] = []

        async def receive() -> Mapping[str, Any]:
            return {"type": f"{kind}.connect"}

        async def send(message: Mapping[str, Any]) -> None:
            sent.append(message)

        path, _, query = path.partition("?")
        scope = {
            "type": kind,
            "method": method,
            "path": path,
            "query_string": query.encode(),
            "headers": headers,
        }
        asyncio.run(guarded(self._app)(scope, receive, send))  # type: ignore[arg-type]
        return sent


@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS", "HEAD"])
def test_a_refused_request_does_not_reach_the_local_aws_and_no_origin_is_allowed(method: str) -> None:
    server = Server()
    start, body = server.ask(
        "http", (b"host", HOST.encode()), (b"origin", b"https://evil.example"), method=method
    )
    assert (start["status"], server.reached) == (403, 0)
    assert [name for name, _ in start["headers"]] == [b"content-type"]
    assert b"another site" in body["body"]


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/000000000000/due?Action=SendMessage",
        "/_ministack/health",
        f"{API}abc/console?Action=CreateQueue",
    ],
)
def test_an_address_that_is_opened_from_elsewhere_reaches_the_api_alone(path: str) -> None:
    # A link in a mail: http://127.0.0.1:4700/000000000000/due?Action=SendMessage&MessageBody=…
    server = Server()
    opened = (b"host", HOST.encode()), (b"sec-fetch-site", b"none")
    start, body = server.ask("http", *opened, method="GET", path=path)
    assert (start["status"], server.reached) == (403, 0)
    assert b"must begin with /_aws/execute-api/" in body["body"]
    assert server.ask("http", *opened, method="GET", path=f"{API}abc/console") == [{"type": "reached"}]


def test_a_refused_websocket_is_closed_before_it_is_accepted() -> None:
    server = Server()
    foreign = (b"host", HOST.encode()), (b"origin", b"https://evil.example")
    assert server.ask("websocket", *foreign) == [{"type": "websocket.close"}]
    assert server.reached == 0


def test_other_requests_and_the_life_of_the_server_reach_the_local_aws() -> None:
    server = Server()
    for kind in ("http", "websocket"):
        assert server.ask(kind, (b"host", HOST.encode())) == [{"type": "reached"}]
    assert server.ask("lifespan") == [{"type": "reached"}]
    assert server.reached == 3


def test_a_header_that_was_sent_twice_is_not_judged_by_one_of_its_values() -> None:
    server = Server()
    for name, own, foreign in (
        (b"host", HOST.encode(), b"evil.example"),
        (b"origin", OWN.encode(), b"https://evil.example"),
        (b"sec-fetch-site", b"none", b"cross-site"),
    ):
        host = () if name == b"host" else ((b"host", HOST.encode()),)
        for values in ((own, foreign), (foreign, own)):
            start, _ = server.ask("http", *host, *((name, value) for value in values))
            assert start["status"] == 403
    assert server.reached == 0


def test_the_local_aws_is_made_to_look_at_its_queues_again_and_again() -> None:
    class Wake(threading.Event):
        looks = 0

        def set(self) -> None:
            self.looks += 1
            if self.looks == 50:
                raise InterruptedError

    wake = Wake()
    with pytest.raises(InterruptedError):
        look_often(wake, every_s=0)
    assert wake.looks == 50


def test_a_layer_is_extracted_once_and_the_code_of_each_function_apart(tmp_path: Path) -> None:
    for number in (1, 2):
        process = tmp_path / f"process-{number}"
        for name in ("layer_0", "code"):
            (process / name).mkdir(parents=True)
            with SharedLayers(process / f"{name}.zip", "w") as archive:
                archive.writestr("package/module.py", f"name = {name!r}")
            with SharedLayers(process / f"{name}.zip") as archive:
                assert archive.namelist() == [], "ministack would resolve each path"
                archive.extractall(process / name)
    first, second = (tmp_path / f"process-{number}" for number in (1, 2))
    assert (first / "layer_0").resolve() == (second / "layer_0").resolve()
    assert not (second / "code").is_symlink()
    assert (second / "layer_0" / "package" / "module.py").read_text() == "name = 'layer_0'"
    assert (second / "code" / "package" / "module.py").read_text() == "name = 'code'"


def test_two_functions_that_start_at_once_extract_a_layer_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both, met = threading.Barrier(2), list[bool]()
    extract = zipfile.ZipFile.extractall

    def extracting(archive: zipfile.ZipFile, *arguments: Any) -> None:
        with suppress(threading.BrokenBarrierError):
            both.wait(timeout=0.1)
            met.append(True)
        extract(archive, *arguments)

    monkeypatch.setattr(zipfile.ZipFile, "extractall", extracting)

    def start(number: int) -> None:
        layer = tmp_path / f"process-{number}" / "layer_0"
        layer.mkdir(parents=True)
        path = layer.with_suffix(".zip")
        with SharedLayers(path, "w") as archive:
            archive.writestr("module.py", "name = 1")
        with SharedLayers(path) as archive:
            archive.extractall(layer)
        assert (layer / "module.py").exists()

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(start, (1, 2)))
    assert not met
