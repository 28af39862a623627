"""What deliveries counted, by the client and by the command."""

from collections import Counter

import pytest
from tests.fakes.http_events import Client as Api
from tests.fakes.http_server import Server, serving
from tests.fakes.world import NOON, World
from tests.unit.client.conftest import CommandLine

from sweephand.base.instants import HOUR_MS, rfc3339
from sweephand.model.counters import Stats
from sweephand.runs import delivery_stats
from sweephand_client import Client

FIRST = Stats(Counter({"succeeded": 97, "failed": 2, "retrying": 1}), Counter({20: 98, 500: 1, 2_000: 1}))
SECOND = Stats(Counter({"running": 25, "skipped": 1}), Counter({30: 25}))


@pytest.fixture
def counted(server: Server) -> World:
    """A stack that has counted twice, three hours apart."""
    world = server.api.world
    world.stats.add(NOON - 4 * HOUR_MS, 0, {"ns": FIRST}, lambda: True)
    world.stats.add(NOON - HOUR_MS, 0, {"ns": SECOND}, lambda: True)
    return world


def test_the_client_joins_the_parts_of_a_span(
    counted: World, client: Client, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    since = rfc3339(counted.clock.time - 5 * HOUR_MS)
    whole = client.namespaces.stats("ns", since=since, step="15m")
    assert [(each["succeeded"], each["running"]) for each in whole["steps"]] == [(97, 0), (0, 25)]
    assert (whole["stepSeconds"], "nextCursor" in whole) == (900, False)
    monkeypatch.setattr(delivery_stats, "BULK_TIME_LIMIT_MS", 0)
    server.requests.clear()
    assert client.namespaces.stats("ns", since=since, step="15m") == whole
    assert len(server.requests) == 5


def test_the_command_shows_a_step_on_each_line_with_a_bar(counted: World, sweephand: CommandLine) -> None:
    since = rfc3339(counted.clock.time - 5 * HOUR_MS)
    lines = sweephand.ok("stats", "--from", since, "--step", "15m").out.splitlines()
    assert len(lines) == 3
    _, _, *first = lines[1].split()
    assert first == ["97", "1", "2", "0", "0", "20", "500", "█" * 40]
    _, _, *second = lines[2].split()
    assert second == ["25", "0", "0", "1", "0", "30", "30", "█" * 10]
    assert sweephand.ok("stats", "--from", since, "--json").json["steps"][0]["maxMs"] == 2_000


def test_a_span_without_deliveries_says_so(sweephand: CommandLine) -> None:
    assert sweephand.ok("stats").err == "Nothing was delivered in this time.\n"


def test_a_stack_that_does_not_count_says_which_parameter_turns_it_on(sweephand: CommandLine) -> None:
    with serving(Api(World())) as server:
        refused = sweephand.run("stats", SWEEPHAND_URL=server.url)
    assert refused.code == 4
    assert "set its parameter Stats to on" in refused.err


def test_a_step_of_seconds_is_bad_input(sweephand: CommandLine) -> None:
    refused = sweephand.run("stats", "--step", "90s")
    assert (refused.code, "whole minutes" in refused.err) == (2, True)
