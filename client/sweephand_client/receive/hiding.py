"""Hides what must not stand in the reason of a run: the secrets of this process."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

HIDDEN: Final = "[secret]"

#: A variable with one of these words in its name holds a secret.
_NAMES: Final = re.compile(
    r"SECRET|TOKEN|PASSW|CREDENTIAL|_KEY\b|_KEY_|^KEY$|DATABASE_URL|_DSN", re.IGNORECASE
)

#: A shorter value would be found by chance.
_LENGTH_MIN: Final = 6

#: Run tokens, keys and signing secrets of Sweephand, and the password of a URL.
_KNOWN: Final = re.compile(r"\b(?:shr|sh|whsec|whsk)_[A-Za-z0-9_+/=-]{8,}|(?<=://)[^/\s:@]*:[^/\s@]+(?=@)")

#: The longest text that is looked at. The stack keeps less.
_TEXT_MAX: Final = 4_096


def without_secrets(text: str, environment: Mapping[str, str], more: Iterable[str] = ()) -> str:
    """The text, with `[secret]` for each secret in it.

    The secrets are those of Sweephand, passwords of URLs, `more`, and the values of variables of the
    environment that are named like secrets.
    """
    values = {value for name, value in environment.items() if _NAMES.search(name)} | {*more}
    shown = text[:_TEXT_MAX]
    for each in sorted((each for each in values if len(each) >= _LENGTH_MIN), key=len, reverse=True):
        shown = shown.replace(each, HIDDEN)
    return _KNOWN.sub(HIDDEN, shown)
