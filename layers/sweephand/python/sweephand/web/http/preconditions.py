"""What If-Match and If-None-Match ask of a write (RFC 9110, 13.1)."""

import re
from collections.abc import Collection, Mapping
from typing import Final

from sweephand.base.errors import InvalidError, PreconditionError, Violation

_TAG: Final = r'(?:W/)?"[\x21\x23-\x7e\x80-\U0010ffff]*"'
_TAGS: Final = re.compile(rf"\s*{_TAG}\s*(?:,\s*{_TAG}\s*)*")
_FIND: Final = re.compile(_TAG)

_IF_MATCH_RULE: Final = 'Give the ETag of an answer as it stands, in double quotes: "rev"; or * for any.'
_IF_NONE_MATCH_RULE: Final = "Give *: the job is written if there is none. Revisions go into If-Match."


#: The headers by which a write can be made to depend on what is stored.
_PRECONDITIONS: Final = ("If-Match", "If-None-Match")


def precondition_violations(taken: Collection[str], headers: Mapping[str, str]) -> list[Violation]:
    """What is wrong with the preconditions of a write that takes only some, or none, of them.

    `headers` are by lower-case name. A precondition that nobody looks at would be a write that should not
    have been.
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


def parse_if_match(if_match: str | None) -> tuple[str, ...] | None:
    """The revisions of which one must rule (`*`: any); None if nothing is asked.

    A weak tag matches nothing, as RFC 9110 has it for If-Match; PreconditionError if all are weak.
    InvalidError for what is no list of tags.
    """
    if if_match is None:
        return None
    if if_match.strip() == "*":
        return ("*",)
    if not _TAGS.fullmatch(if_match):
        raise InvalidError([Violation("/If-Match", _IF_MATCH_RULE)])
    strong = tuple(tag[1:-1] for tag in _FIND.findall(if_match) if not tag.startswith("W/"))
    if not strong:
        raise PreconditionError("A weak entity tag (W/) matches no revision; give it as ETag showed it.")
    return strong


def requires_absence(if_none_match: str | None) -> bool:
    """Whether there must be no job; InvalidError for anything but `*`."""
    if if_none_match is None:
        return False
    if if_none_match.strip() != "*":
        raise InvalidError([Violation("/If-None-Match", _IF_NONE_MATCH_RULE)])
    return True
