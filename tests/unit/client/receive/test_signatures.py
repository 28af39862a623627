"""A receiver does the work of genuine requests only, and knows each secret while it signs."""

import hmac
import sys
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from threading import Event
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nacl.signing import SigningKey
from standardwebhooks.webhooks import Webhook
from tests.unit.client.receive.conftest import wsgi_of
from tests.unit.client.test_callbacks import client_without_a_key

from sweephand_client.http.errors import InputError, Problem, TooManyError, UnreachableError
from sweephand_client.receive import Receiver
from sweephand_client.receive.signatures import FixedSecrets, SignatureError, StackSecrets, verify
from sweephand_engine.testing import Delivery, Stack

SECRET: Final = "whsec_" + b64encode(b"0123456789abcdef0123456789abcdef").decode()
NOW: Final = 1_767_603_600
BODY: Final = b'{"a":1}'


def signed(secret: str = SECRET, sent: int = NOW, body: bytes = BODY) -> dict[str, str]:
    signature = Webhook(secret).sign("a-1", datetime.fromtimestamp(sent, UTC), body.decode())
    return {"webhook-id": "a-1", "webhook-timestamp": str(sent), "webhook-signature": signature}


def check(headers: dict[str, str], body: bytes = BODY, secrets: str = SECRET, now: float = NOW) -> None:
    verify(FixedSecrets(secrets), headers, body, now)


def test_what_the_library_signs_is_genuine() -> None:
    check(signed())
    check({**signed(), "webhook-signature": "v2,x v1,AAAA " + signed()["webhook-signature"]})


@pytest.mark.parametrize("sent", [NOW - 301, NOW + 301])
def test_an_old_timestamp_is_refused(sent: int) -> None:
    with pytest.raises(SignatureError, match=f"webhook-timestamp is {sent}, and here it is {NOW}"):
        check(signed(sent=sent))


@pytest.mark.parametrize("sent", ["", "1e9", "-1", "٣", "nan", "9" * 400, "9" * 5_000])
def test_a_timestamp_that_is_no_number_is_refused(sent: str) -> None:
    with pytest.raises(SignatureError, match="webhook-timestamp is"):
        check({**signed(), "webhook-timestamp": sent}, now=NOW + 0.5)


@pytest.mark.parametrize("missing", ["webhook-id", "webhook-timestamp", "webhook-signature"])
def test_a_request_without_a_header_is_refused(missing: str) -> None:
    headers = signed()
    del headers[missing]
    with pytest.raises(SignatureError, match=f"The request has no header {missing}"):
        check(headers)


@pytest.mark.parametrize("changed", ["id", "body", "secret"])
def test_another_id_body_or_secret_is_refused(changed: str) -> None:
    headers, body = signed(), BODY
    if changed == "id":
        headers["webhook-id"] = "a-2"
    elif changed == "body":
        body += b" "
    else:
        headers = signed("whsec_" + b64encode(b"x" * 32).decode())
    with pytest.raises(SignatureError, match="No known secret of the namespace has signed this request"):
        check(headers, body)


@given(st.text())
def test_no_text_in_place_of_a_signature_is_genuine(text: str) -> None:
    with pytest.raises(SignatureError):
        check({**signed(), "webhook-signature": text})


def test_a_public_key_verifies() -> None:
    key = SigningKey(b"k" * 32)
    public = "whpk_" + b64encode(bytes(key.verify_key)).decode()
    content = f"a-1.{NOW}.".encode() + BODY
    headers = signed() | {"webhook-signature": "v1a," + b64encode(key.sign(content).signature).decode()}
    check(headers, secrets=public)
    check(headers, secrets=f"{SECRET} {public}")
    with pytest.raises(SignatureError):
        check(headers, secrets=SECRET)
    with pytest.raises(SignatureError):
        check(headers, BODY + b" ", secrets=public)


@pytest.mark.parametrize("secret", ["", "abc", "whsec_", "whsec_%%", "whpk_", "whsk_AAAA"])
def test_what_is_no_secret_is_refused_without_being_shown(secret: str) -> None:
    with pytest.raises(InputError, match="whsec_") as caught:
        FixedSecrets(secret)
    assert not secret or "%%" not in str(caught.value)


def last(stack: Stack) -> Delivery:
    stack.client.jobs.trigger("default", "job")
    stack.travel("2s")
    return stack.deliveries[-1]


def test_a_rotated_secret_is_known_at_once_and_the_old_one_while_it_signs(
    stack: Stack, receiver: Receiver
) -> None:
    receiver.on()(lambda _: None)
    stack.put_job("job", "0 0 1 1 *")
    assert last(stack).status == 204
    stack.client.signing.rotate_secrets("default")
    stack.travel("2m")
    assert last(stack).status == 204
    stack.client.signing.rotate_keys("default")
    stack.travel("2m")
    assert last(stack).status == 204


class Signing:
    """The signing secrets of a stack, each call of which is counted. It may be down, or refuse."""

    def __init__(self) -> None:
        self.calls = 0
        self.error: Exception | None = None
        self.begun, self.may_answer = Event(), Event()
        self.may_answer.set()

    @property
    def signing(self) -> Any:
        return self

    def secrets(self, _: str) -> Any:
        self.calls += 1
        self.begun.set()
        self.may_answer.wait(10)
        if self.error is not None:
            raise self.error
        return [{"secret": SECRET}]

    def keys(self, _: str) -> Any:
        return []


@pytest.fixture
def signing() -> Signing:
    return Signing()


@pytest.fixture
def now() -> list[float]:
    return [0.0]


