"""The target type `http`: a signed request to an HTTPS endpoint."""

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from sweephand.base.errors import Violation, pointer
from sweephand.base.limits import HEADER_BYTES_MAX, HEADERS_MAX
from sweephand.base.spelling import suggestion
from sweephand.targets.placeholders import placeholder_problem
from sweephand.targets.queues import Reach
from sweephand.targets.target_type import Field, TargetType
from sweephand.targets.timeout import BOUNDS, timeout_field, timeout_ms, timeout_violations
from sweephand.targets.url import URL_SCHEMA, Url, UrlError, read_url

#: HEAD, OPTIONS, TRACE and CONNECT ask about a resource or a connection. None of them hands work over.
METHODS: Final = ("POST", "PUT", "PATCH", "DELETE", "GET")

#: A body has no meaning with these methods (RFC 9110, 9.3), and servers refuse or drop it. So none is sent,
#: and the signature is that of an empty body.
METHODS_WITHOUT_BODY: Final = frozenset({"GET", "DELETE"})

#: A job may not set headers that frame the request, name its receiver or govern the connection. The body is
#: plain JSON, so it has no content-encoding. The answer is kept as text, so no encoding is asked for.
_RESERVED: Final = frozenset(
    {
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "expect",
        "host",
        "http2-settings",
        "keep-alive",
        "proxy",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_RESERVED_PREFIXES: Final = ("webhook-", "sweephand-", "proxy-")

#: A server that hands headers to a program as variables keeps letters and digits, and writes one character
#: for all others (CGI, RFC 3875, 4.1.18). To that program `sweephand_job` is `sweephand-job`. And `Proxy`
#: sets the proxy of the program's own requests (CVE-2016-5385).
_FOLDED: Final = r"[^0-9a-z]"

_HEADER_NAME: Final = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"  # a token (RFC 9110, 5.6.2)
_HEADER_VALUE: Final = r"[\t -~\x80-\xff]*"  # a field-value (RFC 9110, 5.5)


class HttpTarget(NamedTuple):
    """A target of type `http` with its defaults. Header names are in lower case."""

    url: Url
    method: str
    headers: Mapping[str, str]
    timeout_ms: int

    @property
    def sends_body(self) -> bool:
        """Whether the request carries `data`."""
        return self.method not in METHODS_WITHOUT_BODY


def http_target(spec: Mapping[str, Any], *, allow_insecure: bool) -> HttpTarget:
    """The target that a valid spec describes.

    Raises UrlError if its URL may not be called. The operator of a stack can forbid `http` after a job was
    written, so every attempt checks the URL again.
    """
    url = read_url(spec["url"], allow_insecure=allow_insecure)
    # A job may be older than the reservation of a header's name. It is delivered without that header.
    written = {name.lower(): value for name, value in spec.get("headers", {}).items()}
    headers = {name: value for name, value in written.items() if _reserved_name(name) is None}
    return HttpTarget(url, spec.get("method", "POST"), headers, timeout_ms(spec))


def _violations(spec: Mapping[str, Any], *, has_data: bool, reach: Reach) -> list[Violation]:
    found: list[Violation] = []
    try:
        url = read_url(spec.get("url"), allow_insecure=reach.allow_insecure)
    except UrlError as error:
        found.append(Violation("/url", str(error)))
    else:
        problem = placeholder_problem(url.target)
        if problem is not None:
            found.append(Violation("/url", problem))
    method = spec.get("method", "POST")
    if method not in METHODS:
        detail = f"{suggestion(method, METHODS)} Use one of {', '.join(METHODS)}, in capitals.".lstrip()
        found.append(Violation("/method", detail))
    elif has_data and method in METHODS_WITHOUT_BODY:
        found.append(Violation("/method", f"{method} sends no body: leave `data` out, or use POST."))
    found += _header_violations(spec.get("headers", {}))
    return found + timeout_violations(spec)


def _header_violations(headers: object) -> list[Violation]:
    if not isinstance(headers, Mapping):
        return [Violation("/headers", 'Give an object of names and values, as in {"x-team": "ops"}.')]
    if len(headers) > HEADERS_MAX:
        return [Violation("/headers", f"Give at most {HEADERS_MAX} headers (headersMax).")]
    found: list[Violation] = []
    seen: set[str] = set()
    size = 0
    for name, value in headers.items():
        problem = _header_problem(name, value, seen)
        if problem is not None:
            found.append(Violation(pointer("headers", name), problem))
            continue
        seen.add(name.lower())
        size += len(name) + len(value)
    if size > HEADER_BYTES_MAX:
        found.append(
            Violation("/headers", f"Give at most {HEADER_BYTES_MAX} bytes of them (headerBytesMax).")
        )
    return found


def _header_problem(name: str, value: object, seen: set[str]) -> str | None:
    lower = name.lower()
    if not re.fullmatch(_HEADER_NAME, name):
        return "A header name holds letters, digits and !#$%&'*+-.^_`|~ only."
    refusal = _reserved_problem(lower)
    if refusal is not None:
        return refusal
    if lower in seen:
        return "Names differ by more than capitals: give each header once."
    if not isinstance(value, str) or not re.fullmatch(_HEADER_VALUE, value):
        return "A header value is a string of printable Latin-1 characters, without line breaks."
    return placeholder_problem(value)


def _reserved_problem(lower: str) -> str | None:
    reserved = _reserved_name(lower)
    if reserved is None:
        return None
    if reserved == "proxy":
        return "Leave this header out: many servers would send their own requests through that proxy."
    if reserved == lower:
        return f"The header {lower} is set by Sweephand or by the connection: leave it out."
    return f"Use another name: many servers take {lower} for {reserved}, which is not the job's to set."


def _reserved_name(lower: str) -> str | None:
    """The reserved name that a server may read in place of a header's name; None if there is none."""
    folded = re.sub(_FOLDED, "-", lower)
    return folded if folded in _RESERVED or folded.startswith(_RESERVED_PREFIXES) else None


TYPE: Final = TargetType(
    name="http",
    summary="An HTTPS endpoint.",
    description="An HTTPS endpoint: it receives `data` as the body, signed by Standard Webhooks.",
    own_fields=(
        Field(
            "url",
            URL_SCHEMA,
            "An https URL of a public address (http and loopback where the stack allows it). In its path and "
            "query, {{due}}, {{attempt}} and {{index}} stand for the values of the trigger.",
            is_required=True,
        ),
        Field("method", {"type": "string", "enum": list(METHODS)}, "The method; POST by default."),
        Field(
            "headers",
            {
                "type": "object",
                "propertyNames": {"minLength": 1},
                "patternProperties": {
                    f"^{_HEADER_NAME}$": {"type": "string", "pattern": f"^{_HEADER_VALUE}$"},
                },
                "maxProperties": HEADERS_MAX,
            },
            "Headers to send. Their values may have the same placeholders. Those of Standard Webhooks, "
            "`sweephand-`, `host` and framing are Sweephand's. "
            "Callers with the role `read` see the names, not the values.",
            hides_values=True,
        ),
        timeout_field(f"A duration of {BOUNDS}"),
    ),
    rules=_violations,
    attempt_ms_max=timeout_ms,
    delivery="sweephand.delivery.http.targets",
)
