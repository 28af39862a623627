"""What a rehearsal counts, and how it is bounded."""

import time
from dataclasses import replace
from typing import Final

import pytest
from tests.unit.engine.rehearsal.conftest import BEGIN, DAY, IDEAL, jobs_of, played

from sweephand.base.instants import HOUR_MS, SECOND_MS, rfc3339
from sweephand.model.policy import Policy, PolicyKey, Rate
from sweephand_client.openapi.windows import WindowRequest
from sweephand_client.tasks.archive import Archive
from sweephand_engine.rehearsal.admission import admit_archive
from sweephand_engine.rehearsal.consumer import Consumer
from sweephand_engine.rehearsal.play import Play
from sweephand_engine.rehearsal.timeline import WORK_MAX, Timeline

HOPELESS: Final = Consumer(p50_ms=1_000, p99_ms=1_000, fail=1)


@pytest.mark.parametrize(
    "fields",
    [
        {"schedule": "* * * * * *"},
        {"schedule": "* * * * * *", "overlap": "wait", "waitLimit": 1_000, "completion": "async"},
        {"schedule": "0 1 * * *", "batch": {"count": 1_000_000}},
        {"schedule": "* * * * *", "retry": {"maxAttempts": 100, "initialDelay": "1s", "maxDelay": "1s"}},
        {
            "schedule": "@every 1m",
            "retry": {"maxAttempts": 1},
            "onComplete": {"type": "job", "name": "j", "when": "always"},
        },
    ],
    ids=["a job each second", "a long line", "a million triggers", "endless retries", "a circle of jobs"],
)
def test_a_runaway_stops_at_its_bound(fields: dict[str, object]) -> None:
    begun = time.process_time()
    play = played({"j": fields}, HOPELESS, days=365, work_max=20_000)

    assert play.timeline.is_cut
    assert BEGIN < play.timeline.now < BEGIN + 365 * DAY
    assert 0 < len(play.attempts) <= 20_000
    assert time.process_time() - begun < 30, "a twentieth of a rehearsal's bound"


def test_a_large_batch_under_a_rate_is_played_to_its_end() -> None:
    policy = Policy(PolicyKey("ns", "partner"), "1", None, Rate(10, SECOND_MS), BEGIN, BEGIN)
    jobs = jobs_of({"j": {"schedule": "0 6 * * *", "batch": {"count": 3_000}, "policy": "partner"}})
    play = Play(jobs, {"partner": policy}, [IDEAL], timeline=Timeline(BEGIN, BEGIN + DAY, 20_000))
    play.run()
    assert not play.timeline.is_cut
    assert (play.jobs[0].counts.succeeded, play.jobs[0].counts.wait_max_ms) == (3_000, 314_895)
    assert [each.waiting_max for each in play.gates.values()] == [2_999]


def test_a_job_that_pauses_itself_holds_what_falls_due_later() -> None:
    fields = {"schedule": "0 * * * *", "onError": "pause", "retry": {"maxAttempts": 2}}
    counts = played({"j": fields}, HOPELESS).jobs[0].counts
    assert (counts.triggers, counts.failed, counts.held) == (23, 1, 22)
    assert counts.failure == "Attempt 2 of 2 failed: Response 503."


def test_a_job_of_a_stack_that_is_paused_until_an_instant_fires_from_then_on() -> None:
    definition = {"schedule": "0 * * * *", "target": {"type": "http", "url": "https://example.com/"}}
    line = {"definition": definition, "nextAt": rfc3339(BEGIN + HOUR_MS), "paused": True}
    lines = {"held": line, "j": {**line, "pausedUntil": rfc3339(BEGIN + 20 * HOUR_MS)}}
    jobs = admit_archive(Archive("ns", jobs=lines), BEGIN).jobs
    play = Play(jobs, {}, [IDEAL], timeline=Timeline(BEGIN, BEGIN + DAY, WORK_MAX))
    play.run()
    assert [each.counts.succeeded for each in play.jobs] == [0, 4]


def test_a_rehearsal_says_that_it_leaves_out_windows() -> None:
    definition = {"schedule": "0 * * * *", "target": {"type": "http", "url": "https://example.com/"}}
    lines = {"j": {"definition": definition, "nextAt": rfc3339(BEGIN + HOUR_MS)}}
    nightly: WindowRequest = {"schedule": "0 1 * * *", "duration": "2h"}
    archive = Archive("ns", windows={"nightly": nightly}, jobs=lines)
    assert admit_archive(archive, BEGIN).notes == ("The windows of the namespace are not rehearsed.",)
    assert admit_archive(replace(archive, windows={}), BEGIN).notes == ()


def test_an_outage_meets_only_consumers_that_can_be_unreachable() -> None:
    outage = BEGIN, BEGIN + DAY
    queue = {"type": "sqs", "queueUrl": "https://sqs.eu-west-1.amazonaws.com/123456789012/q"}
    both = {
        "queue": {"schedule": "@hourly", "target": queue},
        "webhook": {"schedule": "@hourly", "retry": {"maxAttempts": 1}},
    }
    found = {each.name: each.counts for each in played(both, outage=outage).jobs}
    assert (found["queue"].succeeded, found["queue"].failed) == (23, 0)
    assert (found["webhook"].succeeded, found["webhook"].failed) == (0, 23)


def test_a_request_that_outlasts_its_timeout_fails() -> None:
    fields = {"schedule": "@hourly", "retry": {"maxAttempts": 1}}
    counts = played({"j": fields}, Consumer(p50_ms=61_000, p99_ms=61_000, fail=0)).jobs[0].counts
    assert counts.failed == 23
    assert counts.failure is not None
    assert "No response came within" in counts.failure


def test_a_consumer_that_takes_longer_than_max_run_time_fails() -> None:
    slow = Consumer(p50_ms=600_000, p99_ms=600_000, fail=0)
    fields = {"schedule": "@hourly", "completion": "async", "maxRunTime": "5m", "retry": {"maxAttempts": 1}}
    counts = played({"j": fields}, slow).jobs[0].counts
    assert (counts.failed, counts.failure) == (
        23,
        "Attempt 1 of 1 failed: The consumer did not complete the run within maxRunTime.",
    )


def test_a_trigger_that_succeeds_too_late_is_counted() -> None:
    alert = {"alertAfter": "1m", "onAlert": {"type": "http", "url": "https://example.com/alert"}}
    slow = Consumer(p50_ms=90_000, p99_ms=90_000, fail=0)
    counts = played({"j": {"schedule": "@hourly", "completion": "async", **alert}}, slow).jobs[0].counts
    assert (counts.succeeded, counts.missed) == (23, 23)
