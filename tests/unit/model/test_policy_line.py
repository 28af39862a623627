"""Entries of a policy's line (model/policy_line.py)."""

from tests.contract.builders import NOON, trigger_message

from sweephand.model.definition import Payload
from sweephand.model.policy_line import (
    ENTRY_BYTES_MAX,
    ENTRY_TRIGGERS_MAX,
    LineClaim,
    entries_of,
    entry_of,
    partition_of,
)
from sweephand.model.wire import encode


def test_the_token_names_the_content_and_not_its_order_time_or_name() -> None:
    one, two = trigger_message(NOON), trigger_message(NOON + 1)
    assert entry_of([one, two], NOON, "a").token == entry_of([two, one], NOON + 7, "a", "pack").token
    assert entry_of([one, two], NOON, "a").token != entry_of([one], NOON, "a").token
    assert entry_of([one], NOON, "a").token != entry_of([one._replace(attempt=2)], NOON, "a").token


def test_a_trigger_that_comes_into_the_line_once_more_has_another_token() -> None:
    one = trigger_message(NOON)
    assert entry_of([one], NOON, "a").token != entry_of([one], NOON, "b").token


def test_an_entry_without_a_name_replaces_only_what_is_equal() -> None:
    one, two = trigger_message(NOON), trigger_message(NOON + 1)
    assert entry_of([one], NOON, "a").sort_key != entry_of([one, two], NOON, "a").sort_key
    assert entry_of([one], NOON, "a").sort_key == entry_of([one], NOON, "a").sort_key


def test_triggers_are_packed_in_due_order_and_each_pack_stands_at_its_first() -> None:
    messages = [trigger_message(NOON + each) for each in range(2 * ENTRY_TRIGGERS_MAX + 1)]
    entries = entries_of(reversed(messages), "a", NOON)
    assert [len(each.messages) for each in entries] == [ENTRY_TRIGGERS_MAX, ENTRY_TRIGGERS_MAX, 1]
    assert [message for each in entries for message in each.messages] == messages
    assert [each.at for each in entries] == [each.messages[0].not_before for each in entries]


def test_an_entry_stays_within_what_an_item_may_hold() -> None:
    data = Payload.of('"' + "x" * 50_000 + '"')
    messages = [trigger_message(NOON + each, payload=data) for each in range(9)]
    entries = entries_of(messages, "a", NOON)
    assert len(entries) == 3
    for entry in entries:
        assert sum(len(encode(each)) for each in entry.messages) <= ENTRY_BYTES_MAX


def test_entries_spread_over_all_partitions() -> None:
    counts = [0] * 8
    for second in range(800):
        counts[partition_of(entry_of([trigger_message(NOON + second)], NOON, "a").name, 8)] += 1
    assert min(counts) > 50


def test_a_claim_whose_owner_neither_renewed_nor_released_it_was_abandoned() -> None:
    claim = LineClaim("owner00000000001", NOON, 1)
    assert claim.is_held(NOON - 1)
    assert not claim.is_held(NOON)
    assert claim.was_abandoned(NOON)
    assert not claim._replace(owner=None).was_abandoned(NOON)
