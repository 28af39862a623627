"""Windows over HTTP: written, shown, listed and deleted, and every mistake in one named."""

from typing import Any

import pytest
from tests.fakes.http_events import JOB, NS_ADMIN, READER, STRANGER, WRITER, Answered, Client
from tests.fakes.world import NOON, World

from sweephand.base.instants import HOUR_MS, MINUTE_MS

URL = "/v1/namespaces/ns/windows"
ONCE = {"from": "2026-11-21T11:00:00+01:00", "to": "2026-11-22T00:00:00Z"}
NIGHTLY = {"schedule": "0 1 * * *", "timezone": "Europe/Paris", "duration": "2h"}


@pytest.fixture
def client() -> Client:
    world = World()
    world.limits_namespaces = True
    return Client(world)


def put(client: Client, window: Any, name: str = "freeze", **options: Any) -> Answered:
    return client.send("PUT", f"{URL}/{name}", window, **options)


def test_a_window_is_shown_as_it_was_written_and_with_its_times(client: Client) -> None:
    written = put(client, {**ONCE, "prefix": "mail-", "labels": {"team": "a"}}, caller=WRITER)
    assert written.status == 201
    rev, updated_at = written.json["rev"], written.json["updatedAt"]
    assert written.json == {
        "namespace": "ns",
        "name": "freeze",
        "rev": rev,
        "from": "2026-11-21T10:00:00.000Z",
        "to": "2026-11-22T00:00:00.000Z",
        "then": "hold",
        "spread": "1m",
        "prefix": "mail-",
        "labels": {"team": "a"},
        "isOpen": True,
        "opensAt": "2026-11-21T10:00:00.000Z",
        "closesAt": "2026-11-22T00:00:00.000Z",
        "updatedAt": updated_at,
        "updatedBy": "writer",
    }
    assert written.etag == f'"{rev}"'
    shown = client.send("GET", f"{URL}/freeze", caller=READER)
    assert (shown.status, shown.json, shown.etag) == (200, written.json, written.etag)
    assert client.send("GET", f"{URL}/freeze", caller=STRANGER).status == 404
    client.world.clock.time = NOON + 24 * HOUR_MS
    over = client.send("GET", f"{URL}/freeze").json
    assert (over["isOpen"], over["opensAt"], over["closesAt"]) == (False, None, None)


def test_a_recurring_window_has_its_next_opening(client: Client) -> None:
    put(client, NIGHTLY)
    shown = client.send("GET", f"{URL}/freeze").json
    assert {name: shown[name] for name in NIGHTLY} == NIGHTLY
    assert (shown["isOpen"], shown["opensAt"]) == (False, "2026-11-22T00:00:00.000Z")
    client.world.clock.time = NOON + 13 * HOUR_MS
    shown = client.send("GET", f"{URL}/freeze").json
    assert (shown["isOpen"], shown["closesAt"]) == (True, "2026-11-22T02:00:00.000Z")


def test_a_recurring_window_may_be_open_when_it_is_written(client: Client) -> None:
    written = put(client, {"schedule": "30 11 * * *", "duration": "1h"})
    assert (written.json["isOpen"], written.json["opensAt"]) == (True, "2026-11-21T11:30:00.000Z")


@pytest.mark.parametrize("after_ms", [-500, 0, 1, 500, 999, 1_000])
def test_a_recurring_window_may_be_written_as_it_closes(client: Client, after_ms: int) -> None:
    client.world.clock.time = NOON + after_ms
    assert put(client, {"schedule": "30 11 * * *", "duration": "30m"}).status == 201


@pytest.mark.parametrize("schedule", ["@every 1s", "@every 90s", "rate(1 minute)"])
def test_a_schedule_that_counts_from_when_it_is_written_opens_no_window(
    client: Client, schedule: str
) -> None:
    refused = put(client, {"schedule": schedule, "duration": "1s"})
    assert (refused.status, "Counts from when it is written" in str(refused.text)) == (422, True)


def test_windows_are_listed_by_name_and_deleted(client: Client) -> None:
    for name in ("b", "a"):
        put(client, ONCE, name)
    assert [each["name"] for each in client.send("GET", URL, caller=READER).json["items"]] == ["a", "b"]
    assert client.send("DELETE", f"{URL}/a", caller=READER).status == 403
    assert client.send("DELETE", f"{URL}/a", caller=WRITER).status == 204
    assert client.send("DELETE", f"{URL}/a").status == 404
    assert [each["name"] for each in client.send("GET", URL).json["items"]] == ["b"]


