"""Whether a simulated world has come to rest, and what the API says of it then."""

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Final

from tests.fakes.doubles import HandClock
from tests.simulation.oracle.explain import (
    Explained,
    Forecasted,
    counts_are_what_consumers_saw,
    explanations_are_true,
    forecast_is_what_jobs_owe,
    runs_that_need_a_look_are_listed,
)
from tests.simulation.oracle.tale import Tale
from tests.simulation.traces.chronicle import Chronicle
from tests.simulation.traces.trace import Requested, RunStored
from tests.simulation.world.delivery_queues import DeliveryQueues
from tests.simulation.world.faults import stream

from sweephand.base.errors import NotFoundError
from sweephand.base.instants import HOUR_MS, MINUTE_MS, Instant
from sweephand.jobs.forecast import Forecaster
from sweephand.jobs.read import Filter
from sweephand.model.calendar import CalendarMessage
from sweephand.model.counters import Stats, no_stats
from sweephand.model.job import JobKey
from sweephand.model.orders import ResumeMessage
from sweephand.model.run_id import Demand, parse_run_name
from sweephand.model.trigger import (
    DeadlineMessage,
    NotifyMessage,
    RangeMessage,
    Trigger,
    TriggerMessage,
)
from sweephand.model.watch import WatchMessage
from sweephand.runtime.compose_api import compose_api
from sweephand.runtime.settings import Options
from sweephand.runtime.stores import Stores
from sweephand.schedules.triggers import Span

#: Messages that may follow each run for a while: its deadline message, and a notification of its end to a
#: job that is gone.
_FOLLOWING: Final = (DeadlineMessage, NotifyMessage)


def is_at_rest(queues: DeliveryQueues, chronicle: Chronicle, calm_at: Instant, through: Instant) -> bool:
    """Whether everything due up to `through` is over, or waits for an action that no client takes."""
    if chronicle.last_other_timer_at > through:
        return False
    for message in queues.messages():
        if isinstance(message, RangeMessage):
            if _is_held_by_a_pause(message.demand) and message.uid in chronicle.paused:
                # A range is held whole, as a single trigger of its job is.
                continue
            return False
        if isinstance(message, WatchMessage | ResumeMessage) and _due_at(message) > through:
            continue
        if isinstance(message, WatchMessage | ResumeMessage | CalendarMessage):
            return False
        if isinstance(message, _FOLLOWING) and message.trigger.due_at > calm_at:
            # Messages that follow runs which begin in the calm never end, so they do not count.
            continue
        is_trigger = isinstance(message, TriggerMessage) and message.redrive is None
        if is_trigger and _is_idle(chronicle, message.trigger):
            continue
        if message.attempt > 1 or message.faults or message.trigger.at <= through:
            return False
    return True


def _due_at(message: WatchMessage | ResumeMessage) -> Instant:
    return message.check_at if isinstance(message, WatchMessage) else message.not_before


def _is_held_by_a_pause(demand: Demand | None) -> bool:
    return demand is None or demand.kind == "chained"


def _is_idle(chronicle: Chronicle, trigger: Trigger) -> bool:
    """Whether nothing will come of a trigger that is in the queue."""
    if _is_held_by_a_pause(trigger.demand) and trigger.uid in chronicle.paused:
        # The trigger is put back until its job is resumed, and no client resumes it any more.
        return True
    # The trigger also waited in its job's line and was called from there. Its message finds that its run is
    # over.
    # That message shows in the progress of a batch that its run is over, if the line has skipped it.
    return trigger.id in chronicle.ended and trigger.batch is None


#: How many triggers, and how many other instants, a world is asked about.
_TRIGGERS: Final = 10
_OTHERS: Final = 4

#: A forecast is asked for this span, in buckets of that length.
_FORECAST_MS: Final = 2 * HOUR_MS
_BUCKET_MS: Final = 10 * MINUTE_MS


def misstatements(chronicle: Chronicle, tale: Tale, seed: int, now: Instant) -> Iterator[str]:
    """What the API says wrongly of a world that has ended, whose story is `tale`."""
    yield from runs_that_need_a_look_are_listed(tale, flagged(chronicle))
    yield from counts_are_what_consumers_saw(tale, counted(chronicle), chronicle.figures["uncounted calls"])
    if chronicle.readable is not None:
        said = list(explanations(chronicle, chronicle.readable, seed, now))
        chronicle.figures["explained"] = len(said)
        yield from explanations_are_true(tale, said)
        yield from forecast_is_what_jobs_owe(tale, forecasted(chronicle.readable, now))


def explanations(chronicle: Chronicle, stores: Stores, seed: int, now: Instant) -> Iterator[Explained]:
    """Explain some triggers that left or have a record, and some instants beside them."""
    random = stream(seed, "explanations")
    explainer = compose_api(stores, Options()).explainer
    for key, at in _sample(chronicle, random):
        try:
            found, _ = explainer.explain(key, at, now)
        except NotFoundError:
            # Its changes have expired, or the store has lost the answer to its only write.
            continue
        yield Explained(key.name, at, found.verdict, found.due_at)


def _sample(chronicle: Chronicle, random: Random) -> list[tuple[JobKey, Instant]]:
    known: dict[tuple[str, Instant], None] = {}
    for event in chronicle.events:
        if isinstance(event, Requested) and not event.is_on_demand and event.index == 0:
            known[event.name, event.due_at] = None
        elif isinstance(event, RunStored):
            run = parse_run_name(event.run_id)
            if run is not None and run.demand is None and run.index == 0:
                known[event.name, run.due_at] = None
    triggers = random.sample(sorted(known), min(_TRIGGERS, len(known)))
    others = [(name, at + random.randrange(1, 10 * MINUTE_MS)) for name, at in triggers[:_OTHERS]]
    return [(JobKey("ns", name), at) for name, at in (*triggers, *others)]


def forecasted(stores: Stores, now: Instant) -> Forecasted:
    """What all jobs will do in the next two hours, page by page."""
    span = Span(now, now + _FORECAST_MS, _BUCKET_MS)
    forecaster = Forecaster(jobs=stores.jobs, clock=HandClock(now))
    triggers: Counter[int] = Counter()
    jobs = paused = 0
    after: str | None = ""
    while after is not None:
        found = forecaster.forecast(Filter("ns", after=after), span)
        triggers.update(found.triggers)
        jobs, paused, after = jobs + found.jobs, paused + found.paused, found.reached
    return Forecasted(span.since, span.until, span.bucket_ms, triggers, jobs, paused)


def counted(chronicle: Chronicle) -> Stats:
    """What deliveries counted, of all minutes and namespaces together."""
    found = no_stats()
    for stats in chronicle.stats._minutes.values():
        found.update(stats)
    return found


def flagged(chronicle: Chronicle) -> set[tuple[str, str]]:
    """The uids and run ids of all flags."""
    return {(each.uid, str(each.run)) for each in chronicle.flags._flags.values()}
