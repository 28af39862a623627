"""What every PolicyLines promises (ports/)."""

import random
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import patch

import pytest
from sweephand.model.policy_line import (
    ENTRY_TRIGGERS_MAX,
    KeptEntries,
    LineClaim,
    LineCount,
    LineEntry,
    LinePlace,
    LineTop,
    entry_of,
)
from tests.contract.builders import EVERY_CHARACTER, NOON, large_payload, trigger_message
from tests.fakes.engines import Stores
from tests.fakes.flow_memory import MemoryPolicyLines

from sweephand.base.errors import NewerError
from sweephand.base.instants import DAY_MS
from sweephand.base.timing import LINE_EXTENDED_AFTER_MS, LINE_RETENTION_MS
from sweephand.model.definition import Payload
from sweephand.model.job import JobKey
from sweephand.model.policy import PolicyKey
from sweephand.model.trigger import Redrive
from sweephand.ports.flow import PolicyLines

PLACE = LinePlace(PolicyKey("default", "mailer"), "normal", 3)
ODD = LinePlace(PolicyKey(EVERY_CHARACTER, EVERY_CHARACTER), "low", 63)
ME, YOU = "owner00000000001", "owner00000000002"
UNTIL = NOON + 30_000
NOTHING = KeptEntries(0, [], None)

RETRY = trigger_message(not_before=NOON + 9_000, attempt=3, first_attempt_at=NOON - 4_980, crashes=2)
ON_DEMAND = trigger_message(redrive=Redrive(11, NOON), payload=Payload.of('{"a": [1, "ü"]}'))


@pytest.fixture
def lines(stores: Stores) -> PolicyLines:
    return stores.policy_lines


def entry(second: int = 0, name: str | None = None, count: int = 1) -> LineEntry:
    """An entry of so many triggers, the first of which is due so many seconds after noon."""
    due_at = NOON + second * 1_000
    return entry_of([trigger_message(due_at + each) for each in range(count)], due_at, "message", name)


@pytest.mark.parametrize("place", [PLACE, ODD])
@pytest.mark.parametrize(
    "written",
    [
        entry(),
        entry(name="pack", count=ENTRY_TRIGGERS_MAX),
        entry(count=2)._replace(may_be_begun=True),
        entry_of(
            [RETRY, ON_DEMAND, trigger_message(key=JobKey(EVERY_CHARACTER, EVERY_CHARACTER))], NOON, "message"
        ),
    ],
)
def test_an_entry_reads_back_as_it_was_written(
    lines: PolicyLines, place: LinePlace, written: LineEntry
) -> None:
    lines.put(place, written)
    assert lines.top(place, NOON + 1, 5) == LineTop(None, (written,))


def test_the_top_has_entries_by_time_and_only_those_before_the_bound(lines: PolicyLines) -> None:
    assert lines.top(PLACE, NOON, 2) == LineTop(None, ())
    for second in (3, 1, 2, 0):
        lines.put(PLACE, entry(second))
    assert lines.top(PLACE, NOON + 2_000, 5).entries == (entry(0), entry(1))
    assert lines.top(PLACE, NOON + 2_001, 5).entries == (entry(0), entry(1), entry(2))
    assert lines.top(PLACE, NOON + 9_000, 2).entries == (entry(0), entry(1))
    assert lines.top(PLACE, NOON, 2).entries == ()


def test_the_top_has_all_entries_that_were_asked_for_however_large_they_are(lines: PolicyLines) -> None:
    rng = random.Random(7)  # noqa: S311 - what DynamoDB cannot read at once must not be compressible
    written = []
    for second in range(14):
        due_at = NOON + second * 1_000
        data = [Payload.of(f'"{rng.randbytes(1_000).hex()}"') for _ in range(ENTRY_TRIGGERS_MAX)]
        messages = [trigger_message(due_at + each, payload=data[each]) for each in range(ENTRY_TRIGGERS_MAX)]
        written.append(entry_of(messages, due_at, "message"))
        lines.put(PLACE, written[-1])
    assert lines.top(PLACE, NOON + 20_000, 13).entries == tuple(written[:13])
    assert lines.count(PLACE, NOON + 20_000, 3) == LineCount(300, NOON, is_all=False)


