"""Consumers behind TLS: the certificate counts for the host's name, whatever address it resolved to."""

import datetime as dt
import ipaddress
import select
import socket
import ssl
from pathlib import Path
from typing import NamedTuple

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from tests.fakes.consumer import PATIENCE_S, Connection, Consumer, attempt_of, forgetful, in_time, obliging
from tests.fakes.doubles import HandClock
from tests.fakes.sqs import sqs_targets

from sweephand.delivery.checked_clients import SqsClients
from sweephand.delivery.http.egress import Address, Egress
from sweephand.delivery.http.sockets import tls_context
from sweephand.delivery.http.targets import HttpTargets
from sweephand.model.attempt import Answer, Attempt


class Authority(NamedTuple):
    """A certificate that is its own authority: what a consumer shows, and what trusts it."""

    server: ssl.SSLContext
    file: str


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """For hook.example and 127.0.0.1; it is old enough and lasts long enough for any clock."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "hook.example")])
    names = [x509.DNSName("hook.example"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(dt.datetime(2020, 1, 1, tzinfo=dt.UTC))
        .not_valid_after(dt.datetime(2100, 1, 1, tzinfo=dt.UTC))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    file = Path(tmp_path_factory.mktemp("tls")) / "consumer.pem"
    file.write_bytes(
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        + certificate.public_bytes(Encoding.PEM)
    )
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(file)
    return Authority(server, str(file))


def targets_that_trust(authority: Authority | None) -> HttpTargets:
    """Targets for which every name is this machine."""
    egress = Egress(
        allow_loopback=True, resolver=lambda _, port: [Address(socket.AF_INET, ("127.0.0.1", port))]
    )
    trust = {"cafile": authority.file} if authority else {}
    return HttpTargets(
        HandClock(), allow_insecure=False, egress=egress, make_context=lambda: tls_context(**trust)
    )


def deliver(
    targets: HttpTargets, consumer: Consumer, host: str, timeout: str = "5s", body: bytes = b"{}"
) -> Answer:
    spec = {"type": "http", "url": f"https://{host}:{consumer.port}/", "timeout": timeout}
    return targets.deliver(attempt_of(spec, body))


def test_a_certificate_for_the_hosts_name_is_accepted_and_its_connection_kept(authority: Authority) -> None:
    targets = targets_that_trust(authority)
    with Consumer(obliging, tls=authority.server) as consumer:
        answers = [deliver(targets, consumer, "hook.example") for _ in range(3)]
        assert answers == [Answer(succeeded=True, code=200, text="ok")] * 3
        assert consumer.accepted == 1
        assert consumer.requests[0].headers["host"] == f"hook.example:{consumer.port}"


def test_a_certificate_for_another_name_is_refused(authority: Authority) -> None:
    with Consumer(obliging, tls=authority.server) as consumer:
        answer = deliver(targets_that_trust(authority), consumer, "other.example")
        assert consumer.requests == []
    assert answer.error is not None
    assert answer.error.startswith("No secure connection to other.example: ")
    assert "certificate verify failed" in answer.error


def test_a_certificate_of_an_untrusted_authority_is_refused(authority: Authority) -> None:
    with Consumer(obliging, tls=authority.server) as consumer:
        answer = deliver(targets_that_trust(None), consumer, "hook.example")
        assert consumer.requests == []
    assert answer.error is not None
    assert "certificate verify failed" in answer.error


def test_a_kept_connection_that_its_other_end_closed_costs_no_attempt(authority: Authority) -> None:
    targets = targets_that_trust(authority)
    with Consumer(forgetful, tls=authority.server) as consumer:
        assert all(deliver(targets, consumer, "hook.example").succeeded for _ in range(4))


def hanging(connection: Connection) -> None:
    connection.hang()


def trickling(connection: Connection) -> None:
    connection.trickle(b"HTTP/1.1 200 OK and so on ")


def test_a_handshake_that_never_comes_costs_the_timeout(authority: Authority) -> None:
    with Consumer(hanging) as consumer, in_time():
        answer = deliver(targets_that_trust(authority), consumer, "hook.example", "200ms")
    assert answer.error == "No answer within 0.2 s."


def test_a_handshake_that_trickles_costs_the_timeout(authority: Authority) -> None:
    # The head of a TLS record that says it is long, and then a byte of it now and then.
    def slow(connection: Connection) -> None:
        connection.send(b"\x16\x03\x03\x40\x00")
        connection.trickle(b"\x02")

    with Consumer(slow) as consumer, in_time():
        answer = deliver(targets_that_trust(authority), consumer, "hook.example", "200ms")
    assert answer.error == "No answer within 0.2 s."


def test_an_answer_that_trickles_costs_the_timeout(authority: Authority) -> None:
    with Consumer(trickling, tls=authority.server) as consumer, in_time():
        answer = deliver(targets_that_trust(authority), consumer, "hook.example", "200ms")
    assert answer.error == "No answer within 0.2 s."


def test_a_consumer_that_does_not_read_costs_the_timeout(authority: Authority) -> None:
    with Consumer(hanging, tls=authority.server, receive_buffer=4_096) as consumer, in_time():
        body = b'"' + b"x" * 6_000_000 + b'"'
        answer = deliver(targets_that_trust(authority), consumer, "hook.example", "200ms", body)
    assert answer.error == "No answer within 0.2 s."


def test_a_consumer_that_speaks_no_tls_is_a_failed_attempt(authority: Authority) -> None:
    with Consumer(lambda connection: connection.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")) as consumer:
        answer = deliver(targets_that_trust(authority), consumer, "hook.example")
    assert answer.error is not None
    assert answer.error.startswith("No secure connection to hook.example: ")


def test_a_secure_connection_over_which_nothing_was_sent_is_used_for_the_next_attempt(
    authority: Authority,
) -> None:
    # With TLS 1.3, session tickets have arrived by then, and no code has read them.
    targets = targets_that_trust(authority)
    with Consumer(tls=authority.server) as consumer:
        spec = {"type": "http", "url": f"https://hook.example:{consumer.port}/"}
        for _ in range(2):
            withdrawn = attempt_of(spec)._replace(may_send=lambda: False)
            assert targets.deliver(withdrawn).was_withdrawn
        for _ in range(2):
            assert targets.deliver(attempt_of(spec)).succeeded
        assert (consumer.accepted, len(consumer.requests)) == (1, 2)


def test_a_secure_connection_that_its_other_end_has_closed_is_not_used_again(authority: Authority) -> None:
    def impatient(connection: Connection) -> None:
        if connection.number > 1:
            obliging(connection)

    targets = targets_that_trust(authority)
    with Consumer(impatient, tls=authority.server) as consumer:
        spec = {"type": "http", "url": f"https://hook.example:{consumer.port}/"}
        assert targets.deliver(attempt_of(spec)._replace(may_send=lambda: False)).was_withdrawn
        assert targets.deliver(attempt_of(spec)).succeeded


SQS_SAYS = b'{"MessageId":"1"}'


def taking(connection: Connection) -> None:
    """Take every message, as SQS does."""
    while connection.request():
        connection.answer("200 OK", SQS_SAYS, "content-type: application/x-amz-json-1.0")


def tunnelling(connection: Connection) -> None:
    """Act as a proxy for TLS: connect to the host that the request names, and pass on all bytes."""
    asked = connection.request()
    assert asked is not None
    host, _, port = asked.line.split(" ")[1].partition(":")
    with socket.create_connection((host, int(port))) as server:
        connection.send(b"HTTP/1.1 200 Connection established\r\n\r\n")
        ends = {connection.sock: server, server: connection.sock}
        while readable := select.select(list(ends), [], [], PATIENCE_S)[0]:
            for end in readable:
                if not (data := end.recv(65_536)):
                    return
                ends[end].sendall(data)


def message_to(engine: Consumer) -> Attempt:
    return attempt_of(
        {"type": "sqs", "queueUrl": f"https://127.0.0.1:{engine.port}/123456789012/sweephand-work"}
    )


@pytest.fixture
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")


@pytest.mark.usefixtures("credentials")
@pytest.mark.parametrize("is_trusted", [True, False])
def test_preflight_of_a_message_runs_only_after_the_certificate_of_the_queue_is_verified(
    monkeypatch: pytest.MonkeyPatch, authority: Authority, *, is_trusted: bool
) -> None:
    if is_trusted:
        monkeypatch.setenv("AWS_CA_BUNDLE", authority.file)
    with Consumer(taking, tls=authority.server) as engine:
        monkeypatch.setenv("AWS_ENDPOINT_URL_SQS", f"https://127.0.0.1:{engine.port}")
        targets = sqs_targets(SqsClients(), allow_insecure=True)
        withdrawn = message_to(engine)._replace(may_send=lambda: False)
        assert targets.deliver(withdrawn).was_withdrawn == is_trusted
        assert [targets.deliver(message_to(engine)).succeeded for _ in range(2)] == [is_trusted] * 2
        assert len(engine.requests) == (2 if is_trusted else 0)
        assert engine.accepted == 1 or not is_trusted


@pytest.mark.usefixtures("credentials")
def test_preflight_of_a_message_through_a_proxy_runs_after_the_certificate_is_verified(
    monkeypatch: pytest.MonkeyPatch, authority: Authority
) -> None:
    monkeypatch.setenv("AWS_CA_BUNDLE", authority.file)
    with Consumer(taking, tls=authority.server) as engine, Consumer(tunnelling) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL_SQS", f"https://127.0.0.1:{engine.port}")
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy.port}")
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        targets = sqs_targets(SqsClients(), allow_insecure=True)
        assert targets.deliver(message_to(engine)._replace(may_send=lambda: False)).was_withdrawn
        assert engine.requests == []
        assert targets.deliver(message_to(engine)).succeeded
        assert len(proxy.requests) >= 1
