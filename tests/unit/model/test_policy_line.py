"""Entries of a policy's line (model/policy_line.py)."""

import pytest
from tests.contract.builders import NOON, trigger_message

from sweephand.base.timing import LINE_AHEAD_MS
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


def test_a_claim_remembers_the_end_of_the_latest_one_that_was_abandoned() -> None:
    first = LineClaim.after(None, "first", NOON)
    assert first == LineClaim("first", NOON, 1)
    second = LineClaim.after(first, "second", NOON + 30_000)
    assert second == LineClaim("second", NOON + 30_000, 2, NOON)
    released = second._replace(owner=None, until=0)
    assert LineClaim.after(released, "third", NOON + 50_000) == LineClaim("third", NOON + 50_000, 3, NOON)
    assert LineClaim.after(second, "third", NOON + 50_000).crashed_until == NOON + 30_000
    earlier = second._replace(until=NOON - 7)
    assert LineClaim.after(earlier, "third", NOON + 50_000).crashed_until == NOON


def test_a_crashed_worker_may_have_taken_up_what_was_due_a_second_after_its_claim() -> None:
    claim = LineClaim("owner00000000001", NOON + 30_000, 2, NOON)
    before, after = NOON + LINE_AHEAD_MS - 1, NOON + LINE_AHEAD_MS
    assert claim.may_have_begun(entry_of([trigger_message(before)], before, "a"))
    assert not claim.may_have_begun(entry_of([trigger_message(after)], after, "a"))
    assert not claim._replace(crashed_until=0).may_have_begun(entry_of([trigger_message(NOON)], NOON, "a"))


@pytest.mark.parametrize("may_be_begun", [False, True])
def test_a_part_of_an_entry_says_whether_a_worker_may_have_begun_it(*, may_be_begun: bool) -> None:
    messages = tuple(trigger_message(NOON + number) for number in range(3))
    entry = entry_of(messages, NOON, "message")._replace(may_be_begun=may_be_begun)
    part = entry.part(messages[1:])
    assert part == entry_of(messages[1:], NOON + 1, entry.token)._replace(may_be_begun=may_be_begun)
    begun = entry.begun(messages[:1], NOON + 9_000)
    assert begun == entry_of(messages[:1], NOON + 9_000, entry.token)._replace(may_be_begun=True)
