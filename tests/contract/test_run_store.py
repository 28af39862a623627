"""What every RunStore promises (ports/)."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from tests.contract.builders import EVERY_CHARACTER, NOON, run
from tests.fakes.engines import Stores

from sweephand.base.instants import MINUTE_MS
from sweephand.model.definition import Payload
from sweephand.model.failed_attempt import FailedAttempt
from sweephand.model.job import JobKey
from sweephand.model.run import Flag, Run, trigger_of
from sweephand.model.run_id import Demand, RunName
from sweephand.model.trace import Origin
from sweephand.model.trigger import BatchPlace, Failure
from sweephand.ports.runs import RunStore

MINE, OTHERS = "owner00000000001", "owner00000000002"
KEY = JobKey("default", "backup")


@pytest.fixture
def runs(stores: Stores) -> RunStore:
    return stores.runs


def succeeded(of: Run) -> Run:
    return replace(of, state="succeeded", ended_at=of.due_at + 90, response_code=200, answer="ok")


def retrying(of: Run) -> Run:
    return replace(of, state="retrying", next_attempt_at=of.due_at + 5_000, response_code=503)


def failed(of: Run) -> Run:
    return replace(of, state="failed", ended_at=of.due_at + 90, reason="gave up")


def stored(store: RunStore, like: Run) -> Run | None:
    return store.get(like.key, like.run_id)


EVERYTHING_SET = replace(
    run(index=9_999_999, key=JobKey(EVERY_CHARACTER, EVERY_CHARACTER)),
    state="failed",
    ended_at=NOON + 90,
    next_attempt_at=NOON + 5_000,
    response_code=418,
    answer="ü \x00 \ufffd \ud800" + "z" * 500,
    reason="",
    expires_at=NOON + 1_001,
    round_from=3,
    round_at=NOON + 60,
    round_ends=(1, 2),
    version="version000000001",
    token="shr_" + "x" * 43,
    heartbeat_ms=60_000,
    heartbeat_by=NOON + 60_090,
    run_until=NOON + 3_600_090,
    next_check_at=NOON + 65_090,
)

SKIPPED = Run(
    KEY,
    "uid0000000000001",
    NOON,
    0,
    "skipped",
    0,
    "1-aaaa",
    7,
    ended_at=NOON + 3_600_001,
    reason="misfire",
    owner="1-aaaa",
    count=2_600_000,
    last_due_at=NOON + 3_600_000,
)
ORIGIN = Origin(f"00-{'a' * 32}-{'b' * 16}-00")
DEMAND = Demand("chained", "a" * 32, 3, ORIGIN)
ASKED_FOR = succeeded(run(demand=DEMAND, payload=Payload.of('{"n": 1.10}'), origin=ORIGIN))
KEPT_ELSEWHERE = succeeded(run(payload=Payload("0" * 64, 5_000, None, "ref", kept_until=1_795_262_400_000)))
COMPLETED = succeeded(
    run(
        result='{"n":1.10}',
        last_failure=Failure(1, "\ud800 no", 503, is_final=True),
        attempt_at=NOON + 9,
        failed_attempts=(
            FailedAttempt(1, NOON, 0, 503, "\ud800 no"),
            FailedAttempt(2, NOON + 5, 3, None, "silent"),
        ),
    )
)

OF_A_BATCH = succeeded(run(index=17, batch=BatchPlace(1_000, 60_000, 1_020)))

BARE = Run(KEY, "uid0000000000001", NOON, 0, "failed", 1, "1-aaaa", 7, owner=MINE)


@pytest.mark.parametrize(
    "written",
    [
        succeeded(run()),
        retrying(run()),
        EVERYTHING_SET,
        SKIPPED,
        ASKED_FOR,
        KEPT_ELSEWHERE,
        COMPLETED,
        OF_A_BATCH,
        BARE,
    ],
)
def test_a_run_reads_back_as_it_was_written(runs: RunStore, written: Run) -> None:
    assert runs.record(written)
    assert runs.get(written.key, written.run_id) == written
    assert runs.page(written.key, None, "", 10).items == (written,)


def test_the_runs_of_flags_are_those_that_have_a_record(runs: RunStore) -> None:
    written = [failed(run(index=index)) for index in range(120)]
    written += [failed(run(demand=Demand("manual", "a"))), failed(run(uid="uid0000000000002"))]
    for each in written:
        runs.record(each)
    flags = [Flag(each.key, each.uid, RunName(each.due_at, each.index, each.demand)) for each in written]
    missing = Flag(KEY, "uid0000000000003", RunName(NOON, 0))
    found = {each.trigger_id: each for each in runs.of_flags([*flags, missing])}
    assert found == {each.trigger_id: each for each in written}
    assert list(runs.of_flags([])) == []


def test_runs_on_demand_of_one_due_time_are_stored_separately(runs: RunStore) -> None:
    demands = (None, Demand("manual", "a"), Demand("manual", "b"), Demand("backfill", "a"))
    written = [succeeded(run(demand=demand)) for demand in demands]
    assert all(runs.record(each) for each in written)
    assert [stored(runs, each) for each in written] == written
    assert stored(runs, run(demand=Demand("manual", "c"))) is None
    shown = [*runs.page(KEY, None, "", 2).items]
    following = runs.page(KEY, None, "", 2).next
    assert following is not None
    shown += runs.page(KEY, None, following, 10).items
    assert {each.run_id for each in shown} == {each.run_id for each in written}
    assert len(shown) == len(written)


def test_a_claim_is_granted_where_nothing_is_stored_and_again_if_it_is_repeated(runs: RunStore) -> None:
    for _ in range(2):
        assert runs.claim(run(), NOON) is None
        assert stored(runs, run()) == run()


@pytest.mark.parametrize("before", [run(attempt=1), retrying(run(attempt=1)), retrying(run(attempt=2))])
def test_a_claim_is_granted_over_an_earlier_attempt_that_is_not_over(runs: RunStore, before: Run) -> None:
    runs.record(before)
    claim = run(attempt=3, owner=OTHERS)
    assert runs.claim(claim, NOON) is None
    assert stored(runs, claim) == claim


@pytest.mark.parametrize("before", [succeeded(run(attempt=1)), failed(run(attempt=1))])
def test_a_claim_of_a_run_that_is_over_is_refused(runs: RunStore, before: Run) -> None:
    runs.record(before)
    assert runs.claim(run(attempt=2, owner=OTHERS), NOON + 10 * MINUTE_MS) == before
    assert runs.claim(run(attempt=1, owner=OTHERS), NOON + 10 * MINUTE_MS) == before
    assert stored(runs, before) == before


def test_a_claim_of_an_attempt_that_another_holds_is_refused(runs: RunStore) -> None:
    held = run(attempt=2, claimed_until=NOON + MINUTE_MS)
    runs.claim(held, NOON)
    assert runs.claim(run(attempt=2, owner=OTHERS), NOON + MINUTE_MS - 1) == held
    assert stored(runs, held) == held


def test_a_claim_of_an_attempt_whose_claim_has_ended_is_granted(runs: RunStore) -> None:
    runs.claim(run(attempt=2, claimed_until=NOON + MINUTE_MS), NOON)
    claim = run(attempt=2, owner=OTHERS, claimed_until=NOON + 2 * MINUTE_MS)
    assert runs.claim(claim, NOON + MINUTE_MS) is None
    assert stored(runs, claim) == claim


@pytest.mark.parametrize("before", [run(attempt=3), retrying(run(attempt=3)), retrying(run(attempt=2))])
def test_a_claim_of_an_earlier_attempt_than_the_stored_one_is_refused(runs: RunStore, before: Run) -> None:
    runs.record(before)
    late = NOON + 10 * MINUTE_MS
    assert runs.claim(run(attempt=2, owner=OTHERS), late) == before
    assert stored(runs, before) == before


def test_one_of_several_functions_that_claim_one_attempt_gets_it(stores: Stores) -> None:
    runs = stores.runs
    claims = [run(owner=f"owner0000000001{number}") for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        refusals = list(pool.map(lambda claim: runs.claim(claim, NOON), claims))
    granted = [claim for claim, refusal in zip(claims, refusals, strict=True) if refusal is None]
    assert [stored(runs, run())] == granted
    assert {refusal for refusal in refusals if refusal} == set(granted)


def test_a_record_is_written_over_its_own_claim(runs: RunStore) -> None:
    runs.claim(run(attempt=2), NOON)
    assert runs.record(retrying(run(attempt=2)))
    assert stored(runs, run()) == retrying(run(attempt=2))


def test_a_record_is_written_where_nothing_is_stored_and_again_if_it_is_repeated(runs: RunStore) -> None:
    for _ in range(2):
        assert runs.record(succeeded(run()))
        assert stored(runs, run()) == succeeded(run())


@pytest.mark.parametrize(
    "before",
    [
        run(attempt=2, owner=OTHERS),
        run(attempt=3, owner=MINE),
        run(attempt=1, owner=MINE),
        retrying(run(attempt=2, owner=OTHERS)),
        succeeded(run(attempt=2, owner=OTHERS)),
        failed(run(attempt=1, owner=OTHERS)),
    ],
)
def test_a_record_of_an_attempt_that_is_not_its_own_is_refused(runs: RunStore, before: Run) -> None:
    runs.record(before)
    assert not runs.record(succeeded(run(attempt=2, owner=MINE)))
    assert stored(runs, before) == before


def test_a_record_without_a_claim_is_written_over_another_functions_claim_of_its_attempt(
    runs: RunStore,
) -> None:
    before = run(owner=OTHERS)
    runs.claim(before, NOON)
    unclaimed = replace(succeeded(run(owner=MINE)), claimed_until=None)
    assert not runs.record(replace(unclaimed, attempts=2))
    assert runs.record(unclaimed)
    assert stored(runs, before) == unclaimed
    assert not runs.record(replace(failed(unclaimed), owner=OTHERS))
    assert stored(runs, before) == unclaimed


def test_a_record_over_a_claim_that_another_function_has_changed_is_refused(runs: RunStore) -> None:
    claim = run(attempt=2, owner=MINE)
    runs.claim(claim, NOON)
    failing = replace(claim, ended_at=NOON, version="version000000001")
    assert runs.move(failing, claim)
    assert not runs.record(succeeded(claim))
    assert stored(runs, claim) == failing
    assert runs.record(replace(failed(claim), version="version000000001"))


def test_a_holder_that_has_announced_the_end_of_its_attempt_records_the_end(runs: RunStore) -> None:
    claim = run(attempt=2, owner=MINE)
    runs.claim(claim, NOON)
    failing = replace(claim, ended_at=NOON, version="version000000001")
    assert runs.record(failing)
    assert runs.record(failing), "its own write, found again"
    assert not runs.record(retrying(claim))
    end = replace(failed(claim), version="version000000001")
    assert runs.record(end)
    assert stored(runs, claim) == end


def test_only_the_holder_releases_a_claim_and_only_while_no_function_has_changed_it(runs: RunStore) -> None:
    claim = run(owner=MINE)
    assert runs.release(claim), "nothing is there"
    runs.claim(claim, NOON)
    assert not runs.release(replace(claim, owner=OTHERS))
    assert not runs.release(replace(claim, attempts=2))
    assert stored(runs, claim) == claim
    assert runs.release(claim)
    assert stored(runs, claim) is None
    runs.claim(claim, NOON)
    failing = replace(claim, ended_at=NOON, version="version000000001")
    assert runs.move(failing, claim)
    assert not runs.release(claim)
    runs.record(replace(failed(claim), version="version000000001"))
    assert not runs.release(replace(claim, version="version000000001"))


def test_a_record_that_would_change_an_outcome_is_refused(runs: RunStore) -> None:
    runs.record(succeeded(run()))
    assert not runs.record(failed(run()))
    assert stored(runs, run()) == succeeded(run())


@pytest.mark.parametrize(
    "run_id",
    [
        f"{NOON}-1",
        f"{NOON + 1}-0",
        f"0{NOON}-0",
        f"{NOON}-00",
        f"{NOON}",
        f"{NOON}-0\n",
        f"{NOON}-" + "9" * 9,
        "9" * 15 + "-0",
        "9" * 5_000 + "-0",
        "manual-abc",
        "\u0661-\u0660",
        "-",
        "",
    ],
)
def test_a_text_that_is_no_run_id_finds_no_run(runs: RunStore, run_id: str) -> None:
    runs.record(succeeded(run()))
    assert runs.get(KEY, run_id) is None


def test_a_run_is_found_by_its_trigger_and_by_no_other(runs: RunStore) -> None:
    stored = succeeded(run())
    runs.record(stored)
    runs.record(succeeded(run(uid="uid0000000000009")))
    trigger = trigger_of(stored)
    assert runs.of(trigger) == stored
    for other in (
        trigger._replace(uid="uid0000000000002"),
        trigger._replace(due_at=NOON + 1),
        trigger._replace(index=1),
        trigger._replace(key=JobKey("other", "backup")),
    ):
        assert runs.of(other) is None


def test_a_run_is_found_under_its_own_job_only(runs: RunStore) -> None:
    runs.record(succeeded(run()))
    for other in (JobKey("default", "backup2"), JobKey("default", "back"), JobKey("other", "backup")):
        assert runs.get(other, run().run_id) is None
        assert runs.page(other, None, "", 10).items == ()


def test_of_two_jobs_of_one_key_the_newest_run_is_found(runs: RunStore) -> None:
    older = succeeded(run(uid="uid0000000000009", started_at=NOON + 10))
    newer = succeeded(run(uid="uid0000000000001", started_at=NOON + 20))
    runs.record(newer)
    runs.record(older)
    assert runs.get(KEY, newer.run_id) == newer
    assert set(runs.page(KEY, None, "", 10).items) == {older, newer}


def test_pages_show_each_run_once_and_the_newest_due_first(runs: RunStore) -> None:
    due_times = [NOON + number * 1_000 for number in range(23)]
    for due_at in due_times:
        runs.record(succeeded(run(due_at)))
    seen: list[int] = []
    before: str | None = ""
    while before is not None:
        page = runs.page(KEY, None, before, 5)
        assert len(page.items) <= 5
        seen.extend(each.due_at for each in page.items)
        before = page.next
    assert seen == due_times[::-1]


def test_pages_of_batches_show_each_run_once_by_due_time_and_index(runs: RunStore) -> None:
    places = [(due_at, index) for due_at in (NOON, NOON + 1_000) for index in range(40)]
    for due_at, index in places:
        runs.record(succeeded(run(due_at, index=index)))
    seen: list[tuple[int, int]] = []
    before: str | None = ""
    while before is not None:
        page = runs.page(KEY, None, before, 7)
        seen.extend((each.due_at, each.index) for each in page.items)
        before = page.next
    assert seen == places[::-1]


def test_a_page_without_batches_shows_the_runs_with_index_0(runs: RunStore) -> None:
    for due_at in (NOON, NOON + 1_000):
        for index in range(20):
            runs.record(succeeded(run(due_at, index=index)))
    first = runs.page(KEY, None, "", 1, with_batches=False)
    assert [(each.due_at, each.index) for each in first.items] == [(NOON + 1_000, 0)]
    assert first.next is not None
    second = runs.page(KEY, None, first.next, 5, with_batches=False)
    assert [(each.due_at, each.index) for each in second.items] == [(NOON, 0)]
    assert second.next is None


def test_the_newest_runs_of_several_keys_are_those_of_their_first_pages(runs: RunStore) -> None:
    for due_at in (NOON, NOON + 1_000, NOON + 2_000):
        for index in (0, 7):
            runs.record(succeeded(run(due_at, index=index)))
    other = replace(succeeded(run()), key=JobKey("default", "other"))
    runs.record(other)
    busy, without, only = runs.newest([KEY, JobKey("default", "never"), other.key], 2)
    assert [(each.due_at, each.index) for each in busy.items] == [(NOON + 2_000, 0), (NOON + 1_000, 0)]
    assert busy.next is not None
    assert (without.items, without.next) == ((), None)
    assert (only.items, only.next) == ((other,), None)
    assert list(runs.newest([], 2)) == []


def test_the_runs_beside_a_name_are_the_nearest_ones_of_other_names(runs: RunStore) -> None:
    for due_at in (NOON, NOON + 1_000, NOON + 2_000):
        runs.record(succeeded(run(due_at)))
    by_hand = replace(succeeded(run(NOON + 1_000)), demand=Demand("manual", "token"))
    of_former_job = succeeded(run(NOON + 1_000, uid="uid0000000000009"))
    runs.record(by_hand)
    runs.record(of_former_job)
    beside = [runs.beside(KEY, name) for name in (RunName(NOON, 0), RunName(NOON + 1_000, 0))]
    assert [[each and each.run_id for each in pair] for pair in beside] == [
        [None, f"{NOON + 1_000}-0"],
        [f"{NOON}-0", by_hand.run_id],
    ]
    before, after = runs.beside(KEY, RunName(NOON + 1_000, 0, by_hand.demand))
    assert (before and before.run_id, after) == (f"{NOON + 1_000}-0", succeeded(run(NOON + 2_000)))
    assert runs.beside(KEY, RunName(NOON + 9_000, 0)) == (succeeded(run(NOON + 2_000)), None)
    assert runs.beside(JobKey("default", "never"), RunName(NOON, 0)) == (None, None)


def test_beside_a_run_of_a_batch_are_others_of_it_unless_only_first_runs_are_asked_for(
    runs: RunStore,
) -> None:
    for due_at in (NOON, NOON + 1_000):
        for index in range(20):
            runs.record(succeeded(run(due_at, index=index)))
    for name, with_batches, places in (
        (RunName(NOON, 19), True, [(NOON, 18), (NOON + 1_000, 0)]),
        (RunName(NOON + 1_000, 5), True, [(NOON + 1_000, 4), (NOON + 1_000, 6)]),
        (RunName(NOON + 1_000, 0), False, [(NOON, 0), None]),
    ):
        pair = runs.beside(KEY, name, with_batches=with_batches)
        assert [each and (each.due_at, each.index) for each in pair] == places


def test_a_page_of_a_state_shows_the_runs_of_that_state_among_those_that_it_read(runs: RunStore) -> None:
    for number in range(10):
        made = run(NOON + number)
        runs.record(failed(made) if number % 5 == 0 else succeeded(made))
    first = runs.page(KEY, "failed", "", 5)
    assert [each.due_at for each in first.items] == [NOON + 5]
    assert first.next is not None
    second = runs.page(KEY, "failed", first.next, 5)
    assert [each.due_at for each in second.items] == [NOON]
    assert runs.page(KEY, "claimed", "", 5).items == ()


def test_a_job_without_runs_has_an_empty_page(runs: RunStore) -> None:
    page = runs.page(KEY, None, "", 5)
    assert (page.items, page.next) == ((), None)


def test_a_record_of_a_skipped_range_is_written_once_and_never_over_a_run(runs: RunStore) -> None:
    assert runs.record(SKIPPED)
    assert runs.record(SKIPPED)
    assert runs.get(KEY, SKIPPED.run_id) == SKIPPED
    there = run(due_at=NOON + 1)
    assert runs.claim(there, NOON) is None
    assert not runs.record(replace(SKIPPED, due_at=NOON + 1))
    assert stored(runs, there) == there


def test_a_skipped_trigger_is_not_delivered_afterwards(runs: RunStore) -> None:
    assert runs.record(SKIPPED)
    assert runs.claim(run(), NOON + 60_000) == SKIPPED
