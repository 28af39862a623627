"""Signatures by ed25519 verify with another library, cryptography, and follow RFC 8032."""

from base64 import b64decode, b64encode
from datetime import UTC, datetime

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from sweephand.access.ed25519 import Ed25519Webhook, is_key_pair, private_key
from sweephand.model.secret import public_key_of, scheme_of

SEED = bytes(range(32))
MOMENT = datetime(2026, 11, 21, 12, 0, 0, 999_000, tzinfo=UTC)


def verify(public: str, signature: str, content: bytes) -> None:
    """Raises InvalidSignature unless the public key verifies the signature. It shares no code with PyNaCl."""
    scheme, _, text = signature.partition(",")
    assert scheme == "v1a"
    raw = b64decode(public.removeprefix("whpk_"), validate=True)
    Ed25519PublicKey.from_public_bytes(raw).verify(b64decode(text, validate=True), content)


def test_a_private_key_holds_its_seed_and_the_public_key_of_that_seed() -> None:
    private = private_key(SEED)
    assert scheme_of(private) == "v1a"
    other = Ed25519PrivateKey.from_private_bytes(SEED).public_key().public_bytes_raw()
    assert b64decode(private.removeprefix("whsk_")) == SEED + other
    assert public_key_of(private) == "whpk_" + b64encode(other).decode()


@pytest.mark.parametrize("data", ["", "null", '{"ü":"€😀"}', "x" * 262_144])
def test_a_signature_verifies_with_the_public_key_and_no_other(data: str) -> None:
    private = private_key(SEED)
    signature = Ed25519Webhook(private).sign("uid-5-0", MOMENT, data)
    content = f"uid-5-0.1795262400.{data}".encode()
    verify(public_key_of(private), signature, content)
    for public, changed in (
        (public_key_of(private_key(bytes(32))), content),
        (public_key_of(private), content + b" "),
    ):
        with pytest.raises(InvalidSignature):
            verify(public, signature, changed)


def test_a_signature_equals_that_of_another_library() -> None:
    expected = Ed25519PrivateKey.from_private_bytes(SEED).sign(b"id.1795262400.{}")
    assert Ed25519Webhook(private_key(SEED)).sign("id", MOMENT, "{}") == "v1a," + b64encode(expected).decode()


def test_the_first_vector_of_rfc_8032_holds() -> None:
    seed = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
    public = bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
    assert public_key_of(private_key(seed)) == "whpk_" + b64encode(public).decode()


def test_two_halves_of_different_keys_are_no_pair() -> None:
    private, other = private_key(SEED), private_key(bytes(32))
    halves = b64decode(private[5:])[:32] + b64decode(other[5:])[32:]
    mixed = "whsk_" + b64encode(halves).decode()
    assert is_key_pair(private)
    assert not is_key_pair(mixed)
    # Signing with another public key would reveal the private one. So the public half is never used to sign.
    assert Ed25519Webhook(mixed).sign("id", MOMENT, "") == Ed25519Webhook(private).sign("id", MOMENT, "")
