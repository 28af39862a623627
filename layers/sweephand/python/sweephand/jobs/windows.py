"""Writing and showing the windows of a namespace: which are valid, what their fields mean."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any, Final, Literal, get_args

from sweephand.base.errors import (
    ConflictError,
    InvalidError,
    NotFoundError,
    ScheduleError,
    Violation,
)
from sweephand.base.instants import DAY_MS, MINUTE_MS, Instant, rfc3339
from sweephand.base.limits import (
    NAME_LENGTH_MAX,
    SCHEDULE_LENGTH_MAX,
    WINDOW_DAYS_MAX,
    WINDOW_SPREAD_DAYS_MAX,
    WINDOWS_BYTES_MAX,
    WINDOWS_MAX,
)
from sweephand.base.names import PREFIX_MEANING, PREFIX_PATTERN, is_name, text_schema
from sweephand.jobs.fields.field import DURATION_RULE, Duration, Field, Judged, Object, OneOf, Text
from sweephand.jobs.fields.registry import LABELS
from sweephand.jobs.fields.timing import ZONE
from sweephand.jobs.preconditions import check_revision, check_time_limit, until_written
from sweephand.jobs.validation import object_violations
from sweephand.model.change import AdminChange, AdminVerb, changes_between
from sweephand.model.window import Then, Window, Windows
from sweephand.ports.clock import Clock, Ids
from sweephand.ports.flow import NamespaceStore
from sweephand.schedules import Series, duration_text, parse_duration_ms
from sweephand.schedules.clock.zones import UTC
from sweephand.schedules.durations import DURATION_CHARS_MAX
from sweephand.schedules.request import series_of
from sweephand.schedules.time_points import RFC3339_PATTERN, parse_instant

_SPREAD_DEFAULT_MS: Final = MINUTE_MS
_INSTANT_SCHEMA: Final = text_schema(f"^{RFC3339_PATTERN}$", DURATION_CHARS_MAX)

#: A window's own occurrences are compared with its duration as far as this many of them.
_OCCURRENCES_COMPARED: Final = 1_000

_ONCE: Final = ("from", "to")
_RECURRING: Final = ("schedule", "duration")
_FORMS: Final = "Give from and to, or schedule and duration."
_FIXED: Final = "counts from when it is written; expected fixed times, such as 0 22 * * * or @daily"


def _is_prefix(at: str, value: object, _: Judged) -> list[Violation]:
    is_valid = not isinstance(value, str) or value == "" or is_name(value) or value in (".", "..")
    return [] if is_valid else [Violation(at, PREFIX_MEANING)]


WINDOW: Final = Object(
    "WindowRequest",
    (
        Field(
            "from",
            Text(_INSTANT_SCHEMA),
            "When a window that opens once opens: an RFC 3339 time. It may be past.",
        ),
        Field(
            "to",
            Text(_INSTANT_SCHEMA),
            f"When it closes: an RFC 3339 time after `from`, at most {WINDOW_DAYS_MAX} days later.",
        ),
        Field(
            "schedule",
            Text(text_schema("^[\\t -~]+$", SCHEDULE_LENGTH_MAX)),
            "When a recurring window opens: a schedule as jobs have it, as a text, with fixed times, such as "
            "`0 22 * * *`.",
        ),
        Field(
            "timezone",
            ZONE,
            "The IANA time zone of `schedule`; by default UTC.",
        ),
        Field(
            "duration",
            Duration("windowDaysMax"),
            "How long a recurring window is open: at most "
            f"{WINDOW_DAYS_MAX}d, and shorter than the time between two openings. {DURATION_RULE}",
        ),
        Field(
            "then",
            OneOf(get_args(Then)),
            "What becomes of triggers that fall due in the window. `hold`, the default: they are delivered "
            "after it. `skip`: they are recorded as skipped.",
        ),
        Field(
            "spread",
            Duration("windowSpreadDaysMax", may_be_zero=True),
            "Over which time after the window its triggers are delivered: by default 1m, at most "
            f"{WINDOW_SPREAD_DAYS_MAX}d. {DURATION_RULE}",
        ),
        Field(
            "prefix",
            Text({"type": "string", "maxLength": NAME_LENGTH_MAX, "pattern": PREFIX_PATTERN}),
            f"Only jobs whose names begin so. {PREFIX_MEANING}",
            (_is_prefix,),
        ),
        Field("labels", LABELS, "Only jobs that have all these labels with these values: an object."),
    ),
)


@dataclass(frozen=True, slots=True)
class WindowWritten:
    """The window after the write, and what the write did."""

    window: Window
    outcome: Literal["created", "replaced", "unchanged"]


def _times(written: Mapping[str, Any], now: Instant) -> tuple[Series, int]:
    """When a window opens, and for how long in ms; InvalidError if that is not valid."""
    once = [each for each in _ONCE if each in written]
    recurring = [each for each in (*_RECURRING, "timezone") if each in written]
    if once and recurring:
        raise _refusal(f"/{once[0]}", f"not together with {recurring[0]}. {_FORMS}")
    missing = [each for each in (_ONCE if once else _RECURRING) if each not in written]
    if missing:
        raise _refusal(f"/{missing[0]}", f"missing. {_FORMS}")
    return _once(written) if once else _recurring(written, now)


def _once(written: Mapping[str, Any]) -> tuple[Series, int]:
    opens_at, closes_at = _instant(written, "from"), _instant(written, "to")
    if closes_at <= opens_at:
        raise _refusal("/to", f"not after from, {rfc3339(opens_at)}; expected a later time")
    if closes_at - opens_at > WINDOW_DAYS_MAX * DAY_MS:
        latest = rfc3339(opens_at + WINDOW_DAYS_MAX * DAY_MS)
        raise _refusal(
            "/to", f"longer than {WINDOW_DAYS_MAX} days (windowDaysMax); expected {latest} at the latest"
        )
    return Series(None, UTC, opens_at, opens_at), closes_at - opens_at


def _instant(written: Mapping[str, Any], name: str) -> Instant:
    try:
        return parse_instant(written[name])
    except ScheduleError as error:
        raise _refusal(f"/{name}", str(error)) from error


def _recurring(written: Mapping[str, Any], now: Instant) -> tuple[Series, int]:
    duration_ms = parse_duration_ms(written["duration"])
    # It may be open already when it is written.
    series = _series(written, now - duration_ms)
    # Their numbers may differ, since an opening can lie between both beginnings.
    coming = [each.next_after(now) for each in (series, _series(written, series.start_at - 1))]
    if len({None if each is None else each.due_at for each in coming}) > 1:
        raise _refusal("/schedule", _FIXED)
    dues = [each.due_at for each in islice(series.occurrences(series.start_at), _OCCURRENCES_COMPARED)]
    for earlier, later in pairwise(dues):
        if later - earlier <= duration_ms:
            raise _refusal(
                "/duration",
                f"it opens at {rfc3339(earlier)} and again at {rfc3339(later)}; expected a duration shorter "
                f"than {duration_text(later - earlier)}",
            )
    return series, duration_ms


def _series(written: Mapping[str, Any], start_at: Instant) -> Series:
    return series_of(
        schedule=written["schedule"],
        timezone=written.get("timezone"),
        due_time=None,
        ttl=None,
        repeats=None,
        requested_at=start_at,
    )


def _refusal(at: str, detail: str) -> InvalidError:
    return InvalidError([Violation(at, detail)])


def window_of(name: str, written: Mapping[str, Any], *, version: str, who: str, now: Instant) -> Window:
    """The window with these fields, none of which is null. Raises InvalidError with all that is wrong."""
    violations = object_violations(WINDOW, written)
    if violations:
        raise InvalidError(violations)
    series, duration_ms = _times(written, now)
    spread = written.get("spread")
    return Window(
        name,
        version,
        series,
        duration_ms,
        now,
        who,
        written.get("then", "hold"),
        _SPREAD_DEFAULT_MS if spread is None else parse_duration_ms(spread),
        written.get("prefix", ""),
        dict(written.get("labels", {})),
    )


def shown_window(window: Window) -> dict[str, Any]:
    """The fields of a window as the API shows them."""
    series = window.series
    if series.schedule is None:
        opens_at = series.start_at
        times = {"from": rfc3339(opens_at), "to": rfc3339(opens_at + window.duration_ms)}
    else:
        times = {
            "schedule": str(series.schedule),
            "timezone": series.timezone,
            "duration": duration_text(window.duration_ms),
        }
    shown: dict[str, Any] = {**times, "then": window.then, "spread": duration_text(window.spread_ms)}
    if window.prefix:
        shown["prefix"] = window.prefix
    if window.labels:
        shown["labels"] = dict(window.labels)
    return shown


def _check_room(windows: Sequence[Window]) -> None:
    size = sum(len(json.dumps(shown_window(each), ensure_ascii=False).encode()) for each in windows)
    if size > WINDOWS_BYTES_MAX:
        raise ConflictError(
            f"The windows of the namespace would have {size} bytes, more than {WINDOWS_BYTES_MAX} "
            "(windowsBytesMax). Give fewer labels, or delete a window that is over."
        )


class WindowAdmin:
    """Shows and writes windows. Without preconditions, the last write wins."""

    def __init__(self, *, namespaces: NamespaceStore, clock: Clock, ids: Ids) -> None:
        self._namespaces = namespaces
        self._clock = clock
        self._ids = ids

    def all(self, namespace: str) -> tuple[Window, ...]:
        """All windows of a namespace in the order of their names."""
        stored = self._namespaces.windows(namespace)
        return () if stored is None else stored.windows

    def get(self, namespace: str, name: str) -> Window:
        """The window of that name; NotFoundError if there is none."""
        for each in self.all(namespace):
            if each.name == name:
                return each
        raise NotFoundError(f"There is no window {name} in namespace {namespace}.")

    def put(
        self,
        namespace: str,
        name: str,
        written: Mapping[str, Any],
        *,
        who: str,
        requested_at: Instant,
        if_match: tuple[str, ...] | None = None,
        if_absent: bool = False,
    ) -> WindowWritten:
        """Create or replace a window. Equal fields change nothing. Every process knows it a minute later.

        Raises InvalidError, PreconditionError, ConflictError if there is no room for the window, and
        UnavailableError after 20 s or if other writes keep coming first; then nothing was written. Raises
        StoreError, after which the write may be committed.
        """
        version = self._ids.token()
        window = window_of(name, written, version=version, who=who, now=requested_at)

        def write() -> WindowWritten | None:
            stored = self._namespaces.windows(namespace)
            others = () if stored is None else stored.windows
            before = next((each for each in others if each.name == name), None)
            present = None if before is None else before.version
            check_revision(f"window {name}", present, if_match, if_absent=if_absent)
            if before is not None and shown_window(before) == shown_window(window):
                return WindowWritten(before, "unchanged")
            if window.series.schedule is None and window.series.start_at + window.duration_ms <= requested_at:
                raise _refusal("/to", "past; expected a time to come")
            if before is None and len(others) >= WINDOWS_MAX:
                raise ConflictError(
                    f"The namespace has {WINDOWS_MAX} windows (windowsMax). Delete one that is over."
                )
            rest = [each for each in others if each.name != name]
            after = tuple(sorted((*rest, window), key=lambda each: each.name))
            _check_room(after)
            windows = Windows(namespace, version, after, requested_at)
            if self._is_written(windows, stored, (before, window), who, requested_at):
                return WindowWritten(window, "created" if before is None else "replaced")
            return None

        return until_written(write, _BUSY)

    def delete(
        self,
        namespace: str,
        name: str,
        *,
        who: str,
        requested_at: Instant,
        if_match: tuple[str, ...] | None = None,
    ) -> None:
        """Delete a window. What it holds waits until its time comes, a day at most.

        Raises NotFoundError, and as put().
        """

        def write() -> bool | None:
            stored = self._namespaces.windows(namespace)
            before = next((each for each in stored.windows if each.name == name), None) if stored else None
            if stored is None or before is None:
                raise NotFoundError(f"There is no window {name} in namespace {namespace}.")
            check_revision(f"window {name}", before.version, if_match)
            after = tuple(each for each in stored.windows if each.name != name)
            windows = Windows(namespace, self._ids.token(), after, requested_at)
            return self._is_written(windows, stored, (before, None), who, requested_at) or None

        until_written(write, _BUSY)

    def _is_written(
        self,
        windows: Windows,
        stored: Windows | None,
        pair: tuple[Window | None, Window | None],
        who: str,
        requested_at: Instant,
    ) -> bool:
        """Write windows in the place of `stored`; return whether no other write came first."""
        before, after = pair
        what: AdminVerb = "deleted" if after is None else "created" if before is None else "replaced"
        one = after or before
        assert one is not None, "a write changes a window"
        fields = changes_between(*({} if each is None else shown_window(each) for each in pair))
        now = self._clock.now()
        change = AdminChange(
            now, who, what, "window", windows.namespace, one.name, windows.version, tuple(fields)
        )
        check_time_limit(self._clock, requested_at)
        return self._namespaces.put_windows(windows, None if stored is None else stored.version, change)


_BUSY: Final = "The windows of the namespace keep changing. Nothing was written. Try again."
