"""A deployed stack without the exception for loopback reaches no place that it must not reach."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest
from infra.local.client import Client
from tests.e2e.guarded import ON_DEMAND, Guarded
from tests.fakes.consumer import Consumer
from tests.fakes.egress_attempts import http_target
from tests.fakes.egress_urls import URLS

#: The stored URLs are called in parts. integration/delivery/test_egress_attempts.py tries each in process.
PARTS: Final = 5


@pytest.fixture(scope="module")
def guarded(stack: Mapping[str, Any], client: Client) -> Iterator[Guarded]:
    """The stack, which has no exception while the tests of this module run."""
    with Guarded.of(stack, client) as guarded:
        yield guarded


@pytest.mark.parametrize("place", ["target", "onComplete"])
def test_the_api_refuses_every_forbidden_url_of_a_job_with_what_would_be_right(
    guarded: Guarded, place: str
) -> None:
    jobs = [{"target": http_target(), place: http_target(url=each.url)} for each in URLS]
    for attempt, [error] in zip(URLS, guarded.refusals(jobs), strict=True):
        assert error["pointer"] == f"/{place}/url"
        assert attempt.refusal in error["detail"]


@pytest.mark.sampled(PARTS)
@pytest.mark.parametrize("part", range(PARTS))
def test_no_stored_url_that_is_forbidden_is_called(guarded: Guarded, part: int) -> None:
    # A placeholder that does not exist makes no other request. A job from before that rule is delivered.
    stored = {f"url-{n}": each for n, each in enumerate(URLS) if "placeholder" not in each.refusal}
    attempts = dict(list(stored.items())[part::PARTS])
    guarded.plant({name: {"target": http_target(url=each.url)} for name, each in attempts.items()})
    reasons = guarded.reasons(list(attempts))
    for name, attempt in attempts.items():
        assert reasons[name].startswith("The target's URL cannot be called: "), attempt
        assert attempt.refusal in reasons[name]


@pytest.mark.parametrize("host", ["localhost", "LocalHost"])
def test_a_name_of_this_machine_is_resolved_and_not_connected_to(guarded: Guarded, host: str) -> None:
    with Consumer() as consumer:
        target = http_target(url=f"https://{host}:{consumer.port}/")
        name = f"named-{host}"
        guarded.schedule.put(name, **ON_DEMAND, target=target, onComplete=target)
        reasons = guarded.reasons([name])
        assert consumer.accepted == 0
    assert "has no address that may be connected to: " in reasons[name]
    assert "is loopback" in reasons[name]


def test_a_host_that_the_operator_denies_is_refused_at_the_write_and_at_each_attempt(
    guarded: Guarded,
) -> None:
    denied = {"target": http_target(url="https://Denied.example./hook")}
    [[error]] = guarded.refusals([denied])
    assert error["pointer"] == "/target/url"
    assert "its parameter DeniedTargetHosts names" in error["detail"]
    guarded.plant({"denied": {**denied, "retry": {"maxAttempts": 5}}})
    assert "its parameter DeniedTargetHosts names" in guarded.reasons(["denied"])["denied"]
