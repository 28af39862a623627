"""The list of the changes of a job over HTTP."""

from tests.fakes.http_events import TARGET, Client

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
