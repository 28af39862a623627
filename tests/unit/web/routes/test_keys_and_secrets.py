"""Keys and signing secrets over HTTP."""

from base64 import urlsafe_b64decode
from typing import Any

import pytest
from tests.fakes.http_events import NS_ADMIN, STRANGER, Client

from sweephand import __version__
from sweephand.access.callers import authorize
from sweephand.model.api_key import Caller, Role


def opened(client: Client, key: str) -> Caller | None:
    return authorize(f"Bearer {key}", keys=client.keys, now=client.world.clock.now())


def test_a_key_is_shown_once_and_is_valid_for_its_namespace(client: Client) -> None:
    body = {"namespace": "ns", "role": "write", "expiresIn": "1h", "description": "for tests"}
    made = client.send("POST", "/v1/keys", body)
    assert made.status == 201
    assert made.json["expiresAt"] == "2026-11-21T13:00:00.000Z"
    assert made.headers["cache-control"] == "no-store"
    assert opened(client, made.json["key"]) == Caller(made.json["id"], "ns", "write")
    listed = client.send("GET", "/v1/keys")
    assert [each["id"] for each in listed.json["items"]] == [made.json["id"]]
    secret = made.json["key"].rpartition("_")[2]
    assert secret not in str(listed.text)
    assert "digest" not in str(listed.text)
    client.world.clock.time += 3_600_000
    assert opened(client, made.json["key"]) is None
    assert client.send("GET", "/v1/keys").json["items"] == []


@pytest.mark.parametrize("namespace", ["other", "*"])
def test_an_admin_of_a_namespace_makes_keys_of_that_namespace_only(client: Client, namespace: str) -> None:
    refused = client.send("POST", "/v1/keys", {"namespace": namespace, "role": "read"}, caller=NS_ADMIN)
    assert refused.status == 403
    assert client.keys.page(None, "", 10).items == ()


def test_an_admin_of_a_namespace_sees_and_revokes_keys_of_that_namespace_only(client: Client) -> None:
    key_id = client.send("POST", "/v1/keys", {"namespace": "ns", "role": "read"}).json["id"]
    assert client.send("GET", "/v1/keys", caller=STRANGER).json["items"] == []
    assert client.send("DELETE", f"/v1/keys/{key_id}", caller=STRANGER).status == 404
    assert client.send("GET", "/v1/keys", caller=NS_ADMIN).json["items"][0]["id"] == key_id
    assert client.send("DELETE", f"/v1/keys/{key_id}", caller=NS_ADMIN).status == 204


def test_a_rotation_shows_the_new_key_once_and_the_end_of_the_old_one(client: Client) -> None:
    body = {"namespace": "ns", "role": "write", "expiresIn": "7d", "description": "for tests"}
    old = client.send("POST", "/v1/keys", body).json
    rotated = client.send("POST", f"/v1/keys/{old['id']}/rotate", {"overlap": "1h"}, caller=NS_ADMIN)
    assert (rotated.status, rotated.headers["cache-control"]) == (201, "no-store")
    new = rotated.json
    kept = ("namespace", "role", "expiresAt", "description")
    assert [new[name] for name in kept] == [old[name] for name in kept]
    ended = {name: value for name, value in old.items() if name != "key"}
    ended |= {"expiresAt": "2026-11-21T13:00:00.000Z", "replacedBy": new["id"]}
    assert new["replaces"] == ended
    assert opened(client, old["key"]) == Caller(old["id"], "ns", "write")
    assert opened(client, new["key"]) == Caller(new["id"], "ns", "write")
    listed = client.send("GET", "/v1/keys")
    assert new["key"] not in str(listed.text)
    assert {each["id"]: each["replacedBy"] for each in listed.json["items"]} == {
        old["id"]: new["id"],
        new["id"]: None,
    }
    client.world.clock.time += 3_600_000
    assert opened(client, old["key"]) is None
    assert [each["id"] for each in client.send("GET", "/v1/keys").json["items"]] == [new["id"]]
    assert client.send("POST", f"/v1/keys/{old['id']}/rotate").status == 404


