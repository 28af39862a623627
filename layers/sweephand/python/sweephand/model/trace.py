"""Trace contexts: what Sweephand keeps of a request's `traceparent`, and what each attempt sends.

Source: W3C Trace Context, level 1. Sweephand exports no spans, so it draws and stores no ids. The ids of an
attempt are digests of its name: every copy of the attempt has the same.
"""

import re
from hashlib import sha256
from typing import Final, NamedTuple

#: A traceparent of any version (3.2.2, 3.2.3 and 3.2.4). A later version may append fields to those of `00`.
_TRACEPARENT: Final = (
    r"(?!ff|00.{54})[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?"
)

_TRACE_ID: Final = slice(3, 35)
_FLAGS: Final = slice(53, 55)


class Origin(NamedTuple):
    """The trace context of the request that asked for triggers, as a traceparent of version 00.

    It `is_parent` if the request asked for a single trigger. Then the first attempt continues its trace.
    """

    traceparent: str
    is_parent: bool = False


def read_traceparent(header: str | None) -> str | None:
    """The header as version 00, with the flags that it defines; None if the standard ignores the header."""
    found = None if header is None else re.fullmatch(_TRACEPARENT, header, re.ASCII)
    if found is None:
        return None
    trace_id, span_id, flags = found.groups()
    # The one flag of version 00 is the last bit: whether the caller may have recorded its trace (3.2.2.5).
    return f"00-{trace_id}-{span_id}-{int(flags, 16) % 2:02x}"


class Context(NamedTuple):
    """What an attempt sends: its traceparent, and that of its origin if it links to it."""

    traceparent: str | None = None
    link: str | None = None


def context_of(origin: Origin | None, name: str, number: int) -> Context:
    """The context of that attempt at what has this name, such as a trigger. The first attempt has number 1.

    It is a child of the origin, or begins a trace that is sampled as the origin is.
    """
    if origin is None or not number:
        return Context()
    digest = sha256(f"{name} {number}".encode()).digest()
    span_id, flags = _id_of(digest[16:24]), origin.traceparent[_FLAGS]
    if origin.is_parent and number == 1:
        return Context(f"00-{origin.traceparent[_TRACE_ID]}-{span_id}-{flags}")
    return Context(f"00-{_id_of(digest[:16])}-{span_id}-{flags}", origin.traceparent)


def trace_id_of(traceparent: str) -> str:
    """The id of its trace."""
    return traceparent[_TRACE_ID]


def _id_of(digest: bytes) -> str:
    """An id of that length. Ids of zeros alone are not valid."""
    return f"{int.from_bytes(digest) or 1:0{2 * len(digest)}x}"
