"""A rehearsal and the engine do the same with the same jobs: attempts and skips, to the millisecond.

The engine runs production's adapters over tables and queues in memory. Chance is taken out: each consumer
takes the same time, and half of each retry's delay is not drawn.
"""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import pytest

from sweephand.base.instants import Instant, from_datetime
from sweephand.model.job import JobKey
from sweephand.model.policy import PolicyKey
from sweephand_client.openapi.policies import PolicyRequest
from sweephand_engine.rehearsal.consumer import Answered, Consumer
from sweephand_engine.rehearsal.play import Play
from sweephand_engine.rehearsal.runs import JobPlay
from sweephand_engine.rehearsal.timeline import Timeline
from sweephand_engine.seeded_ids import SeededIds
from sweephand_engine.testing import Delivery, Stack

NOW: Final = "2026-10-24T00:00:00Z"
BEGIN: Final = from_datetime(dt.datetime.fromisoformat(NOW))

#: A function of a line has its slots for up to ten seconds, and then for the request that is open.
TURN_MS: Final = 10_000 + 10_000

#: What was sent: the job, the attempt, and when it began.
Sent = list[tuple[str, int, Instant]]


@pytest.fixture(autouse=True)
def _halves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SeededIds, "fraction", lambda _: 0.5)


@dataclass
class Fixed:
    """A consumer that takes `took_ms`, and fails at each request whose number `fails` divides."""

    took_ms: int = 0
    fails: int = 0
    count: int = 0

    def answer(self) -> Answered:
        self.count += 1
        return Answered(self.took_ms, self.fails > 0 and self.count % self.fails == 0)


@dataclass
class Case:
    """Jobs by their names, each with its consumer; policies; and an outage in seconds from the beginning."""

    jobs: Mapping[str, Mapping[str, Any]]
    hours: float = 1
    consumers: Mapping[str, Fixed] = field(default_factory=dict)
    policies: Mapping[str, PolicyRequest] = field(default_factory=dict)
    outage: tuple[int, int] | None = None


CASES: Final[Mapping[str, Case]] = {
    "schedules over a clock change": Case(
        {
            "night": {"schedule": "30 2 * * *", "timezone": "Europe/Paris"},
            "both": {"schedule": "15 2 * * *", "timezone": "Europe/Paris", "dst": {"overlap": "both"}},
            "gap": {"schedule": "30 2 * * *", "timezone": "America/New_York", "jitter": "10m"},
            "every": {"schedule": "@every 7m"},
            "list": {"schedule": ["2026-10-24T03:00:00Z", "2026-10-25T03:00:00.250Z"]},
            "repeated": {"schedule": "0 */5 * * *", "repeats": 3},
            "once": {"dueTime": "90m"},
            "batch": {"schedule": "0 6 * * *", "batch": {"count": 7, "window": "10m"}},
        },
        hours=36,
    ),
    "overlap": Case(
        {
            "skip": {"schedule": "* * * * *", "overlap": "skip"},
            "wait": {"schedule": "@every 20s", "overlap": "wait", "waitLimit": 3},
            "latest": {"schedule": "*/10 * * * * *", "overlap": "waitLatest"},
            "allow": {"schedule": "@every 30s"},
        },
        consumers={
            "skip": Fixed(45_000, fails=3),
            "wait": Fixed(31_000, fails=5),
            "latest": Fixed(25_000),
            "allow": Fixed(50_000),
        },
    ),
    "retries": Case(
        {
            "often": {"schedule": "*/10 * * * *", "retry": {"maxAttempts": 3, "initialDelay": "20s"}},
            "aged": {"schedule": "*/20 * * * *", "retry": {"maxAge": "3m", "multiplier": 2}},
            "late": {"schedule": "*/15 * * * *"},
            "stops": {"schedule": "*/5 * * * *", "onError": "pause", "retry": {"maxAttempts": 1}},
        },
        hours=3,
        consumers={
            "often": Fixed(1_000, fails=2),
            "aged": Fixed(500, fails=1),
            "late": Fixed(61_000),
            "stops": Fixed(200, fails=4),
        },
    ),
    "an outage": Case(
        {
            "minutely": {"schedule": "* * * * *", "retry": {"maxAttempts": 4}},
            "turns": {"schedule": "*/2 * * * *", "overlap": "wait"},
        },
        hours=4,
        outage=(1_801, 5_401),
    ),
    "chains": Case(
        {
            "first": {"schedule": "*/5 * * * *", "onComplete": {"type": "job", "name": "second"}},
            "second": {"overlap": "wait", "onComplete": {"type": "job", "name": "third", "when": "failed"}},
            "third": {"batch": {"count": 3}, "onComplete": {"type": "job", "name": "fourth"}},
            "fourth": {},
        },
        hours=2,
        consumers={"first": Fixed(2_000), "second": Fixed(3_000, fails=3), "third": Fixed(100)},
    ),
}
#: A stack serves the lines of a policy in turns of up to ten seconds, and a rehearsal without them.
UNDER_POLICIES: Final[Mapping[str, Case]] = {
    "limits": Case(
        {
            "a": {"schedule": "1 0 * * * *", "batch": {"count": 9}, "policy": "few", "priority": "low"},
            "b": {"schedule": "0 * * * *", "batch": {"count": 4}, "policy": "few"},
            "c": {"schedule": "*/30 * * * *", "batch": {"count": 12}, "policy": "slow"},
        },
        hours=2.9,
        consumers={"a": Fixed(10_000), "b": Fixed(20_000), "c": Fixed(500, fails=10)},
        policies={"few": {"maxConcurrent": 2}, "slow": {"rate": {"limit": 6, "per": "1m"}}},
    ),
    "a breaker": Case(
        {"minutely": {"schedule": "* * * * *", "policy": "guard", "retry": {"initialDelay": "10s"}}},
        hours=3,
        policies={"guard": {"maxConcurrent": 5, "breaker": {"failures": 3, "probeAfter": "2m"}}},
        outage=(1_801, 5_401),
    ),
}
CASES["chains"].jobs["second"]["retry"] = {"maxAttempts": 1}  # type: ignore[index]


