"""A check of an outage: the schedule that starts tick is disabled for a while, and enabled again."""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from infra.smoke.checks import Suite, expect
from infra.smoke.stage import Stage, eventually, now_ms

OUTAGE = Suite()

_JOBS = 5
#: The fields that UpdateSchedule would reset to their defaults if they were left out.
_KEPT = ("ScheduleExpression", "ScheduleExpressionTimezone", "FlexibleTimeWindow", "Target", "Description")
_CATCH_UP_S = 180
#: Triggers due within this time of the job's writing are sent to the queue at once and need no tick.
_DIRECT_S = 300


def gaps(dues: Iterable[int], period_ms: int) -> list[int]:
    """The due times that are missing between the first and the last, for a job with that period."""
    seen = set(dues)
    return [due for due in range(min(seen), max(seen), period_ms) if due not in seen] if seen else []


@OUTAGE.add("Nothing is lost that falls due while the schedule does not wake tick.")
def schedule_disabled(stage: Stage) -> str:
    """Recurring jobs keep falling due. Their triggers must arrive after the schedule is enabled again."""
    pace, queue = stage.pace, stage.queues.make("outage")
    job = {"schedule": f"@every {pace.period_s}s", "target": queue.target, "history": "failures"}
    for number in range(_JOBS):
        stage.put("outage", f"job-{number}", **job)
    is_long = pace.outage_s > _DIRECT_S
    if is_long:
        # Its misfires are recorded as skipped, for which tick needs a right of its own.
        stage.put("outage", "misfiring", **job, catchup={"mode": "none", "window": "2m"})
    with _disabled(stage):
        time.sleep(pace.outage_s)
    over_at = now_ms()
    dues: dict[str, list[int]] = {f"job-{number}": [] for number in range(_JOBS)}

    def read() -> bool | None:
        for message in queue.rest():
            dues.setdefault(message.names["job"], []).append(message.due_at)
        regular = [each for name, each in dues.items() if name != "misfiring"]
        return True if all(each and max(each) >= over_at for each in regular) else None

    eventually(read, "what fell due after the outage", _CATCH_UP_S + pace.period_s)
    came = sum(map(len, dues.values()))
    if is_long:
        run = stage.run_of(stage.path("outage", "misfiring"), "skipped", within_s=_CATCH_UP_S)
        expect(run["reason"] == "misfire", f"a run was skipped for {run['reason']}")
        dues.pop("misfiring", None)
        stage.client.call("DELETE", stage.path("outage", "misfiring"))
    missing = {name: gaps(each, pace.period_s * 1_000) for name, each in dues.items()}
    lost = sum(map(len, missing.values()))
    for name in dues:
        stage.client.call("DELETE", stage.path("outage", name))
    expect(not lost, f"{lost} due times are missing: {missing}")
    short = "" if is_long else ", which is shorter than what is sent ahead"
    return f"{pace.outage_s} s{short}: {came} triggers of {_JOBS} jobs came, none is missing"


@contextmanager
def _disabled(stage: Stage) -> Iterator[None]:
    """The schedule is disabled inside the context, and enabled after it whatever happens."""
    name = stage.physical("MinuteSchedule")
    _set(stage, name, "DISABLED")
    try:
        yield
    finally:
        _set(stage, name, "ENABLED")


def _set(stage: Stage, name: str, state: str) -> None:
    scheduler = stage.aws.client("scheduler")
    found: dict[str, Any] = scheduler.get_schedule(Name=name)
    kept = {field: found[field] for field in _KEPT if found.get(field)}
    scheduler.update_schedule(Name=name, State=state, **kept)
    expect(scheduler.get_schedule(Name=name)["State"] == state, f"the schedule is not {state}")
