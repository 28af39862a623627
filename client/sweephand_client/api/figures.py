"""What the API answers about many triggers at once: forecasts, and what deliveries counted."""

from typing import NotRequired, TypedDict


class ForecastBucket(TypedDict):
    """A bucket of a forecast: its first instant, and how many triggers fall due in it."""

    at: str
    triggers: int


# A class cannot have a field `from`.
Forecast = TypedDict(
    "Forecast",
    {
        "from": str,
        "to": str,
        "bucketSeconds": int,
        "buckets": list[ForecastBucket],
        "jobs": int,
        "paused": int,
        "nextCursor": NotRequired[str],
    },
)
Forecast.__doc__ = """How many triggers fall due in each bucket. Buckets without any are left out."""


class LatenessClass(TypedDict):
    """How many first attempts began at most so many milliseconds late, and later than the class below."""

    atMostMs: int
    attempts: int


class StatsStep(TypedDict):
    """What deliveries counted in one step. The times in milliseconds are bounds of classes of lateness."""

    at: str
    succeeded: int
    running: int
    retrying: int
    failed: int
    skipped: int
    faults: int
    p50Ms: int | None
    p99Ms: int | None
    maxMs: int | None
    lateness: list[LatenessClass]


# A class cannot have a field `from`.
Stats = TypedDict(
    "Stats",
    {
        "from": str,
        "to": str,
        "stepSeconds": int,
        "steps": list[StatsStep],
        "nextCursor": NotRequired[str],
    },
)
Stats.__doc__ = """What deliveries counted. Steps in which they counted nothing are left out."""
