"""The headers of HTTP requests that a job may set, and what differs in them from trigger to trigger."""

import re
from collections.abc import Mapping
from typing import Any, Final

from sweephand.base.errors import Violation, pointer
from sweephand.base.instants import rfc3339
from sweephand.base.limits import HEADER_BYTES_MAX, HEADERS_MAX
from sweephand.base.names import suggestion
from sweephand.model.trigger import Trigger
from sweephand.targets.target_type import REF_FIELD, REF_SCHEMA, SecretRef, reference_violations, referred

#: Every placeholder that there is.
PLACEHOLDERS: Final = ("attempt", "due", "index")

# `re` compiles a pattern when it is first used, so that importing this module stays cheap.
_PLACEHOLDER: Final = r"\{\{([^{}]*)\}\}"

#: What is left of a placeholder that is written wrongly. Two braces that close are none by themselves, since
#: JSON has them. It never has two that open.
_LEFTOVER: Final = r"(?:\{|%7b){2}(?:(?:[^{}%]|%20)*(?:\}|%7d){2})?|\{?(?:attempt|due|index)\}\}"


def placeholder_problem(text: str) -> str | None:
    """What is wrong with the placeholders in a text; None if Sweephand knows them all.

    Without this, a placeholder that is percent-encoded or lacks a brace would be sent as it is written.
    """
    for name in re.findall(_PLACEHOLDER, text):
        if name not in PLACEHOLDERS:
            meant = suggestion(name, PLACEHOLDERS)
            known = ", ".join(f"{{{{{each}}}}}" for each in PLACEHOLDERS)
            return f"There is no placeholder {{{{{name}}}}}.{meant} The placeholders are: {known}."
    left = re.search(_LEFTOVER, re.sub(_PLACEHOLDER, " ", text), re.IGNORECASE)
    if left is None:
        return None
    return (
        f"{left[0]} is no placeholder. Write it as {{{{{_meant(left[0])}}}}}, without spaces and not "
        "percent-encoded. Two braces that open always begin a placeholder."
    )


def _meant(leftover: str) -> str:
    """The name that a wrong placeholder probably stands for."""
    return next((each for each in PLACEHOLDERS if each in leftover.lower()), "index")


def around(text: str) -> list[str]:
    """The parts of a header's value between its placeholders."""
    return re.sub(_PLACEHOLDER, "\n", text).split("\n")  # no header has a line break


def filled(text: str, trigger: Trigger, attempt: int) -> str:
    """The text with the values of that attempt at a trigger.

    `{{due}}` is the due time of the occurrence (RFC 3339), `{{index}}` the index in its batch, `{{attempt}}`
    the number of the attempt. Their characters need no encoding in a path, a query or a header. Any other
    text in braces stays as it is: the job may be older than the rule that refuses it.
    """
    if "{{" not in text:
        return text
    values = {"due": rfc3339(trigger.due_at), "index": str(trigger.index), "attempt": str(attempt)}
    return re.sub(_PLACEHOLDER, lambda found: values.get(found[1], found[0]), text)


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
        "traceparent",
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

#: Headers whose values are no secrets (RFC 9110, 8.3, 10.1.5 and 12.5).
_OPEN: Final = frozenset({"accept", "accept-charset", "accept-language", "content-type", "user-agent"})

#: A header's value that is shorter is a word rather than a secret.
SECRET_LENGTH_MIN: Final = 8

_HEADER_NAME: Final = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"  # a token (RFC 9110, 5.6.2)
_HEADER_VALUE: Final = r"[\t -~\x80-\xff]*"  # a field-value (RFC 9110, 5.5)

#: The field `headers` as JSON Schema.
HEADERS_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "propertyNames": {"minLength": 1},
    "patternProperties": {
        f"^{_HEADER_NAME}$": {"anyOf": [{"type": "string", "pattern": f"^{_HEADER_VALUE}$"}, REF_SCHEMA]}
    },
    "maxProperties": HEADERS_MAX,
}


def own_headers(headers: Mapping[str, Any]) -> dict[str, Any]:
    """The headers that a request gets from a valid target, their names in lower case.

    A value is a text or refers to a secret.

    A job may be older than the reservation of a header's name. It is delivered without that header.
    """
    written = {name.lower(): value for name, value in headers.items()}
    return {name: value for name, value in written.items() if _reserved_name(name) is None}


def header_violations(headers: object) -> list[Violation]:
    """What is wrong with the headers of a target."""
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
        if isinstance(value, Mapping):
            found += reference_violations(pointer("headers", name), value)
        size += len(name) + (len(value) if isinstance(value, str) else 0)
    if size > HEADER_BYTES_MAX:
        found.append(
            Violation("/headers", f"Give at most {HEADER_BYTES_MAX} bytes of them (headerBytesMax).")
        )
    return found


def header_secrets(headers: object) -> list[SecretRef]:
    """The secrets that valid headers name."""
    if not isinstance(headers, Mapping):
        return []
    names = {name: referred(value) for name, value in headers.items()}
    return [
        SecretRef(pointer("headers", name, REF_FIELD), each)
        for name, each in names.items()
        if each is not None
    ]


def secret_headers(headers: object) -> list[str]:
    """The values of valid headers that may be secret: texts of some length, without their placeholders.

    Headers that only say what the consumer gets or may answer with are left out.
    """
    if not isinstance(headers, Mapping):
        return []
    written = (
        value for name, value in headers.items() if isinstance(value, str) and name.lower() not in _OPEN
    )
    texts = (text for value in written for text in around(value))
    return [text for text in map(str.strip, texts) if len(text) >= SECRET_LENGTH_MIN]


def _header_problem(name: str, value: object, seen: set[str]) -> str | None:
    lower = name.lower()
    if not re.fullmatch(_HEADER_NAME, name):
        return "A header name holds letters, digits and !#$%&'*+-.^_`|~ only."
    refusal = _reserved_problem(lower)
    if refusal is not None:
        return refusal
    if lower in seen:
        return "Names differ by more than capitals: give each header once."
    if isinstance(value, Mapping):
        return None
    if not isinstance(value, str) or not re.fullmatch(_HEADER_VALUE, value):
        return "A header value is a string of printable Latin-1 characters, without line breaks."
    return placeholder_problem(value)


def _reserved_problem(lower: str) -> str | None:
    reserved = _reserved_name(lower)
    if reserved is None:
        return None
    if reserved == "proxy":
        return "Leave this header out: many servers would send their own requests through that proxy."
    if lower == "traceparent":
        return (
            "Send it as a header of the request that writes the job: each attempt gets a context of its own."
        )
    if reserved == lower:
        return f"The header {lower} is set by Sweephand or by the connection: leave it out."
    return f"Use another name: many servers take {lower} for {reserved}, which is not the job's to set."


def _reserved_name(lower: str) -> str | None:
    """The reserved name that a server may read in place of a header's name; None if there is none."""
    folded = re.sub(_FOLDED, "-", lower)
    return folded if folded in _RESERVED or folded.startswith(_RESERVED_PREFIXES) else None
