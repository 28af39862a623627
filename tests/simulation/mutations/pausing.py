"""Errors in pausing, resuming, patching, and triggering by hand."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from tests.simulation.mutations.registry import everywhere, mutation

from sweephand.jobs import draft, resume
from sweephand.jobs.commit import Commits, Draft
from sweephand.jobs.series import recounted_series
from sweephand.model.job import Job
from sweephand.model.revisions import Liveness, liveness_by_revision
from sweephand.model.trigger import TriggerMessage
from sweephand.runs.delivery import JobRead, liveness_of
from sweephand.wheel.catchup import Misfires, misfires_between


def _resuming(change: Any) -> Any:
    def changed(stored: Job, *args: Any, **kwargs: Any) -> Draft:
        drafted: Draft = change(stored, draft.draft_resume(stored, *args, **kwargs))
        return drafted

    return patch.object(resume, "draft_resume", changed)


@mutation("A resume makes no revision of its own")
def resumes_without_revision() -> Iterator[None]:
    def same(stored: Job, drafted: Draft) -> Draft:
        return replace(drafted, job=replace(drafted.job, current=stored.current))

    with _resuming(same):
        yield


@mutation("The revision of a resume begins at its request instead of at the pause")
def resumes_from_now() -> Iterator[None]:
    def late(_: Job, drafted: Draft) -> Draft:
        return replace(drafted, after=drafted.job.updated_at)

    with _resuming(late):
        yield


@mutation("A resume fires no misfire of the pause, whatever its catch-up says")
def catches_up_with_nothing() -> Iterator[None]:
    def none(*args: Any, **kwargs: Any) -> Any:
        return misfires_between(*args, **{**kwargs, "mode": "none"})

    with patch.object(resume, "misfires_between", none):
        yield


@mutation("Triggers that were owed at a pause are dropped")
def drops_what_is_held() -> Iterator[None]:
    def dropped(message: TriggerMessage, read: JobRead) -> Liveness:
        found = liveness_of(message, read)
        return "dead" if found == "held" else found

    with everywhere("liveness_of", dropped):
        yield


@mutation("A held trigger is delivered")
def delivers_what_is_held() -> Iterator[None]:
    def delivered(message: TriggerMessage, read: JobRead) -> Liveness:
        found = liveness_of(message, read)
        return "alive" if found == "held" else found

    with everywhere("liveness_of", delivered):
        yield


@mutation("A trigger on demand is judged by its revision")
def asks_by_hand_for_revision() -> Iterator[None]:
    def by_revision(message: TriggerMessage, read: JobRead) -> Liveness:
        trigger = message.trigger
        if trigger.demand is None:
            return liveness_of(message, read)
        return liveness_by_revision(read.job, uid=trigger.uid, rev=trigger.rev, due_at=trigger.due_at)

    with everywhere("liveness_of", by_revision):
        yield


@mutation("A resume skips no misfire of the pause")
def skips_no_misfire() -> Iterator[None]:
    with patch.object(resume, "misfires_between", lambda *_, **__: Misfires()):
        yield


@mutation("An update of a paused job ends its pause")
def forgets_pauses() -> Iterator[None]:
    written = draft._rewritten

    def awake(*args: Any, **kwargs: Any) -> Job:
        return replace(written(*args, **kwargs), paused_at=None, pause_reason=None)

    with patch.object(draft, "_rewritten", awake):
        yield


@mutation("A PATCH counts from the beginning, as a PUT does")
def patches_count_from_the_beginning() -> Iterator[None]:
    with patch.object(draft, "patched_series", recounted_series):
        yield


@mutation("A paused job is not armed even if its request came before the pause")
def arms_no_paused_job() -> Iterator[None]:
    arm = Commits._arm

    def arm_awake(commits: Commits, drafted: Draft) -> None:
        if drafted.job.paused_at is None:
            arm(commits, drafted)

    with patch.object(Commits, "_arm", arm_awake):
        yield
