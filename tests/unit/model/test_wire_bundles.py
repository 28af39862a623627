"""Bundles: every trigger reads back as it was written, and the message is small."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.messages import NOON, counts, instants, names

from sweephand.base.errors import PoisonError
from sweephand.base.instants import HOUR_MS
from sweephand.model.definition import Payload
from sweephand.model.job import JobKey
from sweephand.model.run_id import Demand
from sweephand.model.trigger import BatchPlace, BundleMessage, Failure, Redrive, Trigger, TriggerMessage
from sweephand.model.wire import decode, encode, fits_bundle


def attempt(trigger: Trigger, *, is_owed: bool = False) -> TriggerMessage:
    return TriggerMessage(trigger, not_before=trigger.due_at, is_owed=is_owed)


def trigger(number: int = 0, **fields: Any) -> Trigger:
    job = f"nightly-report-{number:03}"
    first = Trigger(JobKey("team", job), f"{number:016}", f"12-{number:016}", NOON + number, number, NOON)
    return first._replace(**fields)


triggers = st.builds(
    Trigger,
    st.builds(JobKey, st.just("team"), names),
    names,
    names,
    instants,
    counts,
    instants,
    counts,
    demand=st.none(),
    batch=st.none(),
)


@given(st.lists(st.tuples(triggers, st.booleans()), min_size=1, max_size=30))
def test_a_bundle_reads_back_as_it_was_written(drawn: list[tuple[Trigger, bool]]) -> None:
    drawn.sort(key=lambda pair: pair[0].due_at)
    bundle = BundleMessage(tuple(attempt(each, is_owed=is_owed) for each, is_owed in drawn))
    assert decode(encode(bundle)) == bundle


def test_the_wire_form_of_a_bundle_never_changes_since_old_messages_wait_in_queues() -> None:
    first = trigger(1)
    second = first._replace(due_at=first.due_at + 250, sequence=2)
    bundle = BundleMessage(
        (attempt(first), attempt(second, is_owed=True), attempt(trigger(700, index=3, armed_at=NOON - 5)))
    )
    assert encode(bundle) == (
        '{"v":1,"kind":"bundle","ns":"team","at":1795262400001,'
        '"revs":{"z":2,"job":["nightly-report-001","nightly-report-700"],'
        '"uid":["0000000000000001","0000000000000700"],'
        '"rev":["12-0000000000000001","12-0000000000000700"],"armed":[1795262400000,1795262399995]},'
        '"due":{"z":3,"n":[0,0,1],"after":[0,250,699],"seq":[1,2,700],"index":[0,0,3],'
        '"owed":[false,true,false]}}'
    )


def test_a_bundle_of_a_batch_names_the_batch_once() -> None:
    first = trigger(1)._replace(batch=BatchPlace(9_000, HOUR_MS, 0))
    after = [first._replace(index=each, batch=BatchPlace(9_000, HOUR_MS, 400 * each)) for each in range(1, 3)]
    bundle = BundleMessage(
        tuple(TriggerMessage(each, not_before=each.at) for each in (first, *after, trigger(1500)))
    )
    assert encode(bundle) == (
        '{"v":1,"kind":"bundle","ns":"team","at":1795262400001,'
        '"revs":{"z":2,"job":["nightly-report-001","nightly-report-1500"],'
        '"uid":["0000000000000001","0000000000001500"],'
        '"rev":["12-0000000000000001","12-0000000000001500"],"armed":[1795262400000],'
        '"due":[1795262400001,null],"batch":[{"n":9000,"w":3600000},null]},'
        '"due":{"z":4,"n":[0,0,0,1],"after":[0,400,800,1499],"seq":[1,1,1,1500],'
        '"index":[0,1,2,0]}}'
    )
    assert decode(encode(bundle)) == bundle


def test_twenty_five_triggers_take_about_two_kilobytes_and_never_much_more_than_ten() -> None:
    assert len(encode(BundleMessage(tuple(attempt(trigger(each)) for each in range(25))))) < 2_800
    longest = [
        trigger(each, key=JobKey("n" * 128, f"{each:03}" + "j" * 125), due_at=NOON + each)
        for each in range(25)
    ]
    assert len(encode(BundleMessage(tuple(map(attempt, longest))))) < 6_000


@pytest.mark.parametrize(
    "other",
    [
        {"not_before": NOON + 1},
        {"attempt": 2},
        {"first_attempt_at": NOON},
        {"faults": 1},
        {"redrive": Redrive(2, None)},
        {"payload": Payload.of("{}")},
        {"crashes": 1},
        {"had_token": True},
        {"last_failure": Failure(1, "Response 503.", 503)},
        {"trigger": trigger(demand=Demand("manual", "token"))},
    ],
    ids=lambda other: next(iter(other)),
)
def test_only_a_first_attempt_that_nothing_happened_to_fits_a_bundle(other: dict[str, Any]) -> None:
    assert fits_bundle(attempt(trigger()))
    assert fits_bundle(attempt(trigger(index=7), is_owed=True))
    assert not fits_bundle(attempt(trigger())._replace(**other))


@pytest.mark.parametrize(
    "broken",
    [
        {"due": []},
        {"due": None},
        {"due": {"z": 1}},
        {"due": {"z": -1, "seq": [1]}},
        {"due": {"z": 2, "seq": [1, 2, 3]}},
        {"due": {"z": 10**9, "seq": [1]}},
        {"due": {"z": 1, "seq": [1], "n": [1]}},
        {"due": {"z": 1, "seq": [1], "n": [-1]}},
        {"due": {"z": 1, "seq": [1], "after": [-1]}},
        {"due": {"z": 1, "seq": [1], "owed": [1]}},
        {"due": {"z": 1, "seq": 1}},
        {"revs": {"z": 0}},
        {"revs": {"z": 1, "job": ["job"]}},
        {"revs": ["job"]},
        {"ns": 5},
        {"at": None},
    ],
    ids=json.dumps,
)
def test_a_bundle_that_is_damaged_is_poison(broken: dict[str, Any]) -> None:
    text = encode(BundleMessage((attempt(trigger()),)))
    with pytest.raises(PoisonError):
        decode(json.dumps(json.loads(text) | broken))


def test_a_bundle_of_a_later_version_may_be_larger_than_those_of_this_one() -> None:
    large = BundleMessage(tuple(attempt(trigger(each)) for each in range(500)))
    assert decode(encode(large)) == large
