"""Requests carry the values of the secrets that their target names, and nothing else does."""

import json
from base64 import b64encode
from collections.abc import Collection, Mapping, Sequence
from time import monotonic

import pytest
from standardwebhooks.webhooks import Webhook
from tests.fakes.consumer import SECRET, Connection, Consumer, attempt_of
from tests.fakes.doubles import CountingIds, HandClock
from tests.fakes.memory_access import MemoryNamedSecrets
from tests.unit.access.test_ed25519 import verify

from sweephand.access.ed25519 import private_key
from sweephand.access.named_secrets import SecretAdmin, SecretReader
from sweephand.base.errors import StoreError
from sweephand.base.instants import SECOND_MS, to_datetime
from sweephand.base.timing import NAMED_SECRETS_AGE_MAX_MS
from sweephand.delivery.http.targets import HttpTargets
from sweephand.model.secret import SecretKey, public_key_of

VALUE = "Bearer 8d1f-very-secret"
HMAC = "whsec_" + b64encode(bytes(range(24))).decode()
PRIVATE = private_key(bytes(range(32)))


class Secrets:
    """The secrets of the namespace `team`."""

    def __init__(self, **values: Sequence[str]) -> None:
        self.values = values

    def read(self, namespace: str, names: Collection[str]) -> Mapping[str, Sequence[str]]:
        assert namespace == "team"
        return {name: self.values[name] for name in names if name in self.values}

    @property
    def targets(self) -> HttpTargets:
        return HttpTargets(HandClock(), allow_insecure=True, read_secrets=self.read)


def echoing(connection: Connection) -> None:
    """Refuse each request with a message that repeats its header and the signing secrets."""
    while request := connection.request():
        text = f"not accepted: {request.headers.get('authorization')} {HMAC} {PRIVATE}"
        connection.answer("500 Internal Server Error", text.encode())


def test_a_header_carries_the_value_of_its_secret_and_a_rotated_one_from_then_on() -> None:
    secrets = Secrets(token=[VALUE])
    targets = secrets.targets
    with Consumer() as consumer:
        spec = consumer.spec(headers={"Authorization": {"secretRef": "token"}, "x-plain": "a"})
        assert targets.deliver(attempt_of(spec)).succeeded
        secrets.values = {"token": ["other {{due}}"]}
        assert targets.deliver(attempt_of(spec)).succeeded
        sent = [(each.headers["authorization"], each.headers["x-plain"]) for each in consumer.requests]
    assert sent == [(VALUE, "a"), ("other {{due}}", "a")]


def test_a_missing_secret_ends_the_run_and_nothing_is_sent() -> None:
    with Consumer() as consumer:
        spec = consumer.spec(headers={"authorization": {"secretRef": "tokne"}})
        answer = Secrets(token=[VALUE]).targets.deliver(attempt_of(spec))
    assert (answer.succeeded, answer.is_final, consumer.accepted) == (False, True, 0)
    assert answer.error == (
        "There is no secret tokne in namespace team, and the target's /headers/authorization/secretRef names "
        "it. Create the secret, then redrive this run."
    )


def test_an_adapter_of_a_stack_without_secrets_finds_none() -> None:
    targets = HttpTargets(HandClock(), allow_insecure=True)
    answer = targets.deliver(
        attempt_of({"type": "http", "url": "http://x", "signingSecret": {"secretRef": "a"}})
    )
    assert answer.is_final
    assert "There is no secret a in namespace team" in str(answer.error)


def test_a_secret_that_cannot_be_read_is_no_answer() -> None:
    def read(*_: object) -> Mapping[str, Sequence[str]]:
        raise StoreError("GetItem")

    targets = HttpTargets(HandClock(), allow_insecure=True, read_secrets=read)
    with Consumer() as consumer:
        with pytest.raises(StoreError):
            targets.deliver(attempt_of(consumer.spec(headers={"x-a": {"secretRef": "a"}})))
        assert consumer.accepted == 0


def test_an_answer_that_repeats_a_secret_is_kept_without_it() -> None:
    secrets = Secrets(token=[VALUE], key=[HMAC, PRIVATE])
    with Consumer(echoing) as consumer:
        spec = consumer.spec(
            headers={"authorization": {"secretRef": "token"}}, signingSecret={"secretRef": "key"}
        )
        answer = secrets.targets.deliver(attempt_of(spec))
    assert answer.text == "not accepted: [secret] [secret] [secret]"


def repeating(connection: Connection) -> None:
    """Refuse each request with a message that repeats its headers, as PHP's json_encode writes them."""
    while request := connection.request():
        said = json.dumps(dict(request.headers)).replace("/", "\\/")
        connection.answer("500 Internal Server Error", said[said.index("authorization") :].encode())


