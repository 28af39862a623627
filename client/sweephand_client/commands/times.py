"""Reads times as people write them: `1h`, `02:30`, `yesterday 18:00`, `2026-11-26 19:28`, or RFC 3339."""

import datetime as dt
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final
from zoneinfo import ZoneInfo

from sweephand_client.http.errors import InputError

_DAYS: Final[Mapping[str, int]] = {"yesterday": -1, "today": 0, "tomorrow": 1}
_UNITS: Final[Mapping[str, dt.timedelta]] = {
    "ms": dt.timedelta(milliseconds=1),
    "s": dt.timedelta(seconds=1),
    "m": dt.timedelta(minutes=1),
    "h": dt.timedelta(hours=1),
    "d": dt.timedelta(days=1),
}
_TERM: Final = r"([0-9]{1,12})(ms|[smhd])"
_ONE_DAY: Final = dt.timedelta(days=1)

#: The forms, as the help of an option names them: of a time that is past, and of one to come.
PAST: Final = "1h, 02:30, yesterday 18:00, '2026-11-26 19:28' or RFC 3339"
AHEAD: Final = PAST.replace("yesterday", "tomorrow")


@dataclass(frozen=True, slots=True)
class Times:
    """Reads times at the instant `now`, on the wall clock of `zone`; None is the zone of this machine.

    A time with an offset stays as it is written. If a clock change leaves a time out, it is read with the
    offset before the change. If a time comes twice, the first one counts.
    """

    now: dt.datetime
    zone: dt.tzinfo | None = None

    def past(self, text: str) -> str:
        """A time in RFC 3339: `1h` is an hour ago, and `02:30` the last time that clocks showed it.

        InputError if the text is no time.
        """
        return self._read(text, -1)

    def ahead(self, text: str) -> str:
        """A time in RFC 3339: `1h` is in an hour, and `02:30` the next time that clocks show it.

        InputError if the text is no time.
        """
        return self._read(text, 1)

    def due(self, text: str) -> str:
        """As ahead(), but what is no date and no time of day stays: the API counts durations by its clock."""
        is_on_the_wall = not _has_offset(text) and self._on_the_wall(text.strip(), 1) is not None
        return self.ahead(text) if is_on_the_wall else text

    def _read(self, text: str, direction: int) -> str:
        text = text.strip()
        if _has_offset(text):
            return text
        with suppress(OverflowError):
            if (length := _duration(text)) is not None:
                return _written(self.now + direction * length)
            if (at := self._on_the_wall(text, direction)) is not None:
                return _written(at)
        raise InputError(f"{text!r} is no time. Give one such as {PAST}.")

    def _on_the_wall(self, text: str, direction: int) -> dt.datetime | None:
        """What a day, a time of day or both mean, with an offset; None for other text."""
        if text == "now":
            return self.now
        day, _, rest = text.partition(" ")
        today = self.now.astimezone(self.zone).date()
        try:
            if day in _DAYS:
                time = dt.time.fromisoformat(rest) if rest else dt.time()
                return self._at(today + _DAYS[day] * _ONE_DAY, time)
            if ":" in text and "-" not in text:
                return self._nearest(today, dt.time.fromisoformat(text), direction)
            at = dt.datetime.fromisoformat(text)
        except ValueError:
            return None
        return self._at(at.date(), at.time())

    def _nearest(self, today: dt.date, time: dt.time, direction: int) -> dt.datetime:
        """The time of that time of day next to now."""
        at = self._at(today, time)
        is_right = at > self.now if direction > 0 else at <= self.now
        return at if is_right else self._at(today + direction * _ONE_DAY, time)

    def _at(self, day: dt.date, time: dt.time) -> dt.datetime:
        wall = dt.datetime.combine(day, time)
        return wall.astimezone() if self.zone is None else wall.replace(tzinfo=self.zone)


def given(read: Callable[[str], str], text: str | None) -> str | None:
    """What `read` makes of an option; None without the option."""
    return None if text is None else read(text)


def read_zone(name: str | None) -> dt.tzinfo | None:
    """The time zone of that name; None for None. InputError if there is none."""
    if name is None:
        return None
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        raise InputError(f"There is no time zone {name!r}. Give one such as Europe/Paris or UTC.") from None


def _written(at: dt.datetime) -> str:
    return at.astimezone(dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _has_offset(text: str) -> bool:
    try:
        return dt.datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def _duration(text: str) -> dt.timedelta | None:
    """The length of `90s`, `1h30m` or `7d`; None for other text."""
    if re.fullmatch(f"(?:{_TERM})+", text) is None:
        return None
    return sum((int(count) * _UNITS[unit] for count, unit in re.findall(_TERM, text)), dt.timedelta())
