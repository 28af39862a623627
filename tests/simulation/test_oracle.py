"""The oracle has no complaint about a trace in which every promise was kept, and names each broken one."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pytest
from tests.simulation.oracle.bulk_writes import NOT_WRITTEN
from tests.simulation.oracle.oracle import CHECKS
from tests.simulation.oracle.tale import Tale
from tests.simulation.traces.broken_batches import BROKEN_BATCHES, STORIES_OF_BATCHES
from tests.simulation.traces.broken_bulk_writes import (
    BROKEN_BULK_WRITES,
    EXCUSED_BULK_WRITES,
    STORIES_OF_BULK_WRITES,
)
from tests.simulation.traces.broken_bulks import BROKEN_BULKS, EXCUSED_BULKS, STORIES_OF_BULKS
from tests.simulation.traces.broken_calendars import BROKEN_CALENDARS, followed
from tests.simulation.traces.broken_ends import BROKEN_ENDS, EXCUSED_ENDS
from tests.simulation.traces.broken_leaving import BROKEN_LEAVING, EXCUSED_LEAVING, STORIES_OF_LEAVING
from tests.simulation.traces.broken_removal import BROKEN_REMOVAL
from tests.simulation.traces.broken_stacks import (
    BROKEN_AGES,
    BROKEN_LANES,
    BROKEN_LIMITS,
    BROKEN_LOSSES,
    BROKEN_SWITCH,
    BROKEN_WINDOWS,
)
from tests.simulation.traces.broken_turns import BROKEN_TURNS, undone
from tests.simulation.traces.broken_watches import BROKEN_WATCHES, watched
from tests.simulation.traces.doctored import (
    CALM_AT,
    Broken,
    Doctoring,
    Excused,
    Story,
    changed,
    complaints,
    later,
    of,
    with_,
    without,
)
from tests.simulation.traces.stories import (
    NOON,
    STORIES,
    THROUGH,
    UID,
    answered,
    cursor,
    deleted,
    delivered,
    every_minute,
    in_order,
    in_turn,
    line,
    outage,
    paused_for_a_while,
    put_off,
    removed,
    replaced,
    requested,
    retried,
    run,
    timer,
    written,
)
from tests.simulation.traces.stories_of_ends import STORIES_OF_ENDS
from tests.simulation.traces.trace import (
    Answered,
    Buried,
    Concluded,
    CursorStored,
    Event,
    Mishap,
    Requested,
    RunAsked,
    RunStored,
    TimerStored,
    Written,
)

from sweephand.web.routes import bulk

THIRD = NOON + 180_000
SIXTH = NOON + 360_000


def moved(since_s: int) -> list[Event]:
    """A PATCH at 375 s that moves a job by half a minute, and rules from then on."""
    definition = {"schedule": "@every 60s", "jitter": "1m", "data": '"x"'}
    since = NOON + since_s * 1_000
    return [written("patch", "2-b", 375, definition=definition, jitter_ms=30_000, since=since)]


def held_back(state: str, late_ms: int) -> RunStored:
    """A claim of the first run that the resume of paused_for_a_while skips, or its release."""
    before = None if state == "claimed" else "claimed"
    return replace(run(requested(240, late_ms=late_ms), before, state), attempts=1)


def reported_failed(attempt: int) -> Doctoring:
    """The sender of the sixth trigger crashes. Its consumer reports a failure, and it is given up."""
    trigger_id, run_id = f"{UID}-{SIXTH}-0", f"{SIXTH}-0"
    return lambda events: in_order(
        without(of(Concluded, trigger_id=trigger_id), of(RunStored, run_id=run_id))(events),
        RunAsked(SIXTH + 5_000, "fail", "job", UID, run_id, attempt),
        Buried(SIXTH + 6_000, trigger_id, "Attempt 1 of 1 failed: It failed at attempt 1."),
    )


def ended_by_itself(until_s: int, catchup: str | None = None) -> Doctoring:
    """The resume that ends a pause is none of a client, who asked for that with the pause."""
    end = {"until": NOON + until_s * 1_000, "catchup": catchup}

    def doctored(events: list[Event]) -> list[Event]:
        asked = changed(of(Written, verb="pause"), **end)(events)
        return changed(of(Written, verb="resume"), by_itself=True)(asked)

    return doctored


BROKEN: Sequence[Broken] = [
    # No trigger is lost.
    (every_minute, without(of(Requested, due_s=600)), "no request left for it"),
    (outage, without(of(Requested, due_s=480)), "no request left for it"),
    # No request is early.
    (every_minute, changed(of(Requested, due_s=180), clock_at=THIRD - 1), "early"),
    (every_minute, changed(of(Requested, due_s=180), at=THIRD - 45_001), "earlier than any clock"),
    # No request is for a trigger that was not owed.
    (paused_for_a_while, with_(*delivered(240, late_ms=90_000)), "was held"),
    (every_minute, changed(of(Requested, due_s=180), sequence=4), "has the number 4 and is occurrence 3"),
    (every_minute, changed(of(Requested, due_s=180), uid="u2"), "of a job that was never written"),
    # No request begins after a cancel.
    (removed, with_(*delivered(360, late_ms=31_001)), "its job was deleted"),
    (paused_for_a_while, with_(*delivered(180, late_ms=31_100, attempt=2)), "its job was paused"),
    # Misfires of a pause.
    (paused_for_a_while, with_(*delivered(300, "2-b", late_ms=91_000)), "was a misfire of the pause"),
    (paused_for_a_while, without(of(RunStored, reason="misfire")), "and there is no record of it"),
    # Triggers by hand.
    (every_minute, with_(answered("trigger", "1-a", 300)), "triggers by hand of"),
    # One identity.
    (every_minute, with_(replace(requested(180), trigger_id="other")), "left as"),
    (every_minute, changed(of(Requested, due_s=180), trigger_id=f"{UID}-{SIXTH}-0"), "names 2 triggers"),
    (retried, changed(of(Requested, due_s=180, attempt=2), sequence=7), "has the numbers [3, 7]"),
    # Data of the present.
    (replaced, changed(of(Requested, due_s=590), data='"x"'), "carries '\"x\"'"),
    # `repeats` holds.
    (replaced, with_(*delivered(990, "2-b", sequence=6, data='"y"')), "has the number 6 of 5"),
    # What is acknowledged stands.
    (every_minute, with_(answered("delete", "", 899)), "was acknowledged, and it stands"),
    # A client's own write.
    (
        every_minute,
        with_(replace(answered("replace", "", 1), error="It is there.", refused_after=NOON - 1_000)),
        "though nobody else had changed it",
    ),
    (every_minute, with_(replace(answered("delete", "", 1), uid=None, changed=(UID, "u2"))), "changed u"),
    # Cuts.
    (replaced, changed(of(Written, rev="2-b"), cut=NOON + 500_000), "not between its request and its commit"),
    # Where reigns begin.
    (every_minute, changed(of(Written), since=NOON), "just before its request"),
    (replaced, changed(of(Written, rev="2-b"), since=NOON + 390_005), "just before its request"),
    # Pauses.
    (paused_for_a_while, changed(of(Written, verb="pause"), paused_at=None), "did not pause it"),
    (paused_for_a_while, changed(of(Written, verb="pause"), paused_at=NOON), "has its pause at"),
    (paused_for_a_while, changed(of(Written, verb="resume"), paused_at=NOON + 210_000), "left it paused"),
    (paused_for_a_while, changed(of(Written, verb="resume"), rev="1-a"), "wrote no revision of its own"),
    # Pauses that end by themselves.
    (paused_for_a_while, changed(of(Written, verb="resume"), by_itself=True), "nobody had asked for that"),
    (paused_for_a_while, ended_by_itself(391), "was resumed by itself at"),
    (paused_for_a_while, ended_by_itself(390, "all"), "no request left for it"),
    (paused_for_a_while, ended_by_itself(390, "none"), "was a misfire of the pause"),
    (
        paused_for_a_while,
        lambda events: without(of(Written, verb="resume"))(ended_by_itself(390)(events)),
        "and nothing ended it",
    ),
    # Jitter.
    (every_minute, changed(of(Written), jitter_ms=1), "beyond its window"),
    # Each time of a schedule once.
    (every_minute, with_(*moved(since_s=380), *delivered(390, "2-b")), "of its schedule fired at"),
    (every_minute, with_(*moved(since_s=450)), "of its schedule belongs to no revision"),
    # Cursors.
    (every_minute, with_(cursor(timer(300, at_s=0), 890, 99)), "went back"),
    (every_minute, with_(cursor(timer(960, at_s=0), 901, 3)), "by a sweeper that had lost the lease"),
    (every_minute, without(of(CursorStored)), "has not reached"),
    # Turns of shards, and ticks in time.
    (every_minute, later(of(CursorStored), 65_000), "reached 5000 ms too late"),
    # The direct window.
    (
        every_minute,
        changed(of(TimerStored, due_s=300), armed_at=NOON + 66_000),
        "in reach of a sweep before its commit",
    ),
    # Chains.
    (every_minute, without(of(TimerStored, due_s=1020)), "no timer of revision 1-a"),
    (every_minute, with_(replace(timer(960, at_s=700), entry="x")), "was written at two places"),
    (replaced, with_(timer(990, "2-b", at_s=700)), "its series ends before that"),
    (removed, with_(timer(1_100, at_s=1_000)), "was written"),
    (replaced, with_(timer(1_140, at_s=1_000)), "was written"),
    (every_minute, with_(timer(420, "9-z", at_s=0), timer(480, "9-z", at_s=360)), "was never committed"),
    # Runs.
    (
        every_minute,
        with_(run(requested(600, late_ms=50), "succeeded", "retrying")),
        "from succeeded to retrying",
    ),
    (retried, with_(run(requested(180, late_ms=30_000), "skipped", "claimed")), "from skipped to claimed"),
    (
        retried,
        changed(of(RunStored, state="succeeded", run_id=f"{THIRD}-0"), attempts=2),
        "went back to attempt",
    ),
    (paused_for_a_while, with_(held_back("claimed", 30)), "went back to attempt"),
    (retried, without(of(Requested, due_s=180, attempt=2)), "skips the one before it"),
    (retried, with_(requested(180, attempt=2, late_ms=40_000)), "and at"),
    (
        every_minute,
        with_(Buried(NOON + 700_000, f"{UID}-{SIXTH}-0", "Response 400 is final.")),
        "never failed",
    ),
    (every_minute, reported_failed(attempt=2), "never failed"),
    (
        every_minute,
        with_(
            *[
                Mishap(NOON + 700_000, "kill", f"deliver {each} making a request of x-1-0")
                for each in range(6)
            ]
        ),
        "x-1-0 crashed 6 functions",
    ),
    # A pause holds no run that a caller has asked for by hand.
    (
        retried,
        lambda events: in_order(
            (
                replace(each, trigger_id=f"{UID}-manual-{NOON + 180_000}-0-abc")
                if isinstance(each, Requested | Concluded) and str(NOON + 180_000) in each.trigger_id
                else each
                for each in without(of(Requested, attempt=3), of(Concluded, attempt=3))(events)
            ),
            written("pause", "1-a", 1_100, paused_at=NOON + 1_100_000, cut=NOON + 5, since=NOON - 1),
            answered("patch", "1-a", 1_900),
        ),
        f"manual-{NOON + 180_000}-0-abc was last tried",
    ),
    (
        retried,
        lambda events: in_order(
            without(of(Requested, attempt=3), of(Concluded, attempt=3), of(RunStored, attempts=3))(events),
            deleted(400),
            answered("delete", "", 1_900),
        ),
        "is retrying, and its job was deleted",
    ),
]


EXCUSED: Sequence[Excused] = [
    # A deleted job owes nothing, and a paused job's triggers are held.
    (every_minute, lambda events: in_order(without(of(Requested, due_s=900))(events), deleted(901))),
    (
        every_minute,
        lambda events: in_order(
            without(of(Requested, due_s=900), of(TimerStored, due_s=1020))(events),
            written("pause", "1-a", 901, paused_at=NOON + 901_000, cut=NOON + 5, since=NOON - 1),
        ),
    ),
    # A request may leave up to a second after the cancel: its job was read before.
    (removed, later(of(Requested, due_s=360), 30_980)),
    # Before the calm a duplicate may come. It carries the same id.
    (every_minute, with_(requested(60, late_ms=400, attempt=1))),
    # A run by hand is no occurrence, needs no due time, and runs though its job is paused.
    (
        paused_for_a_while,
        with_(replace(requested(300, "1-a"), trigger_id="manual-1", is_on_demand=True, data='"z"')),
    ),
    # A redrive attempts a failed run again.
    (
        retried,
        with_(
            RunAsked(NOON + 150_000, "redrive", "job", UID, f"{NOON + 120_000}-0", 1),
            run(requested(120, late_ms=760_000), "failed", "claimed"),
        ),
    ),
    # An occurrence of a timer that was put off is a misfire if the copy was found too late.
    (partial(put_off, 800), without(of(Requested, due_s=300), of(Requested, due_s=360))),
    # A retry that lies ahead is in the wheel.
    (
        retried,
        lambda events: in_order(
            without(of(Requested, attempt=3), of(Concluded, attempt=3), of(RunStored, attempts=3))(events),
            timer(9_000, at_s=200, kind="retry", what=f"{UID}-{THIRD}-0,3"),
        ),
    ),
    # A dead letter ends a trigger, too.
    (
        retried,
        lambda events: in_order(
            without(of(Requested, attempt=3), of(Concluded, attempt=3), of(RunStored, attempts=3))(events),
            Buried(NOON + 200_000, f"{UID}-{THIRD}-0", "Attempt 2 of 2 failed: Response 503."),
        ),
    ),
    # A first attempt that a pause held back leaves no record, and the resume skips the trigger.
    (paused_for_a_while, with_(held_back("claimed", 30), held_back("released", 40))),
    # A pause ended by itself, as its client had asked.
    (paused_for_a_while, ended_by_itself(390)),
    (paused_for_a_while, ended_by_itself(390, "latest")),
    # A claim that is undone before a request leaves does not keep others from beginning.
    (in_turn, undone()),
    # A skipped trigger may be in the line until the line is written without it.
    (in_turn, with_(line(301, 180, 240, 300))),
    # A consumer's report of a failure counts, even if its request is still open.
    (every_minute, reported_failed(attempt=1)),
    # The clock of the writer before may have been ahead when it made its cut.
    (replaced, changed(of(Written, rev="1-a"), ahead_ms=30_000, cut=NOON + 30_005)),
]


ALL_STORIES = [*STORIES, *STORIES_OF_ENDS, *STORIES_OF_BATCHES, *STORIES_OF_BULKS, *STORIES_OF_BULK_WRITES]
ALL_STORIES += [*STORIES_OF_LEAVING, watched, followed]

ALL_BROKEN = [*BROKEN, *BROKEN_ENDS, *BROKEN_BULKS, *BROKEN_LEAVING, *BROKEN_REMOVAL, *BROKEN_BULK_WRITES]
ALL_BROKEN += [*BROKEN_BATCHES, *BROKEN_LIMITS, *BROKEN_SWITCH, *BROKEN_TURNS, *BROKEN_WATCHES]
ALL_BROKEN += [*BROKEN_LANES, *BROKEN_LOSSES, *BROKEN_AGES, *BROKEN_CALENDARS]
ALL_BROKEN += [*BROKEN_WINDOWS]

ALL_EXCUSED = [*EXCUSED, *EXCUSED_ENDS, *EXCUSED_BULKS, *EXCUSED_LEAVING, *EXCUSED_BULK_WRITES]


@pytest.mark.parametrize("story", ALL_STORIES, ids=lambda story: story.__name__)
def test_the_oracle_complains_of_nothing_in_a_trace_that_keeps_every_promise(story: Story) -> None:
    assert complaints(story()) == []


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("story", "doctoring", "expected"), ALL_BROKEN, ids=[expected for _, _, expected in ALL_BROKEN]
)
def test_a_broken_promise_is_named(story: Story, doctoring: Doctoring, expected: str) -> None:
    found = complaints(doctoring(story()))
    assert any(expected in each for each in found), found


def test_every_check_has_a_trace_that_it_complains_of() -> None:
    tales = [Tale(doctoring(story()), THROUGH, CALM_AT) for story, doctoring, _ in ALL_BROKEN]
    silent = [check.__name__ for check in CHECKS if not any(list(check(tale)) for tale in tales)]
    assert not silent


@pytest.mark.parametrize(("story", "doctoring"), ALL_EXCUSED)
def test_the_oracle_does_not_complain_of_a_trace_that_the_protocol_allows(
    story: Story, doctoring: Doctoring
) -> None:
    assert complaints(doctoring(story())) == []


def test_an_attempt_that_was_not_made_is_skipped_only_by_a_redrive_of_its_own() -> None:
    fourth = requested(120, attempt=4, late_ms=700_000)
    buried = Buried(NOON + 600_000, fourth.trigger_id, "Attempt 3 could not be made within retry.maxAge.")
    redrives = [
        run(requested(120, attempt=attempt, late_ms=attempt * 100_000), "failed", "claimed")
        for attempt in (2, 4)
    ]
    for begun, is_named in ((redrives, False), (redrives[:1], True)):
        found = complaints(with_(buried, fourth, *begun)(retried()))
        assert any("skips the one before it" in each for each in found) == is_named


def test_a_refused_write_is_not_expected_to_stand() -> None:
    refusal = Answered(NOON + 400_000, "replace", "job", UID, "5-e", error="Ask again.")
    assert complaints(in_order(every_minute(), refusal)) == []


def test_no_number_of_updates_excuses_a_trigger_that_does_not_leave() -> None:
    writes = [written("patch", f"{number}-p", 899 + number / 100) for number in range(2, 24)]
    story = without(of(Requested, due_s=840), of(Concluded), of(TimerStored, due_s=1020))(every_minute())
    for number in (len(writes), 18):
        last = timer(1020, f"{number + 1}-p", at_s=900)
        found = complaints(in_order(story, writes[:number], last))
        assert any("no request left for it" in each for each in found)


def test_the_oracle_knows_the_words_by_which_the_api_says_that_a_job_was_not_written() -> None:
    assert NOT_WRITTEN in bulk._NO_TIME.lower()
