"""What the changes of a name say about an instant: was there a job, was it paused, what has changed since."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from sweephand.base.instants import Instant
from sweephand.base.timing import API_LIMIT_MS, CLOCK_SKEW_MAX_MS
from sweephand.model.change import Change
from sweephand.runs.explain.subject import subject_of
from sweephand.schedules import Series

#: The fields that decide when a job fires.
_TIMING: Final = frozenset({"schedule", "timezone", "dueTime", "ttl", "repeats", "dst", "jitter", "batch"})


#: After this, what a change of that date wrote is stored by every clock, or its writer has failed.
_STORED_MS: Final = API_LIMIT_MS + CLOCK_SKEW_MAX_MS


class Pause(NamedTuple):
    """A pause, by the changes that began and ended it. `end` is None while it lasts.

    The end is a resume, or what ended the job: its deletion, or the creation of the next job of its name.
    """

    begin: Change
    end: Change | None = None


class Lives(NamedTuple):
    """The changes of a name, oldest first. `is_complete` says that no older one is missing."""

    changes: Sequence[Change]
    is_complete: bool = True

    @classmethod
    def of(cls, newest_first: Iterable[Change], *, is_complete: bool, is_there: bool) -> "Lives":
        """The changes, without deletions that had no effect. `is_there` says whether there is a job now.

        A deletion is filed before the job is deleted, and may fail after that. Of the deletions of one job,
        only the last can have had an effect, and none if the job is there.
        """
        found: list[Change] = []
        may_end = not is_there
        for change in newest_first:
            if change.what == "deleted":
                if not may_end:
                    continue
                may_end = False
            elif change.what == "created":
                # What was created took the place of a job that had ended.
                may_end = True
            found.append(change)
        return cls(found[::-1], is_complete)

    def last_up_to(self, at: Instant) -> Change | None:
        """The last change up to an instant."""
        return next((each for each in reversed(self.changes) if each.at <= at), None)

    def first_after(self, at: Instant) -> Change | None:
        """The first change after an instant."""
        return next((each for each in self.changes if each.at > at), None)

    def pause_at(self, due_at: Instant, *, is_paused: bool) -> Pause | None:
        """The pause in which a trigger fell due; None if there was none.

        `is_paused` says whether the job is paused now. If it is not, every pause has ended. The instant of
        the pause itself is not in the pause: what is due then is still owed (Revision.owns).
        """
        begin: Change | None = None
        for change in self.changes:
            if change.what == "paused" and begin is None:
                begin = change
            elif change.what in ("resumed", "created", "deleted"):
                if begin is not None and begin.at < due_at <= change.at:
                    return Pause(begin, change)
                begin = None
        is_open = begin is not None and is_paused and begin.at < due_at
        return Pause(begin) if begin is not None and is_open else None

    def last_pause(self) -> Change | None:
        """The last change that paused the job; None if none did, or if it was not kept."""
        return next((each for each in reversed(self.changes) if each.what == "paused"), None)

    def may_have_changed(self, field: str, since: Instant) -> bool:
        """Whether a field of the job was changed at an instant or later, or may have been."""
        writes = (each for each in self.changes if each.at >= since and each.what in ("replaced", "patched"))
        return not self.is_complete or any(
            found.name == field for each in writes for found in each.fields or ()
        )

    def retimed_after(self, due_at: Instant, series: Series) -> Change | None:
        """The first change after an instant that may have changed when the job fires; None if none has.

        `series` is that of the job now. A write that begins a series anew counts a relative `dueTime` anew,
        although no field has changed.
        """
        for change in self.changes:
            if change.at < due_at or change.what not in ("replaced", "patched"):
                continue
            if any(each.name in _TIMING for each in change.fields or ()):
                return change
            if change.former is not None and uncounted(change.former.series) != uncounted(series):
                return change
        return None

    def overtaking(self, at: Instant) -> Change | None:
        """The first change that may have been stored after an instant at which the definition before was due.

        A change is dated by the clock of its writer before it is stored.
        """
        recent = (each for each in self.changes if each.at + _STORED_MS > at)
        return next(
            (
                each
                for each in recent
                if each.former is not None and subject_of(each.former.series, at).due_at is not None
            ),
            None,
        )


def uncounted(series: Series) -> Series:
    """A series without its counts, which an update may have taken up later."""
    return replace(series, counted_at=None, counted=0)