@pytest.mark.parametrize(
    ("body", "pointers"),
    [
        ({"overlap": "31d"}, ["/overlap"]),
        ({"overlap": "-1s"}, ["/overlap"]),
        ({"overlap": 60}, ["/overlap"]),
        ({"expiresIn": "0s"}, ["/expiresIn"]),
        ({"overlap": "x", "expiresIn": "3651d", "role": "admin"}, ["/overlap", "/expiresIn", "/role"]),
    ],
)
def test_an_invalid_rotation_names_every_field_and_changes_nothing(body: Any, pointers: list[str]) -> None:
    client = Client()
    client.send("POST", "/v1/keys", {"namespace": "ns", "role": "read"})
    [before] = client.keys.page(None, "", 10).items
    refused = client.send("POST", f"/v1/keys/{before.id}/rotate", body)
    assert (refused.status, refused.pointers) == (422, pointers)
    assert client.keys.page(None, "", 10).items == (before,)


ROLE_OF_IAM = "arn:aws:iam::123456789012:role/teams/billing"


def test_the_key_of_a_role_of_iam_has_no_secret_and_is_listed_with_the_role(client: Client) -> None:
    body = {"namespace": "ns", "role": "write", "principal": ROLE_OF_IAM, "expiresIn": "1h"}
    made = client.send("POST", "/v1/keys", body)
    assert (made.status, made.json["key"]) == (201, None)
    assert made.json["principal"] == "arn:aws:iam::123456789012:role/billing", (
        "names are unique without a path"
    )
    listed = client.send("GET", "/v1/keys", caller=NS_ADMIN).json["items"]
    assert listed == [{name: value for name, value in made.json.items() if name != "key"}]
    again = client.send("POST", "/v1/keys", {"namespace": "*", "role": "read", "principal": ROLE_OF_IAM}).json
    assert (again["id"], again["role"], again["expiresAt"]) == (made.json["id"], "read", None)
    refused = client.send("POST", f"/v1/keys/{again['id']}/rotate")
    assert refused.status == 409
    assert "IAM" in refused.json["detail"]
    assert client.send("DELETE", f"/v1/keys/{again['id']}").status == 204
    assert client.keys.page(None, "", 10).items == ()


def test_an_admin_of_a_namespace_makes_no_key_for_a_role_of_iam(client: Client) -> None:
    body = {"namespace": "ns", "role": "write", "principal": ROLE_OF_IAM}
    assert client.send("POST", "/v1/keys", body, caller=NS_ADMIN).status == 403
    assert client.keys.page(None, "", 10).items == ()


@pytest.mark.parametrize("role", ["read", "write", "admin"])
def test_a_caller_sees_what_its_own_key_allows(client: Client, role: Role) -> None:
    made = client.send("POST", "/v1/keys", {"namespace": "ns", "role": role, "expiresIn": "1h"}).json
    me = Caller(made["id"], "ns", role)
    shown = client.send("GET", "/v1/me", caller=me)
    expected = {"id": made["id"], "namespace": "ns", "role": role, "expiresAt": made["expiresAt"]}
    expected |= {"stats": False, "version": __version__}
    assert (shown.json, shown.headers["cache-control"]) == (expected, "no-store")
    client.send("DELETE", f"/v1/keys/{made['id']}")
    assert client.send("GET", "/v1/me", caller=me).json == {**expected, "expiresAt": None}


@pytest.mark.parametrize("key_id", ["unknown", "a_b", "%20", "x" * 5_000, "%C3%A9"])
def test_an_unknown_key_is_not_found(key_id: str) -> None:
    assert Client().send("DELETE", f"/v1/keys/{key_id}").status == 404


def test_keys_are_listed_page_by_page(client: Client) -> None:
    made = [client.send("POST", "/v1/keys", {"namespace": "ns", "role": "read"}).json["id"] for _ in range(3)]
    first = client.send("GET", "/v1/keys?limit=2").json
    second = client.send("GET", f"/v1/keys?limit=2&cursor={first['nextCursor']}").json
    assert [each["id"] for each in first["items"] + second["items"]] == sorted(made)
    assert "nextCursor" not in second


