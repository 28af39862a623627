"""Errors in pausing, resuming, patching, and triggering by hand."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from tests.simulation.mutations.registry import Broken, everywhere, mutation, replacing, wrapping

from sweephand.base.timing import QUEUE_DELAY_MAX_MS
from sweephand.jobs import draft, resume
from sweephand.jobs.commit import Commits, Draft
from sweephand.jobs.pause import Pauser
from sweephand.jobs.series import recounted_series
from sweephand.model.change import SWEEPHAND
from sweephand.model.job import Job, JobKey
from sweephand.model.orders import ResumeMessage
from sweephand.model.revisions import Liveness, liveness_by_revision
from sweephand.model.trigger import TriggerMessage
from sweephand.runs.delivery import JobRead, liveness_of
from sweephand.runs.requeue import Requeue
from sweephand.wheel.catchup import Misfires, misfires_between


def _resuming(change: Any) -> Broken:
    def changed(stored: Job, *args: Any, **kwargs: Any) -> Draft:
        drafted: Draft = change(stored, draft.draft_resume(stored, *args, **kwargs))
        return drafted

    return patch.object(resume, "draft_resume", changed)


@mutation("A resume makes no revision of its own")
def resumes_without_revision() -> Broken:
    def same(stored: Job, drafted: Draft) -> Draft:
        return replace(drafted, job=replace(drafted.job, current=stored.current))

    return _resuming(same)


@mutation("The revision of a resume begins at its request instead of at the pause")
def resumes_from_now() -> Broken:
    def late(_: Job, drafted: Draft) -> Draft:
        return replace(drafted, after=drafted.job.updated_at)

    return _resuming(late)


@mutation("A resume fires no misfire of the pause, whatever its catch-up says")
@replacing(resume, "misfires_between")
def catches_up_with_nothing(*args: Any, **kwargs: Any) -> Any:
    return misfires_between(*args, **{**kwargs, "mode": "none"})


@mutation("Triggers that were owed at a pause are dropped")
def drops_what_is_held() -> Broken:
    def dropped(message: TriggerMessage, read: JobRead) -> Liveness:
        found = liveness_of(message, read)
        return "dead" if found == "held" else found

    return everywhere("liveness_of", dropped)


@mutation("A held trigger is delivered")
def delivers_what_is_held() -> Broken:
    def delivered(message: TriggerMessage, read: JobRead) -> Liveness:
        found = liveness_of(message, read)
        return "alive" if found == "held" else found

    return everywhere("liveness_of", delivered)


@mutation("A trigger on demand is judged by its revision")
def asks_by_hand_for_revision() -> Broken:
    def by_revision(message: TriggerMessage, read: JobRead) -> Liveness:
        trigger = message.trigger
        if trigger.demand is None:
            return liveness_of(message, read)
        return liveness_by_revision(read.job, uid=trigger.uid, rev=trigger.rev, due_at=trigger.due_at)

    return everywhere("liveness_of", by_revision)


@mutation("A resume skips no misfire of the pause")
def skips_no_misfire() -> Broken:
    return patch.object(resume, "misfires_between", lambda *_, **__: Misfires())


@mutation("An update of a paused job ends its pause")
@wrapping(draft, "_rewritten")
def forgets_pauses(written: Callable[..., Job], *args: Any, **kwargs: Any) -> Job:
    return replace(written(*args, **kwargs), paused_at=None, pause_reason=None)


@mutation("A PATCH counts from the beginning, as a PUT does")
def patches_count_from_the_beginning() -> Broken:
    return patch.object(draft, "patched_series", recounted_series)


@mutation("A paused job is not armed even if its request came before the pause")
@wrapping(Commits, "_arm")
def arms_no_paused_job(arm: Callable[..., None], commits: Commits, drafted: Draft) -> None:
    if drafted.job.paused_at is None:
        arm(commits, drafted)


@mutation("A pause that ends by itself forgets its catch-up")
@wrapping(resume.Resumer, "_resumed")
def forgets_the_mode_of_a_pause(resumed: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return resumed(*args, **{**kwargs, "mode": None if kwargs["who"] == SWEEPHAND else kwargs["mode"]})


@mutation("An order to end a pause does so although a caller has moved the end")
@wrapping(resume.Resumer, "end_pause")
def ends_pauses_early(
    end_pause: Callable[..., Any], resumer: resume.Resumer, key: JobKey, uid: str, *, now: int
) -> Any:
    job = resumer._jobs.get(key)
    if job is not None and job.uid == uid and job.pause_end is not None:
        return resumer.resume(key, who=SWEEPHAND, requested_at=now, mode=job.pause_end.mode)
    return end_pause(resumer, key, uid, now=now)


@mutation("The order to end a pause resumes a job that a caller has paused again")
@wrapping(resume.Resumer, "end_pause")
def ends_another_pause(
    end_pause: Callable[..., Any], resumer: resume.Resumer, key: JobKey, uid: str, *, now: int
) -> Any:
    job = resumer._jobs.get(key)
    if job is not None and job.uid == uid and job.paused_at is not None and job.pause_end is None:
        return resumer.resume(key, who=SWEEPHAND, requested_at=now)
    return end_pause(resumer, key, uid, now=now)


@mutation("A pause that ends by itself has no order if it is far ahead")
@wrapping(Requeue, "send_at")
def sends_no_far_order(send_at: Callable[..., None], requeue: Requeue, message: Any, shard: int) -> None:
    is_far = message.not_before - requeue._clock.now() > QUEUE_DELAY_MAX_MS
    if not (isinstance(message, ResumeMessage) and is_far):
        send_at(requeue, message, shard)


@mutation("A pause is committed before its order is sent")
@wrapping(Pauser, "pause")
def commits_before_the_order(pause: Callable[..., Job], pauser: Pauser, *args: Any, **kwargs: Any) -> Job:
    late: list[tuple[ResumeMessage, int]] = []
    with patch.object(pauser, "_send_at", lambda *order: late.append(order)):
        job = pause(pauser, *args, **kwargs)
    for order in late:
        pauser._send_at(*order)
    return job


@mutation("What falls due as a pause ends is a misfire of it")
@wrapping(resume.Resumer, "_resumed")
def skips_what_is_due_at_the_end(
    resumed: Callable[..., Any],
    resumer: resume.Resumer,
    stored: Job,
    paused_at: int,
    through: int,
    **rest: Any,
) -> Any:
    return resumed(resumer, stored, paused_at, max(through, rest["now"]), **rest)