@pytest.fixture
def stack_secrets(signing: Signing, now: list[float]) -> StackSecrets:
    return StackSecrets(lambda: signing, "default", lambda: now[0])  # type: ignore[arg-type,return-value]


def test_requests_with_wrong_signatures_do_not_flood_the_stack(
    stack_secrets: StackSecrets, signing: Signing, now: list[float]
) -> None:
    for _ in range(600):
        with pytest.raises(SignatureError):
            verify(stack_secrets, signed(body=b"other"), BODY, NOW)
        now[0] += 0.1
    assert signing.calls == 2, "it looks at most each half minute"


@pytest.mark.parametrize(
    "error", [UnreachableError("https://stack.test", "no"), TooManyError(Problem(429, "", ""))]
)
def test_known_secrets_serve_while_the_stack_gives_none(
    stack_secrets: StackSecrets, signing: Signing, now: list[float], error: Exception
) -> None:
    verify(stack_secrets, signed(), BODY, NOW)
    signing.error = error
    for _ in range(600):
        now[0] += 10
        verify(stack_secrets, signed(), BODY, NOW)
        with pytest.raises(SignatureError):
            verify(stack_secrets, signed(body=b"other"), BODY, NOW)
    assert signing.calls <= 1 + 6_000 / 30


def test_a_slow_stack_holds_up_no_other_request(
    stack_secrets: StackSecrets, signing: Signing, now: list[float]
) -> None:
    verify(stack_secrets, signed(), BODY, NOW)
    now[0] += 301
    signing.begun.clear()
    signing.may_answer.clear()
    with ThreadPoolExecutor(1) as threads:
        slow = threads.submit(verify, stack_secrets, signed(), BODY, NOW)
        assert signing.begun.wait(10)
        verify(stack_secrets, signed(), BODY, NOW)
        assert not slow.done()
        signing.may_answer.set()
        slow.result()
    assert signing.calls == 2


def test_without_secrets_one_request_after_another_does_not_wait_for_a_stack_that_is_down(
    stack_secrets: StackSecrets, signing: Signing, now: list[float]
) -> None:
    signing.error = UnreachableError("https://stack.test", "no")
    for _ in range(100):
        with pytest.raises(UnreachableError):
            verify(stack_secrets, signed(), BODY, NOW)
    assert signing.calls == 1
    signing.error = None
    now[0] += 5
    verify(stack_secrets, signed(), BODY, NOW)


def test_the_number_of_signatures_that_are_checked_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a request without a secret costs seconds: a header of 8 KB has 2,000 signatures."""
    calls: list[bytes] = []
    digest = hmac.digest

    def counted(*arguments: Any) -> bytes:
        calls.append(b"")
        return digest(*arguments)

    monkeypatch.setattr(hmac, "digest", counted)
    with pytest.raises(SignatureError):
        check({**signed(), "webhook-signature": "v1,AAAA " * 2_000})
    assert len(calls) <= 40


def test_who_may_read_the_secrets_needs_no_library_of_ed25519(
    stack: Stack, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    receiver.on()(lambda _: None)
    stack.put_job("job", "0 0 1 1 *")
    stack.client.signing.rotate_keys("default")
    stack.travel("2m")
    monkeypatch.setitem(sys.modules, "nacl.signing", None)
    assert last(stack).status == 204


def test_the_public_keys_do_without_a_key(stack: Stack) -> None:
    receiver = Receiver()
    receiver.on()(lambda _: None)
    stack.deliver_to(wsgi_of(receiver))
    receiver.use(client_without_a_key(stack))
    stack.put_job("job", "0 0 1 1 *")
    assert last(stack).status == 500
    assert "POST /v1/namespaces/default/signing-keys" in str(stack.runs("job")[-1].answer["answer"])
    stack.client.signing.rotate_keys("default")
    stack.travel("10m")
    assert last(stack).status == 204


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("sweephand-run", "1767603601000-7"),
        ("sweephand-run", "0"),
        ("sweephand-due", "2026-01-05T09:00:02Z"),
        ("sweephand-batch-index", "1"),
        ("sweephand-event", "end"),
        ("sweephand-event", "alert"),
        ("sweephand-event", "batch-end"),
    ],
)
def test_a_name_that_does_not_fit_the_signed_id_is_refused(
    stack: Stack, receiver: Receiver, name: str, value: str
) -> None:
    for event in ("trigger", "end", "alert", "batch-end"):
        receiver.on(event=event)(lambda _: pytest.fail("no handler is called"))
    stack.deliver_to(lambda _: 500)
    stack.put_job("job", dueTime="1s")
    stack.travel("1s")
    delivery = stack.deliveries[-1]
    assert receiver.respond({**delivery.headers, name: value}, delivery.body)[0] == 400


def test_a_notification_is_no_trigger(stack: Stack, receiver: Receiver) -> None:
    receiver.on()(lambda _: None)
    stack.put_job("job", dueTime="1s", onComplete={"type": "http", "url": "https://app.test/ends"})
    stack.travel("1m")
    headers = dict(stack.deliveries[-1].headers)
    assert headers.pop("sweephand-event") == "end"
    for run in (headers["sweephand-run"], headers["sweephand-run"] + "-end-1", "1"):
        answer = receiver.respond({**headers, "sweephand-run": run}, stack.deliveries[-1].body)
        assert answer.status == 400


def test_a_delivery_of_another_namespace_is_refused(stack: Stack, receiver: Receiver) -> None:
    receiver.on()(lambda _: None)
    stack.put_job("job", "0 0 1 1 *")
    delivery = last(stack)
    assert receiver.respond({**delivery.headers, "sweephand-namespace": "other"}, delivery.body)[0] == 404
