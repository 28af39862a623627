"""A schedule group of EventBridge Scheduler: a namespace that its API has created, with tags."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from sweephand.base.instants import Instant

#: The group that is always there (AWS, "Managing a schedule group").
DEFAULT_GROUP: Final = "default"


class ScheduleGroup(NamedTuple):
    """A group. `version` changes with every write. While it `is_deleting`, it takes no schedules.

    The group of that name that is always there has no version until somebody tags it.
    """

    name: str
    version: str | None
    created_at: Instant
    updated_at: Instant
    tags: Mapping[str, str]
    is_deleting: bool = False
