"""Schedules of EventBridge Scheduler's API fire as its users know it."""

from typing import Any, Final

import pytest
from tests.fakes.scheduler_calls import FUNCTION, schedule

from sweephand_client.http.errors import NotFoundError
from sweephand_engine.testing import Stack

PATH: Final = "/v1/scheduler/schedules/nightly"


def body(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in schedule(**fields).items() if name != "Name"}


def test_a_function_gets_the_input_alone_with_its_placeholders_filled_in(stack: Stack) -> None:
    events: list[Any] = []
    stack.function(FUNCTION, lambda event, _: events.append(event))
    text = '{"at": "<aws.scheduler.scheduled-time>", "of": "<aws.scheduler.schedule-arn>"}'
    stack.api("POST", PATH, body(Target={"Input": text}))
    stack.travel("2 days")
    arn = "arn:aws:scheduler:us-east-1:000000000000:schedule/default/nightly"
    assert events == [{"at": f"2026-10-{day}T09:00:00Z", "of": arn} for day in (13, 14)]


def test_a_schedule_that_is_disabled_at_first_fires_nothing_of_that_time(stack: Stack) -> None:
    events: list[Any] = []
    stack.function(FUNCTION, lambda event, _: events.append(event))
    every = {"ScheduleExpression": "rate(1 minute)"}
    stack.api("POST", PATH, body(**every, State="DISABLED"))
    stack.travel("1 hour")
    assert events == []
    stack.api("PUT", PATH, body(**every))
    stack.travel("3 minutes")
    assert len(events) == 3
    stack.api("PUT", PATH, body(**every, State="DISABLED"))
    stack.travel("1 hour")
    assert len(events) == 3


def test_a_job_that_is_created_paused_fires_what_its_resume_asks_for(stack: Stack) -> None:
    events: list[Any] = []
    stack.function(FUNCTION, lambda event, _: events.append(event))
    stack.api("POST", PATH, body(ScheduleExpression="rate(1 hour)", State="DISABLED"))
    stack.travel("150 minutes")
    resume = "/v1/namespaces/default/jobs/nightly/resume"
    stack.api("POST", resume, {"catchup": "all"})
    stack.travel("1 minute")
    assert len(events) == 3, "at 12:00, 13:00 and 14:00"
    stack.travel("1 hour")
    assert len(events) == 4


def test_an_old_enough_schedule_that_is_over_is_still_shown(stack: Stack) -> None:
    stack.function(FUNCTION, lambda *_: None)
    stack.api("POST", PATH, body(ScheduleExpression="at(2026-10-13T00:00:00)"))
    stack.travel("30 days")
    assert stack.api("GET", PATH)["Name"] == "nightly"
    stack.api("PUT", PATH, body(ScheduleExpression="at(2027-01-01T00:00:00)", ActionAfterCompletion="DELETE"))
    stack.travel("60 days")
    with pytest.raises(NotFoundError):
        stack.api("GET", PATH)
