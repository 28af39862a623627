"""The preconditions of a write: If-Match and If-None-Match (RFC 9110, 13.1)."""

import re
from collections.abc import Collection, Mapping
from typing import Final

from sweephand.base.errors import InvalidError, PreconditionError, Violation

_TAG: Final = r'(?:W/)?"[\x21\x23-\x7e\x80-\U0010ffff]*"'
_TAGS: Final = re.compile(rf"\s*{_TAG}\s*(?:,\s*{_TAG}\s*)*")
_FIND: Final = re.compile(_TAG)

_IF_MATCH_RULE: Final = (
    'Give the ETag of an answer unchanged, with its double quotes: "rev". Or give * for any revision.'
)
_IF_NONE_MATCH_RULE: Final = (
    "Give *, which writes the job only if it does not exist. Give revisions in If-Match."
)


#: The headers by which a caller makes a write depend on the stored job.
_PRECONDITIONS: Final = ("If-Match", "If-None-Match")


def precondition_violations(taken: Collection[str], headers: Mapping[str, str]) -> list[Violation]:
    """A violation for each precondition of a write that the operation does not take.

    `taken` are the names of the headers that it takes. The names in `headers` are in lower case. If the API
    ignored a precondition, it would make a write that the caller wanted to prevent.
    """
    instead = f"it takes {' and '.join(taken)}" if taken else "it takes no precondition"
    return [
        Violation(f"/{name}", f"This call does not take {name}: {instead}. Leave it out.")
        for name in _PRECONDITIONS
        if name.lower() in headers and name not in taken
    ]


def etag(rev: str) -> str:
    """The entity tag of a revision."""
    return f'"{rev}"'


def parse_if_match(headers: Mapping[str, str]) -> tuple[str, ...] | None:
    """The revisions in an If-Match header. None without the header, and `*` for any revision.

    The stored job must have one of these revisions. RFC 9110 compares strongly for If-Match, so the result
    leaves out weak tags. Raises PreconditionError if all tags are weak, and InvalidError if the header is not
    a list of tags.
    """
    if_match = headers.get("if-match")
    if if_match is None:
        return None
    if if_match.strip() == "*":
        return ("*",)
    if not _TAGS.fullmatch(if_match):
        raise InvalidError([Violation("/If-Match", _IF_MATCH_RULE)])
    strong = tuple(tag[1:-1] for tag in _FIND.findall(if_match) if not tag.startswith("W/"))
    if not strong:
        raise PreconditionError(
            "A weak entity tag (W/) matches no revision. Give the tag as the ETag header showed it."
        )
    return strong


def requires_absence(headers: Mapping[str, str]) -> bool:
    """Whether an If-None-Match header asks for a write only if there is nothing to replace.

    Raises InvalidError if the header is not `*`.
    """
    if_none_match = headers.get("if-none-match")
    if if_none_match is None:
        return False
    if if_none_match.strip() != "*":
        raise InvalidError([Violation("/If-None-Match", _IF_NONE_MATCH_RULE)])
    return True
