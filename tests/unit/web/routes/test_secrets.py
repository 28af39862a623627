"""Secrets over HTTP: they are written, listed and deleted, never shown, and jobs name those that exist."""

from collections.abc import Collection, Mapping
from typing import Any

import pytest
from tests.fakes.http_events import READER, TARGET, Client
from tests.fakes.world import World
from tests.unit.model.test_secret import HMAC, PRIVATE

from sweephand.model.secret import Secret

VALUE = "Bearer 8d1f-very-secret"
URL = "/v1/namespaces/ns/secrets"


def put_secret(client: Client, name: str = "token", value: str = VALUE, **options: Any) -> Any:
    return client.send("PUT", f"{URL}/{name}", {"value": value}, **options)


def job(**headers: Any) -> Mapping[str, Any]:
    return {"dueTime": "1h", "target": {**TARGET, "headers": headers}}


def test_a_secret_is_created_replaced_and_left_alone_and_its_value_is_not_shown(client: Client) -> None:
    created = put_secret(client)
    assert created.status == 201
    assert created.json == {
        "namespace": "ns",
        "name": "token",
        "scheme": None,
        "createdAt": "2026-11-21T12:00:00.000Z",
        "updatedAt": "2026-11-21T12:00:00.000Z",
    }
    client.world.clock.time += 1_000
    assert put_secret(client).json == created.json
    replaced = put_secret(client, value="other")
    assert (replaced.status, replaced.json["updatedAt"]) == (200, "2026-11-21T12:00:01.000Z")
    assert client.send("GET", URL).json == {"items": [replaced.json]}
    assert client.send("GET", f"{URL}/token").status == 405


@pytest.mark.parametrize(("value", "scheme"), [(VALUE, None), (HMAC[0], "v1"), (PRIVATE, "v1a")])
def test_a_secret_says_how_its_value_signs(value: str, scheme: str | None) -> None:
    assert put_secret(Client(), value=value).json["scheme"] == scheme


def test_secrets_are_listed_page_by_page(client: Client) -> None:
    for name in ("b", "a", "c"):
        put_secret(client, name)
    first = client.send("GET", f"{URL}?limit=2").json
    second = client.send("GET", f"{URL}?limit=2&cursor={first['nextCursor']}").json
    assert [each["name"] for each in first["items"] + second["items"]] == ["a", "b", "c"]
    assert "nextCursor" not in second


def test_a_deleted_secret_is_gone(client: Client) -> None:
    put_secret(client)
    assert client.send("DELETE", f"{URL}/token").status == 204
    assert client.send("DELETE", f"{URL}/token").status == 404
    assert client.send("GET", URL).json == {"items": []}


@pytest.mark.parametrize(
    ("body", "pointers"),
    [
        ({}, ["/value"]),
        ({"value": None}, ["/value"]),
        ({"value": 12345678}, ["/value"]),
        ({"value": ""}, ["/value"]),
        ({"value": "a\nb"}, ["/value"]),
        ({"value": "x" * 4_097}, ["/value"]),
        ({"value": "whsec_c2hvcnQ="}, ["/value"]),
        ({"value": VALUE, "hosts": []}, ["/hosts"]),
    ],
)
def test_an_invalid_secret_names_the_field_and_repeats_no_value(
    client: Client, body: Mapping[str, Any], pointers: list[str]
) -> None:
    refused = client.send("PUT", f"{URL}/token", body)
    assert (refused.status, refused.pointers) == (422, pointers)
    assert "12345678" not in str(refused.text)
    assert VALUE not in str(refused.text)
    assert client.send("GET", URL).json == {"items": []}


def test_a_name_that_is_not_valid_is_refused() -> None:
    refused = put_secret(Client(), "a%20b")
    assert (refused.status, refused.pointers) == (422, ["/secret"])


def test_a_job_names_secrets_that_exist(client: Client) -> None:
    put_secret(client)
    put_secret(client, "key", HMAC[0])
    named = job(authorization={"secretRef": "token"}, **{"x-plain": "{{due}}"})
    named["target"]["signingSecret"] = {"secretRef": "key"}
    assert client.put(job=named).status == 201
    assert client.get().json["target"] == named["target"]
    assert client.get(caller=READER).json["target"]["headers"].keys() == {"authorization", "x-plain"}


