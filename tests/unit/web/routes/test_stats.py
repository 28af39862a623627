"""What deliveries counted, over HTTP."""

from collections import Counter
from typing import Any

import pytest
from tests.fakes.http_events import READER, Client
from tests.fakes.world import NOON, World

from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS, rfc3339
from sweephand.base.timing import BULK_TIME_LIMIT_MS
from sweephand.model.counters import Stats
from sweephand.web.http import cursor

URL = "/v1/namespaces/ns/stats"


@pytest.fixture
def client() -> Client:
    """The API of a stack that counts. It is half an hour past noon."""
    world = World()
    world.counts_deliveries = True
    world.clock.time = NOON + 30 * MINUTE_MS + 5_000
    client = Client(world)
    counts = {
        0: Stats(Counter({"succeeded": 97, "failed": 2, "retrying": 1}), Counter({20: 98, 500: 1, 2_000: 1})),
        1: Stats(Counter({"skipped": 1}), Counter()),
        20: Stats(Counter({"running": 3, "faults": 1}), Counter({30: 3})),
    }
    for minute, stats in counts.items():
        world.stats.add(NOON + minute * MINUTE_MS, minute, {"ns": stats, "other": stats}, lambda: True)
    return client


def stats(client: Client, query: str = "") -> Any:
    answer = client.send("GET", f"{URL}{query}")
    assert answer.status == 200, answer.text
    return answer.json


def test_without_a_span_the_last_hour_is_shown_minute_by_minute(client: Client) -> None:
    found = stats(client)
    assert (found["from"], found["to"]) == (
        rfc3339(NOON - 30 * MINUTE_MS),
        rfc3339(NOON + 30 * MINUTE_MS + 5_000),
    )
    assert found["stepSeconds"] == 60
    first, second, third = found["steps"]
    assert first == {
        "at": rfc3339(NOON),
        "succeeded": 97,
        "running": 0,
        "retrying": 1,
        "failed": 2,
        "skipped": 0,
        "faults": 0,
        "p50Ms": 20,
        "p99Ms": 500,
        "maxMs": 2_000,
        "lateness": [
            {"atMostMs": 20, "attempts": 98},
            {"atMostMs": 500, "attempts": 1},
            {"atMostMs": 2_000, "attempts": 1},
        ],
    }
    assert (second["skipped"], second["p50Ms"], second["lateness"]) == (1, None, [])
    assert (third["at"], third["running"], third["faults"]) == (rfc3339(NOON + 20 * MINUTE_MS), 3, 1)
    assert "nextCursor" not in found


def test_longer_steps_add_up_minutes(client: Client) -> None:
    found = stats(client, f"?from={rfc3339(NOON)}&step=10m")
    assert [each["at"] for each in found["steps"]] == [rfc3339(NOON), rfc3339(NOON + 20 * MINUTE_MS)]
    assert (found["steps"][0]["succeeded"], found["steps"][0]["skipped"]) == (97, 1)
    one = stats(client, f"?from={rfc3339(NOON + 30_000)}&step=24h")
    assert one["from"] == rfc3339(NOON)
    assert [each["succeeded"] for each in one["steps"]] == [97]


def test_what_takes_too_long_to_read_comes_in_parts(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    minutes = client.world.stats.minutes
    span = f"from={rfc3339(NOON - 5 * HOUR_MS)}&to={rfc3339(NOON + HOUR_MS)}"
    whole = stats(client, f"?{span}")

    def slow(*asked: Any) -> Any:
        client.world.clock.time += BULK_TIME_LIMIT_MS
        return minutes(*asked)

    monkeypatch.setattr(client.world.stats, "minutes", slow)
    parts = [stats(client, f"?{span}")]
    while "nextCursor" in parts[-1]:
        parts.append(stats(client, f"?{span}&cursor={parts[-1]['nextCursor']}"))
    assert len(parts) == 6
    assert [step for part in parts for step in part["steps"]] == whole["steps"]
    assert len(whole["steps"]) == 3


def test_a_stack_that_does_not_count_says_which_parameter_turns_it_on() -> None:
    client = Client()
    refused = client.send("GET", URL)
    assert refused.status == 409
    assert "set its parameter Stats to on" in refused.json["detail"]
    assert client.send("GET", "/v1/me").json["stats"] is False


def test_who_asks_for_the_own_key_learns_whether_the_stack_counts(client: Client) -> None:
    assert client.send("GET", "/v1/me", caller=READER).json["stats"] is True


@pytest.mark.parametrize(
    ("query", "pointers"),
    [
        (f"from={rfc3339(NOON - 40 * DAY_MS)}&step=1h", ["/from"]),
        (f"to={rfc3339(NOON)}&from={rfc3339(NOON)}", ["/to"]),
        ("step=59s", ["/step"]),
        ("step=90s", ["/step"]),
        ("step=25h", ["/step"]),
        ("step=P1M", ["/step"]),
        ("step=often", ["/step"]),
        (f"from={rfc3339(NOON - DAY_MS)}", ["/step"]),
        ("from=noon", ["/from"]),
        ("cursor=x", ["/cursor"]),
        (f"cursor={cursor.encode('stats', 'soon')}", ["/cursor"]),
        (f"from={rfc3339(NOON)}&cursor={cursor.encode('stats', str(NOON + 1))}", ["/cursor"]),
        (f"from={rfc3339(NOON)}&cursor={cursor.encode('stats', str(NOON - MINUTE_MS))}", ["/cursor"]),
        ("since=2027-01-01T00:00:00Z", ["/since"]),
    ],
)
def test_a_span_that_no_stats_can_have_is_refused(client: Client, query: str, pointers: list[str]) -> None:
    refused = client.send("GET", f"{URL}?{query}")
    assert (refused.status, refused.pointers) == (422, pointers)


def test_a_span_that_ends_after_the_calendar_ends_with_it(client: Client) -> None:
    assert stats(client, "?to=9999-12-31T23:59:59-23:59")["to"] == "9999-12-31T23:59:59.999Z"
