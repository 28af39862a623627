"""What a waiting trigger refers to lives for as long as it may wait: every life beside every wait.

A wait with an end is compared with each life, by the bounds that the API checks. A wait without an end is no
longer than a life if something often enough renews what is referred to. The same holds if something often
enough looks whether it is still needed. `LIVES` says what that is. A bound that is raised, a life that is
shortened, or a mechanism that is taken away fails here.
"""

import importlib
from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal, NamedTuple, get_args

import pytest
from tests.fakes.acceptance import due_async
from tests.fakes.deliveries import FAILED, answers, due, handle, run_of
from tests.fakes.stack_queues import RETENTION_MS as QUEUE_RETENTION_MS
from tests.fakes.world import World, definition

from sweephand.base import limits, timing
from sweephand.base.instants import DAY_MS, MINUTE_MS
from sweephand.jobs.fields.field import Duration, Field, Object
from sweephand.jobs.fields.registry import FIELDS
from sweephand.model.definition import HISTORY_RETENTION_MIN_MS, RETRY_DEFAULT
from sweephand.runs import audit_rounds, batch_progress, overlap

#: The waits without an end. What waits in the `line` of a policy waits for a permit, or for the end of the
#: policy's pause. A `window` ends, but another one may follow it.
Endless = Literal["paused", "window", "turn", "slot", "line", "unreadable", "off"]

#: A timer is found, and a message is received, at most so much later than planned. What is later is lost.
LATE_MS: Final = max(timing.TIMER_RETENTION_MS, QUEUE_RETENTION_MS)

#: A round of the audit of jobs looks at a thing at the latest so long after the round before.
AUDITED_MS: Final = timing.AUDIT_ROUND_MS + audit_rounds._PATIENCE_MS


class Renewed(NamedTuple):
    """What keeps a thing, or finds that it is needed no more, and how long that takes at most each time."""

    by: str
    within_ms: int


class Never(NamedTuple):
    """Why a thing has no end during the wait, or why nothing refers to it."""

    reason: str


class Open(NamedTuple):
    """What is not kept, and where that is said."""

    said_in: str


class Life(NamedTuple):
    """How long a thing lives after its clock starts, and how it outlasts each wait without an end."""

    starts: str
    life_ms: int
    endless: dict[Endless, Renewed | Never | Open]


SENT_AGAIN: Final = Renewed("sweephand.runs.requeue:Requeue.put_back", timing.QUEUE_DELAY_MAX_MS)
HELD_AGAIN: Final = Renewed("sweephand.runs.gates:Gates.window", timing.WINDOW_ROUND_MS)
ARRIVES: Final = Renewed("sweephand.runs.overlap_queue:OverlapQueue.arrive", timing.QUEUE_DELAY_MAX_MS)
_SAID_IN: Final = "docs/decisions/200-every-life-is-compared-with-every-wait.md"
UNREADABLE: Final = Open(_SAID_IN)
LINES: Final = Open(_SAID_IN)
BATCHES: Final = Open(_SAID_IN)
OWED: Final = Never("a trigger that waits was judged before, as its message says (is_owed)")
NOT_LIMITED: Final = Never("only a first attempt waits for a slot, and it has no record yet (Valve.admit)")


OFF: Final = Never("DynamoDB removes nothing from the second day off on (TimeOff)")
DATA_WHILE_OFF: Final = Open(_SAID_IN)


#: How long the record of a run that is over is kept at least.
SHORTEST_RECORD_MS: Final = definition(historyRetention="1s").history_retention_ms

