"""A window of a namespace: when it is open, which triggers it is for, and when what it holds is delivered.

No attempt at such a trigger begins while a window is open, except by hand. A window holds what falls due in
it until it closes, or skips it (decision 219).
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from sweephand.base.instants import INSTANT_MAX, Instant
from sweephand.base.timing import PENDING_MAX_MS
from sweephand.model.job import Job
from sweephand.model.trigger import TriggerMessage
from sweephand.schedules import Series
from sweephand.schedules.durations import offset_ms

Then = Literal["hold", "skip"]

#: Openings that meet are looked for so often.
_MEETING_MAX: Final = 10

_NO_LABELS: Final[Mapping[str, str]] = MappingProxyType({})


class Window(NamedTuple):
    """A stored window. `version` changes with every write of it; `owner` made the last one.

    It opens at each occurrence of its `series`, and is open for `duration_ms`. A window that opens once has a
    series of one occurrence. It is for the jobs whose names begin with `prefix` and that have all its
    `labels`. What it held is delivered within `spread_ms` after it closes.
    """

    name: str
    version: str
    series: Series
    duration_ms: int
    updated_at: Instant
    owner: str
    then: Then = "hold"
    spread_ms: int = 0
    prefix: str = ""
    labels: Mapping[str, str] = _NO_LABELS

    def is_for(self, job: Job) -> bool:
        """Whether the window is for the triggers of that job."""
        labels = job.definition.labels
        return job.key.name.startswith(self.prefix) and self.labels.items() <= labels.items()

    def opening_at(self, at: Instant) -> "Opening | None":
        """The opening of the window during which that instant lies; None if it is closed then.

        A window is open from its first instant up to, and without, its last one.
        """
        opens_at = self.latest_opening(at)
        is_open = opens_at is not None and at < opens_at + self.duration_ms
        return Opening(self, opens_at) if opens_at is not None and is_open else None

    def latest_opening(self, at: Instant) -> Instant | None:
        """When the window opened for the last time up to an instant; None if it had not opened by then."""
        return self.series.latest_through(at)

    def next_opening(self, after: Instant) -> "Opening | None":
        """The first opening that begins after an instant; None if there is none."""
        following = self.series.next_after(after)
        return None if following is None else Opening(self, following.due_at)


class Opening(NamedTuple):
    """One time at which a window opens. What it holds waits until it closes at `closes_at`."""

    window: Window
    opens_at: Instant

    @property
    def closes_at(self) -> Instant:
        """The first instant at which it is closed again. It is no later than the year 9999."""
        return min(self.opens_at + self.window.duration_ms, INSTANT_MAX)

    @property
    def ends_at(self) -> Instant:
        """The first instant by which all that it held is to be delivered."""
        return self.closes_at + self.window.spread_ms

    def releases_at(self, message: TriggerMessage) -> Instant:
        """When a trigger that is held is delivered: after the end, within the window's `spread`.

        Half of the spread spreads jobs, by their names. The other half keeps the order in which triggers fell
        due, so that those of one job keep it.
        """
        duration_ms = self.window.duration_ms
        since_ms = min(max(message.trigger.at - self.opens_at, 0), duration_ms - 1)
        half_ms = self.window.spread_ms // 2
        return (
            self.closes_at + offset_ms(str(message.trigger.key), half_ms) + half_ms * since_ms // duration_ms
        )


def passes(message: TriggerMessage) -> bool:
    """Whether no window concerns a trigger: somebody asked for it by hand, or another job's run did."""
    return message.redrive is not None or message.trigger.demand is not None


def open_for(windows: Iterable[Window], job: Job, at: Instant) -> Opening | None:
    """The opening that holds the job's triggers at an instant: of several, the one that ends last."""
    return max(_openings(windows, job, at), key=lambda each: each.closes_at, default=None)


def before_next(windows: Iterable[Window], job: Job, opening: Opening) -> Opening:
    """The opening, with a spread that is over when a window next opens for the job.

    A trigger whose place in the spread lies in another opening would be held again, at worst for ever.
    """
    following = [each.next_opening(opening.closes_at - 1) for each in windows if each.is_for(job)]
    open_ms = min((each.opens_at - opening.closes_at for each in following if each), default=INSTANT_MAX)
    window = opening.window._replace(spread_ms=min(opening.window.spread_ms, open_ms))
    return opening._replace(window=window)


def skips(windows: Iterable[Window], job: Job, due_at: Instant) -> Opening | None:
    """The opening that skips the job's trigger of that due time; None if none does."""
    return next(_openings((each for each in windows if each.then == "skip"), job, due_at), None)


def holds(windows: Iterable[Window], job: Job, due_at: Instant, now: Instant) -> Opening | None:
    """The opening for whose end the job's trigger of that due time waits now; None if it waits for none.

    A trigger that was due shortly before the window opened may have been on its way.
    """
    some = tuple(windows)
    of_due = max(_openings(some, job, due_at), key=lambda each: each.closes_at, default=None)
    found = open_for(some, job, now) or of_due
    if found is None or due_at > now or due_at <= found.opens_at - PENDING_MAX_MS:
        return None
    return found if now < found.ends_at else None


class Hold(NamedTuple):
    """A time in which windows hold triggers of a job: that of one opening, or of several that meet.

    It concerns what is due before `closes_at`. By `until`, all that it held is to be delivered.
    """

    opens_at: Instant
    closes_at: Instant
    until: Instant

    def joined_by(self, opening: Opening) -> "Hold":
        """The hold together with an opening."""
        return Hold(
            min(self.opens_at, opening.opens_at),
            max(self.closes_at, opening.closes_at),
            max(self.until, opening.ends_at),
        )


def hold_between(windows: Iterable[Window], job: Job, since: Instant, until: Instant) -> Hold | None:
    """The last hold of the job that began by `until` and was not over at `since`; None if there is none.

    An opening belongs to it if it begins before what the others held is delivered. Many that follow on one
    another are not all looked at.
    """
    mine = [each for each in windows if each.is_for(job)]
    found = [each for each in _latest(mine, until) if each.closes_at > since]
    if not found:
        return None
    hold = reduce(Hold.joined_by, found, Hold(until, since, since))
    for _ in range(_MEETING_MAX):
        around = (*_latest(mine, hold.opens_at - 1), *_latest(mine, hold.until))
        meeting = (each for each in around if each.ends_at >= hold.opens_at)
        hold, before = reduce(Hold.joined_by, meeting, hold), hold
        if hold == before:
            break
    return hold


def _latest(windows: Iterable[Window], at: Instant) -> list[Opening]:
    return [Opening(each, opens_at) for each in windows if (opens_at := each.latest_opening(at)) is not None]


def _openings(windows: Iterable[Window], job: Job, at: Instant) -> Iterator[Opening]:
    return (found for each in windows if each.is_for(job) and (found := each.opening_at(at)) is not None)


class Windows(NamedTuple):
    """All windows of a namespace, by their names. `version` changes with every write, at `changed_at`."""

    namespace: str
    version: str
    windows: tuple[Window, ...] = ()
    changed_at: Instant = 0


#: The windows of a namespace that never had any.
NO_WINDOWS: Final = Windows("", "")
