"""What may be wrong with pausing, resuming, patching, and triggers on demand."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from tests.simulation.mutations.registry import everywhere, mutation

from sweephand.instants import Instant
from sweephand.jobs import draft as drafts
from sweephand.jobs.commit import Commits, Draft
from sweephand.jobs.expected import present
from sweephand.jobs.job import Job, JobKey
from sweephand.jobs.live import Liveness, live, live_again
from sweephand.jobs.resume import Resumer
from sweephand.jobs.series import restarted
from sweephand.runs.reading import JobRead
from sweephand.wheel.catchup import Misfires
from sweephand.wheel.trigger import TriggerMessage


@mutation("A resume brings no revision of its own")
def resumes_without_revision() -> Iterator[None]:
    def resume(resumer: Resumer, key: JobKey, *, requested_at: Instant, **_: Any) -> Job:
        while True:
            job = present(resumer._jobs.get(key), key, requested_at)
            if job.paused_at is None:
                return job
            resumed = replace(job, version=resumer._ids.token(), paused_at=None, pause_reason=None)
            if resumer._jobs.put(resumed, job.version):
                return resumed

    with patch.object(Resumer, "resume", resume):
        yield


def _answering(change: Callable[[Liveness], Liveness]) -> Any:
    """Both questions of liveness, answered otherwise."""

    def first(job: Job | None, **asked: Any) -> Liveness:
        return change(live(job, **asked))

    def again(job: Job | None, **asked: Any) -> Liveness:
        return change(live_again(job, **asked))

    return everywhere("live", first), everywhere("live_again", again)


@mutation("What was owed at a pause is dropped, not held")
def drops_what_is_held() -> Iterator[None]:
    one, other = _answering(lambda answer: "dead" if answer == "held" else answer)
    with one, other:
        yield


@mutation("What a pause should hold is delivered")
def delivers_what_is_held() -> Iterator[None]:
    one, other = _answering(lambda answer: "alive" if answer == "held" else answer)
    with one, other:
        yield


@mutation("A trigger on demand is asked for its revision")
def asks_demands_for_revision() -> Iterator[None]:
    def liveness_of(message: TriggerMessage, read: JobRead) -> Liveness:
        trigger = message.trigger
        if message.attempt > 1:
            return live_again(read.job, uid=trigger.uid)
        return live(read.job, uid=trigger.uid, rev=trigger.rev, due_at=trigger.due_at)

    with everywhere("liveness_of", liveness_of):
        yield


@mutation("A resume passes over nothing of what fell due during the pause")
def skips_no_misfire() -> Iterator[None]:
    with everywhere("misfires", lambda *_, **__: Misfires()):
        yield


@mutation("A resume begins with its request, not with the pause")
def resumes_from_now() -> Iterator[None]:
    resumed = drafts.resumed

    def from_now(stored: Job, _: int, **asked: Any) -> Draft:
        return resumed(stored, asked["now"], **asked)

    with everywhere("resumed", from_now):
        yield


@mutation("A write of a paused job ends its pause")
def forgets_pauses() -> Iterator[None]:
    written = drafts._written

    def awake(*args: Any, **asked: Any) -> Job:
        return replace(written(*args, **asked), paused_at=None, pause_reason=None)

    with patch.object(drafts, "_written", awake):
        yield


@mutation("A patch counts anew, as a PUT does")
def patches_count_anew() -> Iterator[None]:
    with patch.object(drafts, "patched", restarted):
        yield


@mutation("A paused job is never armed, though its request came before the pause")
def arms_no_paused_job() -> Iterator[None]:
    arm = Commits._arm

    def arm_awake(commits: Commits, draft: Draft) -> None:
        if draft.job.paused_at is None:
            arm(commits, draft)

    with patch.object(Commits, "_arm", arm_awake):
        yield