@pytest.mark.parametrize("verb", ["PUT", "PATCH", "POST"])
def test_a_job_that_names_a_missing_secret_is_refused_with_the_place(client: Client, verb: str) -> None:
    put_secret(client)
    client.put("job")
    missing = {
        "target": {
            **TARGET,
            "headers": {"a": {"secretRef": "token"}, "b": {"secretRef": "tokne"}},
            "signingSecret": {"secretRef": "token"},
        },
        "onComplete": {**TARGET, "headers": {"c/d": {"secretRef": "x"}}},
    }
    missing["onComplete"]["headers"] = {"c~d": {"secretRef": "x"}}
    expected = [
        ("/target/headers/b/secretRef", "There is no secret tokne in namespace ns. Create the secret first."),
        ("/target/signingSecret/secretRef", "The secret token cannot sign"),
        ("/onComplete/headers/c~0d/secretRef", "There is no secret x in namespace ns."),
    ]
    if verb == "POST":
        jobs = [{"name": name, "dueTime": "1h", **missing} for name in ("one", "two")]
        answer = client.send("POST", "/v1/namespaces/ns/jobs", {"jobs": jobs})
        assert [each["status"] for each in answer.json["results"]] == [422, 422]
        errors = answer.json["results"][1]["problem"]["errors"]
    else:
        body = missing if verb == "PATCH" else {"dueTime": "1h", **missing}
        headers = {"content-type": "application/merge-patch+json"} if verb == "PATCH" else {}
        answer = client.send(verb, "/v1/namespaces/ns/jobs/job", body, headers=headers)
        assert answer.status == 422
        errors = answer.json["errors"]
    assert [each["pointer"] for each in errors] == [pointer for pointer, _ in expected]
    assert all(each["detail"].startswith(text) for each, (_, text) in zip(errors, expected, strict=True))


def test_a_patch_may_leave_a_reference_to_a_secret_that_was_deleted(client: Client) -> None:
    put_secret(client)
    client.put(job=job(authorization={"secretRef": "token"}))
    client.send("DELETE", f"{URL}/token")
    merge = {"content-type": "application/merge-patch+json"}
    url = "/v1/namespaces/ns/jobs/job"
    assert client.send("PATCH", url, {"description": "x"}, headers=merge).status == 200
    assert client.put(job=job(authorization={"secretRef": "token"})).status == 422


@pytest.mark.parametrize(
    ("reference", "pointer"),
    [
        ({"secretRef": ""}, "/secretRef"),
        ({"secretRef": "a b"}, "/secretRef"),
        ({"secretRef": None}, "/secretRef"),
        ({"secretRef": ["token"]}, "/secretRef"),
        ({"secretRef": "token", "prefix": "Bearer"}, ""),
        ({"secret": "token"}, ""),
        ({}, ""),
    ],
)
@pytest.mark.parametrize("at", ["/target/headers/authorization", "/target/signingSecret"])
def test_a_reference_that_is_not_valid_is_refused_with_its_place(
    client: Client, reference: Any, pointer: str, at: str
) -> None:
    body: dict[str, Any] = {"dueTime": "1h", "target": dict(TARGET)}
    if at.endswith("signingSecret"):
        body["target"]["signingSecret"] = reference
    else:
        body["target"]["headers"] = {"authorization": reference}
    refused = client.put(job=body)
    assert (refused.status, refused.pointers) == (422, [at + pointer])


def test_a_bulk_call_reads_each_secret_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    put_secret(Client(world))
    reads: list[Collection[str]] = []
    stored = world.named_secrets.get_many

    def noted(namespace: str, names: Collection[str]) -> Mapping[str, Secret]:
        reads.append(names)
        return stored(namespace, names)

    monkeypatch.setattr(world.named_secrets, "get_many", noted)
    jobs = [{"name": f"j{each}", **job(authorization={"secretRef": "token"})} for each in range(5)]
    answer = Client(world).send("POST", "/v1/namespaces/ns/jobs", {"jobs": jobs})
    assert [each["status"] for each in answer.json["results"]] == [201] * 5
    assert reads == [["token"]]


def test_a_default_target_names_secrets_that_exist_and_its_jobs_may_name_more(world: World) -> None:
    world.limits_namespaces = True
    client = Client(world)
    default = {**TARGET, "headers": {"authorization": {"secretRef": "token"}}}
    refused = client.send("PUT", "/v1/namespaces/ns", {"limits": {}, "defaultTarget": default})
    assert (refused.status, refused.pointers) == (422, ["/defaultTarget/headers/authorization/secretRef"])
    put_secret(client)
    assert client.send("PUT", "/v1/namespaces/ns", {"limits": {}, "defaultTarget": default}).status == 200
    assert client.put(job={"dueTime": "1h"}).status == 201
    own = {"type": "default", "headers": {"x-more": {"secretRef": "more"}}}
    refused = client.put(job={"dueTime": "1h", "target": own})
    assert (refused.status, refused.pointers) == (422, ["/target/headers/x-more/secretRef"])
