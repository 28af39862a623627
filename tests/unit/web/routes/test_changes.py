"""The lists of changes over HTTP: those of a job, and those that admins made. No list shows a secret."""

from collections.abc import Mapping
from typing import Any, get_args

import pytest
from tests.fakes.http_events import ADMIN, NS_ADMIN, STRANGER, TARGET, Answered, Client

from sweephand.model.api_key import Caller
from sweephand.model.change import AdminSubject
from sweephand.web.routes.changes import AdminChangeResponse, AdminChangesQuery, list_admin_changes

URL = "/v1/namespaces/ns"


def test_changes_are_listed_newest_first_and_page_by_page(client: Client) -> None:
    client.put()
    client.world.clock.time += 1_000
    client.send("POST", f"{URL}/jobs/job/pause", {"reason": "x"})
    client.world.clock.time += 1_000
    client.send("DELETE", f"{URL}/jobs/job")
    first = client.send("GET", f"{URL}/jobs/job/changes?limit=2")
    assert first.status == 200
    assert first.json["items"] == [
        {"time": "2026-11-21T12:00:02.000Z", "who": "admin", "what": "deleted", "reason": None},
        {"time": "2026-11-21T12:00:01.000Z", "who": "admin", "what": "paused", "reason": "x"},
    ]
    rest = client.send("GET", f"{URL}/jobs/job/changes?cursor={first.json['nextCursor']}").json
    assert [each["what"] for each in rest["items"]] == ["created"]
    assert "nextCursor" not in rest


def test_each_way_to_write_and_delete_a_job_takes_a_reason(client: Client) -> None:
    def send(**fields: Any) -> None:
        jobs = [{"name": name, "target": TARGET, **fields} for name in ("job", "other")]
        answer = client.send("POST", f"{URL}/jobs", {"jobs": jobs, "reason": f"Größe {len(fields)}"})
        assert answer.status == 200

    send()
    send(description="x")
    assert client.send("PUT", f"{URL}/jobs/job?reason=by%20hand", {"target": TARGET}).status == 200
    client.send("PUT", f"{URL}/jobs/job", {"target": TARGET, "description": "y"})
    assert client.send("DELETE", f"{URL}/jobs/job?reason=not%20needed").status == 204
    listed = client.send("GET", f"{URL}/jobs/job/changes").json["items"]
    assert [(each["what"], each["reason"]) for each in listed] == [
        ("deleted", "not needed"),
        ("replaced", None),
        ("replaced", "by hand"),
        ("replaced", "Größe 1"),
        ("created", "Größe 0"),
    ]


def test_a_reason_that_is_too_long_is_refused(client: Client) -> None:
    refused = client.send("POST", f"{URL}/jobs", {"jobs": [{"name": "a"}], "reason": "x" * 513})
    assert (refused.status, refused.json["errors"][0]["pointer"]) == (422, "/reason")
    assert client.send("DELETE", f"{URL}/jobs/a?reason={'x' * 513}").status == 422


def test_the_changes_of_a_job_that_never_existed_are_404() -> None:
    assert Client().send("GET", f"{URL}/jobs/job/changes").status == 404


def test_a_change_names_the_fields_that_it_changed_and_shows_no_secret(client: Client) -> None:
    secret = {**TARGET, "headers": {"authorization": "Bearer s3cret"}}
    client.put(job={"schedule": "@daily", "target": secret, "data": {"a": 1}, "repeats": 7})
    client.put(job={"schedule": "@hourly", "target": secret, "data": {"a": 2}, "labels": {"team": "ops"}})
    client.send("PATCH", f"{URL}/jobs/job", {"target": {**secret, "headers": {"authorization": "other"}}})
    client.send("PATCH", f"{URL}/jobs/job", {"description": "x" * 500, "labels": None})
    client.send("POST", f"{URL}/jobs/job/pause")
    listed = client.send("GET", f"{URL}/jobs/job/changes")
    assert [each.get("fields") for each in listed.json["items"]] == [
        None,
        [{"name": "description"}, {"name": "labels", "before": {"team": "ops"}, "after": None}],
        [{"name": "target"}],
        [
            {"name": "data"},
            {"name": "labels", "before": None, "after": {"team": "ops"}},
            {"name": "repeats", "before": 7, "after": None},
            {"name": "schedule", "before": "@daily", "after": "@hourly"},
        ],
        None,
    ]
    assert "s3cret" not in str(listed.text)


ADMIN_URL = "/v1/changes"


def busy() -> tuple[Client, list[Answered]]:
    """A stack whose admin has made a change of each kind, a second apart, and the answers."""
    client = Client()
    ns = "/v1/namespaces/ns"
    answers: list[Answered] = []

    def send(method: str, url: str, body: Any = None, **options: Any) -> Any:
        answers.append(client.send(method, url, body, **options))
        assert answers[-1].status < 300, answers[-1].text
        client.world.clock.time += 1_000
        return answers[-1].json if answers[-1].text else None

    made = send("POST", "/v1/keys", {"namespace": "ns", "role": "admin", "expiresIn": "1h"})
    rotated = send("POST", f"/v1/keys/{made['id']}/rotate", {"overlap": "0s"}, caller=NS_ADMIN)
    send("DELETE", f"/v1/keys/{rotated['id']}")
    for value in ("one-value", "one-value", "two-value"):
        send("PUT", f"{ns}/secrets/token", {"value": value})
    send("DELETE", f"{ns}/secrets/token")
    send("GET", f"{ns}/signing-secrets")
    send("POST", f"{ns}/signing-secrets")
    send("DELETE", f"{ns}/signing-secrets")
    send("POST", f"{ns}/signing-keys")
    send("DELETE", f"{ns}/signing-keys")
    target = {"type": "http", "url": "https://a.example/", "headers": {"x-token": "hidden-value"}}
    for limits in ({"jobs": 5}, {"jobs": 5}, {"payload": 9}):
        send("PUT", ns, {"limits": limits, "defaultTarget": target})
    send("POST", "/v1/keys", {"namespace": "*", "role": "read"})
    return client, answers


