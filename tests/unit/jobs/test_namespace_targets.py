"""Where the HTTP targets of a namespace may be: what an admin writes, and which jobs are refused."""

from typing import Any

import pytest
from tests.fakes.faults import failing
from tests.fakes.http_events import NS_ADMIN, READER, WRITER, Answered, Client
from tests.fakes.world import World

from sweephand.base.limits import NAMESPACE_HOSTS_MAX, NAMESPACE_NETWORKS_MAX
from sweephand.base.timing import NAMESPACE_AGE_MAX_MS

URL = "/v1/namespaces/ns"
INSIDE = {"type": "http", "url": "https://api.example.com/hook"}
OUTSIDE = {"type": "http", "url": "https://api.example.org/hook"}
QUEUE = {"type": "sqs", "queueUrl": "https://sqs.eu-west-1.amazonaws.com/123456789012/sweephand-q"}
HOSTS = {"hosts": ["example.com", "*.example.com"]}


def client(allowed: Any = None, **settings: Any) -> Client:
    """The API of a namespace whose settings every process knows."""
    world = World()
    world.limits_namespaces = True
    to = Client(world)
    if allowed is not None:
        assert put(to, allowed, **settings).status == 200
        world.clock.time += NAMESPACE_AGE_MAX_MS
    return to


def put(to: Client, allowed: Any, *, caller: Any = NS_ADMIN, **settings: Any) -> Answered:
    return to.send("PUT", URL, {"limits": {}, "allowedTargets": allowed, **settings}, caller=caller)


def job(**targets: Any) -> dict[str, Any]:
    return {"dueTime": "10s", **targets}


def test_everybody_sees_the_lists_in_their_one_form_and_an_admin_alone_writes_them() -> None:
    to = client()
    written = {"hosts": ["Example.COM.", "example.com", "*.API.example.com"], "networks": ["2001:DB8::/32"]}
    shown = {"hosts": ["example.com", "*.api.example.com"], "networks": ["2001:db8::/32"]}
    first = put(to, written)
    assert first.json["allowedTargets"] == shown
    assert to.send("GET", URL, caller=READER).json["allowedTargets"] == shown
    assert put(to, shown).etag == first.etag
    assert put(to, written, caller=WRITER).status == 403
    assert "allowedTargets" not in put(to, None).json
    assert "allowedTargets" not in put(to, {}).json


@pytest.mark.parametrize(
    ("allowed", "pointers", "detail"),
    [
        ({"hosts": ["example.com", "https://example.com"]}, ["/allowedTargets/hosts/1"], "no host"),
        ({"hosts": ["*"]}, ["/allowedTargets/hosts/0"], "*.example.com for every host below"),
        ({"hosts": ["münchen.example"]}, ["/allowedTargets/hosts/0"], "xn-- form"),
        ({"networks": ["203.0.113.1/24"]}, ["/allowedTargets/networks/0"], "203.0.113.0/24"),
        ({"hosts": []}, ["/allowedTargets/hosts"], "1 to 50 entries"),
        (
            {"hosts": ["a.example"] * (NAMESPACE_HOSTS_MAX + 1)},
            ["/allowedTargets/hosts"],
            "namespaceHostsMax",
        ),
        (
            {"networks": ["203.0.113.0/24"] * (NAMESPACE_NETWORKS_MAX + 1)},
            ["/allowedTargets/networks"],
            "namespaceNetworksMax",
        ),
        ({"hosts": "example.com"}, ["/allowedTargets/hosts"], "list"),
        ({"hosts": [5]}, ["/allowedTargets/hosts/0"], "text"),
        ({"cidrs": ["203.0.113.0/24"]}, ["/allowedTargets/cidrs"], ""),
        (["example.com"], ["/allowedTargets"], "object"),
    ],
)
def test_a_list_that_cannot_be_read_is_refused_and_nothing_is_written(
    allowed: Any, pointers: list[str], detail: str
) -> None:
    to = client()
    refused = put(to, allowed)
    assert (refused.status, refused.pointers) == (422, pointers)
    assert detail in refused.json["errors"][0]["detail"]
    assert to.send("GET", URL).json == {"namespace": "ns", "limits": {}}


