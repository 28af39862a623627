"""The operations that look for lost timers and messages, and that arm every job again."""

from typing import Any

import pytest
from tests.fakes.http_events import ADMIN, NS_ADMIN, Client
from tests.fakes.world import NOON, World

from sweephand.base.instants import HOUR_MS, MINUTE_MS
from sweephand.model.attempt import Answer
from sweephand.model.job import JobKey
from sweephand.model.timer import OccurrenceTimer
from sweephand.runs import audit as auditing
from sweephand.runs import audit_findings
from sweephand.runs import rebuild as rebuilding
from sweephand.web.http import cursor

URL = "/v1/audit"
TARGET = {"type": "http", "url": "https://consumer.example/hook"}


@pytest.fixture
def client() -> Client:
    """A stack with two jobs in one namespace and one in another. Two of them have lost their timers."""
    world = World()
    world.limits_namespaces = True
    client = Client(world)
    client.put("a", {"dueTime": "1h", "target": TARGET})
    client.put("b", {"dueTime": "2h", "target": TARGET})
    client.send("PUT", "/v1/namespaces/elsewhere/jobs/c", {"dueTime": "1h", "target": TARGET})
    world.timers.lose(JobKey("ns", "b"), NOON)
    world.timers.lose(JobKey("elsewhere", "c"), NOON)
    return client


def audited(client: Client, **body: Any) -> Any:
    answer = client.send("POST", URL, body)
    assert answer.status == 200, answer
    return answer.json


LOST_B = {"namespace": "ns", "name": "b", "dueAt": "2026-11-21T14:00:00.000Z"}
LOST_C = {"namespace": "elsewhere", "name": "c", "dueAt": "2026-11-21T13:00:00.000Z"}


def test_an_admin_of_every_namespace_audits_all_of_them(client: Client) -> None:
    found = {
        "jobs": 3,
        "late": 0,
        "timers": [LOST_C, LOST_B],
        "runs": [],
        "failed": [],
        "written": 2,
        "kept": 0,
    }
    assert audited(client) == found
    assert audited(client) == {**found, "timers": [], "written": 0}


def test_a_dry_run_writes_nothing(client: Client) -> None:
    before = client.world.timers.everything()
    for _ in range(2):
        assert audited(client, dryRun=True)["timers"] == [LOST_C, LOST_B]
    assert audited(client, dryRun=True)["written"] == 0
    assert client.world.timers.everything() == before


def test_an_admin_may_choose_one_namespace_and_the_key_of_one_audits_that_one(client: Client) -> None:
    assert audited(client, namespace="elsewhere", dryRun=True)["timers"] == [LOST_C]
    for body in ({}, {"namespace": "ns"}):
        asked = {**body, "dryRun": True}
        assert client.send("POST", URL, asked, caller=NS_ADMIN).json["timers"] == [LOST_B]


def test_a_lost_run_is_named(client: Client) -> None:
    world = client.world
    world.consumers.answering = lambda _: Answer(succeeded=False, code=500)
    world.run_until(NOON + HOUR_MS + MINUTE_MS)
    world.queue.waiting.clear()
    world.timers.clear()
    world.run_until(NOON + 20 * HOUR_MS)
    [run] = audited(client, namespace="ns", dryRun=True)["runs"]
    assert (run["namespace"], run["name"], run["runId"]) == ("ns", "a", f"{NOON + HOUR_MS}-0")
    assert run["dueAt"] > "2026-11-21T13:00:00.000Z"


def test_a_cursor_goes_on_behind_the_last_job(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_findings, "BULK_EXAMINED_MAX", 1)
    monkeypatch.setattr(auditing, "PAGE_MAX", 1)
    names: list[str] = []
    body: dict[str, str] = {}
    while True:
        part = audited(client, **body)
        names += [each["name"] for each in part["timers"]]
        assert part["jobs"] <= 1
        if "nextCursor" not in part:
            break
        body = {"cursor": part["nextCursor"]}
    assert names == ["c", "b"]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"namespace": "a b"}, "/namespace"),
        ({"dryRun": "yes"}, "/dryRun"),
        ({"cursor": "x"}, "/cursor"),
        ({"cursor": cursor.encode("audit", "ns")}, "/cursor"),
        ({"cursor": cursor.encode("rebuild", "ns#a#")}, "/cursor"),
        ({"namespace": "ns", "cursor": cursor.encode("audit", "o#a#")}, "/cursor"),
        ({"since": "2026-11-21T11:59:00Z"}, "/since"),
    ],
)
def test_bad_input_is_refused_and_writes_nothing(client: Client, body: Any, pointer: str) -> None:
    before = client.world.timers.everything()
    refused = client.send("POST", URL, body)
    assert refused.status == 422
    assert refused.pointers == [pointer]
    assert client.world.timers.everything() == before


