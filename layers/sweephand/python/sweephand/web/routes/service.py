"""The operations about the stack and the caller: health, limits, the caller's rights, the page of the API."""

from base64 import b64encode
from functools import cache, partial
from hashlib import sha256
from importlib.resources import files
from typing import Annotated, Literal, NotRequired

from typing_extensions import TypedDict  # pydantic asks for this one below Python 3.12

from sweephand import __version__
from sweephand.base import limits
from sweephand.base.errors import UnavailableError
from sweephand.base.instants import SECOND_MS, rfc3339, rfc3339_or_none
from sweephand.base.timing import HEARTBEAT_AGE_MAX_MS
from sweephand.model.api_key import Role
from sweephand.targets.registry import data_limits
from sweephand.web.http.operation import NoQuery, Operation, Reply, Request, Returns, Services
from sweephand.web.schemas.formats import Time, Version, about


class MeResponse(TypedDict):
    """What the key or the token of the caller allows."""

    id: Annotated[str, about("The key's id. For a JSON Web Token it is `jwt:` and the subject of the token.")]
    namespace: Annotated[str, about("The namespace that the key opens. `*` opens every namespace.")]
    role: Annotated[Role, about("What the key may do: `read`, `write` (also read) or `admin` (everything).")]
    expiresAt: Annotated[Time | None, about("When the key expires. Null if it does not expire.")]
    stats: Annotated[
        bool, about("Whether the stack counts deliveries, by its parameter `Stats`, and so has stats.")
    ]
    version: Version


class HealthResponse(TypedDict):
    """The age of the heartbeat of the tick function."""

    status: Annotated[Literal["ok"], about("`ok`: the stack ticked within the last three minutes.")]
    heartbeatAt: Annotated[Time, about("When the tick function last ran.")]
    heartbeatAgeSeconds: Annotated[float, about("How long ago that was, in seconds.")]
    enabled: Annotated[
        bool,
        about(
            "Whether the stack delivers. It is false while the stack's parameter `Enabled` is "
            "false. Jobs and triggers are then kept, and delivered later."
        ),
    ]
    version: Version
    offSince: NotRequired[
        Annotated[Time, about("When tick first found the stack switched off. Absent while it is on.")]
    ]


@partial(
    Operation,
    method="GET",
    path="/v1/health",
    tag="Service",
    access="open",
    returns={200: Returns("The stack ticks", HealthResponse)},
    problems=(503,),
)
def show_health(services: Services, request: Request[NoQuery, None]) -> Reply:
    """Show whether the stack ticks.

    The answer is 503 if the last tick was more than three minutes ago, or if the stack has not ticked yet. A
    stack that is switched off ticks and answers 200, and `enabled` is then false.
    """
    state = services.leases.state()
    heartbeat_at = state.heartbeat_at
    if heartbeat_at is None:
        raise UnavailableError("The stack has not ticked yet. It ticks within a minute of its deployment.")
    # The clocks of two machines differ, so a heartbeat can lie in the future.
    age_ms = max(0, request.requested_at - heartbeat_at)
    if age_ms > HEARTBEAT_AGE_MAX_MS:
        raise UnavailableError(
            f"The stack last ticked {age_ms // SECOND_MS} s ago. It keeps all jobs, and they fire once it "
            "ticks again."
        )
    response: HealthResponse = {
        "status": "ok",
        "heartbeatAt": rfc3339(heartbeat_at),
        "heartbeatAgeSeconds": age_ms / SECOND_MS,
        "enabled": state.off_since is None,
        "version": __version__,
    }
    if state.off_since is not None:
        response["offSince"] = rfc3339(state.off_since)
    return Reply(200, response, {"cache-control": "no-store"})


@partial(
    Operation,
    method="GET",
    path="/v1/limits",
    tag="Service",
    access="any",
    returns={200: Returns("The limits by name. Each name says its unit", dict[str, int])},
)
def show_limits(_: Services, __: Request[NoQuery, None]) -> Reply:
    """Show every limit with its number."""
    return Reply(200, limits.table() | data_limits())


@partial(
    Operation,
    method="GET",
    path="/docs",
    tag="Service",
    access="open",
    returns={200: Returns("The page", str, content_type="text/html")},
)
def show_page(_: Services, __: Request[NoQuery, None]) -> Reply:
    """Show this description as a page."""
    text, policy = _page()
    headers = {"content-security-policy": policy, "cache-control": "max-age=300"}
    return Reply(200, text, headers, content_type="text/html; charset=utf-8")


@partial(
    Operation,
    method="GET",
    path="/v1/me",
    tag="Access",
    access="any",
    returns={200: Returns("The caller's key", MeResponse)},
)
def show_me(services: Services, request: Request[NoQuery, None]) -> Reply:
    """Show what the caller may do.

    The namespace and the role of its key or token, when that expires, and whether the stack counts
    deliveries.
    """
    caller = request.caller
    expires_at = caller.expires_at
    if expires_at is None and (key := services.keys.get(caller.key_id)):
        expires_at = key.expires_at
    response: MeResponse = {
        "id": caller.key_id,
        "namespace": caller.namespace,
        "role": caller.role,
        "expiresAt": rfc3339_or_none(expires_at),
        "stats": services.stats.is_on,
        "version": __version__,
    }
    return Reply(200, response, {"cache-control": "no-store"})


@cache
def _page() -> tuple[str, str]:
    """The page, and the content security policy that allows only what the page itself does."""
    text, style, script = (
        files("sweephand.web").joinpath(f"docs.{kind}").read_text("utf-8") for kind in ("html", "css", "js")
    )
    text = text.replace("<style>", f"<style>{style}").replace("<script>", f"<script>{script}")
    return text, (
        f"default-src 'none'; connect-src 'self'; img-src data:; script-src {_csp_hash(script)}; style-src "
        f"{_csp_hash(style)}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def _csp_hash(inner: str) -> str:
    """The source expression (Content Security Policy Level 3) that allows an element with this text."""
    return f"'sha256-{b64encode(sha256(inner.encode()).digest()).decode()}'"
