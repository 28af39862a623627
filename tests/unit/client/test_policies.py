"""The list of policies with their use, by the command."""

import pytest
from tests.contract.builders import trigger_message
from tests.fakes.world import NOON
from tests.unit.client.conftest import CommandLine

from sweephand.jobs import policy_reader
from sweephand.model.policy import PolicyKey
from sweephand.model.policy_line import LinePlace, entry_of
from sweephand_client import Client
from sweephand_client.api.namespaces import Policies

DUE = NOON - 2_500


@pytest.fixture
def busy(sweephand: CommandLine) -> CommandLine:
    """A stack with two policies. Under `mail`, ten requests may be open and two triggers wait."""
    sweephand.ok("policy", "put", "idle", "--rate", "100/1m")
    sweephand.ok("policy", "put", "mail", "--max-concurrent", "50")
    world, key = sweephand.server.api.world, PolicyKey("ns", "mail")
    assert world.permits.take(key, world.permits.holder(key, 0), "owner", NOON, NOON + 60_000)
    for part, at in ((3, DUE), (4, DUE + 1_000)):
        world.policy_lines.put(LinePlace(key, "low", part), entry_of([trigger_message(at)], at, f"m{part}"))
    return sweephand


def lines(command_line: CommandLine, *words: str) -> list[list[str]]:
    """The cells of a list of policies."""
    return [line.split() for line in command_line.ok("policy", "list", *words).out.splitlines()]


def test_policies_are_listed_with_what_is_in_use_and_what_waits(busy: CommandLine) -> None:
    columns, idle, mail = lines(busy, "--use")
    assert " ".join(columns) == "NAME AT ONCE RATE IN EFFECT IN USE WAITING SINCE"
    assert (idle[0], idle[-3:]) == ("idle", ["0", "0", "-"])
    assert (mail[:2], mail[4:6]) == (["mail", "50"], ["10", "2"])
    found = busy.ok("policy", "list", "--use", "--json").json
    assert [each["waitingSince"] for each in found] == [None, "2026-11-21T11:59:57.500Z"]


def test_a_list_of_policies_without_their_use_is_one_call(busy: CommandLine) -> None:
    busy.server.requests.clear()
    columns, idle, mail = lines(busy)
    assert " ".join(columns) == "NAME AT ONCE RATE IN EFFECT"
    assert (idle[2], mail[2]) == ("100/1m", "-")
    assert busy.server.calls() == ["GET /v1/namespaces/ns/policies"]


def test_a_count_that_was_cut_off_says_at_least(busy: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy_reader, "COUNTED_ENTRIES_MAX", 1)
    place = LinePlace(PolicyKey("ns", "mail"), "low", 3)
    busy.server.api.world.policy_lines.put(place, entry_of([trigger_message(DUE)], DUE, "another"))
    assert "at least 2" in busy.ok("policy", "list", "--use").out


def test_a_policy_that_is_deleted_meanwhile_is_left_out(
    busy: CommandLine, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = list(client.policies.list("ns"))
    client.policies.delete("ns", "idle")
    monkeypatch.setattr(Policies, "list", lambda *_: iter(listed))
    assert [each["name"] for each in busy.ok("policy", "list", "--use", "--json").json] == ["mail"]
