"""Errors of the audit of jobs: which jobs it takes for unarmed, and from when on it arms them."""

from typing import Any, Final
from unittest.mock import patch

from tests.simulation.mutations.registry import Broken, everywhere, mutation, together
from tests.simulation.workload.drills import FIRST_WITH_AUDITS

from sweephand.base.timing import BUCKET_MS
from sweephand.model.timer import bucket_of
from sweephand.runs import audit
from sweephand.runs.audit import Auditor
from sweephand.runs.audit_findings import BEGINNING, LostRuns
from sweephand.runs.audit_part import AuditPart
from sweephand.runs.audit_rounds import AuditRounds
from sweephand.wheel import rebuild

_UNIT: Final = "tests/unit/runs/test_audit.py::"


@mutation("An audit skips the jobs whose timers are lost", first=FIRST_WITH_AUDITS)
def skips_jobs() -> Broken:
    return patch.object(Auditor, "_suspects", lambda *_: ())


@mutation("An audit arms a job from the present instant on", first=FIRST_WITH_AUDITS)
def arms_lost_jobs_from_now() -> Broken:
    return patch.object(Auditor, "_lost_since", lambda _, __, timer, ___: timer.first.at + 1)


@mutation(
    "An audit arms a job behind the first gap in its chain of timers",
    first=FIRST_WITH_AUDITS,
    shown_by="tests/unit/runs/test_audit_gaps.py::"
    "test_after_an_outage_it_records_no_trigger_as_skipped_that_was_delivered[latest-8]",
)
def arms_behind_the_first_gap() -> Broken:
    return patch.object(audit, "last_run", lambda *_: None)


@mutation("An audit arms earlier revisions by the present schedule", first=FIRST_WITH_AUDITS)
def arms_earlier_revisions() -> Broken:
    return patch.object(audit, "NO_PAST", rebuild.Past())


@mutation(
    "An audit judges a job by triggers that went to the queue when it was armed",
    first=FIRST_WITH_AUDITS,
    shown_by=_UNIT + "test_a_job_that_was_just_armed_is_not_judged_by_what_went_to_the_queue",
)
def judges_what_went_to_the_queue() -> Broken:
    return together(
        everywhere("timed_from", lambda job: bucket_of(job.cut)),
        everywhere("armed_from", lambda job: job.cut),
    )


@mutation(
    "An audit judges the jobs of a shard with which sweepers are late",
    first=FIRST_WITH_AUDITS,
    shown_by=_UNIT + "test_jobs_of_a_shard_that_is_not_swept_are_not_judged",
)
def judges_late_shards() -> Broken:
    return patch.object(AuditPart, "is_late", lambda *_: False)


@mutation(
    "An audit does not read again before it arms a job",
    first=FIRST_WITH_AUDITS,
    shown_by=_UNIT + "test_the_job_and_its_timer_are_read_again_before_it_is_armed",
)
def does_not_read_again() -> Broken:
    return patch.object(Auditor, "_certain", lambda _, suspects, __: suspects)


@mutation(
    "An audit takes a timer that was put off for lost",
    first=FIRST_WITH_AUDITS,
    shown_by=_UNIT + "test_a_timer_that_was_put_off_is_not_lost",
)
def takes_put_off_timers_for_lost() -> Broken:
    return patch.object(AuditPart, "may_be_put_off", lambda *_: False)


@mutation(
    "An audit looks one bucket too late for a timer",
    first=FIRST_WITH_AUDITS,
    shown_by=_UNIT + "test_an_audit_finds_nothing_after_an_audit",
)
def looks_one_bucket_too_late() -> Broken:
    whole: Any = rebuild.timer_from

    def later(job: Any, at: int) -> Any:
        found = whole(job, at)
        return (
            None
            if found is None
            else found._replace(first=found.first._replace(due_at=found.first.at + BUCKET_MS))
        )

    return patch.object(rebuild, "timer_from", later)


@mutation(
    "The audit of jobs forgets how far it has come",
    first=FIRST_WITH_AUDITS,
    shown_by="tests/unit/runs/test_audit_rounds.py::"
    "test_a_round_goes_through_all_jobs_and_the_next_one_begins_a_week_later",
)
def forgets_its_position() -> Broken:
    step: Any = AuditRounds.step

    def forgetting(self: Any) -> Any:
        stored = self._rounds.get()
        if stored is not None and stored.progress is not None:
            self._rounds.put(stored._replace(progress=BEGINNING), stored.version)
        return step(self)

    return patch.object(AuditRounds, "step", forgetting)


@mutation(
    "An audit does not end the runs whose messages were lost",
    first=FIRST_WITH_AUDITS,
    shown_by="tests/unit/runs/test_audit_runs.py::test_a_run_whose_message_was_lost_comes_to_its_end",
)
def leaves_lost_runs() -> Broken:
    return patch.object(LostRuns, "message", lambda *_: None)
