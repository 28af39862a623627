"""Entries of a gate's line (model/gate_line.py)."""

import pytest
from tests.contract.builders import NOON, large_payload, trigger_message

from sweephand.model.definition import Payload
from sweephand.model.gate_line import (
    ENTRY_BYTES_MAX,
    ENTRY_TRIGGERS_MAX,
    Entry,
    LineTop,
    entries_of,
)
from sweephand.model.wire import encode


def entry() -> Entry:
    [made] = entries_of([trigger_message()], "normal", "source")
    return made


def test_triggers_are_packed_in_the_order_of_their_times_and_each_pack_stands_at_its_first() -> None:
    messages = [trigger_message(NOON + each) for each in range(2 * ENTRY_TRIGGERS_MAX + 1)]
    entries = entries_of(reversed(messages), "high", "source")
    assert [len(each.messages) for each in entries] == [ENTRY_TRIGGERS_MAX, ENTRY_TRIGGERS_MAX, 1]
    assert [message for each in entries for message in each.messages] == messages
    assert [each.at for each in entries] == [each.messages[0].not_before for each in entries]
    assert [each.sort_key for each in entries] == sorted(each.sort_key for each in entries)
    assert [len(each.messages) for each in entries_of(messages[:7], "high", "source", 3)] == [3, 3, 1]


def test_an_entry_stays_within_what_an_item_may_hold() -> None:
    data = Payload.of('"' + "x" * 30_000 + '"')
    entries = entries_of([trigger_message(NOON + n, payload=data) for n in range(9)], "normal", "source")
    assert [len(each.messages) for each in entries] == [3, 3, 3]
    for each in entries:
        assert sum(len(encode(message)) for message in each.messages) <= ENTRY_BYTES_MAX


def test_a_call_that_is_repeated_writes_the_same_entries_and_another_one_others() -> None:
    messages = [trigger_message(NOON + each) for each in range(30)]
    again = entries_of(reversed(messages), "normal", "source")
    assert entries_of(messages, "normal", "source") == again
    names = {each.name for each in again}
    names |= {each.name for each in entries_of(messages, "normal", "other source")}
    names |= {each.name for each in entries_of(messages[1:], "normal", "source")}
    names |= {each.name for each in entries_of([messages[0]._replace(attempt=2)], "normal", "source")}
    assert len(names) == 7


def test_high_entries_stand_before_others_whatever_their_times() -> None:
    early, late = (entry()._replace(at=at) for at in (NOON, NOON + 10**9))
    order = [
        early._replace(priority="high"),
        late._replace(priority="high"),
        early,
        late,
        early._replace(priority="low"),
    ]
    assert [each.sort_key for each in order] == sorted(each.sort_key for each in order)


def test_an_entry_can_be_leased_unless_a_function_has_it_whose_time_is_not_over() -> None:
    free, leased = entry(), entry()._replace(owner="function", until=NOON)
    assert (free.is_takeable(NOON), free.is_abandoned(NOON + 1)) == (True, False)
    assert (leased.is_takeable(NOON), leased.is_abandoned(NOON)) == (False, False)
    assert (leased.is_takeable(NOON + 1), leased.is_abandoned(NOON + 1)) == (True, True)
    assert LineTop([leased, free]).takeable(NOON) == [free]


@pytest.mark.parametrize("crashes", [(0, 0), (1, 0), (0, 2)])
def test_an_entry_has_the_most_crashes_of_its_triggers(crashes: tuple[int, ...]) -> None:
    made = entry()._replace(messages=tuple(trigger_message(crashes=each) for each in crashes))
    assert made.crashes == max(crashes)


def test_an_entry_names_the_payloads_outside_of_jobs() -> None:
    large = large_payload()._replace(text=None)
    messages = [
        trigger_message(payload=large),
        trigger_message(NOON + 1, payload=Payload.of("1")),
        trigger_message(NOON + 2),
    ]
    [made] = entries_of(messages, "normal", "source")
    assert made.payloads == [(messages[0].trigger.uid, large.ref)]


@pytest.mark.parametrize(
    ("top", "is_empty"),
    [
        (LineTop(()), True),
        (LineTop((), has_more=True), False),
        (LineTop((), has_newer=True), False),
        (LineTop([entry()._replace(owner="function", until=NOON)]), False),
    ],
)
def test_a_line_is_empty_only_if_nothing_at_all_stands_there(top: LineTop, *, is_empty: bool) -> None:
    assert top.is_empty is is_empty
