"""A delivery reaches no place that it must not reach, whatever a stored job, a resolver or a consumer says.

The jobs of these tests have targets that the API refuses. A stack could hold such a job from before a rule or
a parameter.
"""

import socket
from collections.abc import Collection, Mapping, Sequence

import pytest
from tests.fakes.consumer import Connection, Consumer, attempt_of
from tests.fakes.doubles import HandClock
from tests.fakes.egress_attempts import HEADER_NAMES, HEADER_VALUES, METHODS, http_target
from tests.fakes.egress_urls import ADDRESSES, URLS, UrlAttempt

from sweephand.delivery.http.egress import Address, Egress
from sweephand.delivery.http.targets import HttpTargets
from sweephand.model.attempt import Answer

PUBLIC = "198.41.0.4"


@pytest.fixture
def connections(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Where sockets were asked to connect to. None leaves the machine."""
    asked: list[object] = []

    def connect(_: socket.socket, location: tuple[object, ...]) -> None:
        asked.append(location[0])
        raise ConnectionRefusedError("no connection leaves a test")

    monkeypatch.setattr("sweephand.delivery.http.sockets.BoundedSocket.connect", connect)
    return asked


class Resolver:
    """Gives each answer once, and the last one for ever."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self._answers = list(answers)

    def __call__(self, _: str, port: int) -> Sequence[Address]:
        ips = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        return [
            Address(socket.AF_INET6, (ip, port, 0, 0)) if ":" in ip else Address(socket.AF_INET, (ip, port))
            for ip in ips
        ]


def unasked(host: str, port: int) -> Sequence[Address]:
    raise AssertionError(f"{host}, port {port}, was resolved")


def targets(*answers: Sequence[str]) -> HttpTargets:
    """The targets of a stack without the exception for loopback, whose names resolve to these addresses."""
    resolver = Resolver(*answers) if answers else unasked
    egress = Egress(allow_loopback=False, resolver=resolver)
    return HttpTargets(HandClock(), allow_insecure=False, egress=egress)


#: A placeholder that does not exist makes no other request. A job from before that rule is delivered.
FORBIDDEN = [each for each in URLS if "placeholder" not in each.refusal]


@pytest.mark.parametrize("attempt", FORBIDDEN, ids=lambda each: ascii(each.url[:60]))
def test_a_stored_url_that_may_not_be_called_is_not_even_resolved(
    attempt: UrlAttempt, connections: list[object]
) -> None:
    answer = targets().deliver(attempt_of(http_target(url=attempt.url)))
    assert not answer.succeeded
    assert answer.error is not None
    assert answer.error.startswith("The target's URL cannot be called: ")
    assert attempt.refusal in answer.error
    assert connections == []


@pytest.mark.parametrize(("address", "reason"), ADDRESSES)
def test_a_name_that_resolves_to_a_forbidden_address_is_not_connected_to(
    address: str, reason: str, connections: list[object]
) -> None:
    answer = targets([address]).deliver(attempt_of(http_target()))
    assert not answer.succeeded
    assert not answer.is_final, "a name can get another address"
    assert answer.error is not None
    assert f"{address} is {reason}" in answer.error
    assert connections == []


@pytest.mark.parametrize(("address", "reason"), ADDRESSES)
def test_a_name_that_is_bound_to_another_address_after_it_was_checked_gains_nothing(
    address: str, reason: str, connections: list[object]
) -> None:
    rebinding = targets([PUBLIC], [address])
    assert not rebinding.deliver(attempt_of(http_target())).succeeded
    assert connections == [PUBLIC]
    answer = rebinding.deliver(attempt_of(http_target()))
    assert answer.error is not None
    assert f"{address} is {reason}" in answer.error
    assert connections == [PUBLIC]


def test_of_a_mixed_list_only_the_public_address_is_connected_to(connections: list[object]) -> None:
    mixed = [address for address, _ in ADDRESSES]
    answer = targets([*mixed[:50], PUBLIC, *mixed[50:]]).deliver(attempt_of(http_target()))
    assert not answer.succeeded
    assert connections == [PUBLIC]


@pytest.mark.parametrize("port", [1, 22, 25, 53, 80, 443, 2049, 3306, 6379, 8080, 9001, 11211, 65535])
def test_every_port_of_a_public_address_may_be_named_and_no_port_of_another(
    port: int, connections: list[object]
) -> None:
    spec = http_target(url=f"https://consumer.example:{port}/")
    assert not targets([PUBLIC]).deliver(attempt_of(spec)).succeeded
    assert connections == [PUBLIC]
    assert not targets(["10.0.0.1"]).deliver(attempt_of(spec)).succeeded
    assert connections == [PUBLIC]


@pytest.mark.parametrize("status", [300, 301, 302, 303, 305, 307, 308])
@pytest.mark.parametrize("header", ["location", "refresh", "content-location", "link", "alt-svc"])
def test_no_answer_leads_a_delivery_to_another_place(status: int, header: str) -> None:
    with Consumer() as elsewhere:
        values = {
            "refresh": f"0; url={elsewhere.url}",
            "link": f"<{elsewhere.url}>; rel=canonical",
            "alt-svc": f'h2="127.0.0.1:{elsewhere.port}"',
        }

        def redirecting(connection: Connection) -> None:
            while connection.request():
                connection.answer(
                    f"{status} Elsewhere", b"", f"{header}: {values.get(header, elsewhere.url)}"
                )

        with Consumer(redirecting) as consumer:
            local = HttpTargets(HandClock(), allow_insecure=True)
            for _ in range(2):
                answer = local.deliver(attempt_of(consumer.spec()))
                assert (answer.succeeded, answer.code) == (False, status)
            assert len(consumer.requests) == 2
        assert elsewhere.accepted == 0


@pytest.mark.parametrize("variable", ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "ALL_PROXY"])
def test_no_proxy_of_the_environment_is_used(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with Consumer() as proxy, Consumer() as consumer:
        monkeypatch.setenv(variable, f"http://127.0.0.1:{proxy.port}")
        assert HttpTargets(HandClock(), allow_insecure=True).deliver(attempt_of(consumer.spec())).succeeded
        assert proxy.accepted == 0


@pytest.mark.parametrize("value", [each for each in HEADER_VALUES if each != "{{data}}"], ids=ascii)
def test_a_stored_value_that_would_end_its_line_sends_nothing(value: str) -> None:
    with Consumer() as consumer:
        local = HttpTargets(HandClock(), allow_insecure=True)
        answer = local.deliver(attempt_of(consumer.spec(headers={"x-team": value})))
        assert consumer.requests == []
    assert answer.error is not None
    assert answer.error.startswith("The request cannot be made: ")


@pytest.mark.parametrize("value", [each for each in HEADER_VALUES if "{{" not in each], ids=ascii)
def test_a_secret_that_would_end_its_line_sends_nothing(value: str) -> None:
    def read(_: str, names: Collection[str]) -> Mapping[str, Sequence[str]]:
        return {name: [f"s3cret {value}"] for name in names}

    with Consumer() as consumer:
        local = HttpTargets(HandClock(), allow_insecure=True, read_secrets=read)
        answer = local.deliver(attempt_of(consumer.spec(headers={"x-team": {"secretRef": "token"}})))
        assert consumer.requests == []
    assert answer.error is not None
    assert answer.error.startswith("The request cannot be made: ")
    assert "s3cret" not in answer.error


@pytest.mark.parametrize("name", HEADER_NAMES, ids=ascii)
def test_a_stored_header_neither_frames_the_request_nor_stands_for_sweephand_s(name: str) -> None:
    with Consumer() as consumer:
        local = HttpTargets(HandClock(), allow_insecure=True)
        assert local.deliver(attempt_of(consumer.spec())).succeeded
        answer = local.deliver(attempt_of(consumer.spec(headers={name: "forged"})))
        plain, *others = consumer.requests
    assert [each.headers for each in others] == ([plain.headers] if answer.succeeded else [])


@pytest.mark.parametrize("method", METHODS, ids=ascii)
def test_a_stored_method_is_one_word_or_sends_nothing(method: str) -> None:
    with Consumer() as consumer:
        local = HttpTargets(HandClock(), allow_insecure=True)
        answer = local.deliver(attempt_of(consumer.spec(method=method)))
        lines = [each.line for each in consumer.requests]
    is_word = method.isascii() and method.isalpha()
    assert lines == ([f"{method} /hook?from=test HTTP/1.1"] if is_word else [])
    assert is_word or answer.error == f"The request cannot be made: Invalid method: {method!r}"


def test_a_refused_address_is_a_failed_attempt_that_is_tried_again() -> None:
    egress = Egress(
        allow_loopback=False, resolver=lambda _, port: [Address(socket.AF_INET, ("10.1.2.3", port))]
    )
    targets = HttpTargets(HandClock(), allow_insecure=False, egress=egress)
    answer = targets.deliver(attempt_of({"type": "http", "url": "https://inside.example/"}))
    assert answer == Answer(
        succeeded=False,
        error="inside.example has no address that may be connected to: 10.1.2.3 is private.",
    )
