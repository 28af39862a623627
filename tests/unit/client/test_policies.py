"""The list of policies with their use, by the command."""

import pytest
from tests.contract.builders import trigger_message
from tests.fakes.world import NOON
from tests.unit.client.conftest import CommandLine

from sweephand.jobs import policy_reader
from sweephand.model.gate import GateChange, GateName, Holder, Swap, WaitingGate, guard_id
from sweephand.model.gate_line import entries_of
from sweephand.model.policy import PolicyKey
from sweephand_client import Client
from sweephand_client.api.namespaces import Policies

DUE = NOON - 2_500


#: The first gate of `mail`.
LINE = GateName(PolicyKey("ns", "mail"), 0)


def put(command_line: CommandLine, at: int) -> None:
    """Let a trigger wait."""
    [entry] = entries_of([trigger_message(at)], "low", "source")
    command_line.server.api.world.gate_lines.put(LINE, entry)


@pytest.fixture
def busy(sweephand: CommandLine) -> CommandLine:
    """A stack with two policies. Under `mail`, ten requests may be open and two triggers wait."""
    sweephand.ok("policy", "put", "idle", "--rate", "100/1m")
    sweephand.ok("policy", "put", "mail", "--max-concurrent", "50")
    gates = sweephand.server.api.world.gates
    assert gates.change(LINE, GateChange({"owner": Swap(None, Holder(10, NOON + 60_000))})).is_made
    put(sweephand, DUE)
    put(sweephand, DUE + 1_000)
    return sweephand


def lines(command_line: CommandLine, *words: str) -> list[list[str]]:
    """The cells of a list of policies."""
    return [line.split() for line in command_line.ok("policy", "list", *words).out.splitlines()]


def test_policies_are_listed_with_what_is_in_use_and_what_waits(busy: CommandLine) -> None:
    columns, idle, mail = lines(busy, "--use")
    assert " ".join(columns) == "NAME STATE AT ONCE RATE BY IN EFFECT IN USE WAITING SINCE"
    assert (idle[0], idle[-3:]) == ("idle", ["0", "0", "-"])
    assert (mail[:3], mail[6:8]) == (["mail", "active", "50"], ["10", "2"])
    found = busy.ok("policy", "list", "--use", "--json").json
    assert [each["waitingSince"] for each in found] == [None, "2026-11-21T11:59:57.500Z"]


def test_a_breaker_is_written_and_a_text_that_is_none_is_refused(sweephand: CommandLine) -> None:
    sweephand.ok("policy", "put", "mail", "--max-concurrent", "50", "--breaker", "10/1m")
    shown = sweephand.ok("policy", "get", "mail", "--json").json
    assert shown["breaker"] == {"failures": 10, "probeAfter": "1m"}
    refused = sweephand.run("policy", "put", "mail", "--max-concurrent", "50", "--breaker", "10")
    assert (refused.code, "as in --breaker 10/1m" in refused.err) == (2, True)


def test_a_list_of_policies_without_their_use_is_one_call(busy: CommandLine) -> None:
    busy.server.requests.clear()
    columns, idle, mail = lines(busy)
    assert " ".join(columns) == "NAME STATE AT ONCE RATE BY IN EFFECT"
    assert (idle[3], mail[3]) == ("100/1m", "-")
    assert busy.server.calls() == ["GET /v1/namespaces/ns/policies"]


def test_a_count_that_was_cut_off_says_at_least(busy: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy_reader, "COUNTED_ENTRIES_MAX", 1)
    put(busy, DUE + 2_000)
    assert "at least 1" in busy.ok("policy", "list", "--use").out


def test_a_policy_that_is_deleted_meanwhile_is_left_out(
    busy: CommandLine, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = list(client.policies.list("ns"))
    client.policies.delete("ns", "idle")
    monkeypatch.setattr(Policies, "list", lambda *_: iter(listed))
    assert [each["name"] for each in busy.ok("policy", "list", "--use", "--json").json] == ["mail"]


def test_a_policy_is_paused_and_resumed(busy: CommandLine) -> None:
    said = busy.ok("policy", "pause", "mail", "--reason", "tonight").out
    assert said == "Paused the policy mail.\n"
    shown = busy.ok("policy", "get", "mail", "--json").json
    assert (shown["state"], shown["pauseReason"]) == ("paused", "tonight")
    _, idle, mail = lines(busy)
    assert (idle[1], mail[1]) == ("active", "paused")
    assert busy.ok("policy", "resume", "mail").out == "Resumed the policy mail.\n"
    assert busy.ok("policy", "get", "mail", "--json").json["state"] == "active"


def test_the_keys_of_a_policy_that_wait_are_listed(busy: CommandLine) -> None:
    busy.ok("policy", "put", "tenants", "--max-concurrent", "2", "--by", "label:tenant")
    world = busy.server.api.world
    for number, tenant in enumerate(("acme", "")):
        name = GateName(PolicyKey("ns", "tenants"), 0, f"label:tenant:{tenant}")
        world.gates.enlist(WaitingGate(name, guard_id(NOON + number, "guard")))
        [entry] = entries_of([trigger_message(DUE + number)], "low", "source")
        world.gate_lines.put(name, entry)
    found = busy.ok("policy", "keys", "tenants", "--json").json
    assert [(each["value"], each["waiting"]) for each in found] == [("acme", 1), ("", 1)]
    shown = busy.ok("policy", "keys", "tenants").out.splitlines()
    assert shown[0].split() == ["VALUE", "WAITING", "SINCE"]
    [line] = [each for each in lines(busy, "--use") if each[0] == "tenants"]
    assert line[4:] == ["label:tenant", "2", "-", "-", "-"]
