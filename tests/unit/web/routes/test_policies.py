"""Writing, showing, listing and deleting flow policies over HTTP."""

from typing import Any

import jsonschema
import pytest
from tests.fakes.http_events import JOB, READER, WRITER, Answered, Client, document
from tests.fakes.policies import nobody_serves
from tests.fakes.world import World

from sweephand.base.instants import rfc3339
from sweephand.model.policy_names import PolicyKey

URL = "/v1/namespaces/ns/policies/mailer"
LIST = "/v1/namespaces/ns/policies"


def policy_world() -> World:
    world = World()
    world.flow_functions_max = 6
    return world


def client() -> Client:
    return Client(policy_world())


def put(to: Client, body: Any = None, url: str = URL, **options: Any) -> Answered:
    return to.send("PUT", url, {"maxConcurrent": 50} if body is None else body, **options)


def test_a_put_creates_a_policy_and_a_second_one_changes_it() -> None:
    to = client()
    created = put(to)
    assert (created.status, created.json["rev"]) == (201, created.etag.strip('"'))
    to.world.clock.time += 1_000
    changed = put(to, {"maxConcurrent": 20, "rate": {"limit": 10, "per": "60s"}})
    assert (changed.status, changed.etag == created.etag) == (200, False)
    assert changed.json == {
        "namespace": "ns",
        "name": "mailer",
        "rev": changed.etag.strip('"'),
        "maxConcurrent": 20,
        "rate": {"limit": 10, "per": "1m"},
        "effectiveMaxConcurrent": 20,
        "state": "active",
        "createdAt": "2026-11-21T12:00:00.000Z",
        "updatedAt": "2026-11-21T12:00:01.000Z",
    }


def test_a_policy_without_a_limit_of_concurrency_shows_what_the_stack_can_reach() -> None:
    shown = put(client(), {"rate": {"limit": 10, "per": "1s"}})
    assert "maxConcurrent" not in shown.json
    assert shown.json["effectiveMaxConcurrent"] == 60


@pytest.mark.parametrize(
    ("body", "pointers"),
    [
        ({}, [""]),
        ({"maxConcurrent": None, "rate": None}, [""]),
        ({"maxConcurrent": 0}, ["/maxConcurrent"]),
        ({"maxConcurrent": 10_001}, ["/maxConcurrent"]),
        ({"maxConcurrent": 1.5}, ["/maxConcurrent"]),
        ({"maxConcurrent": True}, ["/maxConcurrent"]),
        ({"maxConcurrent": "5"}, ["/maxConcurrent"]),
        ({"maxConcurent": 5}, ["/maxConcurent"]),
        ({"rate": 10}, ["/rate"]),
        ({"rate": {}}, ["/rate/limit", "/rate/per"]),
        ({"rate": {"limit": 10}}, ["/rate/per"]),
        ({"rate": {"limit": 0, "per": "1s"}}, ["/rate/limit"]),
        ({"rate": {"limit": 10_001, "per": "1s"}}, ["/rate/limit"]),
        ({"rate": {"limit": 1, "per": "999ms"}}, ["/rate/per"]),
        ({"rate": {"limit": 1, "per": "0s"}}, ["/rate/per"]),
        ({"rate": {"limit": 1, "per": "86401s"}}, ["/rate/per"]),
        ({"rate": {"limit": 1, "per": "soon"}}, ["/rate/per"]),
        ({"rate": {"limit": 1, "per": 60}}, ["/rate/per"]),
        (
            {"rate": {"limit": 0, "per": "2d"}, "maxConcurrent": 0},
            ["/maxConcurrent", "/rate/limit", "/rate/per"],
        ),
        ({"maxConcurrent": 5, "name": "mailer"}, ["/name"]),
        ({"by": "host"}, [""]),
        *(
            ({"maxConcurrent": 5, "by": by}, ["/by"])
            for by in ("", "hosts", "Host", "label", "label:", "label:a:b", "label:" + "n" * 129, 5, ["job"])
        ),
        ({"maxConcurrent": 0, "by": "labels:a"}, ["/maxConcurrent", "/by"]),
        ({"breaker": {"failures": 1, "probeAfter": "1m"}}, [""]),
        ({"maxConcurrent": 5, "by": "job", "breaker": {"failures": 1, "probeAfter": "1m"}}, ["/breaker"]),
        ({"maxConcurrent": 5, "breaker": {}}, ["/breaker/failures", "/breaker/probeAfter"]),
        *(
            ({"maxConcurrent": 5, "breaker": {"failures": count, "probeAfter": "1m"}}, ["/breaker/failures"])
            for count in (0, 1_001, "10", 1.5)
        ),
        *(
            ({"maxConcurrent": 5, "breaker": {"failures": 1, "probeAfter": after}}, ["/breaker/probeAfter"])
            for after in ("4s", "24h1s", "soon", 60)
        ),
        ([], [""]),
    ],
)
def test_a_policy_that_is_not_valid_is_refused_with_its_pointers(body: Any, pointers: list[str]) -> None:
    to = client()
    refused = put(to, body)
    assert (refused.status, refused.pointers) == (422, pointers)
    assert to.send("GET", URL).status == 404