def key_ids(client: Client, count: int, namespace: str) -> list[str]:
    body = {"namespace": namespace, "role": "read"}
    return [client.send("POST", "/v1/keys", body).json["id"] for _ in range(count)]


def cursors_of(client: Client, limit: int) -> tuple[list[str], list[str]]:
    """The ids that a namespace's admin is shown page by page, and the cursors that lead there."""
    ids: list[str] = []
    cursors: list[str] = []
    while True:
        after = f"&cursor={cursors[-1]}" if cursors else ""
        page = client.send("GET", f"/v1/keys?limit={limit}{after}", caller=NS_ADMIN).json
        ids += [each["id"] for each in page["items"]]
        if "nextCursor" not in page:
            return ids, cursors
        cursors.append(page["nextCursor"])


def test_a_cursor_for_an_admin_of_a_namespace_reveals_no_id_of_another_namespaces_key(client: Client) -> None:
    mine, others = key_ids(client, 3, "ns"), key_ids(client, 20, "elsewhere")
    shown, cursors = cursors_of(client, 2)
    assert shown == sorted(mine)
    assert cursors
    for each in cursors:
        told = each.encode() + urlsafe_b64decode(each + "=" * (-len(each) % 4))
        assert not [key_id for key_id in others if key_id.encode() in told]


@pytest.mark.parametrize("sent", ["x", "a2V5czphYmM", "", "%00", "A" * 5_000])
def test_a_cursor_of_keys_that_the_api_did_not_make_is_refused_by_its_name(sent: str) -> None:
    refused = Client().send("GET", f"/v1/keys?cursor={sent}")
    assert (refused.status, refused.pointers) == (422, ["/cursor"])


@pytest.mark.parametrize(
    ("body", "pointers"),
    [
        ({}, ["/namespace", "/role"]),
        ({"namespace": "a/b", "role": "read"}, ["/namespace"]),
        ({"namespace": 1, "role": "read"}, ["/namespace"]),
        ({"namespace": "ns", "role": "owner"}, ["/role"]),
        ({"namespace": "ns", "role": "read", "expiresIn": "0s"}, ["/expiresIn"]),
        ({"namespace": "ns", "role": "read", "expiresIn": 60}, ["/expiresIn"]),
        ({"namespace": "ns", "role": "read", "expiresIn": "3651d"}, ["/expiresIn"]),
        ({"namespace": "ns", "role": "read", "description": "x" * 513}, ["/description"]),
        ({"namespace": "ns", "role": "read", "principal": "billing"}, ["/principal"]),
        ({"namespace": "ns", "role": "read", "principal": 7}, ["/principal"]),
        (
            {"namespace": "ns", "role": "read", "principal": "arn:aws:sts::123456789012:assumed-role/a/b"},
            ["/principal"],
        ),
        ({"namespace": "..", "role": 1, "expires": "1h"}, ["/namespace", "/role", "/expires"]),
    ],
)
def test_an_invalid_key_names_every_field(client: Client, body: Any, pointers: list[str]) -> None:
    refused = client.send("POST", "/v1/keys", body)
    assert (refused.status, refused.pointers) == (422, pointers)
    assert client.keys.page(None, "", 10).items == ()


KEYS_URL = "/v1/namespaces/ns/signing-keys"


def test_everybody_sees_the_public_keys_and_nobody_a_private_one(client: Client) -> None:
    assert client.send("GET", KEYS_URL, caller=None).json == {"items": []}
    made = client.send("POST", KEYS_URL)
    shown = client.send("GET", KEYS_URL, caller=None)
    assert shown.json == made.json
    (key,) = shown.json["items"]
    assert key["key"].startswith("whpk_")
    assert (key["createdAt"], key["expiresAt"]) == ("2026-11-21T12:00:00.000Z", None)
    assert shown.headers["cache-control"] == "max-age=300"
    assert made.headers["cache-control"] == "no-store"
    (_, private) = client.services.signing.active("ns")
    assert private not in f"{shown.text}{made.text}"