def test_the_default_target_has_to_be_in_the_lists_that_are_written_with_it() -> None:
    to = client()
    refused = put(to, HOSTS, defaultTarget=OUTSIDE)
    assert (refused.status, refused.pointers) == (422, ["/defaultTarget/url"])
    assert put(to, HOSTS, defaultTarget=INSIDE).status == 200
    assert put(to, HOSTS, defaultTarget=QUEUE).status == 200


@pytest.mark.parametrize("place", ["target", "onComplete", "onAlert"])
def test_a_job_with_another_host_is_refused_however_it_is_written(place: str) -> None:
    to = client(HOSTS)
    assert to.put("stored", job(target=INSIDE)).status == 201
    written = {place: OUTSIDE, **({"alertAfter": "10m"} if place == "onAlert" else {})}
    wrong = job(**{"target": INSIDE, **written})
    patch = {"content-type": "application/merge-patch+json"}
    bulk = [{"name": name, **wrong} for name in ("a", "b", "c")]
    results = to.send("POST", f"{URL}/jobs", {"jobs": bulk}).json["results"]
    problems = [
        to.put("new", wrong).json,
        to.put("stored", wrong).json,
        to.send("PATCH", f"{URL}/jobs/stored", written, headers=patch).json,
        *(each["problem"] for each in results),
    ]
    for problem in problems:
        assert problem["status"] == 422
        [error] = problem["errors"]
        assert error["pointer"] == f"/{place}/url"
        assert "does not deliver to api.example.org" in error["detail"]
        assert "`allowedTargets.hosts` in its settings" in error["detail"]
    assert [each["name"] for each in to.send("GET", f"{URL}/jobs").json["items"]] == ["stored"]


def test_an_address_in_the_place_of_a_host_is_judged_by_its_network() -> None:
    to = client({"networks": ["198.41.0.0/24"]})
    assert to.put("a", job(target={**INSIDE, "url": "https://198.41.0.4/"})).status == 201
    refused = to.put("b", job(target={**INSIDE, "url": "https://8.8.8.8/"}))
    assert refused.pointers == ["/target/url"]
    assert "in none of the networks in `allowedTargets.networks`" in refused.json["errors"][0]["detail"]
    assert to.put("c", job(target=OUTSIDE)).status == 201, "each delivery judges the addresses of a name"


def test_targets_without_a_host_are_not_governed() -> None:
    to = client(HOSTS)
    assert to.put("queue", job(target=QUEUE)).status == 201
    chained = {"type": "job", "name": "queue"}
    assert to.put("chained", job(target=INSIDE, onComplete=chained)).status == 201


def test_another_namespace_has_lists_of_its_own() -> None:
    to = client(HOSTS)
    assert to.send("PUT", "/v1/namespaces/other/jobs/a", job(target=OUTSIDE)).status == 201


def test_a_host_that_was_just_allowed_is_taken_at_once() -> None:
    to = client(HOSTS)
    assert to.put(job=job(target=OUTSIDE)).status == 422
    put(to, {"hosts": ["*.example.org"]})
    assert to.put(job=job(target=OUTSIDE)).status == 201


def test_a_patch_that_leaves_the_target_alone_is_taken_after_the_lists_have_changed() -> None:
    to = client(HOSTS)
    to.put(job=job(target=INSIDE))
    put(to, {"hosts": ["example.org"]})
    to.world.clock.time += NAMESPACE_AGE_MAX_MS
    assert to.send("PATCH", f"{URL}/jobs/job", {"description": "x"}).status == 200
    assert to.send("PATCH", f"{URL}/jobs/job", {"target": {**INSIDE, "method": "PUT"}}).status == 422


def test_a_job_is_not_written_while_the_lists_cannot_be_read() -> None:
    to = client(HOSTS)
    failing(to.world, "namespaces.with_windows")
    fresh = Client(to.world)
    assert fresh.put(job=job(target=INSIDE, retry={})).status == 503