@pytest.mark.parametrize("body", [{"maxConcurrent": 1}, {"maxConcurrent": 10_000}])
def test_the_bounds_of_concurrency_are_accepted(body: Any) -> None:
    assert put(client(), body).status == 201


@pytest.mark.parametrize("by", ["host", "job", "label:tenant", "label:" + "n" * 128, "label:a b/c#d"])
def test_a_policy_shows_by_what_it_counts_and_not_what_all_its_keys_use(by: str) -> None:
    to = client()
    assert put(to, {"maxConcurrent": 5, "by": by}).json["by"] == by
    shown = to.send("GET", URL).json
    assert (shown["by"], shown["effectiveMaxConcurrent"]) == (by, 5)
    assert not shown.keys() & {"inUse", "waiting", "waitingIsExact", "waitingSince"}
    assert put(to, {"maxConcurrent": 5}).json.keys() == shown.keys() - {"by"}
    assert "by" not in to.send("GET", LIST).json["items"][0]


def test_a_policy_shows_its_breaker_and_since_when_it_is_open() -> None:
    world = policy_world()
    to = Client(world)
    written = put(to, {"maxConcurrent": 5, "breaker": {"failures": 10, "probeAfter": "90s"}}).json
    assert written["breaker"] == {"failures": 10, "probeAfter": "90s"}
    assert (written["state"], "brokenAt" in written, "nextProbeAt" in written) == ("active", False, False)
    at = world.clock.time
    assert world.policies.open_breaker(PolicyKey("ns", "mailer"), "probe", at + 90_000, at)
    shown = to.send("GET", URL).json
    assert (shown["state"], shown["rev"]) == ("broken", written["rev"])
    assert (shown["brokenAt"], shown["nextProbeAt"]) == (rfc3339(at), rfc3339(at + 90_000))
    world.put("mail", dueTime="10s", policy="mailer")
    assert to.send("GET", "/v1/namespaces/ns/jobs/mail").json["policyBlock"] == "broken"
    paused = to.send("POST", f"{URL}/pause").json
    assert (paused["state"], paused["brokenAt"]) == ("paused", shown["brokenAt"])


def test_keys_of_a_policy_that_wait_are_listed_in_pages() -> None:
    world = policy_world()
    to = Client(world)
    put(to, {"maxConcurrent": 1, "by": "label:tenant"})
    keys = f"{URL}/keys"
    assert to.send("GET", keys, caller=READER).json == {"items": []}
    with nobody_serves(world):
        for tenant in ("acme", "", "zulu"):
            world.put(f"job-{tenant}", policy="mailer", schedule="@every 10s", labels={"tenant": tenant})
            world.run_until(world.clock.time + 20_000)
    first = to.send("GET", f"{keys}?limit=2", caller=READER).json
    assert [(each["value"], each["waitingIsExact"]) for each in first["items"]] == [
        ("acme", True),
        ("", True),
    ]
    assert first["items"][0]["waiting"] > first["items"][1]["waiting"] >= 1
    assert first["items"][0]["waitingSince"] < first["items"][1]["waitingSince"]
    rest = to.send("GET", f"{keys}?limit=2&cursor={first['nextCursor']}").json
    assert [each["value"] for each in rest["items"]] == ["zulu"]
    assert "nextCursor" not in rest
    assert to.send("GET", f"{keys}?cursor=abc").pointers == ["/cursor"]


def test_a_policy_that_is_not_there_or_has_no_by_has_no_keys() -> None:
    to = client()
    assert to.send("GET", f"{URL}/keys").status == 404
    put(to)
    assert to.send("GET", f"{URL}/keys").json == {"items": []}


def test_by_cannot_be_changed_while_triggers_wait() -> None:
    world = policy_world()
    to = Client(world)
    put(to, {"maxConcurrent": 1, "by": "job"})
    with nobody_serves(world):
        world.put(policy="mailer", schedule="@every 10s")
        world.run_until(world.clock.time + 20_000)
    for body in ({"maxConcurrent": 1}, {"maxConcurrent": 1, "by": "host"}):
        refused = put(to, body)
        assert refused.status == 409
        assert "`by`" in refused.json["detail"]
    assert put(to, {"maxConcurrent": 7, "by": "job"}).status == 200


@pytest.mark.parametrize("rate", [(1, "1s"), (10_000, "1d"), (10_000, "1s"), (1, "24h"), (7, "1.5s")])
def test_the_bounds_of_a_rate_are_accepted(rate: tuple[int, str]) -> None:
    assert put(client(), {"rate": {"limit": rate[0], "per": rate[1]}}).status == 201


