"""The target type `http`: a signed request to an HTTPS endpoint, with plain JSON or a CloudEvent 1.0."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from sweephand.base.errors import Violation, pointer
from sweephand.base.names import suggestion
from sweephand.targets.http_headers import (
    HEADERS_SCHEMA,
    header_secrets,
    header_violations,
    own_headers,
    placeholder_problem,
)
from sweephand.targets.reach import Reach
from sweephand.targets.target_type import (
    REF_FIELD,
    REF_SCHEMA,
    TIMEOUT_BOUNDS,
    Field,
    SecretRef,
    TargetType,
    reference_violations,
    referred,
    timeout_field,
    timeout_ms,
    timeout_violations,
)
from sweephand.targets.url import URL_SCHEMA, Url, UrlError, read_url

FORMAT_DEFAULT: Final = "json"

#: In the structured mode the body is the whole event. In the binary mode the body is `data`, and headers
#: `ce-` have the event's attributes (CloudEvents 1.0, HTTP protocol binding).
STRUCTURED: Final = "cloudevents"
BINARY: Final = "cloudevents-binary"
FORMATS: Final = (FORMAT_DEFAULT, STRUCTURED, BINARY)

FORMAT_MEANING: Final = (
    f"{FORMAT_DEFAULT} (the default) sends `data` as the body, {STRUCTURED} a CloudEvent in structured mode, "
    f"and {BINARY} one in binary mode."
)

_EVENT_PREFIX: Final = "ce-"


def format_violations(spec: Mapping[str, Any], *, sends_body: bool) -> list[Violation]:
    """What is wrong with the format of a target, and with its headers in that format.

    `sends_body` says whether requests of the target's method have a body.
    """
    written = spec.get("format")
    if written is None:
        return []
    if not isinstance(written, str) or written not in FORMATS:
        detail = f"{suggestion(written, FORMATS)} Use one of {', '.join(FORMATS)}.".lstrip()
        return [Violation("/format", detail)]
    if written != FORMAT_DEFAULT and not sends_body:
        detail = "A request of this method has no body, and so carries no CloudEvent: use POST."
        return [Violation("/format", detail)]
    headers = spec.get("headers")
    names = headers if isinstance(headers, Mapping) else {}
    return [
        Violation(pointer("headers", name), f"The format {written} sets this header: leave it out.")
        for name in names
        if _is_of_event(name.lower(), written)
    ]


def without_event_headers(headers: Mapping[str, Any], form: str) -> dict[str, Any]:
    """The headers of a target, without those that its format sets. Names are in lower case."""
    return {name: value for name, value in headers.items() if not _is_of_event(name, form)}


def _is_of_event(name: str, form: str) -> bool:
    return form != FORMAT_DEFAULT and (name == "content-type" or name.startswith(_EVENT_PREFIX))


#: HEAD, OPTIONS, TRACE and CONNECT ask about a resource or a connection. None of them hands work over.
METHODS: Final = ("POST", "PUT", "PATCH", "DELETE", "GET")


#: A body has no meaning with these methods (RFC 9110, 9.3), and servers refuse or drop it. So none is sent,
#: and the signature is that of an empty body.
METHODS_WITHOUT_BODY: Final = frozenset({"GET", "DELETE"})


class HttpTarget(NamedTuple):
    """A target of type `http` with its defaults. Header names are in lower case.

    A header's value is a text or refers to a secret. `signing_secret` names the secret that signs in place of
    those of the namespace.
    """

    url: Url
    method: str
    headers: Mapping[str, Any]
    timeout_ms: int
    format: str = FORMAT_DEFAULT
    signing_secret: str | None = None

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
    headers = own_headers(spec.get("headers", {}))
    return HttpTarget(
        url=url,
        method=spec.get("method", "POST"),
        headers=without_event_headers(headers, spec.get("format", FORMAT_DEFAULT)),
        timeout_ms=timeout_ms(spec),
        format=spec.get("format", FORMAT_DEFAULT),
        signing_secret=referred(spec.get("signingSecret")),
    )


def _violations(spec: Mapping[str, Any], *, has_data: bool, reach: Reach) -> list[Violation]:
    found: list[Violation] = []
    try:
        url = read_url(spec.get("url"), allow_insecure=reach.allow_insecure)
    except UrlError as error:
        found.append(Violation("/url", str(error)))
    else:
        problem = placeholder_problem(url.target) or _unlisted(url, reach)
        if problem is not None:
            found.append(Violation("/url", problem))
    method = spec.get("method", "POST")
    if method not in METHODS:
        detail = f"{suggestion(method, METHODS)} Use one of {', '.join(METHODS)}, in capitals.".lstrip()
        found.append(Violation("/method", detail))
    elif has_data and method in METHODS_WITHOUT_BODY:
        found.append(Violation("/method", f"{method} sends no body: leave `data` out, or use POST."))
    found += header_violations(spec.get("headers", {}))
    sends_body = method not in METHODS or method not in METHODS_WITHOUT_BODY
    found += format_violations(spec, sends_body=sends_body)
    if spec.get("signingSecret") is not None:
        found += reference_violations("/signingSecret", spec["signingSecret"])
    return found + timeout_violations(spec)


def _unlisted(url: Url, reach: Reach) -> str | None:
    """Why the lists of the stack do not let a URL be called, as a sentence; None if they do."""
    lists = reach.destinations
    return None if lists is None else lists.refusal(url.host)


def _host(spec: Mapping[str, Any]) -> str:
    return read_url(spec["url"], allow_insecure=True).host


def _secret_refs(spec: Mapping[str, Any]) -> list[SecretRef]:
    signing = referred(spec.get("signingSecret"))
    own = [] if signing is None else [SecretRef(f"/signingSecret/{REF_FIELD}", signing, must_sign=True)]
    return header_secrets(spec.get("headers")) + own


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
            HEADERS_SCHEMA,
            "Headers to send. Their values may have the same placeholders. A value of "
            '`{"secretRef": "…"}` stands for a secret of the namespace. Those of Standard Webhooks, '
            "`sweephand-`, `traceparent`, `host` and framing are Sweephand's. "
            "Callers with the role `read` see the names, not the values.",
            hides_values=True,
        ),
        timeout_field(f"A duration of {TIMEOUT_BOUNDS}"),
        Field("format", {"type": "string", "enum": list(FORMATS)}, FORMAT_MEANING),
        Field(
            "signingSecret",
            REF_SCHEMA,
            "A secret of the namespace that signs this target's deliveries, in place of the namespace's "
            "signing secrets. Its value is an HMAC secret (`whsec_…`) or an ed25519 private key (`whsk_…`).",
        ),
    ),
    rules=_violations,
    attempt_ms_max=timeout_ms,
    delivery="sweephand.delivery.http.targets",
    secret_refs=_secret_refs,
    host=_host,
)
