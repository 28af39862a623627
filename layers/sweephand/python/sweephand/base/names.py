"""Names and texts that a caller writes: which names are valid, what they resemble, how texts are shown."""

import re
from collections.abc import Iterable
from typing import Any, Final

from sweephand.base.errors import Violation
from sweephand.base.limits import NAME_LENGTH_MAX


def text_schema(pattern: str, length_max: int, **more: Any) -> dict[str, Any]:
    """The JSON Schema of a text that is not empty.

    - `pattern` is a regular expression that the whole text matches: it begins with `^` and ends with `$`. It
      says how the text is written, and not what the text may mean.
    - `length_max` is counted in characters.
    - `more` are further keywords, such as `format`.

    The result is a new dict, which the caller may change.
    """
    return {"type": "string", "minLength": 1, "maxLength": length_max, "pattern": pattern, **more}


_CHARACTERS: Final = "A-Za-z0-9._~:@+=-"

#: A name in JSON Schema. In a path, one or two dots alone lead to another path, so they are no name.
NAME_PATTERN: Final = rf"^(?:[.]{{0,2}}[{_CHARACTERS.replace('.', '')}]|[.]{{3}})[{_CHARACTERS}]*$"
NAME_SCHEMA: Final[dict[str, Any]] = text_schema(NAME_PATTERN, NAME_LENGTH_MAX)

#: Stands for all namespaces. No namespace has this name.
EVERY_NAMESPACE: Final = "*"

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


#: How much of what was written a message repeats.
QUOTED_CHARS_MAX: Final = 80

#: No known name is longer, so a longer text resembles none.
_LENGTH_MAX: Final = 64
#: How many misspelt names of one object get a suggestion. A search for a similar name takes up to 0.1 ms, and
#: a bulk write has room for thousands of misspelt names.
SUGGESTIONS_MAX: Final = 10
#: With this similarity, a name of three letters may have two letters swapped.
_SIMILARITY_MIN: Final = 0.65


def nearest_name(written: object, names: Iterable[str]) -> str | None:
    """The name that resembles the text most, or None if no name is similar enough.

    The comparison ignores case, `_` and `-`: `queue_url` equals `queueUrl`.
    """
    if not isinstance(written, str) or not 0 < len(written) <= _LENGTH_MAX:
        return None
    from difflib import get_close_matches  # noqa: PLC0415 - only a refused request needs it

    by_letters = {_letters(each): each for each in names}
    near = get_close_matches(_letters(written), by_letters, n=1, cutoff=_SIMILARITY_MIN)
    return by_letters[near[0]] if near else None


def suggestion(written: object, names: Iterable[str]) -> str:
    """The sentence " Did you mean NAME?" with a leading space, or "" if no name resembles the text."""
    near = nearest_name(written, names)
    return f" Did you mean {near}?" if near is not None and near != written else ""


def printable(text: str) -> str:
    r"""The text with each unprintable character as an escape sequence, such as `a\x00b`."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def shortened(text: str, length_max: int) -> str:
    """The text, or its first `length_max` characters and an ellipsis."""
    return text if len(text) <= length_max else text[:length_max] + "…"


def quoted(text: str) -> str:
    """The text as a message repeats it: in quotes, escaped, at most QUOTED_CHARS_MAX characters of it."""
    return repr(shortened(text, QUOTED_CHARS_MAX))


def _letters(text: str) -> str:
    return text.lower().replace("_", "").replace("-", "")