def test_an_error_names_the_limit_and_what_would_be_right() -> None:
    (error,) = put(client(), {"maxConcurrent": 10_001}).json["errors"]
    assert "at most 10000" in error["detail"]
    (error,) = put(client(), {"rate": {"limit": 1, "per": "10ms"}}).json["errors"]
    assert "policyRatePerSecondsMin" in error["detail"]
    (error,) = put(client(), {"maxConcurrnt": 5}).json["errors"]
    assert "Did you mean maxConcurrent?" in error["detail"]


@pytest.mark.parametrize("name", ["a%20b", "..", "x" * 129, "%C3%A9"])
def test_a_policy_has_the_same_names_as_a_job(name: str) -> None:
    refused = put(client(), url=f"{LIST}/{name}")
    assert (refused.status, refused.pointers) == (422, ["/policy"])


@pytest.mark.parametrize(
    ("body", "is_taken"),
    [
        ({"maxConcurrent": 5}, True),
        ({"maxConcurrent": None, "rate": {"limit": 5, "per": "1m"}}, True),
        ({}, False),
        ({"by": "host"}, False),
        ({"maxConcurrent": None, "rate": None}, False),
    ],
)
def test_the_described_policy_has_a_limit_as_the_api_asks(body: Any, *, is_taken: bool) -> None:
    described = {"$ref": "#/components/schemas/PolicyRequest", "components": document()["components"]}
    assert jsonschema.Draft202012Validator(described).is_valid(body) == is_taken
    assert (put(client(), body).status == 201) == is_taken


def test_a_policy_that_jobs_name_can_be_deleted_and_is_then_gone() -> None:
    to = client()
    put(to)
    assert to.put(job={**JOB, "policy": "mailer"}).status == 201
    assert to.send("DELETE", URL, caller=WRITER).status == 204
    assert to.send("GET", URL).status == 404
    assert to.send("DELETE", URL).status == 404
    assert to.send("GET", LIST).json == {"items": []}
    assert put(to).status == 201


def test_a_policy_is_paused_and_resumed() -> None:
    to = client()
    put(to)
    to.world.clock.time += 1_000
    paused = to.send("POST", f"{URL}/pause", {"reason": "tonight"}, caller=WRITER)
    assert (paused.status, paused.json["state"], paused.json["rev"]) == (
        200,
        "paused",
        paused.etag.strip('"'),
    )
    assert (paused.json["pausedAt"], paused.json["pauseReason"]) == ("2026-11-21T12:00:01.000Z", "tonight")
    [listed] = to.send("GET", LIST).json["items"]
    shown = to.send("GET", URL)
    assert listed == paused.json
    assert (shown.json["state"], shown.json["maxConcurrent"]) == ("paused", 50)
    assert to.send("POST", f"{URL}/resume", headers={"if-match": '"other"'}).status == 412
    refused = to.send("DELETE", URL)
    assert (refused.status, "Resume it" in refused.json["detail"]) == (409, True)
    resumed = to.send("POST", f"{URL}/resume", headers={"if-match": paused.etag}, caller=WRITER)
    assert (resumed.status, resumed.json["state"], resumed.etag == paused.etag) == (200, "active", False)
    assert not resumed.json.keys() & {"pausedAt", "pauseReason"}
    changes = to.send("GET", f"{URL}/changes").json["items"]
    assert {(each["what"], each.get("reason")) for each in changes} == {
        ("created", None),
        ("paused", "tonight"),
        ("resumed", None),
    }


def test_a_pause_needs_no_body_and_keeps_the_first_reason() -> None:
    to = client()
    put(to)
    paused = to.send("POST", f"{URL}/pause")
    assert (paused.status, "pauseReason" in paused.json) == (200, False)
    assert to.send("POST", f"{URL}/pause", {"reason": "later"}).json == paused.json
    assert to.send("POST", f"{URL}/pause", {"raeson": "later"}).pointers == ["/raeson"]
    for verb in ("pause", "resume"):
        assert to.send("POST", f"{LIST}/missing/{verb}").status == 404


def test_a_list_has_the_policies_of_its_namespace_by_name() -> None:
    to = client()
    for name in ("c", "a", "b"):
        put(to, url=f"{LIST}/{name}")
    put(to, url="/v1/namespaces/elsewhere/policies/d")
    first = to.send("GET", f"{LIST}?limit=2", caller=READER)
    assert [each["name"] for each in first.json["items"]] == ["a", "b"]
    assert "inUse" not in first.json["items"][0]
    second = to.send("GET", f"{LIST}?limit=2&cursor={first.json['nextCursor']}")
    assert [each["name"] for each in second.json["items"]] == ["c"]
    assert "nextCursor" not in second.json
    assert to.send("GET", f"{LIST}?cursor=abc").pointers == ["/cursor"]
