"""What a text can sign, and which values of a secret are kept when it is replaced."""

from base64 import b64encode

import pytest

from sweephand.base.timing import SECRET_OVERLAP_MS
from sweephand.model.secret import Scheme, Secret, SecretKey, SigningSecret, public_key_of, scheme_of

HMAC = ["whsec_" + b64encode(bytes([each]) * 24).decode() for each in range(5)]
#: The example of Svix's source, with its public key.
PRIVATE = "whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg=="
PUBLIC = "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4="


def secret(text: str) -> Secret:
    return Secret(SecretKey("ns", "x"), "v1", 1_000, 1_000, (SigningSecret(text, 1_000),))


@pytest.mark.parametrize(
    ("text", "scheme"),
    [
        ("", None),
        ("plain", None),
        ("whsec_", None),
        ("whsec_%", None),
        ("whsec_wronglength", None),
        (HMAC[0].removeprefix("whsec_"), None),
        ("hwsec_" + HMAC[0].removeprefix("whsec_"), None),
        ("whsec_" + b64encode(bytes(23)).decode(), None),
        ("whsec_" + b64encode(bytes(24)).decode(), "v1"),
        ("whsec_" + b64encode(bytes(25)).decode(), "v1"),
        ("whsec_" + b64encode(bytes(25)).decode().rstrip("="), "v1"),
        ("whsec_" + b64encode(bytes(64)).decode(), "v1"),
        ("whsec_" + b64encode(bytes(65)).decode(), None),
        (PUBLIC, None),
        (PRIVATE, "v1a"),
        (PRIVATE.rstrip("="), "v1a"),
        (PRIVATE[:-4], None),
        ("whsk_" + b64encode(bytes(32)).decode(), None),
    ],
)
def test_the_prefix_and_the_length_of_a_key_say_how_it_signs(text: str, scheme: Scheme | None) -> None:
    assert scheme_of(text) == scheme


def test_a_private_key_has_its_public_key_in_it() -> None:
    assert public_key_of(PRIVATE) == PUBLIC


def test_the_value_before_signs_for_a_day_beside_the_new_one() -> None:
    replaced = secret(HMAC[0]).replaced(HMAC[1], "v2", 5_000)
    assert replaced.active(5_000 + SECRET_OVERLAP_MS - 1) == (HMAC[1], HMAC[0])
    assert replaced.active(5_000 + SECRET_OVERLAP_MS) == (HMAC[1],)
    assert (replaced.version, replaced.created_at, replaced.updated_at) == ("v2", 1_000, 5_000)


def test_a_key_of_the_other_scheme_signs_for_a_day_too() -> None:
    assert secret(HMAC[0]).replaced(PRIVATE, "v2", 5_000).active(5_000) == (PRIVATE, HMAC[0])


def test_the_oldest_value_is_forgotten_beyond_three() -> None:
    replaced = secret(HMAC[0])
    for number in range(1, 5):
        replaced = replaced.replaced(HMAC[number], f"v{number}", 5_000 + number)
    assert replaced.active(6_000) == (HMAC[4], HMAC[3], HMAC[2])


@pytest.mark.parametrize(("before", "after"), [("a", "b"), ("a", HMAC[0]), (HMAC[0], "b")])
def test_a_value_that_signs_nothing_or_is_replaced_by_such_a_value_is_forgotten_at_once(
    before: str, after: str
) -> None:
    replaced = secret(before).replaced(after, "v2", 5_000)
    assert [each.secret for each in replaced.values] == [after]


def test_no_repr_shows_a_value() -> None:
    shown = repr(secret(HMAC[0]).replaced(PRIVATE, "v2", 5_000)) + repr(secret("plain").values)
    assert not [each for each in (HMAC[0], PRIVATE, "plain") if each in shown]