def test_an_equal_window_changes_nothing_and_another_one_replaces_it(client: Client) -> None:
    first = put(client, ONCE)
    again = put(client, {**ONCE, "then": "hold", "spread": "60s", "prefix": ""})
    assert (again.status, again.json) == (200, first.json)
    other = put(client, {**ONCE, "then": "skip"})
    assert (other.status, other.json["then"]) == (200, "skip")
    assert other.etag != first.etag


def test_a_window_that_is_over_may_be_written_again_as_it_was_and_in_no_other_way(client: Client) -> None:
    first = put(client, ONCE)
    client.world.clock.time = NOON + 24 * HOUR_MS
    again = put(client, ONCE)
    assert (again.status, again.json["rev"]) == (200, first.json["rev"])
    assert put(client, {**ONCE, "then": "skip"}).pointers == ["/to"]


def test_writes_of_two_windows_at_once_both_succeed(client: Client) -> None:
    put(client, ONCE, "a")
    namespaces = client.world.namespaces
    stale = [namespaces.windows("ns")] * 4
    put(client, ONCE, "b")
    read = namespaces.windows
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(namespaces, "windows", lambda namespace: stale.pop() if stale else read(namespace))
        assert put(client, ONCE, "c").status == 201
        stale += [read("ns")] * 4
        put(client, ONCE, "d")
        assert client.send("DELETE", f"{URL}/a").status == 204
        patched.setattr(namespaces, "windows", lambda _: None)
        assert put(client, ONCE, "e").status == 503
    assert [each["name"] for each in client.send("GET", URL).json["items"]] == ["b", "c", "d"]


def test_preconditions_are_those_of_jobs(client: Client) -> None:
    assert put(client, ONCE, headers={"If-Match": "*"}).status == 412
    first = put(client, ONCE, headers={"If-None-Match": "*"})
    assert first.status == 201
    assert put(client, NIGHTLY, headers={"If-None-Match": "*"}).status == 412
    (error,) = put(client, NIGHTLY, headers={"If-None-Match": first.etag}).json["errors"]
    assert (error["pointer"], "job" in error["detail"]) == ("/If-None-Match", False)
    assert put(client, NIGHTLY, headers={"If-Match": '"other"'}).status == 412
    second = put(client, NIGHTLY, headers={"If-Match": first.etag})
    assert second.status == 200
    assert client.send("DELETE", f"{URL}/freeze", headers={"If-Match": first.etag}).status == 412
    assert client.send("DELETE", f"{URL}/freeze", headers={"If-Match": second.etag}).status == 204


def test_the_trail_of_admins_shows_who_wrote_what(client: Client) -> None:
    put(client, ONCE, caller=WRITER)
    put(client, {**ONCE, "then": "skip"}, caller=WRITER)
    client.send("DELETE", f"{URL}/freeze", caller=WRITER)
    trail = client.send("GET", "/v1/changes", caller=NS_ADMIN)
    items = [each for each in trail.json["items"] if each["subject"] == "window"]
    assert [each["what"] for each in items] == ["deleted", "replaced", "created"]
    assert {(each["name"], each["who"]) for each in items} == {("freeze", "writer")}
    assert items[1]["fields"] == [{"name": "then", "before": "hold", "after": "skip"}]


def test_a_namespace_has_a_limited_number_of_windows(client: Client) -> None:
    for number in range(20):
        assert put(client, ONCE, f"w{number}").status == 201
    refused = put(client, ONCE, "one-more")
    assert refused.status == 409
    assert "windowsMax" in refused.json["detail"]
    assert put(client, NIGHTLY, "w0").status == 200