#: Every thing with an end that something waiting refers to. What has no end, or is read when the attempt is
#: made, is not here. That is the job's own data (a trigger is delivered with the present data), and named
#: secrets. It is also a policy with what waits under it and its gates, but for those of keys. It is also the
#: settings and defaults of a namespace. No trigger refers to a dead-letter queue or to keys.
LIVES: Final[dict[str, Life]] = {
    "data of a trigger": Life(
        "when it is stored or renewed",
        timing.PAYLOAD_KEPT_MS,
        {
            "paused": SENT_AGAIN,
            "window": HELD_AGAIN,
            "turn": SENT_AGAIN,
            "slot": SENT_AGAIN,
            "line": Renewed("sweephand.runs.audit_lines:LineAudit.keep", AUDITED_MS),
            "unreadable": UNREADABLE,
            "off": DATA_WHILE_OFF,
        },
    ),
    "record of a run that is over": Life(
        "when its last attempt begins",
        SHORTEST_RECORD_MS,
        {
            "paused": Renewed("sweephand.runs.gates:Gates._held", DAY_MS),
            "window": HELD_AGAIN,
            "turn": ARRIVES,
            "slot": Renewed("sweephand.runs.gates:Gates.valve", timing.TIMER_RETENTION_MS),
            "line": Renewed("sweephand.runs.audit_lines:LineAudit.keep", AUDITED_MS),
            "unreadable": UNREADABLE,
            "off": OFF,
        },
    ),
    "record of a run that is not over": Life(
        "when its attempt or deadline comes",
        timing.TIMER_RETENTION_MS,
        {
            "paused": Renewed("sweephand.runs.requeue:Retention.keep_run", DAY_MS),
            "window": Renewed("sweephand.runs.requeue:Retention.keep_run", timing.WINDOW_ROUND_MS),
            "turn": Renewed("sweephand.runs.requeue:Retention.keep_run", timing.QUEUE_DELAY_MAX_MS),
            "slot": NOT_LIMITED,
            "line": Renewed("sweephand.runs.audit_lines:LineAudit.keep", AUDITED_MS),
            "unreadable": UNREADABLE,
            "off": OFF,
        },
    ),
    "job": Life(
        "when it expires",
        timing.TIMER_RETENTION_MS,
        {
            "paused": Never("a paused job does not expire (Pauser)"),
            "window": Renewed("sweephand.runs.requeue:Retention.keep_job", timing.WINDOW_ROUND_MS),
            "turn": Renewed("sweephand.runs.requeue:Retention.keep_job", timing.QUEUE_DELAY_MAX_MS),
            "slot": Renewed("sweephand.runs.requeue:Retention.keep_job", timing.QUEUE_DELAY_MAX_MS),
            "line": Renewed("sweephand.runs.audit_lines:LineAudit.keep_of", AUDITED_MS),
            "unreadable": UNREADABLE,
            "off": OFF,
        },
    ),
    "earlier revision of a job": Life(
        "when the revision ends",
        timing.REVISION_RETENTION_MS,
        {
            "paused": OWED,
            "window": OWED,
            "turn": OWED,
            "slot": OWED,
            "line": OWED,
            "unreadable": UNREADABLE,
            "off": OFF,
        },
    ),
    "line of a job whose runs take turns": Life(
        "when it is written",
        overlap.LINE_RETENTION_MS,
        {
            "paused": Renewed("sweephand.runs.overlap_queue:OverlapQueue.extend", DAY_MS),
            "window": Renewed("sweephand.runs.overlap_queue:OverlapQueue.extend", timing.WINDOW_ROUND_MS),
            "turn": ARRIVES,
            "slot": Never("a trigger has its slot before it enters the line of its job"),
            "line": LINES,
            "unreadable": UNREADABLE,
            "off": OFF,
        },
    ),
    "gate of a key, or a bucket of its rate": Life(
        "when it is written",
        timing.KEY_GATE_RETENTION_MS,
        {
            "paused": Never("a trigger of a paused job waits in the delivery queue, and has no slot"),
            "window": Never("a trigger that a window holds waits as a timer, and has no slot"),
            "turn": Never("a trigger that waits for its turn has given its slot back"),
            "slot": Never("a trigger has its slot of that limit before it comes to a gate"),
            "line": Renewed("sweephand.runs.audit_lines:LineAudit.keep", AUDITED_MS),
            "unreadable": Never("a timer has no slot of a gate"),
            "off": OFF,
        },
    ),
    "progress of a batch": Life(
        "when a run of the batch is over",
        batch_progress._WAIT_MAX_MS,
        dict.fromkeys(get_args(Endless), BATCHES),
    ),
    "timer or message": Life(
        "when the timer is due, or the message is sent",
        min(timing.TIMER_RETENTION_MS, QUEUE_RETENTION_MS),
        {
            "paused": SENT_AGAIN,
            "window": HELD_AGAIN,
            "turn": SENT_AGAIN,
            "slot": SENT_AGAIN,
            "line": Never("its place is an entry of the line"),
            "unreadable": Renewed("sweephand.wheel.span:PUT_OFF_MS", 5 * MINUTE_MS),
            "off": Renewed("sweephand.runs.time_off:TimeOff.keep", timing.MESSAGE_OLD_MS + DAY_MS),
        },
    ),
}


def durations(fields: Iterable[Field], at: str = "") -> Iterator[tuple[str, int]]:
    """The place of each duration in a job, and the most ms that the API accepts there."""
    for each in fields:
        if isinstance(each.shape, Duration):
            yield at + each.name, limits.table()[each.shape.most] * DAY_MS
        elif isinstance(each.shape, Object):
            yield from durations(each.shape.fields, f"{each.name}/")


#: How long each wait with an end lasts at most.
BOUNDED_MS: Final[dict[str, int]] = {
    **dict(durations(FIELDS)),
    "a notification": RETRY_DEFAULT.age_max_ms,
}

#: The durations of a job that say how long something is kept, or judged, and for which no trigger waits.
NO_WAITS: Final = {"catchup/window", "alertAfter", "historyRetention", "retention"}
WAITS_MS: Final = {name: longest for name, longest in BOUNDED_MS.items() if name not in NO_WAITS}


def renewals() -> Iterator[tuple[str, str, Renewed, int]]:
    for name, life in LIVES.items():
        for wait, how in life.endless.items():
            if isinstance(how, Renewed):
                yield name, wait, how, life.life_ms


@pytest.mark.parametrize("name", LIVES)
def test_each_life_is_compared_with_each_wait_without_an_end(name: str) -> None:
    assert set(LIVES[name].endless) == set(get_args(Endless))