def test_a_rotated_key_is_shown_beside_the_new_one_for_a_day_and_an_ended_one_no_more(client: Client) -> None:
    (first,) = client.send("POST", KEYS_URL).json["items"]
    second, kept = client.send("POST", KEYS_URL).json["items"]
    assert kept == {**first, "expiresAt": "2026-11-22T12:00:00.000Z"}
    assert client.send("GET", KEYS_URL, caller=None).json["items"] == [second, kept]
    assert client.send("DELETE", KEYS_URL).status == 204
    assert client.send("DELETE", KEYS_URL).status == 404
    assert client.send("GET", KEYS_URL, caller=None).json == {"items": []}


def test_an_old_secret_that_is_ended_is_shown_no_more(client: Client) -> None:
    url = "/v1/namespaces/ns/signing-secrets"
    client.send("GET", url)
    assert client.send("DELETE", url).status == 404
    newest, _ = client.send("POST", url).json["items"]
    assert client.send("DELETE", url).status == 204
    assert client.send("GET", url).json["items"] == [newest]
    again = client.send("DELETE", url)
    assert (again.status, again.json["detail"]) == (404, "No old secret signs for the namespace ns.")


@pytest.mark.parametrize("namespace", ["*", "a%20b", ".."])
def test_public_keys_of_a_name_that_is_no_namespace_are_refused(namespace: str) -> None:
    refused = Client().send("GET", f"/v1/namespaces/{namespace}/signing-keys", caller=None)
    assert (refused.status, refused.pointers) == (422, ["/namespace"])


def test_a_key_with_a_rate_is_refused_beyond_it_until_the_time_that_the_answer_names(client: Client) -> None:
    body = {"namespace": "ns", "role": "read", "requestsPerMinute": 2}
    made = client.send("POST", "/v1/keys", body).json
    assert made["requestsPerMinute"] == 2
    caller = opened(client, made["key"])
    client.world.clock.time += 1
    assert [client.send("GET", "/v1/me", caller=caller).status for _ in range(3)] == [200, 200, 429]
    refused = client.send("GET", "/v1/namespaces/ns/jobs", caller=caller)
    assert (refused.status, refused.headers["retry-after"]) == (429, "60")
    assert refused.json["detail"] == "Your key may send 2 requests a minute. Send the next one later."
    assert client.send("GET", "/v1/me").status == 200, "another key is not concerned"
    client.world.clock.time += 60_000
    assert client.send("GET", "/v1/me", caller=caller).status == 200


def test_a_key_with_a_rate_gives_no_other_key_a_higher_one(client: Client) -> None:
    free = client.send("POST", "/v1/keys", {"namespace": "ns", "role": "read"}).json
    body = {"namespace": "ns", "role": "admin", "requestsPerMinute": 60}
    rated = opened(client, client.send("POST", "/v1/keys", body).json["key"])
    for asked, given in ((None, 60), (10, 10), (60, 60)):
        made = client.send("POST", "/v1/keys", {**body, "requestsPerMinute": asked}, caller=rated)
        assert made.json["requestsPerMinute"] == given
    refused = client.send("POST", "/v1/keys", {**body, "requestsPerMinute": 61}, caller=rated)
    assert (refused.status, refused.pointers) == (422, ["/requestsPerMinute"])
    assert "at most 60" in refused.json["errors"][0]["detail"]
    rotated = client.send("POST", f"/v1/keys/{free['id']}/rotate", caller=rated).json
    assert (rotated["requestsPerMinute"], rotated["replaces"]["requestsPerMinute"]) == (60, None)


@pytest.mark.parametrize("rate", [0, -1, 100_001, "60", 1.5, True])
def test_a_rate_that_is_none_is_refused_by_its_name(rate: Any) -> None:
    body = {"namespace": "ns", "role": "read", "requestsPerMinute": rate}
    refused = Client().send("POST", "/v1/keys", body)
    assert (refused.status, refused.pointers) == (422, ["/requestsPerMinute"])
