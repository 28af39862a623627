"""What an attacker may write, beside a URL, to make a delivery send what it must not or reach another place.

Unit tests try this and egress_urls.py at the API, and integration tests at the delivery. End-to-end tests try
them at a deployed stack without the exception for loopback.
"""

# ruff: noqa: RUF001 - characters that look like others are what some attempts are about

from typing import Any, Final

#: Values of a header that would end the line, or that no header can hold.
HEADER_VALUES: Final = (
    "a\r\nx-forged: 1",
    "a\nx-forged: 1",
    "a\rx-forged: 1",
    "a\r\n\r\nGET /forged HTTP/1.1",
    "a\r\n b",
    "a\n\tb",
    "\r\n",
    "\x00",
    "a\x00b",
    "a\x0bb",
    "a\x0cb",
    "a\x1bb",
    "a\x7fb",
    "\u0100",
    "a\u010ax-forged: 1",  # a program that keeps the low byte reads a line feed
    "a\u2028b",
    "a\u560a\u560dx-forged: 1",
    "\U0001f600",
    "{{due}}\r\nx-forged: {{index}}",
    "{{data}}",
)

#: Names of headers that frame the request, name its receiver, are Sweephand's own, or are no names.
HEADER_NAMES: Final = (
    "Host",
    "content-length",
    "Content-Length",
    "CONTENT_LENGTH",
    "content.length",
    "transfer-encoding",
    "Transfer-Encoding",
    "TRANSFER_ENCODING",
    "transfer*encoding",
    "te",
    "Trailer",
    "connection",
    "Keep-Alive",
    "Upgrade",
    "http2-settings",
    "Expect",
    "content-encoding",
    "accept-encoding",
    "Proxy",
    "proxy-authorization",
    "Proxy-Connection",
    "webhook-id",
    "Webhook-Signature",
    "webhook_timestamp",
    "sweephand-run-token",
    "Sweephand_Job",
    "",
    " host",
    "host ",
    "transfer-encoding ",
    "content-length\t",
    "x-a:",
    "x-a: 1\r\nx-forged",
    "x-a\r\n",
    "x-a\n",
    "x a",
    "x\x00a",
    "x(a)",
    "x/a",
    "naïve",
    "host\u2028",
)

#: Methods that no request may have.
METHODS: Final = (
    "",
    "post",
    "CONNECT",
    "TRACE",
    "OPTIONS",
    "HEAD",
    "PRI",
    "POST ",
    " POST",
    "POST /forged HTTP/1.1\r\nx-forged: 1\r\n\r\nPOST",
    "POST\r\n",
    "POST\x00",
    "GET /forged",
    "ＰＯＳＴ",  # full-width letters
)

#: Paths that may not be appended to the URL of a namespace's default target.
PATHS: Final = (
    "",
    "x",
    "@127.0.0.1/",
    ".127.0.0.1/",
    ":9001/",
    "?x=1",
    "\\\\127.0.0.1\\",
    "/\\127.0.0.1/",
    "/..",
    "/../x",
    "/a/../b",
    "/./x",
    "/%2e%2e/x",
    "/%2E./x",
    "/.%2e",
    "/a/%2e%2E/",
    "/x#y",
    "/ x",
    "/ü",
    "/x\r\nx-forged: 1",
    "/x HTTP/1.1\r\nx-forged: 1",
    "/\x00",
    "/{{secret}}",
)


def http_target(**fields: Any) -> dict[str, Any]:
    """A target that could be written, but for the fields that an attacker gives it."""
    return {"type": "http", "url": "https://consumer.example/hook", **fields}