@pytest.mark.parametrize(
    ("window", "at", "said"),
    [
        ({}, "/schedule", "Give from and to, or schedule and duration."),
        ({"from": ONCE["from"]}, "/to", "Missing. Give from and to"),
        ({"schedule": "@daily"}, "/duration", "Missing."),
        ({"timezone": "Europe/Paris"}, "/schedule", "Missing."),
        ({**ONCE, "schedule": "@daily"}, "/from", "Not together with schedule"),
        ({**ONCE, "timezone": "Europe/Paris"}, "/from", "Not together with timezone"),
        ({**ONCE, "from": "tomorrow"}, "/from", "tomorrow"),
        ({**ONCE, "from": "2h"}, "/from", "2h"),
        ({"from": ONCE["to"], "to": ONCE["from"]}, "/to", "expected a later time"),
        ({"from": ONCE["from"], "to": ONCE["from"]}, "/to", "expected a later time"),
        (
            {**ONCE, "to": "2026-12-05T10:00:00.001Z"},
            "/to",
            "expected 2026-12-05T10:00:00.000Z at the latest",
        ),
        ({"from": "2026-11-20T00:00:00Z", "to": "2026-11-21T00:00:00Z"}, "/to", "expected a time to come"),
        ({"schedule": "@daily", "duration": "15d"}, "/duration", "at most 14d (windowDaysMax)"),
        ({"schedule": "@daily", "duration": "0s"}, "/duration", "more than 0"),
        ({"schedule": "@daily", "duration": "24h"}, "/duration", "expected a duration shorter than 24h"),
        ({**NIGHTLY, "duration": "23h30m"}, "/duration", "expected a duration shorter than 23h"),
        ({"schedule": "@every 1h", "duration": "1m"}, "/schedule", "expected fixed times"),
        ({"schedule": "rate(1 hour)", "duration": "1m"}, "/schedule", "expected fixed times"),
        ({"schedule": "never", "duration": "1m"}, "/schedule", "never"),
        ({"schedule": ["2027-01-01T00:00:00Z"], "duration": "1m"}, "/schedule", "text"),
        ({**NIGHTLY, "timezone": "Mars/Base"}, "/timezone", "Mars/Base"),
        ({**ONCE, "then": "wait"}, "/then", "hold"),
        ({**ONCE, "spread": "2d"}, "/spread", "at most 1d (windowSpreadDaysMax)"),
        ({**ONCE, "prefix": "a b"}, "/prefix", "The beginning of the names"),
        ({**ONCE, "labels": {"team": 5}}, "/labels/team", "text"),
        ({**ONCE, "until": "x"}, "/until", ""),
    ],
)
def test_a_mistake_is_named_with_what_would_be_right(client: Client, window: Any, at: str, said: str) -> None:
    refused = put(client, window)
    assert (refused.status, refused.pointers) == (422, [at])
    assert said in refused.json["errors"][0]["detail"]


def test_a_run_that_is_held_waits_and_names_its_window(client: Client) -> None:
    client.put(job={**JOB, "dueTime": "1m"})
    put(client, {**ONCE, "to": "2026-11-21T18:00:00Z"})
    client.world.run_until(NOON + 5 * HOUR_MS)
    shown = client.send("GET", f"/v1/namespaces/ns/jobs/job/runs/{NOON + MINUTE_MS}-0").json
    reason = "The window freeze holds it until 2026-11-21T18:00:00.000Z."
    assert (shown["state"], shown["reason"]) == ("waiting", reason)
    client.world.run_until(NOON + 7 * HOUR_MS)
    shown = client.send("GET", f"/v1/namespaces/ns/jobs/job/runs/{NOON + MINUTE_MS}-0").json
    assert shown["state"] == "succeeded"


def test_a_run_that_was_skipped_names_its_window(client: Client) -> None:
    client.put(job={**JOB, "dueTime": "1m"})
    put(client, {**ONCE, "then": "skip"})
    client.world.run_until(NOON + HOUR_MS)
    shown = client.send("GET", f"/v1/namespaces/ns/jobs/job/runs/{NOON + MINUTE_MS}-0").json
    assert (shown["state"], shown["reason"]) == ("skipped", "window: freeze")


def test_a_window_that_opens_at_the_end_of_the_calendar_closes_with_it(client: Client) -> None:
    late = {"schedule": "R/9999-12-31T12:00:00Z/P1D", "duration": "13h"}
    written = put(client, late)
    assert (written.status, written.json["closesAt"]) == (201, "9999-12-31T23:59:59.999Z")
    assert client.send("GET", URL).json["items"] == [written.json]


def test_windows_that_have_no_room_in_one_item_are_refused(client: Client) -> None:
    labels = {f"{number:02d}{'💥' * 126}": "💥" * 128 for number in range(20)}
    answers = [put(client, {**NIGHTLY, "labels": labels}, f"w{number}") for number in range(20)]
    assert {each.status for each in answers[:-2]} == {201}
    assert (answers[-1].status, "windowsBytesMax" in str(answers[-1].text)) == (409, True)
    assert put(client, {**NIGHTLY, "then": "skip"}, "w0").status == 200
    assert put(client, NIGHTLY, "w19").status == 201
