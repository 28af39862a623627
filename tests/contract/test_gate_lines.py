"""What every GateLines promises (ports/)."""

import random
from unittest.mock import patch

import pytest
from tests.contract.builders import EVERY_CHARACTER, NOON, large_payload, trigger_message
from tests.fakes.engines import Dynamo, Stores
from tests.fakes.flow_memory import MemoryGateLines
from tests.fakes.wire import repeated_by_the_sdk

from sweephand.model.definition import Payload
from sweephand.model.gate import GateName
from sweephand.model.gate_line import ENTRY_TRIGGERS_MAX, Entry, LineCount, LineTop, entries_of
from sweephand.model.job import JobKey
from sweephand.model.policy import PolicyKey, Priority
from sweephand.model.trigger import Redrive, TriggerMessage
from sweephand.ports.flow import GateLines

LINE = GateName(PolicyKey("default", "mailer"), 3)
ODD = GateName(PolicyKey(EVERY_CHARACTER, EVERY_CHARACTER), 9_999)
ME = "owner00000000001"

RETRY = trigger_message(not_before=NOON + 9_000, attempt=3, first_attempt_at=NOON - 4_980, crashes=2)
ON_DEMAND = trigger_message(redrive=Redrive(11, NOON), payload=Payload.of('{"a": [1, "ü"]}'))
LARGE = trigger_message(payload=large_payload()._replace(text=None))


@pytest.fixture
def lines(stores: Stores) -> GateLines:
    return stores.gate_lines


def of(*messages: TriggerMessage, priority: Priority = "normal") -> Entry:
    """The entry of those triggers."""
    [made] = entries_of(messages, priority, "source")
    return made


def entry(second: int = 0, size: int = 1, priority: Priority = "normal") -> Entry:
    """An entry of so many triggers, the first of which is due so many seconds after noon."""
    return of(*(trigger_message(NOON + second * 1_000 + each) for each in range(size)), priority=priority)


def leased(seen: Entry, token: str = "token2") -> Entry:  # noqa: S107 - not a password
    return seen._replace(token=token, owner=ME, until=NOON + 180_000)


@pytest.mark.parametrize("line", [LINE, ODD])
@pytest.mark.parametrize(
    "written",
    [
        entry(),
        entry(size=ENTRY_TRIGGERS_MAX, priority="high"),
        leased(entry(size=2, priority="low")),
        of(RETRY, ON_DEMAND, LARGE, trigger_message(key=JobKey(EVERY_CHARACTER, EVERY_CHARACTER))),
    ],
)
def test_an_entry_reads_back_as_it_was_written(lines: GateLines, line: GateName, written: Entry) -> None:
    lines.put(line, written)
    assert lines.top(line, 5) == LineTop([written])
    for other in (GateName(line.policy, 1), GateName(PolicyKey("other", "mailer"), line.number)):
        assert lines.top(other, 5).is_empty


def test_an_entry_is_written_only_if_none_of_its_place_and_name_is_there(lines: GateLines) -> None:
    lines.put(LINE, entry())
    assert lines.replace(LINE, entry(), leased(entry()))
    lines.put(LINE, entry())
    lines.put(LINE, entry()._replace(priority="high"))
    assert lines.top(LINE, 5).entries == [entry()._replace(priority="high"), leased(entry())]


def test_the_top_has_entries_by_priority_and_then_by_time(lines: GateLines) -> None:
    assert lines.top(LINE, 2).is_empty
    late, low, first, early, high = order = (
        entry(2), entry(0, priority="low"), entry(0), entry(1), entry(9, priority="high"),
    )  # fmt: skip
    for each in order:
        lines.put(LINE, each)
    assert lines.top(LINE, 6) == LineTop([high, first, early, late, low])
    assert lines.top(LINE, 2) == LineTop([high, first], has_more=True)
    assert lines.top(LINE, 2, first.sort_key) == LineTop([early, late], has_more=True)
    assert lines.top(LINE, 2, late.sort_key) == LineTop([low])
    # An entry behind which the next ones are wanted need not be there any more.
    assert lines.replace(LINE, early, None)
    assert lines.top(LINE, 3, early.sort_key) == LineTop([late, low])
    assert lines.top(LINE, 2, low.sort_key) == LineTop([])


