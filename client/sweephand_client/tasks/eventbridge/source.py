"""Reads the schedules of one account and region from EventBridge Scheduler, and disables those that moved."""

import importlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from sweephand_client.http.errors import InputError, SweephandError, UnreachableError

#: How many schedules are read or disabled at the same time.
AT_ONCE: Final = 8

#: The SDK waits and tries again when AWS throttles. With its pauses, so many tries take up to two minutes.
_TRIES_MAX: Final = 10

#: What a list of schedules holds at most (AWS, ListSchedules: MaxResults).
_PAGE_MAX: Final = 100

#: A move writes this text at the end of the schedule's description. It marks the schedules that the move has
#: disabled. A schedule without it was disabled by somebody else.
MOVED: Final = "[moved to Sweephand]"
_DESCRIPTION_LENGTH_MAX: Final = 512

#: The group that is always there.
DEFAULT_GROUP: Final = "default"

#: A schedule or a group that is gone.
_GONE: Final = "ResourceNotFoundException"


class SourceError(SweephandError):
    """EventBridge Scheduler refused a call. The message has its operation, and what AWS says."""


class ChangedError(SweephandError):
    """A schedule was changed since it was read, so it was not disabled."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """A schedule as GetSchedule shows it, and the tags of its group."""

    group: str
    name: str
    shown: Mapping[str, Any]
    tags: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_enabled(self) -> bool:
        """Whether EventBridge Scheduler fires it."""
        return str(self.shown.get("State", "ENABLED")) == "ENABLED"

    @property
    def was_moved(self) -> bool:
        """Whether an import has disabled it. Whoever enables it again takes it back."""
        return not self.is_enabled and str(self.shown.get("Description", "")).endswith(MOVED)

    @property
    def description(self) -> str:
        """Its description, without what an import has added."""
        return str(self.shown.get("Description", "")).removesuffix(MOVED).rstrip()

    @property
    def window_minutes(self) -> int:
        """The length of its flexible time window; 0 if it has none."""
        window = self.shown.get("FlexibleTimeWindow", {})
        return int(window.get("MaximumWindowInMinutes", 0)) if window.get("Mode") == "FLEXIBLE" else 0


def scheduler(region: str | None, endpoint_url: str | None) -> Any:
    """boto3's client of EventBridge Scheduler. InputError without boto3 or a region."""
    try:
        boto3: Any = importlib.import_module("boto3")
        config: Any = importlib.import_module("botocore.config").Config
        errors: Any = importlib.import_module("botocore.exceptions")
    except ImportError:
        raise InputError(
            "EventBridge Scheduler is read by boto3. Install it: pip install 'sweephand[eventbridge]'"
        ) from None
    try:
        return boto3.client(
            "scheduler",
            region_name=region,
            endpoint_url=endpoint_url,
            config=config(
                retries={"mode": "standard", "total_max_attempts": _TRIES_MAX}, max_pool_connections=AT_ONCE
            ),
        )
    except errors.NoRegionError:
        raise InputError(
            "Say whose schedules to read: --region eu-west-1, or set AWS_DEFAULT_REGION."
        ) from None
    except (ValueError, errors.BotoCoreError) as error:
        raise InputError(f"EventBridge Scheduler cannot be called: {error}") from None


