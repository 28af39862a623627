"""The operations that serve the console: its page, and the files that the page loads."""

from functools import partial
from typing import Final

from sweephand.base.errors import NotFoundError
from sweephand.web.console import assets
from sweephand.web.http.operation import NoQuery, Operation, Reply, Request, Returns
from sweephand.web.services import Services

#: A year. The name of an asset changes with what is in it.
_FOR_EVER: Final = "public, max-age=31536000, immutable"


@partial(
    Operation,
    method="GET",
    path="/console",
    tag="Service",
    access="open",
    returns={200: Returns("The page", str, content_type="text/html")},
)
def show_console(services: Services, _: Request[NoQuery, None]) -> Reply:
    """Show the console.

    A page for operators. It takes a key, and shows and does what the key allows.
    """
    headers = {
        "content-security-policy": assets.POLICY,
        "cache-control": "no-cache",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
    }
    return Reply(200, assets.page(services.auth.mode), headers, content_type="text/html; charset=utf-8")


@partial(
    Operation,
    method="GET",
    path="/console/{asset}",
    tag="Service",
    access="open",
    returns={200: Returns("The file: a style sheet or a script", str, content_type="text/*")},
    problems=(404,),
)
def show_console_asset(_: Services, request: Request[NoQuery, None]) -> Reply:
    """Show a file of the console.

    The names of the files are in the page. A name changes with what is in the file, so the file can be kept
    for ever.
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
