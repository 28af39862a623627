"""The API stores no target that must not be reached, wherever a target can be written."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import pytest
from tests.fakes.egress_attempts import HEADER_NAMES, HEADER_VALUES, METHODS, PATHS, http_target
from tests.fakes.egress_urls import URLS, UrlAttempt
from tests.fakes.http_events import JOB, NS_ADMIN, Answered, Client
from tests.fakes.world import World

SETTINGS: Final = "/v1/namespaces/ns"

#: Where a target can be written.
PLACES: Final = ("target", "onComplete", "onAlert", "bulk", "patch", "defaultTarget")

#: Where a target of the type `default` can stand.
PLACES_OF_DEFAULT: Final = PLACES[:-1]


@pytest.fixture(scope="module")
def client() -> Client:
    """A stack without the exception for loopback. It holds one job, and its namespace has a default."""
    world = World()
    world.limits_namespaces = True
    to = Client(world)
    settings = {"limits": {}, "defaultTarget": http_target()}
    assert to.send("PUT", SETTINGS, settings, caller=NS_ADMIN).status == 200
    assert to.put("stored").status == 201
    return to


def refused(to: Client, target: Any, places: Sequence[str] = PLACES) -> Iterator[list[dict[str, Any]]]:
    """The violations with which the API refuses a target at each place. Asserts that it stores nothing."""
    before = stored(to)
    for place in places:
        yield _violations(_written(to, place, target))
    assert stored(to) == before


def _written(to: Client, place: str, target: Any) -> Answered:
    if place == "defaultTarget":
        return to.send("PUT", SETTINGS, {"limits": {}, "defaultTarget": target}, caller=NS_ADMIN)
    if place == "patch":
        patch = {"content-type": "application/merge-patch+json"}
        return to.send("PATCH", f"{SETTINGS}/jobs/stored", {"target": target}, headers=patch)
    if place == "bulk":
        return to.send("POST", f"{SETTINGS}/jobs", {"jobs": [{"name": "a", **JOB, "target": target}]})
    watch = {"alertAfter": "10m"} if place == "onAlert" else {}
    return to.put("a", {**JOB, **watch, place: target})


def stored(to: Client) -> tuple[str, ...]:
    """What the API shows of the jobs and of the settings."""
    shown = (to.send("GET", f"{SETTINGS}/jobs"), to.get("stored"), to.send("GET", SETTINGS))
    return tuple(str(each.text) for each in shown)


def _violations(answered: Answered) -> list[dict[str, Any]]:
    if answered.status == 200:
        [result] = answered.json["results"]
        assert result["status"] == 422
        errors: list[dict[str, Any]] = result["problem"]["errors"]
        return errors
    assert answered.status == 422
    found: list[dict[str, Any]] = answered.json["errors"]
    return found


@pytest.mark.parametrize("attempt", URLS, ids=lambda each: ascii(each.url[:60]))
def test_a_url_that_may_not_be_called_is_refused_with_what_would_be_right(
    client: Client, attempt: UrlAttempt
) -> None:
    for [error] in refused(client, http_target(url=attempt.url)):
        assert error["pointer"].endswith("/url")
        assert attempt.refusal in error["detail"]
        assert error["detail"].endswith(".")


@pytest.mark.parametrize("value", HEADER_VALUES, ids=ascii)
def test_no_value_of_a_header_ends_its_line(client: Client, value: str) -> None:
    for [error] in refused(client, http_target(headers={"x-team": value})):
        assert error["pointer"].endswith("/headers/x-team")


@pytest.mark.parametrize("name", HEADER_NAMES, ids=ascii)
def test_no_job_names_a_header_that_frames_the_request_or_is_sweephand_s(client: Client, name: str) -> None:
    for errors in refused(client, http_target(headers={name: "1"})):
        assert errors


@pytest.mark.parametrize("method", METHODS, ids=ascii)
def test_no_job_writes_a_method_of_its_own(client: Client, method: str) -> None:
    for errors in refused(client, http_target(method=method)):
        assert {error["pointer"].rpartition("/")[2] for error in errors} == {"method"}


@pytest.mark.parametrize("path", PATHS, ids=ascii)
def test_no_path_leaves_the_url_of_the_default(client: Client, path: str) -> None:
    for [error] in refused(client, {"type": "default", "path": path}, PLACES_OF_DEFAULT):
        assert error["pointer"].endswith("/path")


@pytest.mark.parametrize(
    "fields",
    [
        {"headers": {"x-team": "a\r\nx-forged: 1"}},
        {"headers": {"Transfer-Encoding": "chunked"}},
        {"method": "CONNECT"},
        {"url": "https://169.254.169.254/"},
    ],
    ids=str,
)
def test_a_target_by_default_has_the_rules_of_every_other(client: Client, fields: dict[str, Any]) -> None:
    for errors in refused(client, {"type": "default", **fields}, PLACES_OF_DEFAULT):
        assert errors


@pytest.mark.parametrize("value", [each for each in HEADER_VALUES if "{{" not in each], ids=ascii)
def test_a_secret_cannot_hold_what_would_end_the_line_of_a_header(client: Client, value: str) -> None:
    answered = client.send("PUT", f"{SETTINGS}/secrets/token", {"value": value}, caller=NS_ADMIN)
    assert (answered.status, answered.pointers) == (422, ["/value"])


def test_there_are_at_least_two_hundred_attempts_and_no_two_are_the_same() -> None:
    urls = [each.url for each in URLS]
    assert len(urls) == len(set(urls)) >= 200
