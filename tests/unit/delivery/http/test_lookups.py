"""Name servers that do not answer cost their own namespace its attempts, and nobody else."""

import re
import socket
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from time import monotonic

import pytest
from tests.fakes.consumer import PATIENCE_S, attempt_of, in_time
from tests.fakes.doubles import HandClock

from sweephand.base.concurrency import DELIVERIES_AT_ONCE
from sweephand.delivery.http.egress import FREE_SLOTS_PER_LOOKUP, LOOKUPS_MAX, Address, Egress, Lookups
from sweephand.delivery.http.targets import HttpTargets
from sweephand.model.attempt import Attempt
from sweephand.model.job import JobKey

FOUND = [Address(socket.AF_INET, ("10.0.0.7", 443))]


class NameServers:
    """A resolver that answers for names below `.live`, and for any other name only once it may."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.may_answer = threading.Event()

    def __call__(self, host: str, _: int) -> Sequence[Address]:
        self.asked.append(host)
        if not host.endswith(".live"):
            self.may_answer.wait(PATIENCE_S)
        return FOUND


@pytest.fixture
def name_servers() -> Iterator[NameServers]:
    made = NameServers()
    yield made
    made.may_answer.set()


def attempt_at(host: str, namespace: str) -> Attempt:
    attempt = attempt_of({"type": "http", "url": f"https://{host}/hook", "timeout": "1ms"})
    return attempt._replace(trigger=attempt.trigger._replace(key=JobKey(namespace, "job")))


def test_hundreds_of_lookups_that_hang_are_failed_attempts_and_leave_other_namespaces_theirs(
    name_servers: NameServers,
) -> None:
    egress = Egress(allow_loopback=False, resolver=name_servers)
    targets = HttpTargets(HandClock(), allow_insecure=False, egress=egress)
    answers = [targets.deliver(attempt_at(f"n{number}.dead", "dead")) for number in range(500)]
    assert not any(answer.succeeded or answer.is_final for answer in answers)
    refusal = re.fullmatch(
        r"n499\.dead was not resolved: (\d+) other names of the namespace's targets have had no answer from "
        r"their name servers yet\.",
        str(answers[-1].error),
    )
    assert refusal is not None
    assert DELIVERIES_AT_ONCE <= int(refusal[1]) < LOOKUPS_MAX / FREE_SLOTS_PER_LOOKUP
    patient = attempt_at("a.live", "other")
    patient = patient._replace(spec={**patient.spec, "timeout": "10s"})
    assert targets.deliver(patient).error == (
        "a.live has no address that may be connected to: 10.0.0.7 is private."
    ), "it was resolved"


def test_many_namespaces_whose_lookups_hang_leave_slots_for_the_next_one(name_servers: NameServers) -> None:
    lookups = Lookups(name_servers)
    for namespace in range(8):
        for number in range(100):
            began = lookups.open_in(f"ns-{namespace}")
            try:
                refused = lookups.addresses(f"n{number}.of-{namespace}.dead", 443, 0, f"ns-{namespace}")
            except TimeoutError:
                assert lookups.open_in(f"ns-{namespace}") == began + 1
            else:
                assert refused is None
    assert len(name_servers.asked) < LOOKUPS_MAX
    assert all(lookups.open_in(f"ns-{namespace}") for namespace in range(8))
    assert lookups.addresses("a.live", 443, 10, "other") == FOUND


def test_attempts_at_one_host_share_its_lookup(
    name_servers: NameServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    lookups = Lookups(name_servers)
    found: list[Sequence[Address] | None] = []
    # The name server answers when all attempts have found the open lookup.
    everybody = threading.Barrier(4, name_servers.may_answer.set, PATIENCE_S)
    result = Future.result

    def awaited(lookup: Future[Sequence[Address]], timeout_s: float) -> Sequence[Address]:
        everybody.wait()
        return result(lookup, timeout_s)

    def ask() -> None:
        found.append(lookups.addresses("slow.example", 443, PATIENCE_S, "ns"))

    for _ in range(100):
        with pytest.raises(TimeoutError):
            lookups.addresses("slow.example", 443, 0, "ns")
    assert lookups.open_in("ns") == 1
    monkeypatch.setattr(Future, "result", awaited)
    asking = [threading.Thread(target=ask) for _ in range(4)]
    for each in asking:
        each.start()
    for each in asking:
        each.join()
    assert name_servers.asked == ["slow.example"]
    assert found == [FOUND] * 4


def test_a_lookup_that_was_left_behind_gives_its_slot_back_when_it_ends() -> None:
    ended: list[threading.Event] = []

    def resolver(*_: object) -> Sequence[Address]:
        end = threading.Event()
        ended.append(end)
        end.wait(PATIENCE_S)
        raise socket.gaierror(socket.EAI_AGAIN, "try again")

    lookups = Lookups(resolver)
    for _ in range(2):
        with pytest.raises(TimeoutError):
            lookups.addresses("slow.example", 443, 0, "ns")
        assert lookups.open_in("ns") == 1
        left = next(each for each in threading.enumerate() if each.name == "resolve slow.example")
        while not ended:  # the thread may not run yet
            left.join(0.001)
        ended.pop().set()
        left.join()
        assert lookups.open_in("ns") == 0


def test_a_process_without_a_thread_keeps_no_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    lookups = Lookups(NameServers())

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError):
            lookups.addresses("a.live", 443, 10, "ns")
    assert lookups.open_in("ns") == 0
    assert lookups.addresses("a.live", 443, 10, "ns") == FOUND


def test_the_time_out_of_a_lookup_is_exact(name_servers: NameServers) -> None:
    began = monotonic()
    with in_time(), pytest.raises(TimeoutError):
        Lookups(name_servers).addresses("slow.example", 443, 0.05, "ns")
    assert monotonic() - began >= 0.05
