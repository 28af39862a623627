"""What keeps web pages of other sites from the servers of a local stack.

Every page that the developer opens can send requests to loopback addresses. The local AWS checks no signature
and allows every origin. So the guard refuses each request that a browser sends for a page of another site:

- `Origin` names another site, or none (`null`). Fetch, section 3.2, "`Origin` header".
- `Sec-Fetch-Site` is `cross-site` or `same-site`: another port of this machine is another site. Browsers send
  it with requests that have no `Origin`, such as those of an image (Fetch Metadata, section 2.4).
- `Sec-Fetch-Site` is `none`, and the path is not one of the API, or there is a query. A browser says `none`
  of an address that was typed and of a link in a mail (Fetch Metadata, section 2.4). It also says so of what
  either redirects to. The local AWS carries out such a GET: `/?Action=SendMessage&…`, and below the paths of
  the API too.
- `Host` is no name of this machine. A site can let its own name resolve to 127.0.0.1 ("DNS rebinding"). The
  browser then takes the local AWS for a part of that site.

Programs such as curl, boto3 and SAM send neither `Origin` nor `Sec-Fetch-Site`.

    .local/venvs/ministack/bin/python -P infra/local/guard.py

runs ministack behind the guard, in one process and on one port: a proxy would leave a second port that is
open to pages. That environment has only ministack, so this file imports nothing of Sweephand. Without `-P`,
`import ministack` would find the file beside this one.

The same process makes ministack look at its queues ten times a second. On AWS, Lambda polls a queue with long
polls. ministack looks when a message is sent, and otherwise once a second. So a delayed message that becomes
visible in between would be late by up to a second.

It also extracts each layer once. ministack extracts the layers anew for each process of a function, which
takes a second of a core and 60 MB of the disk. Nor does ministack resolve the paths of their 4,600 files.
"""

import hashlib
import importlib
import re
import threading
import time
import zipfile
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, TypeAlias

#: The content type of a refusal.
TEXT: Final = "text/plain; charset=utf-8"

_Scope: TypeAlias = Mapping[str, Any]
_Receive: TypeAlias = Callable[[], Awaitable[Mapping[str, Any]]]
_Send: TypeAlias = Callable[[Mapping[str, Any]], Awaitable[None]]
_App: TypeAlias = Callable[[_Scope, _Receive, _Send], Awaitable[None]]

#: Where the paths of the API and of its console begin.
API: Final = "/_aws/execute-api/"

_HOST: Final = re.compile(r"(?:127\.0\.0\.1|localhost)(?::[0-9]{1,5})?")

_WRONG_HOST: Final = (
    "The header host must be 127.0.0.1 or localhost, with or without a port: "
    "a local stack answers to no other name.\n"
)
_WRONG_ORIGIN: Final = (
    "The header origin must name this address, as the header host does: "
    "a local stack answers no page of another site.\n"
)
_WRONG_SITE: Final = (
    "The header sec-fetch-site must be same-origin or none: a local stack answers no page of another site, "
    "and follows no link of one. Paste the address into the browser's address bar.\n"
)
_WRONG_ADDRESS: Final = (
    f"An address that is opened in a browser must begin with {API} and have no query: "
    "the local AWS would carry out what any other one asks for.\n"
)


def refusal(headers: Mapping[str, str]) -> str | None:
    """Why a local stack does not answer a request with these headers; None if it does.

    The names of the headers are in lower case. A header that was sent twice has both values, with a comma.
    """
    host = headers.get("host", "").lower()
    if not _HOST.fullmatch(host):
        return _WRONG_HOST
    if headers.get("origin", f"http://{host}").lower() != f"http://{host}":
        return _WRONG_ORIGIN
    if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        return _WRONG_SITE
    return None


def guarded(app: _App) -> _App:
    """The ASGI application that answers a refusal with 403, and passes all other requests to `app`."""

    async def guard(scope: _Scope, receive: _Receive, send: _Send) -> None:
        why = _refusal_of(scope) if scope["type"] in ("http", "websocket") else None
        if why is None:
            await app(scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close"})  # before it is accepted, this answers 403
        else:
            headers = [(b"content-type", TEXT.encode())]
            await send({"type": "http.response.start", "status": 403, "headers": headers})
            await send({"type": "http.response.body", "body": why.encode()})

    return guard


def _refusal_of(scope: _Scope) -> str | None:
    headers = _headers(scope)
    is_safe = scope["path"].startswith(API) and not scope["query_string"]
    is_opened = headers.get("sec-fetch-site") == "none"
    return refusal(headers) or (_WRONG_ADDRESS if is_opened and not is_safe else None)


def _headers(scope: _Scope) -> dict[str, str]:
    """The headers that the guard reads."""
    found: dict[str, str] = {}
    for name, value in scope["headers"]:
        if name in (b"host", b"origin", b"sec-fetch-site"):
            key, text = name.decode(), value.decode("latin-1")
            found[key] = f"{found[key]}, {text}" if key in found else text
    return found


def look_often(wake: threading.Event, every_s: float = 0.1) -> None:
    """Set the event that makes ministack look at its queues, again and again."""
    while True:
        wake.set()
        time.sleep(every_s)


class SharedLayers(zipfile.ZipFile):
    """An archive as ministack extracts it. All processes of functions share the files of a layer.

    No function writes to its layers: they are read-only on AWS.
    """

    #: All archives share this lock. The `_lock` of ZipFile belongs to one archive.
    _sharing: Final = threading.Lock()

    def namelist(self) -> list[str]:
        """No names: ministack would resolve each path of a layer anew for each process, in half a second.

        The archives are our own, and zipfile extracts nothing beyond the folder.
        """
        return []

    def extractall(self, path: Any = None, members: Any = None, pwd: bytes | None = None) -> None:
        """Extract the archive into the folder. A folder of a layer becomes a link to the shared files."""
        folder = Path(path)
        if not folder.name.startswith("layer_"):
            super().extractall(path, members or super().namelist(), pwd)
            return
        content = repr([(each.filename, each.CRC) for each in self.infolist()])
        shared = folder.parents[1] / hashlib.sha256(content.encode()).hexdigest()
        with self._sharing:
            if not shared.exists():
                unfinished = shared.with_suffix(".unfinished")
                super().extractall(unfinished, super().namelist())
                unfinished.rename(shared)
        folder.rmdir()
        folder.symlink_to(shared)
        Path(str(self.filename)).unlink()  # so that the disk need not store it


def _main() -> None:
    import ministack.app  # type: ignore[import-not-found]  # noqa: PLC0415 - only its environment has it

    functions: Any = importlib.import_module("ministack.core.lambda_runtime")
    # ministack catches LargeFileError, which zipfile does not have. It reported each error as this one.
    others = {"ZipFile": SharedLayers, "LargeFileError": zipfile.LargeZipFile}
    functions.zipfile = SimpleNamespace(**{**vars(zipfile), **others})
    wake = ministack.core.concurrency.esm_wake
    threading.Thread(target=look_often, args=(wake,), daemon=True).start()
    ministack.app.app = guarded(ministack.app.app)
    ministack.app.main()


if __name__ == "__main__":
    _main()