def test_a_namespace_that_the_key_does_not_open_is_refused(client: Client) -> None:
    for body in ({"namespace": "elsewhere"}, {"cursor": cursor.encode("audit", "elsewhere#a##")}):
        assert client.send("POST", URL, body, caller=NS_ADMIN).status == 403
    assert client.send("POST", URL, {"namespace": "elsewhere"}, caller=ADMIN).status == 200


def test_an_audit_after_a_lost_table_finds_nothing_that_a_rebuild_has_armed(client: Client) -> None:
    client.world.lose_timers()
    assert client.send("POST", "/v1/rebuild", {"since": "2026-11-21T11:59:00Z"}).json["timers"] == 3
    assert audited(client)["timers"] == []


REBUILD = "/v1/rebuild"
SINCE = "2026-11-21T11:59:00Z"


@pytest.fixture
def emptied() -> Client:
    """A stack that has lost the timers of two jobs in one namespace, and of one in another."""
    world = World()
    world.limits_namespaces = True
    emptied = Client(world)
    emptied.put("a")
    emptied.put("b")
    emptied.send("PUT", "/v1/namespaces/elsewhere/jobs/c", {"dueTime": "1h", "target": TARGET})
    world.lose_timers()
    return emptied


def rebuilt(emptied: Client, **body: Any) -> Any:
    answer = emptied.send("POST", REBUILD, {"since": SINCE, **body})
    assert answer.status == 200, answer
    return answer.json


def test_an_admin_of_every_namespace_rebuilds_all_of_them(emptied: Client) -> None:
    assert rebuilt(emptied) == {"jobs": 3, "timers": 3, "runs": 0, "failed": []}
    timers = emptied.world.timers.everything()
    assert {each.key.name for each in timers if isinstance(each, OccurrenceTimer)} == {"a", "b", "c"}


def test_an_admin_may_choose_one_namespace_and_the_key_of_one_rebuilds_that_one(emptied: Client) -> None:
    assert rebuilt(emptied, namespace="elsewhere")["jobs"] == 1
    assert emptied.send("POST", REBUILD, {"since": SINCE}, caller=NS_ADMIN).json["jobs"] == 2
    assert (
        emptied.send("POST", REBUILD, {"since": SINCE, "namespace": "ns"}, caller=NS_ADMIN).json["jobs"] == 2
    )


def test_a_cursor_of_a_rebuild_goes_on_behind_the_last_job(
    emptied: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rebuilding, "BULK_EXAMINED_MAX", 1)
    monkeypatch.setattr(rebuilding, "PAGE_MAX", 1)
    first = rebuilt(emptied)
    second = rebuilt(emptied, cursor=first["nextCursor"])
    assert (first["timers"], second["timers"]) == (1, 1)
    assert len(emptied.world.timers.everything()) == 2


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"since": "yesterday"}, "/since"),
        ({"since": "2026-11-21T13:00:00Z"}, "/since"),
        ({"since": "2026-11-07T11:59:00Z"}, "/since"),
        ({"namespace": "ns"}, "/since"),
        ({"since": SINCE, "namespace": "a b"}, "/namespace"),
        ({"since": SINCE, "cursor": "x"}, "/cursor"),
        ({"since": SINCE, "cursor": cursor.encode("rebuild", "ns")}, "/cursor"),
        ({"since": SINCE, "namespace": "ns", "cursor": cursor.encode("rebuild", "o#a#")}, "/cursor"),
        ({"since": SINCE, "until": SINCE}, "/until"),
    ],
)
def test_bad_input_of_a_rebuild_is_refused_and_writes_nothing(
    emptied: Client, body: Any, pointer: str
) -> None:
    refused = emptied.send("POST", REBUILD, body)
    assert refused.status == 422
    assert refused.pointers == [pointer]
    assert not emptied.world.timers.everything()


def test_a_rebuild_of_a_namespace_that_the_key_does_not_open_is_refused(emptied: Client) -> None:
    for body in ({"namespace": "elsewhere"}, {"cursor": cursor.encode("rebuild", "elsewhere#a##")}):
        assert emptied.send("POST", REBUILD, {"since": SINCE, **body}, caller=NS_ADMIN).status == 403
    assert not emptied.world.timers.everything()
    assert (
        emptied.send("POST", REBUILD, {"since": SINCE, "namespace": "elsewhere"}, caller=ADMIN).status == 200
    )
