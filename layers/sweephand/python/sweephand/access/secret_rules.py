"""Which values a secret may have: texts that a header can carry, and keys that can sign."""

import re
from typing import Final

from sweephand.base.errors import Violation
from sweephand.base.limits import SECRET_LENGTH_MAX
from sweephand.model.secret import scheme_of
from sweephand.model.signing_secret import ED25519_PREFIX, HMAC_PREFIX

VALUE_MEANING: Final = (
    f"The value: 1 to {SECRET_LENGTH_MAX} printable characters of ASCII, without a space at either end. No "
    "answer ever shows it."
)

#: The pattern of a value. An HTTP field has no space at either end (RFC 9110, 5.5).
VALUE_PATTERN: Final = "^[!-~](?:[ -~]*[!-~])?$"


def value_violations(value: str) -> list[Violation]:
    """What is wrong with the value of a secret. No violation contains any of the value."""
    if len(value) > SECRET_LENGTH_MAX or not re.fullmatch(VALUE_PATTERN, value):
        return [Violation("/value", VALUE_MEANING)]
    if value.startswith(HMAC_PREFIX) and scheme_of(value) is None:
        rule = f"After {HMAC_PREFIX}, give the base64 of 24 to 64 bytes."
        return [Violation("/value", rule)]
    if value.startswith(ED25519_PREFIX) and not _is_key_pair(value):
        rule = f"After {ED25519_PREFIX}, give the base64 of 64 bytes: the key's seed, then its public key."
        return [Violation("/value", rule)]
    return []


def _is_key_pair(value: str) -> bool:
    from sweephand.access.ed25519 import is_key_pair  # noqa: PLC0415 - a library that few calls need

    return scheme_of(value) is not None and is_key_pair(value)
