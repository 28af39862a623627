"""The operations that serve the console: its page, and the files that the page loads."""

from typing import Any, Final

from sweephand.base.errors import NotFoundError
from sweephand.web.console import assets
from sweephand.web.http.operation import NoQuery, Operation, Reply, Request, Returns
from sweephand.web.services import Services

#: A year. The name of an asset changes with what is in it.
_FOR_EVER: Final = "public, max-age=31536000, immutable"


def show_console(services: Services, _: Request[NoQuery, None]) -> Reply:
    """Show the page of the console. A browser asks for it anew each time, since it names the assets."""
    headers = {
        "content-security-policy": assets.POLICY,
        "cache-control": "no-cache",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
    }
    return Reply(200, assets.page(services.auth.mode), headers, content_type="text/html; charset=utf-8")


def show_console_asset(_: Services, request: Request[NoQuery, None]) -> Reply:
    """Show a file of the console, compressed for whoever accepts that.

    Raises NotFoundError for a name that this version does not serve.
    """
    found = assets.find(request.path["asset"])
    if found is None:
        raise NotFoundError("This version of the console has no such file. Load /console again.")
    headers = {"cache-control": _FOR_EVER, "vary": "accept-encoding", "x-content-type-options": "nosniff"}
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return Reply(200, found.text, headers, content_type=found.content_type)
    return Reply(
        200, found.compressed, headers | {"content-encoding": "gzip"}, content_type=found.content_type
    )


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    Operation(
        method="GET",
        path="/console",
        name="showConsole",
        tag="Service",
        access="open",
        summary="Show the console",
        description="A page for operators. It takes a key, and shows and does what the key allows.",
        run=show_console,
        returns={200: Returns("The page", str, content_type="text/html")},
    ),
    Operation(
        method="GET",
        path="/console/{asset}",
        name="showConsoleAsset",
        tag="Service",
        access="open",
        summary="Show a file of the console",
        description="The names of the files are in the page. A name changes with what is in the file, so the "
        "file can be kept for ever.",
        run=show_console_asset,
        returns={200: Returns("The file: a style sheet or a script", str, content_type="text/*")},
        problems=(404,),
    ),
)