class Source:
    """EventBridge Scheduler of one account and region. `client` is boto3's client of it.

    Each call raises SourceError if AWS refuses it, InputError without credentials, and UnreachableError
    without an answer.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._errors: Any = importlib.import_module("botocore.exceptions")

    @property
    def region(self) -> str:
        """The region, such as eu-west-1."""
        return str(self._client.meta.region_name)

    def read(
        self,
        groups: Collection[str] = (),
        prefix: str | None = None,
        seen: Callable[[], None] = lambda: None,
    ) -> list[Schedule]:
        """The schedules of some groups, or of all, by group and name. `seen` is called for each one read.

        InputError if there is no such group. A schedule that is deleted meanwhile is not there.
        """
        with self._refusals():
            tags = {each: self._tags(arn) for each, arn in self._groups(groups)}
            named = sorted(self._names(tags, prefix))

            def read(each: tuple[str, str]) -> Schedule | None:
                shown = self._shown(*each)
                seen()
                return None if shown is None else Schedule(*each, shown, tags[each[0]])

            with ThreadPoolExecutor(AT_ONCE) as threads:
                return [each for each in threads.map(read, named) if each is not None]

    def disable(self, schedule: Schedule) -> None:
        """Disable a schedule, and let its description say that it was moved. It may be gone by now.

        Raises ChangedError if it was changed since it was read.
        """
        with self._refusals():
            shown = self._shown(schedule.group, schedule.name)
            if shown is None:
                return
            if shown != schedule.shown:
                raise ChangedError("It was changed while it moved, so it stays enabled. Import it again.")
            # An update resets what it does not name, so it names all that the schedule has.
            operation = self._client.meta.service_model.operation_model("UpdateSchedule")
            update = {name: value for name, value in shown.items() if name in operation.input_shape.members}
            kept = schedule.description[: _DESCRIPTION_LENGTH_MAX - len(MOVED) - 1]
            update |= {"State": "DISABLED", "Description": f"{kept} {MOVED}".strip()}
            try:
                self._client.update_schedule(**update)
            except self._errors.ClientError as error:
                if _code(error) != "ValidationException" or "StartDate" not in update:
                    raise
                # AWS takes no StartDate that is more than five minutes past.
                del update["StartDate"]
                self._client.update_schedule(**update)

    def _groups(self, chosen: Collection[str]) -> list[tuple[str, str]]:
        """The groups and their ARNs."""
        pages = self._client.get_paginator("list_schedule_groups").paginate()
        found = {each["Name"]: each["Arn"] for page in pages for each in page["ScheduleGroups"]}
        if missing := [each for each in chosen if each not in found]:
            raise InputError(
                f"There is no schedule group {missing[0]} in {self.region}. There are: "
                f"{', '.join(sorted(found))}."
            )
        return [(name, arn) for name, arn in found.items() if not chosen or name in chosen]

    def _tags(self, arn: str) -> dict[str, str]:
        try:
            answer = self._client.list_tags_for_resource(ResourceArn=arn)
        except self._errors.ClientError as error:
            # It may be deleted meanwhile. AWS does not say whether its own group `default` can have tags.
            if _code(error) in (_GONE, "ValidationException"):
                return {}
            raise
        return {each["Key"]: each["Value"] for each in answer.get("Tags", [])}

    def _names(self, groups: Iterable[str], prefix: str | None) -> Iterator[tuple[str, str]]:
        """The group and the name of each schedule."""
        given = {} if prefix is None else {"NamePrefix": prefix}
        listing = self._client.get_paginator("list_schedules")
        for group in groups:
            pages = listing.paginate(GroupName=group, **given, PaginationConfig={"PageSize": _PAGE_MAX})
            yield from ((group, each["Name"]) for page in pages for each in page["Schedules"])

    def _shown(self, group: str, name: str) -> dict[str, Any] | None:
        try:
            answer = self._client.get_schedule(GroupName=group, Name=name)
        except self._errors.ClientError as error:
            if _code(error) == _GONE:
                return None
            raise
        return {each: value for each, value in answer.items() if each != "ResponseMetadata"}

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        """Turn an error of boto3 into one of this package."""
        try:
            yield
        except self._errors.ClientError as error:
            raise SourceError(f"EventBridge Scheduler refused {error.operation_name}: {error}") from None
        except (self._errors.NoCredentialsError, self._errors.PartialCredentialsError) as error:
            raise InputError(
                f"AWS cannot be called: {error}. Set AWS_PROFILE, or run aws configure."
            ) from None
        except self._errors.BotoCoreError as error:
            raise UnreachableError(self._client.meta.endpoint_url, str(error)) from None


def _code(error: Any) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))
