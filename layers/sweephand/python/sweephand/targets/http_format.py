"""In which form an HTTP request carries a trigger: plain JSON, or a CloudEvent of version 1.0."""

from collections.abc import Mapping
from typing import Any, Final

from sweephand.base.errors import Violation, pointer
from sweephand.base.spelling import suggestion

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

_PREFIX: Final = "ce-"


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
    return form != FORMAT_DEFAULT and (name == "content-type" or name.startswith(_PREFIX))