def brief(change: Mapping[str, Any]) -> tuple[str, ...]:
    return (change["who"], change["what"], change["subject"], change["namespace"])


def test_every_change_is_listed_once_newest_first_and_what_changed_nothing_is_not() -> None:
    client, _ = busy()
    items = client.send("GET", ADMIN_URL).json["items"]
    rotation = [("nsadmin", "created", "key", "ns"), ("nsadmin", "rotated", "key", "ns")]
    assert sorted(map(brief, items[11:13])) == rotation, "one write makes both, at one instant"
    assert [brief(each) for each in (*items[:11], *items[13:])] == [
        ("admin", "created", "key", "*"),
        ("admin", "replaced", "settings", "ns"),
        ("admin", "created", "settings", "ns"),
        ("admin", "deleted", "signing-key", "ns"),
        ("admin", "rotated", "signing-key", "ns"),
        ("admin", "deleted", "signing-secret", "ns"),
        ("admin", "rotated", "signing-secret", "ns"),
        ("admin", "deleted", "secret", "ns"),
        ("admin", "replaced", "secret", "ns"),
        ("admin", "created", "secret", "ns"),
        ("admin", "revoked", "key", "ns"),
        ("admin", "created", "key", "ns"),
    ]


def test_a_change_of_settings_shows_limits_and_only_the_name_of_the_default_target() -> None:
    client, _ = busy()
    changed, first = client.send("GET", ADMIN_URL).json["items"][1:3]
    assert first["fields"] == [{"name": "defaultTarget"}, {"name": "limits.jobs", "before": None, "after": 5}]
    assert changed["fields"] == [
        {"name": "limits.jobs", "before": 5, "after": None},
        {"name": "limits.payload", "before": None, "after": 9},
    ]
    assert (changed["name"], changed["reason"], changed["time"]) == (None, None, "2026-11-21T12:00:14.000Z")


def test_no_secret_that_an_answer_or_a_request_had_is_in_the_list() -> None:
    client, answers = busy()
    listed = str(client.send("GET", ADMIN_URL).text)
    shown = str([each.text for each in answers])
    keys = [each.json["key"] for each in answers if each.text and "key" in each.json]
    secrets = [
        item["secret"] for each in answers if "whsec_" in str(each.text) for item in each.json["items"]
    ]
    assert len(keys) == 3
    assert len(secrets) == 3
    for secret in (*keys, *(each.rpartition("_")[2] for each in keys), *secrets):
        assert secret in shown
        assert secret not in listed
    for value in ("one-value", "two-value", "hidden-value", "whsec_", "whsk_"):
        assert value not in listed


def test_an_admin_of_a_namespace_sees_the_changes_in_that_namespace_only() -> None:
    client, _ = busy()
    everything = client.send("GET", ADMIN_URL).json["items"]
    own = client.send("GET", ADMIN_URL, caller=NS_ADMIN).json["items"]
    assert own == [each for each in everything if each["namespace"] == "ns"]
    assert client.send("GET", ADMIN_URL, caller=STRANGER).json["items"] == []


@pytest.mark.parametrize("subject", sorted({each.split("-")[-1] for each in get_args(AdminSubject)}))
def test_each_text_about_the_list_names_each_subject(subject: str) -> None:
    texts = (list_admin_changes.run.__doc__, AdminChangeResponse.__doc__, AdminChangesQuery.__doc__)
    assert [subject in str(each) for each in texts] == [True] * 3


@pytest.mark.parametrize("caller", [ADMIN, NS_ADMIN])
def test_pages_show_each_change_once(caller: Caller) -> None:
    client, _ = busy()
    whole = client.send("GET", ADMIN_URL, caller=caller).json["items"]
    seen: list[Any] = []
    url: str | None = f"{ADMIN_URL}?limit=3"
    while url is not None:
        page = client.send("GET", url, caller=caller).json
        seen += page["items"]
        url = f"{ADMIN_URL}?limit=3&cursor={page['nextCursor']}" if "nextCursor" in page else None
    assert seen == whole


def test_a_span_selects_changes_by_their_time() -> None:
    client, _ = busy()
    since, until = "2026-11-21T12:00:06Z", "2026-11-21T12:00:10Z"
    whole = client.send("GET", ADMIN_URL).json["items"]
    found = client.send("GET", f"{ADMIN_URL}?since={since}&until={until}").json
    assert found["items"] == [each for each in whole if since[:-1] <= each["time"] < until[:-1]]
    assert len(found["items"]) == 3
    assert "nextCursor" not in found
    page = client.send("GET", f"{ADMIN_URL}?since={since}&until={until}&limit=1").json
    rest = client.send("GET", f"{ADMIN_URL}?since={since}&until={until}&cursor={page['nextCursor']}").json
    assert [*page["items"], *rest["items"]] == found["items"]


def test_a_time_that_is_none_is_refused_by_its_name() -> None:
    refused = Client().send("GET", f"{ADMIN_URL}?since=yesterday")
    assert (refused.status, refused.pointers) == (422, ["/since"])
    assert Client().send("GET", f"{ADMIN_URL}?until=9999-12-31T23:59:59Z").status == 200
