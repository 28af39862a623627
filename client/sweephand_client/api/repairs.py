"""The shapes of the answers of a rebuild and of an audit."""

from typing import NotRequired, TypedDict


class NotRebuilt(TypedDict):
    """A job that could not be armed again."""

    namespace: str
    name: str
    detail: str


class Rebuilt(TypedDict):
    """What one call of a rebuild has done."""

    jobs: int
    timers: int
    runs: int
    failed: list[NotRebuilt]
    nextCursor: NotRequired[str]


class LostTimer(TypedDict):
    """A job whose timer was lost, and when the first trigger was due that no timer promised."""

    namespace: str
    name: str
    dueAt: str


class LostRun(TypedDict):
    """A run whose message was lost, and when that message was due."""

    namespace: str
    name: str
    runId: str
    dueAt: str


class NotAudited(TypedDict):
    """A job that could not be examined."""

    namespace: str
    name: str
    detail: str


class Audited(TypedDict):
    """What one call of an audit has found."""

    jobs: int
    late: int
    timers: list[LostTimer]
    runs: list[LostRun]
    failed: list[NotAudited]
    written: int
    kept: int
    nextCursor: NotRequired[str]
