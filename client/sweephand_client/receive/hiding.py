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


def without_secrets(
    text: str, environment: Mapping[str, str], more: Iterable[str] = (), *, is_tail: bool = False
) -> str:
    """The text, with `[secret]` for each secret in it.

    The secrets are those of Sweephand, passwords of URLs, `more`, and the values of variables of the
    environment that are named like secrets. A text that `is_tail` may begin within one.
    """
    values = {value for name, value in environment.items() if _NAMES.search(name)} | {*more}
    shown = text[:_TEXT_MAX]
    secrets = sorted((each for each in values if len(each) >= _LENGTH_MIN), key=len, reverse=True)
    for each in secrets:
        shown = shown.replace(each, HIDDEN)
    if is_tail:
        # Half a character may stand at the cut.
        shown = shown.lstrip("\N{REPLACEMENT CHARACTER}")
        cut = max((_shared(each, shown) for each in secrets), default=0)
        shown = HIDDEN + shown[cut:] if cut else shown
    if len(text) > _TEXT_MAX:
        cut = max((_shared(shown, each) for each in secrets), default=0)
        shown = shown[: len(shown) - cut] + HIDDEN if cut else shown
    return _KNOWN.sub(HIDDEN, shown)


def _shared(first: str, second: str) -> int:
    """How many characters at the end of the first text are the beginning of the second, at the most."""
    longest = min(len(first), len(second))
    return next((each for each in range(longest, 0, -1) if first.endswith(second[:each])), 0)
