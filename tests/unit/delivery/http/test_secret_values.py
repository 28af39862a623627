"""The secrets that a target names are read together, and the first one that is missing is named."""

import pytest

from sweephand.delivery.http.secret_values import SecretValues, UnusableSecretError
from sweephand.targets.secret_refs import SecretRef


def test_secrets_of_a_target_are_read_together_from_its_namespace() -> None:
    asked = []

    def read(namespace: str, names: object) -> dict[str, list[str]]:
        asked.append((namespace, names))
        return {"a": ["1"], "b": ["2", "3"]}

    values = SecretValues.read("ns", [SecretRef("/x", "a"), SecretRef("/y", "b")], read)
    assert asked == [("ns", {"a", "b"})]
    assert [values.text({"secretRef": name}) for name in ("a", "b")] == ["1", "2"]
    assert values.text("plain") is None
    assert values.signing("b") == ("2", "3")


def test_every_value_and_the_others_are_hidden_in_any_bytes() -> None:
    values = SecretValues({"key": ["new-one", "old-one"]})
    assert values.hidden_in(b"\xff old-one, new-one, other!", ["other"]) == (
        b"\xff [secret], [secret], [secret]!"
    )


def test_a_missing_secret_is_named() -> None:
    with pytest.raises(UnusableSecretError, match="There is no secret a in namespace ns"):
        SecretValues.read("ns", [SecretRef("/headers/x/secretRef", "a")], lambda *_: {})


def test_a_secret_that_cannot_sign_is_named_without_its_value() -> None:
    ref = SecretRef("/signingSecret/secretRef", "a", must_sign=True)
    with pytest.raises(UnusableSecretError, match="a in namespace ns cannot sign") as raised:
        SecretValues.read("ns", [ref], lambda *_: {"a": ["plain"]})
    assert "plain" not in str(raised.value)
