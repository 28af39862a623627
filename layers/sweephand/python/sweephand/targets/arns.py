"""The ARNs of AWS: how they are written, and lists of patterns of them as in IAM policies."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

#: An ARN with the wildcards of IAM: `*` stands for any characters, `?` for one.
# re compiles it when it is first used, so that importing this module stays cheap.
_PATTERN: Final = r"\*|[^\s,:]+:[^\s,:]+:[^\s,:]+:[^\s,:]*:[^\s,:]*:[^\s,]+"


def read_patterns(text: str) -> tuple[str, ...]:
    """The patterns in a list that is separated by commas. Spaces and empty parts are dropped.

    Raises ValueError if a part is neither an ARN nor `*`.
    """
    parts = [part.strip() for part in text.split(",")]
    patterns = tuple(part for part in parts if part)
    wrong = next((pattern for pattern in patterns if not re.fullmatch(_PATTERN, pattern)), None)
    if wrong is not None:
        raise ValueError(f"{wrong!r} is no ARN")
    return patterns


def matches(pattern: str, text: str) -> bool:
    """Whether an ARN, or a part of one, matches a pattern as it does in an IAM policy."""
    return bool(_compiled(pattern).fullmatch(text))


def matches_any(patterns: Iterable[str], arn: str) -> bool:
    """Whether an ARN matches one of those patterns."""
    return any(matches(pattern, arn) for pattern in patterns)


@lru_cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(re.escape(pattern).replace(r"\*", ".*").replace(r"\?", "."))