def test_the_top_says_that_others_follow_when_dynamodb_cannot_read_all_at_once(lines: GateLines) -> None:
    rng = random.Random(7)  # noqa: S311 - what DynamoDB cannot read at once must not be compressible
    written = []
    for second in range(26):
        data = [Payload.of(f'"{rng.randbytes(1_000).hex()}"') for _ in range(ENTRY_TRIGGERS_MAX)]
        due_at = NOON + second * 1_000
        written.append(of(*(trigger_message(due_at + n, payload=each) for n, each in enumerate(data))))
        lines.put(LINE, written[-1])
    found: list[Entry] = []
    while True:
        top = lines.top(LINE, 25, found[-1].sort_key if found else None)
        found += top.entries
        if not top.has_more:
            break
    assert found == written
    assert lines.count(LINE, 3) == LineCount(60, NOON, is_all=False)


def test_an_entry_is_replaced_and_deleted_only_on_the_token_that_was_seen(lines: GateLines) -> None:
    lines.put(LINE, entry(size=2))
    mine = leased(entry(size=2))
    assert lines.replace(LINE, entry(size=2), mine)
    assert not lines.replace(LINE, entry(size=2), leased(entry(size=2), "token3"))
    assert not lines.replace(LINE, entry(size=2), None)
    assert lines.top(LINE, 5).entries == [mine]
    smaller = mine._replace(messages=mine.messages[1:], token="token4", owner=None, until=0)
    assert lines.replace(LINE, mine, smaller)
    assert lines.top(LINE, 5).entries == [smaller]
    assert lines.replace(LINE, smaller, None)
    assert lines.top(LINE, 5).is_empty


def test_an_entry_that_is_gone_counts_as_deleted_and_is_not_written_again(lines: GateLines) -> None:
    assert lines.replace(LINE, entry(), None)
    assert not lines.replace(LINE, entry(), leased(entry()))
    assert lines.top(LINE, 5).is_empty


@pytest.mark.parametrize("becomes", [leased(entry()), None])
def test_a_write_that_the_sdk_repeats_succeeds(dynamo: Dynamo, becomes: Entry | None) -> None:
    lines = dynamo.stores().gate_lines
    with (
        repeated_by_the_sdk(dynamo.client, "PutItem") as put,
        repeated_by_the_sdk(dynamo.client, "DeleteItem") as deleted,
    ):
        lines.put(LINE, entry())
        assert lines.replace(LINE, entry(), becomes)
    assert put.times + deleted.times == 4
    assert lines.top(LINE, 5).entries == ([] if becomes is None else [becomes])


def test_triggers_are_counted_in_the_first_entries(lines: GateLines) -> None:
    assert lines.count(LINE, 5) == LineCount(0, None, is_all=True)
    lines.put(LINE, entry(2, 20, "high"))
    lines.put(LINE, entry(1, 3))
    lines.put(LINE, entry(3, 5))
    assert lines.count(LINE, 5) == LineCount(28, NOON + 1_000, is_all=True)
    assert lines.count(LINE, 1) == LineCount(20, NOON + 2_000, is_all=False)


def test_a_top_leaves_out_entries_of_a_newer_version_and_says_so(lines: GateLines) -> None:
    for second in range(4):
        if second in (1, 3):
            lines.put(LINE, entry(second))
        else:
            put_newer(lines, entry(second))
    assert lines.top(LINE, 5) == LineTop([entry(1), entry(3)], has_newer=True)
    assert lines.top(LINE, 1) == LineTop([], has_more=True, has_newer=True)
    assert not lines.top(LINE, 1).is_empty
    assert lines.top(LINE, 5, entry(2).sort_key) == LineTop([entry(3)])
    assert lines.count(LINE, 5).triggers == 4


def put_newer(lines: GateLines, written: Entry) -> None:
    """Write an entry that only a newer version can read."""
    if isinstance(lines, MemoryGateLines):
        lines.newer.add(written.name)
    with patch("sweephand.storage.gates._VERSION", 2):
        lines.put(LINE, written)
