"""Which known name a misspelt one was meant to be, and how a text is shown that may hold any character."""

from collections.abc import Iterable
from typing import Final

#: A word is compared with every name it could stand for: what is longer than any name is none of them.
_LENGTH_MAX: Final = 64
#: Of three letters two may have changed places.
_SIMILARITY_MIN: Final = 0.65


def meant(written: object, names: Iterable[str]) -> str | None:
    """The one of the names that a text is nearest to, if it is near to any.

    Capitals and what stands between words count for nothing: `queue_url` is `queueUrl`.
    """
    if not isinstance(written, str) or not 0 < len(written) <= _LENGTH_MAX:
        return None
    from difflib import get_close_matches  # noqa: PLC0415 - only for what is refused

    by_letters = {_letters(each): each for each in names}
    near = get_close_matches(_letters(written), by_letters, n=1, cutoff=_SIMILARITY_MIN)
    return by_letters[near[0]] if near else None


def suggestion(written: object, names: Iterable[str]) -> str:
    """A sentence that asks whether the nearest of the names was meant, with a space before; else nothing."""
    near = meant(written, names)
    return f" Did you mean {near}?" if near is not None and near != written else ""


def printable(text: str) -> str:
    r"""The text with every character that does not print as an escape sequence, as in `a\x00b`."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def _letters(text: str) -> str:
    return text.lower().replace("_", "").replace("-", "")
