"""Deliveries obey the lists of hosts and networks of today, not those of when a job was written."""

import socket
from collections.abc import Callable, Sequence
from ipaddress import ip_network
from typing import Any

from tests.fakes.consumer import Consumer, attempt_of
from tests.fakes.doubles import HandClock
from tests.fakes.http_events import NS_ADMIN, Client
from tests.fakes.world import World

from sweephand.base.timing import NAMESPACE_AGE_MAX_MS
from sweephand.delivery.http.egress import Address, Egress
from sweephand.delivery.http.targets import HttpTargets
from sweephand.model.attempt import Answer
from sweephand.model.namespace import EVERYWHERE, AllowedTargets
from sweephand.targets.destinations import Destinations

URL = "/v1/namespaces/ns"
LOOPBACK = (ip_network("127.0.0.0/8"),)
ELSEWHERE = (ip_network("203.0.113.0/24"),)


def loopback(_: str, port: int) -> Sequence[Address]:
    """Every name resolves to the consumer's address."""
    return [Address(socket.AF_INET, ("127.0.0.1", port))]


def targets(destinations: Destinations | None = None) -> HttpTargets:
    return HttpTargets(
        HandClock(),
        allow_insecure=True,
        egress=Egress(allow_loopback=True, resolver=loopback),
        destinations=destinations,
    )


def named(consumer: Consumer, host: str = "api.example.com") -> dict[str, Any]:
    return {"type": "http", "url": f"http://{host}:{consumer.port}/hook"}


def fixed(allowed: AllowedTargets) -> Callable[[bool], AllowedTargets]:
    return lambda _: allowed


def test_a_host_that_the_stack_denies_is_a_final_failure_before_it_is_resolved() -> None:
    with Consumer() as consumer:
        answer = targets(Destinations(denied_hosts=("*.example.com",))).deliver(attempt_of(named(consumer)))
        assert consumer.accepted == 0
    assert (answer.succeeded, answer.is_final) == (False, True)
    assert answer.error is not None
    assert "its parameter DeniedTargetHosts names" in answer.error


def test_a_host_that_the_stack_allows_is_delivered_to_and_no_other() -> None:
    lists = targets(Destinations(allowed_hosts=("api.example.com",)))
    with Consumer() as consumer:
        assert lists.deliver(attempt_of(named(consumer))).succeeded
        answer = lists.deliver(attempt_of(named(consumer, "www.example.com")))
        assert len(consumer.requests) == 1
    assert answer.is_final


def test_an_address_that_the_stack_denies_is_not_connected_to_and_the_attempt_is_retried() -> None:
    with Consumer() as consumer:
        for lists in (Destinations(denied_networks=LOOPBACK), Destinations(allowed_networks=ELSEWHERE)):
            answer = targets(lists).deliver(attempt_of(named(consumer)))
            assert (answer.succeeded, answer.is_final) == (False, False)
            assert answer.error is not None
            assert answer.error.startswith(
                "api.example.com has no address that may be connected to: 127.0.0.1"
            )
        assert consumer.accepted == 0
        allowed = Destinations(allowed_networks=(*ELSEWHERE, *LOOPBACK))
        assert targets(allowed).deliver(attempt_of(named(consumer))).succeeded


def test_a_namespace_obeys_its_own_lists_and_those_of_the_stack() -> None:
    both = targets(Destinations(denied_hosts=("bad.example.com",)))
    allowed = fixed(AllowedTargets(("*.example.com",), ("127.0.0.0/8",)))
    with Consumer() as consumer:

        def deliver(host: str) -> Answer:
            return both.deliver(attempt_of(named(consumer, host))._replace(allowed=allowed))

        assert deliver("good.example.com").succeeded
        assert "DeniedTargetHosts" in str(deliver("bad.example.com").error)
        assert "`allowedTargets.hosts`" in str(deliver("example.org").error)
        assert len(consumer.requests) == 1


def test_a_connection_that_one_namespace_may_use_is_not_kept_for_another() -> None:
    shared = targets()
    with Consumer() as consumer:
        assert shared.deliver(attempt_of(named(consumer))).succeeded
        narrow = attempt_of(named(consumer))._replace(
            allowed=fixed(AllowedTargets(networks=("203.0.113.0/24",)))
        )
        answer = shared.deliver(narrow)
        assert "`allowedTargets.networks`" in str(answer.error)
        assert shared.deliver(attempt_of(named(consumer))).succeeded
        assert (consumer.accepted, len(consumer.requests)) == (1, 2)


def test_a_host_that_was_just_allowed_is_looked_up_again_before_the_trigger_fails() -> None:
    asked: list[bool] = []

    def allowed(fresh: bool) -> AllowedTargets:  # noqa: FBT001 - as Allowed has it
        asked.append(fresh)
        return EVERYWHERE if fresh else AllowedTargets(("example.org",))

    with Consumer() as consumer:
        assert targets().deliver(attempt_of(named(consumer))._replace(allowed=allowed)).succeeded
    assert asked == [False, True]


def delivered(to: Client) -> None:
    to.world.run_until(to.world.clock.time + 20_000)


def test_a_list_that_changed_after_a_job_was_written_fails_its_runs_at_once_and_a_redrive_helps() -> None:
    with Consumer() as consumer:
        world = World(targets=targets())
        world.limits_namespaces = True
        to = Client(world, allow_insecure_targets=True)
        job = {"dueTime": "10s", "target": named(consumer), "onComplete": named(consumer)}
        assert to.put(job=job).status == 201
        settings = {"limits": {}, "allowedTargets": {"hosts": ["example.org"]}}
        assert to.send("PUT", URL, settings, caller=NS_ADMIN).status == 200
        world.clock.time += NAMESPACE_AGE_MAX_MS
        delivered(to)
        assert consumer.accepted == 0
        (run,) = to.send("GET", f"{URL}/jobs/job/runs").json["items"]
        assert (run["state"], run["attempts"]) == ("failed", 1)
        assert "The namespace does not deliver to api.example.com" in run["lastFailure"]["reason"]
        assert any("could not be notified" in letter.reason for letter, _ in world.queue.buried)
        settings["allowedTargets"] = {"hosts": ["*.example.com"]}
        assert to.send("PUT", URL, settings, caller=NS_ADMIN).status == 200
        assert to.send("POST", f"{URL}/jobs/job/runs/{run['id']}/redrive").status == 202
        delivered(to)
        (run,) = to.send("GET", f"{URL}/jobs/job/runs").json["items"]
        assert run["state"] == "succeeded"
