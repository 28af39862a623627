"""The consumers of a rehearsal: how long each takes, how often it fails, and when none can be reached."""

import math
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from sweephand.base.errors import ScheduleError
from sweephand.base.instants import Instant
from sweephand.schedules import duration_text, parse_duration_ms
from sweephand_client.http.errors import InputError
from sweephand_engine.times import instant_of

#: The 99th percentile of the standard normal distribution, in standard deviations.
_P99: Final = 2.3263478740408408

_PERCENTAGE: Final = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,9})?)%")
_RIGHT: Final = "Write p50=0.2s,p99=3s,fail=1%, or some of the three"


class Answered(NamedTuple):
    """How long a consumer takes for one request, and whether it fails then."""

    took_ms: int
    fails: bool


@dataclass(frozen=True, slots=True)
class Consumer:
    """A consumer whose times have a log-normal distribution. Half of its requests take `p50_ms` at most.

    `names` says whose consumer it is: the name of a job, or how names begin, with `*` at the end.
    """

    names: str = "*"
    p50_ms: int = 200
    p99_ms: int = 3_000
    fail: float = 0.01

    def serves(self, job: str) -> bool:
        """Whether it is the consumer of the job."""
        return job.startswith(self.names[:-1]) if self.names.endswith("*") else job == self.names

    def answer(self, chance: random.Random) -> Answered:
        """How it answers one request."""
        took_ms, fails = float(self.p50_ms), chance.random() < self.fail
        if self.p50_ms and self.p99_ms > self.p50_ms:
            took_ms *= math.exp(chance.gauss(0, math.log(self.p99_ms / self.p50_ms) / _P99))
        return Answered(round(took_ms), fails)

    def __str__(self) -> str:
        """The consumer in the words of a report."""
        p50, p99 = map(duration_text, (self.p50_ms, self.p99_ms))
        return f"p50 {p50}, p99 {p99}, {self.fail * 100:g}% of the requests fail"


DEFAULT: Final = Consumer()


def read_consumers(texts: Sequence[str]) -> list[Consumer]:
    """The consumers of the options, those of single jobs first. Raises InputError for each wrong text."""
    wrong: list[str] = []
    found: list[Consumer] = []
    for text in texts:
        try:
            found.append(_read(text))
        except ValueError as error:
            wrong.append(f"--consumer {text}: {error}")
    if wrong:
        raise InputError("\n".join(wrong))
    # The most exact name comes first: a name before a prefix, and a long prefix before a short one.
    found.sort(key=lambda each: (each.names.endswith("*"), -len(each.names)))
    return found if any(each.names == "*" for each in found) else [*found, DEFAULT]


def _read(text: str) -> Consumer:
    names, separator, rest = text.rpartition(":")
    if separator and not names:
        raise ValueError("Name a job before the colon, or how names begin: report-*:p50=20s.")
    consumer = Consumer(names or "*")
    given: set[str] = set()
    for part in rest.split(","):
        name, _, value = part.strip().partition("=")
        if name in given:
            raise ValueError(f"{name} stands twice. Give it once.")
        given.add(name)
        if name == "fail":
            consumer = replace(consumer, fail=_share(value))
        elif name == "p50":
            consumer = replace(consumer, p50_ms=_duration_ms(name, value))
        elif name == "p99":
            consumer = replace(consumer, p99_ms=_duration_ms(name, value))
        else:
            raise ValueError(f"{part.strip()!r} is none of p50, p99 and fail. {_RIGHT}.")
    if "p99" not in given:
        # A consumer that was said to be slow has no faster requests at its slow end.
        consumer = replace(consumer, p99_ms=max(consumer.p99_ms, consumer.p50_ms))
    if consumer.p99_ms < consumer.p50_ms:
        raise ValueError("p99 is less than p50. Give a p99 of the same length or longer.")
    return consumer


def _share(text: str) -> float:
    match = _PERCENTAGE.fullmatch(text)
    if match is None or float(match[1]) > 100:  # noqa: PLR2004 - percent
        raise ValueError(f"fail={text} is no percentage. Write a number from 0 to 100 and %, as in fail=1%.")
    return float(match[1]) / 100


def _duration_ms(name: str, text: str) -> int:
    try:
        return parse_duration_ms(text)
    except ScheduleError:
        raise ValueError(f"{name}={text} is no duration. Write one as in {name}=0.2s or {name}=2m.") from None


class Outage(NamedTuple):
    """A time in which no consumer can be reached. Without `since`, it begins with the largest herd."""

    duration_ms: int
    since: Instant | None = None

    def __str__(self) -> str:
        """The length of the outage."""
        return duration_text(self.duration_ms)


def read_outage(text: str) -> Outage:
    """The outage of an option: `2h`, or `2h@2026-10-25T00:00:00Z`. Raises InputError."""
    length, separator, begin = text.partition("@")
    try:
        duration_ms = parse_duration_ms(length)
    except ScheduleError:
        raise InputError(
            f"--outage {text}: {length!r} is no duration. Write one as in 2h, or 2h@2026-10-25T00:00:00Z."
        ) from None
    try:
        return Outage(duration_ms, instant_of(begin) if separator else None)
    except ValueError as error:
        raise InputError(f"--outage {text}: {error}") from None
