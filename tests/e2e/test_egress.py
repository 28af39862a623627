"""A deployed stack without the exception for loopback reaches no place that it must not reach."""

from collections.abc import Iterator

import pytest
from infra.local.places import Place
from tests.e2e.guarded import ON_DEMAND, Guarded
from tests.fakes.consumer import Consumer
from tests.fakes.egress_attempts import HEADER_NAMES, HEADER_VALUES, METHODS, PATHS, http_target
from tests.fakes.egress_urls import URLS


@pytest.fixture(scope="module")
def guarded(own_place: Place) -> Iterator[Guarded]:
    """A stack of this module's own, whose namespace has a default target."""
    with Guarded.of(own_place) as guarded:
        settings = {"limits": {}, "defaultTarget": http_target()}
        guarded.client.ask("PUT", "/v1/namespaces/guarded", settings)
        yield guarded


@pytest.mark.parametrize("place", ["target", "onComplete"])
def test_the_api_refuses_every_forbidden_url_of_a_job_with_what_would_be_right(
    guarded: Guarded, place: str
) -> None:
    jobs = [{"target": http_target(), place: http_target(url=each.url)} for each in URLS]
    for attempt, [error] in zip(URLS, guarded.refusals(jobs), strict=True):
        assert error["pointer"] == f"/{place}/url"
        assert attempt.refusal in error["detail"]


def test_the_api_refuses_every_forbidden_url_of_a_default_target(guarded: Guarded) -> None:
    before = guarded.client.ask("GET", "/v1/namespaces/guarded")
    for attempt in URLS:
        settings = {"limits": {}, "defaultTarget": http_target(url=attempt.url)}
        answer = guarded.client.call("PUT", "/v1/namespaces/guarded", settings)
        assert answer.status == 422, attempt
        [error] = answer.body["errors"]
        assert error["pointer"] == "/defaultTarget/url"
        assert attempt.refusal in error["detail"]
    assert guarded.client.ask("GET", "/v1/namespaces/guarded") == before


def test_the_api_refuses_what_would_split_or_frame_a_request(guarded: Guarded) -> None:
    targets = [
        *(http_target(headers={"x-team": value}) for value in HEADER_VALUES),
        *(http_target(headers={name: "1"}) for name in HEADER_NAMES),
        *(http_target(method=method) for method in METHODS),
        *({"type": "default", "path": path} for path in PATHS),
    ]
    for place in ("target", "onComplete"):
        refusals = guarded.refusals([{"target": http_target(), place: each} for each in targets])
        pointers = {error["pointer"].split("/")[1] for errors in refusals for error in errors}
        assert pointers == {place}


def test_no_stored_url_that_is_forbidden_is_called(guarded: Guarded) -> None:
    # A placeholder that does not exist makes no other request. A job from before that rule is delivered.
    attempts = {f"url-{n}": each for n, each in enumerate(URLS) if "placeholder" not in each.refusal}
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
        settings = {"limits": {}, "defaultTarget": target}
        guarded.client.ask("PUT", f"/v1/namespaces/default-{host}", settings)
        reasons = guarded.reasons([name])
        assert consumer.accepted == 0
    assert "has no address that may be connected to: " in reasons[name]
    assert "is loopback" in reasons[name]


def test_a_default_target_and_a_path_reach_no_other_place_than_a_job_s_own(guarded: Guarded) -> None:
    with Consumer() as consumer:
        default = http_target(url=f"https://localhost:{consumer.port}/base")
        guarded.client.ask("PUT", "/v1/namespaces/base", {"limits": {}, "defaultTarget": default})
        base = guarded.within("base")
        base.schedule.put("path", **ON_DEMAND, target={"type": "default", "path": "/x?y=1"})
        reasons = base.reasons(["path"])
        assert consumer.accepted == 0
    assert "is loopback" in reasons["path"]


def test_a_host_that_the_operator_denies_is_refused_at_the_write_and_at_each_attempt(
    guarded: Guarded,
) -> None:
    denied = {"target": http_target(url="https://Denied.example./hook")}
    [[error]] = guarded.refusals([denied])
    assert error["pointer"] == "/target/url"
    assert "its parameter DeniedTargetHosts names" in error["detail"]
    guarded.plant({"denied": {**denied, "retry": {"maxAttempts": 5}}})
    assert "its parameter DeniedTargetHosts names" in guarded.reasons(["denied"])["denied"]


def test_a_host_outside_a_namespace_s_list_is_refused_at_the_write_and_at_each_attempt(
    guarded: Guarded,
) -> None:
    settings = {"limits": {}, "allowedTargets": {"hosts": ["consumer.example"]}}
    guarded.client.ask("PUT", "/v1/namespaces/bounded", settings)
    bounded = guarded.within("bounded")
    outside = {"target": http_target(url="https://localhost/")}
    [[error]] = bounded.refusals([outside])
    assert error["pointer"] == "/target/url"
    assert "`allowedTargets.hosts` in its settings names" in error["detail"]
    bounded.plant({"outside": {**outside, "retry": {"maxAttempts": 5}}})
    assert "`allowedTargets.hosts` in its settings names" in bounded.reasons(["outside"])["outside"]
