"""Which known name a misspelt name resembles, and how a text that is long or does not print is shown."""

from collections.abc import Iterable
from typing import Final

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


def _letters(text: str) -> str:
    return text.lower().replace("_", "").replace("-", "")
