"""The operation that arms every job again after the wheel has lost timers."""

from typing import Any

import pytest
from tests.fakes.http_events import ADMIN, NS_ADMIN, Client
from tests.fakes.world import World

from sweephand.model.timer import OccurrenceTimer
from sweephand.runs import rebuild as rebuilding
from sweephand.web.http import cursor

URL = "/v1/rebuild"
SINCE = "2026-11-21T11:59:00Z"


@pytest.fixture
def client() -> Client:
    """A stack that has lost the timers of two jobs in one namespace, and of one in another."""
    world = World()
    world.limits_namespaces = True
    client = Client(world)
    client.put("a")
    client.put("b")
    client.send("PUT", "/v1/namespaces/elsewhere/jobs/c", {"dueTime": "1h", "target": TARGET})
    world.lose_timers()
    return client


TARGET = {"type": "http", "url": "https://consumer.example/hook"}


def rebuilt(client: Client, **body: Any) -> Any:
    answer = client.send("POST", URL, {"since": SINCE, **body})
    assert answer.status == 200, answer
    return answer.json


def test_an_admin_of_every_namespace_rebuilds_all_of_them(client: Client) -> None:
    assert rebuilt(client) == {"jobs": 3, "timers": 3, "runs": 0, "failed": []}
    timers = client.world.timers.everything()
    assert {each.key.name for each in timers if isinstance(each, OccurrenceTimer)} == {"a", "b", "c"}


def test_an_admin_may_choose_one_namespace_and_the_key_of_one_rebuilds_that_one(client: Client) -> None:
    assert rebuilt(client, namespace="elsewhere")["jobs"] == 1
    assert client.send("POST", URL, {"since": SINCE}, caller=NS_ADMIN).json["jobs"] == 2
    assert client.send("POST", URL, {"since": SINCE, "namespace": "ns"}, caller=NS_ADMIN).json["jobs"] == 2


def test_a_cursor_goes_on_behind_the_last_job(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rebuilding, "BULK_EXAMINED_MAX", 1)
    monkeypatch.setattr(rebuilding, "PAGE_MAX", 1)
    first = rebuilt(client)
    second = rebuilt(client, cursor=first["nextCursor"])
    assert (first["timers"], second["timers"]) == (1, 1)
    assert len(client.world.timers.everything()) == 2


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
def test_bad_input_is_refused_and_writes_nothing(client: Client, body: Any, pointer: str) -> None:
    refused = client.send("POST", URL, body)
    assert refused.status == 422
    assert refused.pointers == [pointer]
    assert not client.world.timers.everything()


def test_a_namespace_that_the_key_does_not_open_is_refused(client: Client) -> None:
    for body in ({"namespace": "elsewhere"}, {"cursor": cursor.encode("rebuild", "elsewhere#a##")}):
        assert client.send("POST", URL, {"since": SINCE, **body}, caller=NS_ADMIN).status == 403
    assert not client.world.timers.everything()
    assert client.send("POST", URL, {"since": SINCE, "namespace": "elsewhere"}, caller=ADMIN).status == 200
