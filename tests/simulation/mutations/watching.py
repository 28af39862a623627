"""Errors of the watch on jobs: what is checked, when, and what is told of it."""

from itertools import count
from typing import Any, Final
from unittest.mock import patch

from tests.simulation.mutations.registry import Broken, everywhere, mutation, replacing
from tests.simulation.workload.watches import FIRST_WITH_WATCHES

from sweephand.jobs.commit import Commits
from sweephand.model.run import Run
from sweephand.model.watch import WatchMessage, alert_id, window_of
from sweephand.runs import watch as checks
from sweephand.runs.notification import alert_of
from sweephand.runs.received import Outcome
from sweephand.wheel import watch

_NEXT: Final[Any] = watch.next_check
_PART: Final[Any] = checks._part


@mutation("A resumed job is not watched", first=FIRST_WITH_WATCHES)
def forgets_resumed_jobs() -> Broken:
    with_watch: Any = Commits._with_watch

    def armed(arming: Any, armable: Any, after_ms: int, draft: Any) -> Any:
        is_resumed = draft.watched_after is not None
        return arming if is_resumed else with_watch(arming, armable, after_ms, draft)

    return patch.object(Commits, "_with_watch", staticmethod(armed))


@mutation("A watch ends when its check is found late", first=FIRST_WITH_WATCHES)
def ends_when_late() -> Broken:
    def late(timer: Any, job: Any, judged_at: int) -> Any:
        found = _NEXT(timer, job, judged_at)
        return found._replace(successor=None) if judged_at > timer.message.check_at else found

    return everywhere("next_check", late)


@mutation("A check that is found late is left out", first=FIRST_WITH_WATCHES)
def leaves_out_what_is_late() -> Broken:
    def late(timer: Any, job: Any, judged_at: int) -> Any:
        found = _NEXT(timer, job, judged_at)
        is_late = found.check is not None and judged_at > timer.message.check_at
        return found._replace(check=None) if is_late else found

    return everywhere("next_check", late)


@mutation("A success counts however late it is", first=FIRST_WITH_WATCHES)
@replacing(checks, "_is_fine")
def takes_late_successes(run: Run | None, *_: object) -> bool:
    return run is not None and run.state in ("succeeded", "cancelled", "skipped")


@mutation("A success counts only at the first attempt", first=FIRST_WITH_WATCHES)
def takes_first_attempts_only() -> Broken:
    fine: Any = checks._is_fine
    return patch.object(
        checks,
        "_is_fine",
        lambda run, *rest: fine(run, *rest) and (run.attempts == 1 or run.state != "succeeded"),
    )


@mutation("A trigger that was skipped for a run by hand is never missed", first=FIRST_WITH_WATCHES)
def trusts_runs_by_hand() -> Broken:
    return patch.object(checks.Watch, "_unwatched", lambda *_: {})


@mutation("A trigger that was skipped for another run counts as missed", first=FIRST_WITH_WATCHES)
def tells_of_skipped_triggers() -> Broken:
    return patch.object(checks, "OVERLAP", "nothing")


@mutation("A check looks at its triggers when they are due", first=FIRST_WITH_WATCHES)
def checks_too_early() -> Broken:
    def early(message: WatchMessage) -> int:
        return message.check_at - message.after_ms + 1_000

    return patch.object(WatchMessage, "not_before", property(early))


@mutation("A check of an earlier revision is dropped", first=FIRST_WITH_WATCHES)
def drops_earlier_revisions() -> Broken:
    check: Any = checks.Watch._check

    def checked(self: Any, message: WatchMessage, job: Any, revision: Any) -> Outcome:
        is_earlier = revision.rev != job.rev
        outcome: Outcome = Outcome("dropped") if is_earlier else check(self, message, job, revision)
        return outcome

    return patch.object(checks.Watch, "_check", checked)


@mutation("A paused job is still watched for what falls due during the pause", first=FIRST_WITH_WATCHES)
@replacing(checks, "_part")
def watches_paused_jobs(message: WatchMessage, since: int, after: int, through: int) -> Any:
    is_checked = after == message.first.due_at - 1
    return _PART(message, since, after, message.through if is_checked else through)


@mutation("An alert has another id each time", first=FIRST_WITH_WATCHES)
def renames_alerts() -> Broken:
    numbers = count()

    def named(*args: Any) -> str:
        return f"{alert_id(*args)}-{next(numbers)}"

    return everywhere("alert_id", named)


@mutation("Each check sends an alert, whatever was sent before", first=FIRST_WITH_WATCHES)
@replacing(checks.Watch, "_alert")
def sends_every_alert(self: Any, message: WatchMessage, _: Any, missed: Any, *__: Any) -> Any:
    window_at = window_of(missed[-1].due_at + message.after_ms)
    return alert_of(message, missed, window_at, self._clock.now())
