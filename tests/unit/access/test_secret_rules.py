"""Which values a secret may have."""

import pytest
from tests.unit.model.test_secret import HMAC, PRIVATE

from sweephand.access.ed25519 import private_key
from sweephand.access.named_secrets import value_violations
from sweephand.base.limits import SECRET_LENGTH_MAX

#: The last character of the public half is changed.
BROKEN_PAIR = private_key(bytes(32))[:-4] + "AA=="


@pytest.mark.parametrize(
    "value", ["x", "Bearer a b", "!~", "{{due}}", "x" * SECRET_LENGTH_MAX, HMAC[0], PRIVATE, "whpk_x"]
)
def test_a_value_that_a_header_can_carry_is_accepted(value: str) -> None:
    assert value_violations(value) == []


@pytest.mark.parametrize(
    "value",
    [
        *("", " ", " a", "a ", "a\tb", "a\n", "a\r\nb", "\x7f", "é", "€", "a\x00"),
        "x" * (SECRET_LENGTH_MAX + 1),
        *("whsec_", "whsec_short", "whsk_", PRIVATE[:-4], BROKEN_PAIR),
    ],
)
def test_any_other_value_is_refused_and_not_repeated(value: str) -> None:
    (violation,) = value_violations(value)
    assert violation.pointer == "/value"
    secret_part = value.strip().removeprefix("whsec_").removeprefix("whsk_")
    assert len(secret_part) < 2 or secret_part not in violation.detail