def test_an_answer_that_repeats_a_header_that_the_job_itself_has_is_kept_without_its_value() -> None:
    with Consumer(repeating) as consumer:
        spec = consumer.spec(
            headers={
                "authorization": "ApiKey key=abc/def+0123456789",
                "cookie": "session=0123456789abcdef; n={{index}}-0123456789xyz",
                "x-env": "prod",
                "accept": "application/json",
            }
        )
        text = Secrets().targets.deliver(attempt_of(spec)).text
    assert text is not None
    assert "0123456789" not in text
    assert text.count("[secret]") >= 3
    assert "prod" in text
    assert "application" in text


@pytest.mark.parametrize("before", range(480, 513))
def test_a_secret_that_the_end_of_what_a_run_keeps_cuts_in_two_is_hidden(before: int) -> None:
    value = "/".join(f"{number:04}" for number in range(800))

    def at_the_end(connection: Connection) -> None:
        while connection.request():
            said = "x" * before + value.replace("/", "%2f")
            connection.answer("500 Internal Server Error", said.encode())

    with Consumer(at_the_end) as consumer:
        spec = consumer.spec(headers={"authorization": {"secretRef": "token"}})
        text = Secrets(token=[value]).targets.deliver(attempt_of(spec)).text
    assert text == ("x" * before + "[secret]")[:512]


def test_an_error_that_repeats_a_secret_is_told_without_it() -> None:
    def broken(connection: Connection) -> None:
        if request := connection.request():
            connection.send(f"{request.headers['authorization']}\r\n\r\n".encode())

    with Consumer(broken) as consumer:
        spec = consumer.spec(headers={"authorization": {"secretRef": "token"}})
        answer = Secrets(token=[VALUE]).targets.deliver(attempt_of(spec))
    assert answer.error is not None
    assert "[secret]" in answer.error
    assert "8d1f" not in repr(answer)


def test_a_target_with_a_signing_secret_of_its_own_is_signed_by_that_secret_alone() -> None:
    secrets = Secrets(key=[PRIVATE, HMAC])
    with Consumer() as consumer:
        secrets.targets.deliver(attempt_of(consumer.spec(signingSecret={"secretRef": "key"})))
        (request,) = consumer.requests
    asymmetric, symmetric = request.headers["webhook-signature"].split(" ")
    identity, timestamp = request.headers["webhook-id"], request.headers["webhook-timestamp"]
    moment = to_datetime(int(timestamp) * SECOND_MS)
    assert symmetric == Webhook(HMAC).sign(identity, moment, request.body.decode())
    assert symmetric != Webhook(SECRET).sign(identity, moment, request.body.decode())
    verify(public_key_of(PRIVATE), asymmetric, f"{identity}.{timestamp}.".encode() + request.body)


def test_the_time_that_reading_a_secret_takes_counts_towards_the_time_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    behind_s = 0.0

    def read(*_: object) -> Mapping[str, Sequence[str]]:
        nonlocal behind_s
        behind_s = 15.0
        return {"token": [VALUE]}

    monkeypatch.setattr("sweephand.delivery.http.targets.monotonic", lambda: monotonic() + behind_s)
    with Consumer(lambda connection: connection.hang()) as consumer:
        spec = consumer.spec(headers={"x-token": {"secretRef": "token"}}, timeout="15s")
        targets = HttpTargets(HandClock(), allow_insecure=True, read_secrets=read)
        answer = targets.deliver(attempt_of(spec))
    assert not answer.succeeded
    assert "timed out" in str(answer.error) or "within 15 s" in str(answer.error)


def test_a_target_without_secrets_reads_none() -> None:
    def read(*_: object) -> Mapping[str, Sequence[str]]:
        raise AssertionError

    with Consumer() as consumer:
        targets = HttpTargets(HandClock(), allow_insecure=True, read_secrets=read)
        assert targets.deliver(attempt_of(consumer.spec(headers={"x-a": "b"}))).succeeded


def test_no_attempt_of_any_warm_function_fails_over_a_rotation_by_the_steps_of_the_guide() -> None:
    clock, store = HandClock(), MemoryNamedSecrets()
    admin = SecretAdmin(secrets=store, clock=clock, ids=CountingIds())
    key = SecretKey("team", "token")
    admin.put(key, "old", who="me")
    accepted = {"old"}

    def checking(connection: Connection) -> None:
        while request := connection.request():
            connection.answer("200 OK" if request.headers["x-token"] in accepted else "401 Unauthorized")

    warm = [
        HttpTargets(clock, allow_insecure=True, read_secrets=SecretReader(secrets=store, clock=clock).active)
        for _ in range(3)
    ]
    with Consumer(checking) as consumer:
        attempt = attempt_of(consumer.spec(headers={"x-token": {"secretRef": "token"}}))
        for second in range(12):
            if second == 2:
                accepted.add("new")
                admin.put(key, "new", who="me")
            if second == 2 + NAMED_SECRETS_AGE_MAX_MS // SECOND_MS:
                accepted.remove("old")
            assert all(targets.deliver(attempt).succeeded for targets in warm), second
            clock.time += SECOND_MS
    assert {request.headers["x-token"] for request in consumer.requests} == {"old", "new"}
