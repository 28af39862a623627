"""The API function: a request of the gateway in, the response out."""

from functools import cache

# Imported while the function starts: Lambda then gives it a whole CPU, and a snapshot keeps the modules.
import sweephand.schedules.notations.parsing  # noqa: F401
from sweephand.runtime import tables
from sweephand.runtime.aws_stores import stores
from sweephand.runtime.compose_api import compose_api
from sweephand.web.http.app import Handler, build_handler
from sweephand.web.http.operation import Services


@cache
def services() -> Services:
    """The use cases over this stack."""
    return compose_api(stores(), tables.settings().options)


@cache
def api() -> Handler:
    """The handler of the API over this stack."""
    return build_handler(services())