@pytest.mark.parametrize("place", [PLACE, ODD])
def test_a_page_has_the_entries_behind_a_place_whatever_their_time(
    lines: PolicyLines, place: LinePlace
) -> None:
    assert lines.page(place, "", 5) == ()
    assert lines.claim(place, None, ME, UNTIL) is not None
    written = [entry(0), entry(1, count=ENTRY_TRIGGERS_MAX), entry(9_000_000)]
    for each in reversed(written):
        lines.put(place, each)
    first, second, third = written
    assert lines.page(place, "", 2) == (first, second)
    assert lines.page(place, second.sort_key, 2) == (third,)
    assert lines.page(place, third.sort_key, 2) == ()
    assert lines.delete(place, second)
    assert lines.page(place, first.sort_key, 2) == (third,)


def test_each_partition_priority_and_policy_has_its_own_entries(lines: PolicyLines) -> None:
    lines.put(PLACE, entry())
    for other in (
        PLACE._replace(partition=30),
        PLACE._replace(priority="high"),
        PLACE._replace(policy=PolicyKey("default", "mail")),
        PLACE._replace(policy=PolicyKey("other", "mailer")),
    ):
        assert lines.top(other, NOON + 1, 5) == LineTop(None, ())


def test_an_entry_of_the_same_time_and_name_is_replaced(lines: PolicyLines) -> None:
    lines.put(PLACE, entry(name="pack", count=2))
    lines.put(PLACE, entry(name="pack", count=3))
    assert lines.top(PLACE, NOON + 1, 5).entries == (entry(name="pack", count=3),)


def test_an_entry_is_deleted_only_in_the_content_that_was_read(lines: PolicyLines) -> None:
    smaller, larger = entry(name="pack", count=2), entry(name="pack", count=3)
    lines.put(PLACE, larger)
    assert not lines.delete(PLACE, smaller)
    assert lines.page(PLACE, "", 2) == (larger,)
    assert lines.delete(PLACE, larger)
    assert lines.delete(PLACE, larger)
    assert lines.page(PLACE, "", 2) == ()


def test_a_claim_is_given_to_one_of_those_who_saw_the_same(stores: Stores) -> None:
    rivals = [f"owner00000000{each:03}" for each in range(8)]
    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(lambda each: stores.policy_lines.claim(PLACE, None, each, UNTIL), rivals))
    assert sum(each is not None for each in won) == 1
    [claim] = [each for each in won if each is not None]
    assert stores.policy_lines.top(PLACE, NOON, 1).claim == claim == LineClaim(claim.owner, UNTIL, 1)


def test_a_claim_that_is_repeated_succeeds_again(lines: PolicyLines) -> None:
    first = lines.claim(PLACE, None, ME, UNTIL)
    assert first == lines.claim(PLACE, None, ME, UNTIL) == LineClaim(ME, UNTIL, 1)
    second = lines.claim(PLACE, first, YOU, UNTIL + 5)
    assert second == lines.claim(PLACE, first, YOU, UNTIL + 5) == LineClaim(YOU, UNTIL + 5, 2, UNTIL)
    assert lines.claim(PLACE, first, ME, UNTIL + 9) is None


def test_a_claim_is_renewed_and_released_only_with_its_fence(lines: PolicyLines) -> None:
    first = lines.claim(PLACE, None, ME, UNTIL)
    assert first
    assert lines.renew(PLACE, first, UNTIL + 7)
    assert lines.top(PLACE, NOON, 1).claim == LineClaim(ME, UNTIL + 7, 1)
    second = lines.claim(PLACE, first, YOU, UNTIL + 9)
    assert second
    assert not lines.renew(PLACE, first, UNTIL + 50)
    assert not lines.renew(PLACE, first._replace(owner=None), 0)
    assert lines.renew(PLACE, second._replace(owner=None), 0)
    assert lines.top(PLACE, NOON, 1).claim == LineClaim(None, 0, 2, UNTIL)