@pytest.mark.parametrize(("name", "wait", "how", "life_ms"), list(renewals()))
def test_what_has_an_end_is_renewed_before_that_for_as_long_as_the_wait_lasts(
    name: str, wait: str, how: Renewed, life_ms: int
) -> None:
    module, _, path = how.by.partition(":")
    found = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    assert found is not None
    assert how.within_ms <= life_ms, f"{name} may end during the wait: {wait}"


@pytest.mark.parametrize("how", [how for life in LIVES.values() for how in life.endless.values()])
def test_what_is_not_kept_is_said_in_a_page(how: Renewed | Never | Open, pytestconfig: pytest.Config) -> None:
    if isinstance(how, Open):
        assert (pytestconfig.rootpath / how.said_in).exists()


def test_every_duration_of_a_job_is_a_wait_or_none() -> None:
    assert {*WAITS_MS, *NO_WAITS} == {
        "retry/maxAge",
        "retry/initialDelay",
        "retry/maxDelay",
        "catchup/window",
        "batch/window",
        "heartbeatTimeout",
        "alertAfter",
        "maxRunTime",
        "historyRetention",
        "retention",
        "a notification",
    }


@pytest.mark.parametrize("wait", WAITS_MS)
def test_data_that_is_renewed_before_a_wait_outlasts_it(wait: str) -> None:
    assert WAITS_MS[wait] + LATE_MS <= timing.PAYLOAD_KEPT_MS


@pytest.mark.parametrize("wait", WAITS_MS)
def test_the_record_of_a_run_outlasts_each_copy_of_its_message(wait: str) -> None:
    written: dict[str, Any] = {"retry": {"maxAge": f"{WAITS_MS[wait] // DAY_MS}d"}, "historyRetention": "1s"}
    shortest = definition(**written).history_retention_ms
    longest_copy_ms = WAITS_MS[wait] if wait.startswith("retry") else RETRY_DEFAULT.age_max_ms
    assert shortest >= longest_copy_ms + QUEUE_RETENTION_MS
    assert shortest >= HISTORY_RETENTION_MIN_MS > QUEUE_RETENTION_MS


def test_the_record_of_a_retry_outlasts_the_longest_delay(world: World) -> None:
    longest = f"{limits.RETRY_DAYS_MAX}d"
    retry = {"maxAge": longest, "initialDelay": longest, "maxDelay": longest}
    message = due(world, retry=retry, historyRetention="1s", retention="0s")
    world.ids.fraction = lambda: 0.9  # type: ignore[method-assign]
    answers(world, FAILED)
    assert handle(world, message).name == "retrying"
    run = run_of(world)
    assert (run.expires_at or 0) >= (run.next_attempt_at or 0) + LATE_MS
    removed_at = world.stored().removed_at
    assert removed_at is not None
    assert removed_at >= (run.next_attempt_at or 0) + LATE_MS


def test_the_record_and_the_job_of_an_accepted_run_outlast_the_longest_run(world: World) -> None:
    longest = f"{limits.RUN_DAYS_MAX}d"
    _, message = due_async(
        world, maxRunTime=longest, heartbeatTimeout=longest, historyRetention="1s", retention="0s"
    )
    assert handle(world, message).name == "running"
    run = run_of(world)
    assert (run.expires_at or 0) >= (run.run_until or 0) + LATE_MS
    removed_at = world.stored().removed_at
    assert removed_at is not None
    assert removed_at >= (run.run_until or 0) + LATE_MS


def test_the_gate_of_a_key_outlasts_the_longest_run_and_the_message_of_its_end() -> None:
    assert WAITS_MS["maxRunTime"] + LATE_MS <= timing.KEY_GATE_RETENTION_MS
    assert limits.POLICY_RATE_PER_DAYS_MAX * DAY_MS < timing.KEY_GATE_RETENTION_MS


def test_an_earlier_revision_outlasts_its_last_timer_the_message_of_that_and_a_batch() -> None:
    assert (
        timing.TIMER_RETENTION_MS + QUEUE_RETENTION_MS + WAITS_MS["batch/window"]
    ) <= timing.REVISION_RETENTION_MS


def test_a_timer_is_there_for_as_long_as_a_misfire_or_a_watch_may_be_late() -> None:
    assert BOUNDED_MS["catchup/window"] <= timing.TIMER_RETENTION_MS
    assert 2 * BOUNDED_MS["alertAfter"] <= timing.TIMER_RETENTION_MS


def test_a_secret_that_was_rotated_works_until_every_process_knows_the_new_one() -> None:
    read_again_ms = max(timing.SECRETS_AGE_MAX_MS, timing.NAMED_SECRETS_AGE_MAX_MS)
    assert read_again_ms + timing.CLOCK_SKEW_MAX_MS < timing.SECRET_OVERLAP_MS


def test_whatever_ends_lasts_until_a_stack_that_is_off_keeps_it() -> None:
    for name, life in LIVES.items():
        assert life.life_ms > timing.OFF_LONG_MS + timing.BUCKET_MS, name


def test_data_that_is_renewed_before_a_wait_outlasts_thirty_days_off() -> None:
    for longest in WAITS_MS.values():
        assert longest + LATE_MS + 30 * DAY_MS <= timing.PAYLOAD_KEPT_MS
