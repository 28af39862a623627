"""Which names of namespaces and jobs are valid, and the sentence that says so."""

import re
from typing import Final

from sweephand.base.errors import Violation
from sweephand.base.limits import NAME_LENGTH_MAX

_CHARACTERS: Final = "A-Za-z0-9._~:@+=-"

#: One or two dots alone are no name: in a path they lead elsewhere.
NAME_PATTERN: Final = rf"^(?:[.]{{0,2}}[{_CHARACTERS.replace('.', '')}]|[.]{{3}})[{_CHARACTERS}]*$"

#: What names may begin with; nothing at all, too.
PREFIX_PATTERN: Final = f"^[{_CHARACTERS}]*$"

NAME_RULE: Final = f"Give 1 to {NAME_LENGTH_MAX} of A-Z a-z 0-9 . _ ~ : @ + = - and not only one or two dots."

_NAME: Final = re.compile(f"[{_CHARACTERS}]+")


def is_name(text: str) -> bool:
    """Whether a text may name a namespace or a job."""
    return len(text) <= NAME_LENGTH_MAX and _NAME.fullmatch(text) is not None and text not in (".", "..")


def name_violations(pointer: str, text: str) -> list[Violation]:
    """What is wrong with a name, if anything."""
    return [] if is_name(text) else [Violation(pointer, NAME_RULE)]
