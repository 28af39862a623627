"""Which names of namespaces and jobs are valid, and the sentence that says so."""

import re
from typing import Final

from sweephand.errors import Violation
from sweephand.limits import NAME_LENGTH_MAX

NAME_PATTERN: Final = r"^[A-Za-z0-9._~:@+=-]+$"

#: What names may begin with; nothing at all, too.
PREFIX_PATTERN: Final = NAME_PATTERN.replace("+$", "*$")

NAME_RULE: Final = f"Give 1 to {NAME_LENGTH_MAX} of A-Z a-z 0-9 . _ ~ : @ + = - and not only one or two dots."

_NAME: Final = re.compile(r"[A-Za-z0-9._~:@+=-]+")


def is_name(text: str) -> bool:
    """Whether a text may name a namespace or a job."""
    return len(text) <= NAME_LENGTH_MAX and _NAME.fullmatch(text) is not None and text not in (".", "..")


def name_violations(pointer: str, text: str) -> list[Violation]:
    """What is wrong with a name, if anything."""
    return [] if is_name(text) else [Violation(pointer, NAME_RULE)]
