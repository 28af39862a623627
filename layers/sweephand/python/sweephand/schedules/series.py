"""Which occurrences a series has, and which number each of them has.

A series holds everything that its occurrences depend on. Timers carry it, and every function computes the
same occurrences from it, from whichever occurrence it starts.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, islice
from typing import Any, Final, NamedTuple, get_args

from sweephand.base.instants import INSTANT_MAX, Instant
from sweephand.base.layouts import NAME, NUMBER, Field, Form, Layout, Part, choice_of
from sweephand.schedules.clock.dst import DEFAULT, ClockEffect, DstRule, Gap, RepeatedTime
from sweephand.schedules.day_rule import DayRule
from sweephand.schedules.schedule import InstantList, Schedule, item_of_schedule, schedule_of_item
from sweephand.schedules.timeline import FixedInstants, Timeline


class Batch(NamedTuple):
    """Each occurrence has `size` triggers with the indexes 0 to `size - 1`, spread over `window_ms`.

    With a window of 0 ms, all of them are due at once. If the batch `is_counted`, Sweephand keeps its
    progress: which runs are over, and how each ended.
    """

    size: int
    window_ms: int = 0
    is_counted: bool = True

    @classmethod
    def from_item(cls, item: Sequence[Any]) -> "Batch":
        """The batch that to_item() wrote."""
        size, window_ms, *uncounted = item
        return cls(int(size), int(window_ms), not uncounted)

    def to_item(self) -> list[int]:
        """`[size, window_ms]`, and a third element if the batch is not counted."""
        return [self.size, self.window_ms] if self.is_counted else [self.size, self.window_ms, 0]

    def after_ms(self, index: int, window_ms: int) -> int:
        """How long after its occurrence the trigger of that index is due, in whole milliseconds.

        `window_ms` is the window of that occurrence. Fractions of a millisecond are cut off. This is the only
        place where an offset is rounded.
        """
        return index * window_ms // self.size

    def due_within(self, elapsed_ms: int, window_ms: int) -> int:
        """How many triggers of an occurrence are due once `elapsed_ms` have passed since it was due."""
        if elapsed_ms >= window_ms:
            return self.size
        # after_ms(i) <= elapsed  <=>  i * window < (elapsed + 1) * size
        return min(self.size, -(-(elapsed_ms + 1) * self.size // window_ms))


#: All months of the calendar.
_MONTHS_MAX: Final = 12 * 10_000
#: Within how many months the end of cron with `repeats` is looked for.
_END_MONTHS_MAX: Final = 1_000
#: How many instants of a list one timer carries, so that it stays below a kilobyte.
PART_INSTANTS_MAX: Final = 20


class Occurrence(NamedTuple):
    """One due time of a series: epoch milliseconds, and its 1-based number within the series.

    If the series has a batch, an occurrence has many triggers. One of them is written as its occurrence with
    the trigger's index in the batch, and with how long after `due_at` the trigger is due.
    """

    due_at: Instant
    sequence: int
    batch_index: int = 0
    after_ms: int = 0

    @property
    def at(self) -> Instant:
        """When the trigger is due. The first trigger of an occurrence is due with the occurrence."""
        return self.due_at + self.after_ms


class Series(NamedTuple):
    """A schedule with its bounds, resolved to instants. Immutable; safe to share.

    `schedule` is the text that the user wrote, the fields, or the instants of a list. Without it the series
    is a one-off at `due_at`. Without `due_at` too, the series is on demand: it has no occurrence, and
    `start_at` is 0. `timezone` is the IANA name of the zone that applies.

    The series began with the request at `start_at`. No occurrence comes before `due_at`, if there is one.
    None comes after `ttl_at`; an occurrence exactly at `ttl_at` fires. The series has `repeats` occurrences
    in all.

    An update that changes neither schedule, dueTime nor timezone keeps the start of the series, and so the
    phase of `@every`. The occurrences are then those after `counted_at`, and their numbers follow `counted`.

    `dst` applies to fixed local times when the clock changes. Every occurrence comes `jitter_ms` later than
    the schedule says. The bounds apply to the later instant.

    With `days`, it only fires on the days that fit there. The bounds apply to the instants after that, too.

    With a `batch`, each occurrence has many triggers (triggers.py). The bounds apply to occurrences, so
    that a batch which has begun is never cut.
    """

    schedule: Schedule | None
    timezone: str
    start_at: Instant
    due_at: Instant | None = None
    ttl_at: Instant | None = None
    repeats: int | None = None
    counted_at: Instant | None = None
    counted: int = 0
    dst: DstRule = DEFAULT
    jitter_ms: int = 0
    batch: Batch | None = None
    days: DayRule | None = None

    @property
    def is_on_demand(self) -> bool:
        """Whether the series has no occurrence at all, because its job fires only by hand or in a chain."""
        return self.schedule is None and self.due_at is None

    @property
    def is_single(self) -> bool:
        """Whether the series has one occurrence left since `counted_at`, and one trigger of it."""
        return self.batch is None and len([*islice(self.occurrences(-1), 2)]) == 1

    def has_ended(self, reached: Instant) -> bool:
        """Whether no trigger comes after an instant. On demand: whether `ttl_at` lies before it.

        A batch counts as running for its whole window.
        """
        if self.is_on_demand:
            return self.ttl_at is not None and self.ttl_at < reached
        return self.next_after(reached - (self.batch.window_ms if self.batch else 0)) is None

    def window_ms_of(self, occurrence: Occurrence) -> int:
        """Over how many ms the batch of an occurrence is spread; 0 without a batch.

        It is the batch's window. But a clock change can bring the next occurrence forward. The batch then
        ends before that occurrence, so that the triggers of a series are due in the order of their numbers.
        """
        if self.batch is None or not self.batch.window_ms:
            return 0
        due_at, window_ms = occurrence.due_at, self.batch.window_ms
        # The next occurrence can lie centuries ahead, and a search for it would take long.
        is_near = self._timeline().count(due_at, due_at + window_ms)
        following = self.following(occurrence) if is_near else None
        return min(window_ms, INSTANT_MAX - due_at) if following is None else following.due_at - due_at

    def occurrences(self, after: Instant, known: Occurrence | None = None) -> Iterator[Occurrence]:
        """The occurrences strictly after an instant and within the bounds, ascending and lazily.

        `known` is an occurrence of this series at or before `after`. The numbers are counted from it. Without
        it they are counted from the start: by division for elapsed time, month by month for cron. Both ways
        give the same numbers. The first step raises ScheduleError if schedule or zone cannot be read.
        """
        timeline = self._timeline()
        assert known is None or known.due_at <= after, "numbers are counted forward from a known occurrence"
        if known is None:
            after = max(after, self._counted_from_at)
            sequence = self.counted + timeline.count(self._counted_from_at, after)
        else:
            sequence = known.sequence
            if known.due_at < after:
                sequence += timeline.count(known.due_at, after)
        for due_at in timeline.instants(after):
            sequence += 1
            if self.ttl_at is not None and due_at > self.ttl_at:
                return
            if self.repeats is not None and sequence > self.repeats:
                return
            yield Occurrence(due_at, sequence)

    def following(self, known: Occurrence) -> Occurrence | None:
        """The occurrence after a known one; None at the end. It is next_after(known.due_at, known)."""
        due_at = next(self._timeline().instants(known.due_at), None)
        sequence = known.sequence + 1
        if (
            due_at is None
            or (self.ttl_at is not None and due_at > self.ttl_at)
            or (self.repeats is not None and sequence > self.repeats)
        ):
            return None
        return Occurrence(due_at, sequence)

    def due_times(self, after: Instant) -> Iterator[Instant]:
        """The due times of occurrences(after), as last_at() bounds them on a calendar.

        A count on a calendar can take a step for each day. So nothing is counted there, however far they lie.
        """
        if self.repeats is not None and self.days is None:
            return (each.due_at for each in self.occurrences(after))
        after, last_at = max(after, self._counted_from_at), self.last_at()
        uncounted = self._replace(repeats=None, ttl_at=self.ttl_at if last_at is None else last_at)
        dues = (each.due_at for each in uncounted.occurrences(after, Occurrence(after, self.counted)))
        # The end may lie too far ahead to be known.
        return islice(dues, None if self.repeats is None else max(0, self.repeats - self.counted))

    def next_after(self, after: Instant, known: Occurrence | None = None) -> Occurrence | None:
        """The first occurrence strictly after an instant, or None; `known` as in occurrences()."""
        return next(self.occurrences(after, known), None)

    def number_through(self, through: Instant, known: Occurrence | None = None) -> int:
        """The number of the last occurrence up to and including an instant; `counted` if there is none.

        It looks for no occurrence, and so takes as long for a rare one as for any other. `known` is as in
        occurrences().
        """
        if self.ttl_at is not None:
            through = min(through, self.ttl_at)
        since, counted = (
            (self._counted_from_at, self.counted) if known is None else (known.due_at, known.sequence)
        )
        number = counted + (self._timeline().count(since, through) if through > since else 0)
        return number if self.repeats is None else min(number, self.repeats)

    def latest_through(self, through: Instant) -> Instant | None:
        """The last due time up to and including an instant; None if there is none. `repeats` is ignored."""
        if self.ttl_at is not None:
            through = min(through, self.ttl_at)
        return self._timeline().last_through(through)

    def last_through(self, through: Instant, known: Occurrence) -> Occurrence:
        """The last occurrence up to and including an instant. It is `known` if no other one lies between.

        `known` must not come after the instant. The occurrences between the two are not walked through.
        """
        assert known.due_at <= through, "the known occurrence lies in the span"
        timeline = self._timeline()
        if self.ttl_at is not None:
            through = min(through, self.ttl_at)
        last_at = timeline.last_through(through)
        if last_at is None or last_at <= known.due_at:
            return known
        sequence = known.sequence + timeline.count(known.due_at, last_at)
        if self.repeats is not None and sequence > self.repeats:
            return self.numbered(self.repeats, known)
        return Occurrence(last_at, sequence)

    def numbered(self, sequence: int, known: Occurrence) -> Occurrence:
        """The occurrence of that number, counted from `known`, whose number must not be higher.

        The series must have that number. The occurrences between the two are not walked through.
        """
        assert known.sequence <= sequence, "numbers are counted forward from a known occurrence"
        if sequence == known.sequence:
            return known
        due_at = self._timeline().nth(sequence - known.sequence, known.due_at, _MONTHS_MAX)
        assert due_at is not None, "the series has an occurrence of that number"
        return Occurrence(due_at, sequence)

    def last_at(self) -> Instant | None:
        """The instant of the last occurrence; None if the series has no end, or none that is cheaply found.

        Only for cron with `repeats` the end may be unknown: it is looked for within 1,000 months. If the
        series has another end too, the answer is then the last occurrence up to that end, an upper bound.
        """
        timeline = self._timeline()
        bound = self.ttl_at
        if bound is None and timeline.is_finite:
            bound = INSTANT_MAX
        by_bound = None if bound is None else timeline.last_through(bound)
        if self.repeats is None or (bound is not None and by_bound is None):
            return by_bound
        if self.repeats <= self.counted:
            return self.counted_at
        by_repeats = timeline.nth(self.repeats - self.counted, self._counted_from_at, _END_MONTHS_MAX)
        return min((each for each in (by_bound, by_repeats) if each is not None), default=None)

    def clock_effects(self, after: Instant, through: Instant) -> Iterator[ClockEffect]:
        """What clock changes did to the local times of this series, between its start and its `ttl`.

        The effects whose instant lies after `after`, up to and including `through`, ascending and lazily.
        They tell why an occurrence was moved, and which local time has no occurrence. Elapsed time has no
        effects, and neither has an expression that follows real time.
        """
        through = through if self.ttl_at is None else min(through, self.ttl_at)
        return self._timeline().clock_effects(max(after, self._counted_from_at), through)

    def parts(self, first: Occurrence) -> Iterator[tuple["Series", Occurrence]]:
        """The series from `first` on in the parts that timers carry, each with its first occurrence.

        A part of a list has at most PART_INSTANTS_MAX instants. Every other series is one part. The
        occurrences of a part have the numbers that they have in the series.
        """
        if not isinstance(self.schedule, InstantList):
            yield self, first
            return
        following = chain((first,), self.occurrences(first.due_at, known=first))
        while part := tuple(islice(following, PART_INSTANTS_MAX)):
            head = part[0]
            schedule = InstantList(tuple(each.due_at - self.jitter_ms for each in part))
            counted_at, counted = head.due_at - 1, head.sequence - 1
            # These instants have been moved already.
            yield self._replace(schedule=schedule, counted_at=counted_at, counted=counted, days=None), head

    def to_item(self) -> dict[str, Any]:
        """The series as a map of texts, whole numbers and the item of its schedule, without absent fields."""
        return SERIES.write(self)

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> "Series":
        """The series that to_item() wrote; FormError, or another error, if it is no series."""
        return SERIES.read(item)

    @property
    def _counted_from_at(self) -> Instant:
        """The instant after which numbers are counted. No occurrence lies up to it."""
        begun_at = (self.start_at if self.due_at is None else min(self.start_at, self.due_at)) - 1
        return begun_at if self.counted_at is None else max(begun_at, self.counted_at)

    def _timeline(self) -> Timeline:
        if self.schedule is None and not self.jitter_ms and self.days is None:
            return FixedInstants(() if self.due_at is None else (self.due_at,))
        request = (self.schedule, self.timezone, self.start_at, self.due_at)
        return _timeline_maker()(*request, dst=self.dst, jitter_ms=self.jitter_ms, days=self.days)


_BATCH: Final = Form(
    "a batch", lambda stored: isinstance(stored, list), read=Batch.from_item, write=Batch.to_item
)
_DAYS: Final = Form(
    "a rule", lambda stored: isinstance(stored, list), read=DayRule.from_item, write=DayRule.to_item
)
_SCHEDULE: Final = Form(
    "a text, an object or a list",
    lambda stored: isinstance(stored, str | dict | list),
    read=schedule_of_item,
    write=item_of_schedule,
)

#: How a series is stored. Its schedule is read when it is first asked for a timeline.
SERIES: Final = Layout(
    Series,
    Field("schedule", "schedule", _SCHEDULE, None),
    Field("timezone", "timezone", NAME),
    Field("start_at", "startAt", NUMBER),
    Field("due_at", "dueAt", NUMBER, None),
    Field("ttl_at", "ttlAt", NUMBER, None),
    Field("repeats", "repeats", NUMBER, None),
    Field("counted_at", "countedAt", NUMBER, None),
    Field("counted", "counted", NUMBER, 0),
    Part(
        "dst",
        Layout(
            DstRule,
            Field("gap", "gap", choice_of(*get_args(Gap)), DEFAULT.gap),
            Field("overlap", "overlap", choice_of(*get_args(RepeatedTime)), DEFAULT.overlap),
        ),
    ),
    Field("jitter_ms", "jitterMs", NUMBER, 0),
    Field("batch", "batch", _BATCH, None),
    Field("days", "days", _DAYS, None),
)


@cache
def _timeline_maker() -> Callable[..., Timeline]:
    """The function that makes timelines, imported when it is first needed: the import takes 6 ms.

    The delivery function reads every job's series and hardly ever calculates with one. So it starts without
    the notations and the zones. A sweeper asks for thousands of timelines, and repeats no import statement.
    """
    from sweephand.schedules.notations.parsing import timeline_of  # noqa: PLC0415 - as above

    return timeline_of
