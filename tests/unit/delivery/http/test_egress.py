import socket
import threading
from collections.abc import Sequence
from ipaddress import ip_network

import pytest
from tests.fakes.consumer import PATIENCE_S, Consumer, in_time, obliging

from sweephand.delivery.http.egress import Address, Egress, EgressError, resolve


def addresses(*ips: str, port: int = 443) -> list[Address]:
    return [
        Address(socket.AF_INET6, (ip, port, 0, 0)) if ":" in ip else Address(socket.AF_INET, (ip, port))
        for ip in ips
    ]


class Names:
    """A resolver that gives each answer once and the last one for ever, and counts how often it is asked."""

    def __init__(self, *answers: Sequence[Address]) -> None:
        self._answers = list(answers)
        self.asked = 0

    def __call__(self, host: str, port: int) -> Sequence[Address]:  # noqa: ARG002 - scripted
        self.asked += 1
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


@pytest.fixture
def connections(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Where sockets were asked to connect to; none leaves the machine."""
    asked: list[object] = []

    def connect(_: socket.socket, address: object) -> None:
        asked.append(address)
        raise ConnectionRefusedError("no connection leaves a test")

    monkeypatch.setattr(
        "sweephand.delivery.http.sockets.BoundedSocket.connect",
        connect,
    )
    return asked


def test_a_name_without_a_permitted_address_is_refused_with_the_reasons(connections: list[object]) -> None:
    egress = Egress(allow_loopback=False, resolver=Names(addresses("10.0.0.7", "169.254.169.254", "::1")))
    with pytest.raises(EgressError) as caught:
        egress.connect("inside.example", 443, 1, namespace="ns")
    assert "10.0.0.7 is private; 169.254.169.254 is link-local" in str(caught.value)
    assert connections == []


def test_a_permitted_address_among_others_is_the_only_one_that_is_tried(connections: list[object]) -> None:
    egress = Egress(allow_loopback=False, resolver=Names(addresses("10.0.0.7", "8.8.8.8", "127.0.0.1")))
    with pytest.raises(ConnectionRefusedError):
        egress.connect("mixed.example", 443, 1, namespace="ns")
    assert connections == [("8.8.8.8", 443)]


def test_a_name_that_changes_between_the_check_and_the_connection_gains_nothing(
    connections: list[object],
) -> None:
    names = Names(addresses("8.8.8.8"), addresses("127.0.0.1"))
    with pytest.raises(ConnectionRefusedError):
        Egress(allow_loopback=False, resolver=names).connect("rebinding.example", 443, 1, namespace="ns")
    assert connections == [("8.8.8.8", 443)]
    assert names.asked == 1


def test_a_name_that_changed_since_its_last_connection_is_checked_again(connections: list[object]) -> None:
    egress = Egress(allow_loopback=False, resolver=Names(addresses("8.8.8.8"), addresses("127.0.0.1")))
    with pytest.raises(ConnectionRefusedError):
        egress.connect("rebinding.example", 443, 1, namespace="ns")
    with pytest.raises(EgressError):
        egress.connect("rebinding.example", 443, 1, namespace="ns")
    assert connections == [("8.8.8.8", 443)]


@pytest.mark.parametrize("host", ["2130706433", "0x7f000001", "127.1", "0", "localhost", "::1", "0.0.0.0"])  # noqa: S104 - asked for, not bound to
def test_no_spelling_of_this_machine_gets_through(host: str, connections: list[object]) -> None:
    with pytest.raises(EgressError):
        Egress(allow_loopback=False).connect(host, 80, 1, namespace="ns")
    assert connections == []


def test_the_next_address_is_tried_when_one_does_not_answer() -> None:
    with Consumer(obliging) as consumer, socket.socket() as closed:
        closed.bind(("127.0.0.2", 0))  # bound and not listening: refuses
        names = Names(
            [
                *addresses("127.0.0.2", port=closed.getsockname()[1]),
                *addresses("127.0.0.1", port=consumer.port),
            ]
        )
        with Egress(allow_loopback=True, resolver=names).connect(
            "two.example", consumer.port, 1, namespace="ns"
        ) as sock:
            assert sock.getpeername() == ("127.0.0.1", consumer.port)


def test_a_resolver_that_hangs_is_left_behind_at_the_deadline() -> None:
    over = threading.Event()

    def hanging(host: str, port: int) -> Sequence[Address]:
        over.wait(PATIENCE_S)
        return resolve(host, port)

    with in_time(), pytest.raises(TimeoutError):
        Egress(allow_loopback=True, resolver=hanging).connect("127.0.0.1", 1, 0.05, namespace="ns")
    over.set()


def test_a_name_that_does_not_resolve_raises_an_error_with_its_name() -> None:
    def failing(host: str, port: int) -> Sequence[Address]:
        raise socket.gaierror(socket.EAI_NONAME, f"no {host} at {port}")

    with pytest.raises(EgressError, match=r"nowhere\.example could not be resolved"):
        Egress(allow_loopback=False, resolver=failing).connect("nowhere.example", 443, 1, namespace="ns")


def test_a_name_without_addresses_raises_an_error_with_its_name() -> None:
    with pytest.raises(EgressError, match="it has none"):
        Egress(allow_loopback=False, resolver=Names([])).connect("empty.example", 443, 1, namespace="ns")


def test_the_connection_has_the_rest_of_the_time_as_its_deadline() -> None:
    with (
        Consumer(lambda connection: connection.hang()) as consumer,
        Egress(allow_loopback=True).connect("127.0.0.1", consumer.port, 0.1, namespace="ns") as sock,
        in_time(),
    ):
        with pytest.raises(TimeoutError):
            sock.recv_into(bytearray(1))
        with pytest.raises(TimeoutError):
            sock.recv_into(bytearray(1))


def test_a_private_address_is_connected_to_in_a_network_of_the_operator_only(
    connections: list[object],
) -> None:
    names = Names(addresses("10.1.0.1", "10.0.0.7", "169.254.169.254"))
    egress = Egress(allow_loopback=False, private=(ip_network("10.0.0.0/16"),), resolver=names)
    with pytest.raises(ConnectionRefusedError):
        egress.connect("inside.example", 443, 1, namespace="ns")
    assert connections == [("10.0.0.7", 443)]
