"""Errors in pausing, resuming, patching, and triggering by hand."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from tests.simulation.mutations.registry import Broken, everywhere, mutation, replacing, wrapping

from sweephand.jobs import draft, resume
from sweephand.jobs.commit import Commits, Draft
from sweephand.jobs.series import recounted_series
from sweephand.model.job import Job
from sweephand.model.revisions import Liveness, liveness_by_revision
from sweephand.model.trigger import TriggerMessage
from sweephand.runs.delivery import JobRead, liveness_of
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
