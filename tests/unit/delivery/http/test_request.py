"""The signed request of a delivery, and the secrets that its target names."""

import hmac
import os
import subprocess
import sys
from base64 import b64decode, b64encode
from hashlib import sha256
from time import time

import pytest
from standardwebhooks.webhooks import Webhook, WebhookVerificationError
from tests.fakes.consumer import SECRET, attempt_of
from tests.unit.access.test_ed25519 import verify

from sweephand.access.ed25519 import private_key
from sweephand.delivery.http.request import SecretValues, UnusableSecretError, delivery_headers, signatures
from sweephand.delivery.http.targets import without
from sweephand.model.secret import public_key_of
from sweephand.targets.target_type import SecretRef

OTHER = "whsec_" + b64encode(bytes(range(24))).decode()


def computed(secret: str, trigger_id: str, timestamp: int, body: bytes) -> str:
    """A signature by the specification's own words, without the library."""
    key = b64decode(secret.removeprefix("whsec_"))
    content = f"{trigger_id}.{timestamp}.".encode() + body
    return "v1," + b64encode(hmac.new(key, content, sha256).digest()).decode()


@pytest.mark.parametrize(
    "body", [b"", b"null", b'{"a":1}', '{"ü":"€😀"}'.encode(), b'"' + b"x" * 262_142 + b'"']
)
@pytest.mark.parametrize("sent_at", [0, 1_795_262_400_000, 1_795_262_400_999, 4_102_444_800_001])
def test_a_signature_equals_the_example_of_the_specification(body: bytes, sent_at: int) -> None:
    expected = computed(OTHER, "uid-5-0", sent_at // 1_000, body)
    assert signatures([OTHER], "uid-5-0", sent_at, body) == expected


def test_the_signature_of_fixed_input_never_changes() -> None:
    # Computed once with OpenSSL:
    #   printf 'uid-5-0.1795262400.{"a":1}' |
    #     openssl dgst -sha256 -mac HMAC -binary -macopt hexkey:000102…17 | base64
    expected = "v1,Lg9ChfWsp98YdEgPELMx97nsNF/WokH/kod2VP91Lbc="
    assert signatures([OTHER], "uid-5-0", 1_795_262_400_000, b'{"a":1}') == expected


def test_each_active_secret_signs_newest_first() -> None:
    newest, older = signatures([SECRET, OTHER], "id", 5_000, b"{}").split(" ")
    assert newest == computed(SECRET, "id", 5, b"{}")
    assert older == computed(OTHER, "id", 5, b"{}")


def test_a_consumer_verifies_by_hmac_what_is_signed_by_ed25519_as_well_and_by_each_of_two_keys() -> None:
    keys = [private_key(bytes([each]) * 32) for each in (1, 2)]
    secrets = (SECRET, *keys)
    attempt = attempt_of({})._replace(secrets=secrets, sent_at=int(time()) * 1_000)
    headers = delivery_headers(attempt, attempt.body)
    Webhook(SECRET).verify(attempt.body, headers)  # it skips the schemes that it does not know
    content = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + attempt.body
    signed = headers["webhook-signature"].split(" ")[1:]
    for key, signature in zip(keys, signed, strict=True):
        verify(public_key_of(key), signature, content)


def test_a_namespace_without_an_ed25519_key_signs_without_the_library_of_ed25519() -> None:
    code = (
        "import sys, sweephand.delivery.http.request as s; "
        f"s.signatures(['{SECRET}'], 'id', 0, b''); assert 'nacl' not in sys.modules"
    )
    path = {"PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code], check=True, env=path)  # noqa: S603 - this interpreter, and no input


def test_a_body_changed_by_one_byte_no_longer_verifies() -> None:
    attempt = attempt_of({})
    headers = delivery_headers(attempt, attempt.body)
    with pytest.raises(WebhookVerificationError):
        Webhook(SECRET).verify(attempt.body + b" ", headers)


def test_a_run_token_goes_with_an_attempt_that_may_be_reported_on_and_with_no_other() -> None:
    attempt = attempt_of({})
    assert "sweephand-run-token" not in delivery_headers(attempt, attempt.body)
    reported_on = attempt._replace(run_token="shr_x")
    assert delivery_headers(reported_on, attempt.body)["sweephand-run-token"] == "shr_x"


def test_a_notification_of_an_end_is_signed_under_an_id_of_its_own_and_names_its_event() -> None:
    attempt = attempt_of({})
    assert "sweephand-event" not in delivery_headers(attempt, attempt.body)
    headers = delivery_headers(attempt._replace(ended_after=3), attempt.body)
    assert headers["webhook-id"] == "uuuuuuuuuuuuuuuu-1795262400250-3-end-3"
    assert headers["sweephand-event"] == "end"
    expected = computed(SECRET, headers["webhook-id"], attempt.sent_at // 1_000, attempt.body)
    assert headers["webhook-signature"] == expected


def test_a_notification_of_the_end_of_a_batch_names_the_batch_instead_of_a_run() -> None:
    attempt = attempt_of({})._replace(ended_after=1, ends_batch=True)
    headers = delivery_headers(attempt, attempt.body)
    assert headers["webhook-id"] == "uuuuuuuuuuuuuuuu-1795262400250-batch-end"
    assert headers["sweephand-event"] == "batch-end"
    assert headers["sweephand-batch"] == "1795262400250"
    assert headers.keys().isdisjoint({"sweephand-run", "sweephand-batch-index"})


def test_the_headers_name_the_trigger_and_the_attempt() -> None:
    attempt = attempt_of({})
    headers = delivery_headers(attempt, attempt.body)
    assert headers.pop("webhook-signature").startswith("v1,")
    assert headers == {
        "webhook-id": "uuuuuuuuuuuuuuuu-1795262400250-3",
        "webhook-timestamp": "1795262400",
        "sweephand-namespace": "team",
        "sweephand-job": "nightly",
        "sweephand-run": "1795262400250-3",
        "sweephand-due": "2026-11-21T12:00:00.250Z",
        "sweephand-attempt": "2",
        "sweephand-sequence": "7",
        "sweephand-batch-index": "3",
    }


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
    shown = without([*values.all(), "other"], b"\xff old-one, new-one, other!")
    assert shown == b"\xff [secret], [secret], [secret]!"


def test_a_missing_secret_is_named() -> None:
    with pytest.raises(UnusableSecretError, match="There is no secret a in namespace ns"):
        SecretValues.read("ns", [SecretRef("/headers/x/secretRef", "a")], lambda *_: {})


def test_a_secret_that_cannot_sign_is_named_without_its_value() -> None:
    ref = SecretRef("/signingSecret/secretRef", "a", must_sign=True)
    with pytest.raises(UnusableSecretError, match="a in namespace ns cannot sign") as raised:
        SecretValues.read("ns", [ref], lambda *_: {"a": ["plain"]})
    assert "plain" not in str(raised.value)