def served(case: Case, job: str) -> Fixed:
    found = case.consumers.get(job, Fixed())
    return Fixed(found.took_ms, found.fails)


def of_engine(case: Case) -> tuple[Sent, dict[str, dict[str, int]], "Recorded"]:
    """What the engine does, and what a rehearsal of the same stored jobs will do."""
    consumers = {name: served(case, name) for name in case.jobs}
    with Stack(NOW) as stack:

        def answer(delivery: Delivery) -> int:
            took_ms, fails = consumers[delivery.job].answer()
            if took_ms:
                stack.sleep(took_ms / 1_000)
            return 503 if fails else 204

        stack.deliver_to(answer)
        for name, policy in case.policies.items():
            stack.client.policies.put(stack.namespace, name, policy)
        target = {"type": "http", "url": "https://consumer.test/", "timeout": "60s"}
        for name, fields in case.jobs.items():
            stack.put_job(name, **{"target": target, **fields})
        stores = stack._engine.stores
        jobs = [stores.jobs.get(JobKey(stack.namespace, name)) for name in case.jobs]
        policies = {name: stores.policies.get(PolicyKey(stack.namespace, name)) for name in case.policies}
        play = rehearsed(case, jobs, policies)
        if case.outage is not None:
            stack.travel(case.outage[0])
            with stack.outage():
                stack.travel(case.outage[1] - case.outage[0])
            stack.travel(case.hours * 3_600 - case.outage[1])
        else:
            stack.travel(case.hours * 3_600)
        sent = [(each.job, each.attempt, from_datetime(each.at)) for each in stack.deliveries]
        states: dict[str, dict[str, int]] = {}
        for name in case.jobs:
            of_job = states[name] = {"succeeded": 0, "failed": 0, "skipped": 0}
            for run in stack.runs(name):
                if run.state in of_job:
                    of_job[run.state] += 1
    return sent, states, play


def rehearsed(case: Case, jobs: list[Any], policies: Mapping[str, Any]) -> "Recorded":
    outage = None if case.outage is None else tuple(BEGIN + each * 1_000 for each in case.outage)
    play = Recorded(
        jobs,
        policies,
        [Consumer()],
        timeline=Timeline(BEGIN, BEGIN + round(case.hours * 3_600_000) + 1),
        outage=outage,
        fraction=lambda: 0.5,
    )
    for each in play.jobs:
        fixed = served(case, each.name)
        each.consumer = type("_Fixed", (), {"answer": lambda _, __, fixed=fixed: fixed.answer()})()
    play.run()
    return play


class Recorded(Play):
    """A play that notes what it sends."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.sent: Sent = []

    def _attempt(self, run: Any) -> None:
        before = len(self.attempts)
        super()._attempt(run)
        if len(self.attempts) > before:
            # An attempt that fails at once has the number of the next one by now.
            number = run.message.attempt
            is_retried = run.message.not_before > self.timeline.now
            self.sent.append((run.of.name, number - is_retried, self.timeline.now))


def counted(job: JobPlay) -> dict[str, int]:
    return {"succeeded": job.counts.succeeded, "failed": job.counts.failed, "skipped": job.counts.skipped}


@pytest.mark.parametrize("name", CASES)
def test_a_rehearsal_does_what_the_engine_does(name: str) -> None:
    sent, states, play = of_engine(CASES[name])

    assert sorted(play.sent, key=lambda each: (each[2], each)) == sorted(
        sent, key=lambda each: (each[2], each)
    )
    assert {each.name: counted(each) for each in play.jobs} == states
    assert len(sent) > 20


@pytest.mark.parametrize("name", UNDER_POLICIES)
def test_under_policies_a_rehearsal_does_the_same_within_a_turn_and_a_request(name: str) -> None:
    sent, states, play = of_engine(UNDER_POLICIES[name])

    assert {each.name: counted(each) for each in play.jobs} == states
    for job in UNDER_POLICIES[name].jobs:
        ours, theirs = (sorted(at for of, _, at in found if of == job) for found in (play.sent, sent))
        assert len(ours) == len(theirs) > 5
        assert max(abs(each - other) for each, other in zip(ours, theirs, strict=True)) <= TURN_MS
