"""Which names of namespaces and jobs are valid, and the sentence that says so."""

import re
from typing import Any, Final

from sweephand.base.errors import Violation
from sweephand.base.limits import NAME_LENGTH_MAX
from sweephand.base.text_schema import text_schema

_CHARACTERS: Final = "A-Za-z0-9._~:@+=-"

#: A name in JSON Schema. In a path, one or two dots alone lead to another path, so they are no name.
NAME_PATTERN: Final = rf"^(?:[.]{{0,2}}[{_CHARACTERS.replace('.', '')}]|[.]{{3}})[{_CHARACTERS}]*$"
NAME_SCHEMA: Final[dict[str, Any]] = text_schema(NAME_PATTERN, NAME_LENGTH_MAX)

#: The beginning of a name in JSON Schema. It may be empty.
PREFIX_PATTERN: Final = f"^[{_CHARACTERS}]*$"

_CHARACTERS_SAID: Final = "A-Z a-z 0-9 . _ ~ : @ + = -"

NAME_RULE: Final = f"Give 1 to {NAME_LENGTH_MAX} of {_CHARACTERS_SAID} and not only one or two dots."
PREFIX_MEANING: Final = f"The beginning of the names, of {_CHARACTERS_SAID} only."
CONTAINS_MEANING: Final = f"A text that the names contain somewhere, of {_CHARACTERS_SAID} only."


def is_name(text: object) -> bool:
    """Whether a value is a text that may name a namespace or a job."""
    if not isinstance(text, str) or len(text) > NAME_LENGTH_MAX:
        return False
    # `re` compiles the pattern at the first call: this module must be cheap to import.
    return re.fullmatch(f"[{_CHARACTERS}]+", text) is not None and text not in (".", "..")


def name_violations(pointer: str, text: str) -> list[Violation]:
    """The violation of a name that is not valid, at that JSON pointer; empty for a valid name."""
    return [] if is_name(text) else [Violation(pointer, NAME_RULE)]