def test_a_partition_remembers_until_when_a_worker_that_crashed_had_claimed_it(lines: PolicyLines) -> None:
    crashed = lines.claim(PLACE, None, ME, UNTIL)
    second = lines.claim(PLACE, crashed, YOU, UNTIL + 9_000)
    assert second == LineClaim(YOU, UNTIL + 9_000, 2, UNTIL)
    assert lines.top(PLACE, NOON, 1).claim == second
    assert lines.renew(PLACE, second, UNTIL + 20_000)
    assert lines.top(PLACE, NOON, 1).claim == second._replace(until=UNTIL + 20_000)
    assert lines.renew(PLACE, second._replace(owner=None), 0)
    released = lines.top(PLACE, NOON, 1).claim
    assert released == LineClaim(None, 0, 2, UNTIL)
    third = lines.claim(PLACE, released, ME, UNTIL + 30_000)
    assert third == lines.top(PLACE, NOON, 1).claim == LineClaim(ME, UNTIL + 30_000, 3, UNTIL)


def test_the_claim_does_not_count_as_an_entry(lines: PolicyLines) -> None:
    lines.put(PLACE, entry(0))
    lines.put(PLACE, entry(1))
    assert lines.claim(PLACE, None, ME, UNTIL)
    assert len(lines.top(PLACE, NOON + 9_000, 1).entries) == 1
    assert len(lines.top(PLACE, NOON + 9_000, 2).entries) == 2


@pytest.mark.parametrize("place", [PLACE, ODD])
def test_the_triggers_of_the_first_entries_are_counted_up_to_a_time(
    lines: PolicyLines, place: LinePlace
) -> None:
    assert lines.count(place, NOON + 60_000, 5) == LineCount(0, None, is_all=True)
    assert lines.claim(place, None, ME, UNTIL) is not None
    for second, count in ((1, 1), (2, 100), (3, 20), (9, 7)):
        lines.put(place, entry(second, count=count))
    assert lines.count(place, NOON + 9_000, 5) == LineCount(121, NOON + 1_000, is_all=True)
    assert lines.count(place, NOON + 9_001, 4) == LineCount(128, NOON + 1_000, is_all=True)
    assert lines.count(place, NOON + 9_000, 2) == LineCount(101, NOON + 1_000, is_all=False)
    assert lines.count(place, NOON + 1_000, 2) == LineCount(0, None, is_all=True)


def test_entries_are_kept_longer_that_have_waited_and_no_others(lines: PolicyLines) -> None:
    for second in (0, 5, 9):
        lines.put(PLACE, entry(second))
    assert lines.claim(PLACE, None, ME, UNTIL) is not None
    later = NOON + 30 * DAY_MS
    assert lines.extend(PLACE, "", NOON + 9_000, later, 10) == KeptEntries(2, [], None)
    assert lines.extend(PLACE, "", NOON, later, 10) == NOTHING
    assert lines.extend(ODD, "", NOON + 9_000, later, 10) == NOTHING
    # Nothing else about them has changed.
    assert lines.top(PLACE, NOON + 60_000, 10).entries == (entry(0), entry(5), entry(9))
    assert lines.delete(PLACE, entry(5))
    assert lines.extend(PLACE, "", NOON + 9_000, later + 10 * DAY_MS, 10) == KeptEntries(1, [], None)


def test_each_call_that_keeps_entries_goes_on_behind_the_one_before(lines: PolicyLines) -> None:
    for second in range(5):
        lines.put(PLACE, entry(second))
    later, after, counts = NOON + 30 * DAY_MS, "", list[int]()
    while True:
        kept = lines.extend(PLACE, after, NOON + 4_000, later, 2)
        counts.append(kept.entries)
        if kept.next is None:
            break
        after = kept.next
    assert sum(counts) == 4
    assert max(counts) == 2
    assert lines.extend(PLACE, entry(2).sort_key, NOON + 9_000, later + 10 * DAY_MS, 10).entries == 2


def test_entries_are_left_alone_that_were_just_kept(lines: PolicyLines) -> None:
    for second in range(5):
        lines.put(PLACE, entry(second))
    later = NOON + 30 * DAY_MS
    assert lines.extend(PLACE, "", NOON + 4_000, later, 10).entries == 4
    assert lines.extend(PLACE, "", NOON + 9_000, later + LINE_EXTENDED_AFTER_MS - DAY_MS, 10).entries == 1
    assert lines.extend(PLACE, "", NOON + 9_000, later + LINE_EXTENDED_AFTER_MS + 2 * DAY_MS, 10).entries == 5


def test_a_call_that_keeps_entries_says_which_payloads_their_triggers_name(lines: PolicyLines) -> None:
    large = trigger_message(payload=large_payload()._replace(text=None))
    lines.put(PLACE, entry_of([RETRY, large, ON_DEMAND], NOON, "message"))
    lines.put(PLACE, entry(3))
    assert large.payload is not None
    named = [(large.trigger.uid, large.payload.ref)]
    assert lines.extend(PLACE, "", NOON + 9_000, NOON + 30 * DAY_MS, 10).payloads == named
    assert lines.extend(PLACE, "", NOON + 9_000, NOON + 30 * DAY_MS, 10) == NOTHING


def test_an_entry_that_is_written_late_is_kept_as_long_as_one_that_is_due_then(stores: Stores) -> None:
    lines = stores.policy_lines
    lines.put(PLACE, entry(0))
    stores.clock.time = NOON + 40 * DAY_MS
    lines.put(PLACE, entry(1))
    # A write before its time does not shorten that.
    lines.put(PLACE, entry(80 * 86_400))
    end = NOON + 40 * DAY_MS + LINE_RETENTION_MS + LINE_EXTENDED_AFTER_MS
    assert lines.extend(PLACE, "", NOON + 90 * DAY_MS, end - 2_000, 10).entries == 1
    assert lines.extend(PLACE, "", NOON + 90 * DAY_MS, end + 2_000, 10).entries == 1


def put_newer(lines: PolicyLines, written: LineEntry) -> None:
    """Write an entry that only a newer version can read."""
    if isinstance(lines, MemoryPolicyLines):
        lines.newer.add(written.token)
    with patch("sweephand.storage.policy_lines._VERSION", 2):
        lines.put(PLACE, written)


@pytest.mark.parametrize("has_claim", [False, True])
@pytest.mark.parametrize("limit", [1, 2, 5])
def test_a_top_leaves_out_the_entries_of_a_newer_version_and_says_so(
    lines: PolicyLines, limit: int, *, has_claim: bool
) -> None:
    claim = lines.claim(PLACE, None, ME, UNTIL) if has_claim else None
    for second in range(12):
        if second in (3, 8):
            lines.put(PLACE, entry(second))
        else:
            put_newer(lines, entry(second))
    top = lines.top(PLACE, NOON + 60_000, limit)
    assert top == LineTop(claim, (entry(3), entry(8))[:limit], has_newer=True)
    assert not lines.top(PLACE, NOON, limit).has_newer
    assert lines.count(PLACE, NOON + 60_000, 20).triggers == 12


def test_a_page_with_an_entry_of_a_newer_version_is_refused(lines: PolicyLines) -> None:
    lines.put(PLACE, entry(0))
    put_newer(lines, entry(1))
    assert lines.page(PLACE, "", 1) == (entry(0),)
    with pytest.raises(NewerError):
        lines.page(PLACE, "", 2)
