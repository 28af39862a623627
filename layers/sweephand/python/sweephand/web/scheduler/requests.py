"""The bodies and queries of EventBridge Scheduler's operations, with AWS's names and bounds.

The source is the service model scheduler/2021-06-30 of botocore.
"""

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_pascal

from sweephand.web.schemas.formats import QueryParameters, Whole

NAME_PATTERN: Final = r"^[0-9a-zA-Z_.-]+\Z"
NAME_LENGTH_MAX: Final = 64
TAGS_MAX: Final = 200

#: How many schedules or groups a list has without MaxResults, and at most.
RESULTS_MAX: Final = 100

_Name = Annotated[str, Field(min_length=1, max_length=NAME_LENGTH_MAX, pattern=r"^[0-9a-zA-Z_.-]+$")]
_Arn = Annotated[str, Field(min_length=1, max_length=1_600)]
_Token = Annotated[str, Field(min_length=1, max_length=64)]
_QUEUE_ARN: Final = r"^arn:aws[a-z-]*:sqs:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_.-]+$"
_State = Literal["ENABLED", "DISABLED"]


class AwsBody(BaseModel):
    """An object that refuses unknown fields. A field of null counts as left out."""

    model_config = ConfigDict(
        defer_build=True,  # as in RequestBody
        extra="forbid",
        strict=True,
        alias_generator=to_pascal,
        validate_by_name=False,
        validate_by_alias=True,
    )


class _FlexibleTimeWindow(AwsBody):
    mode: Literal["OFF", "FLEXIBLE"]
    maximum_window_in_minutes: int | None = Field(None, ge=1, le=1_440)


class _RetryPolicy(AwsBody):
    maximum_event_age_in_seconds: int | None = Field(None, ge=60, le=86_400)
    maximum_retry_attempts: int | None = Field(None, ge=0, le=185)


class _DeadLetterConfig(AwsBody):
    arn: Annotated[str, Field(pattern=_QUEUE_ARN)] | None = None


class _SqsParameters(AwsBody):
    message_group_id: Annotated[str, Field(min_length=1, max_length=128)] | None = None


class _EventBridgeParameters(AwsBody):
    detail_type: Annotated[str, Field(min_length=1, max_length=128)]
    source: Annotated[str, Field(min_length=1, max_length=256)]


class _Target(AwsBody):
    arn: _Arn
    role_arn: _Arn
    input: Annotated[str, Field(min_length=1)] | None = None
    retry_policy: _RetryPolicy | None = None
    dead_letter_config: _DeadLetterConfig | None = None
    sqs_parameters: _SqsParameters | None = None
    event_bridge_parameters: _EventBridgeParameters | None = None
    # The translation refuses these, and says why.
    ecs_parameters: dict[str, Any] | None = None
    kinesis_parameters: dict[str, Any] | None = None
    sage_maker_pipeline_parameters: dict[str, Any] | None = None


class ScheduleBody(AwsBody):
    """The body of CreateSchedule and UpdateSchedule."""

    schedule_expression: Annotated[str, Field(min_length=1, max_length=256)]
    target: _Target
    flexible_time_window: _FlexibleTimeWindow
    group_name: _Name = "default"
    schedule_expression_timezone: Annotated[str, Field(min_length=1, max_length=50)] | None = None
    start_date: float | None = Field(None, ge=0, le=253_402_300_799)
    end_date: float | None = Field(None, ge=0, le=253_402_300_799)
    description: Annotated[str, Field(max_length=512)] | None = None
    state: _State = "ENABLED"
    action_after_completion: Literal["NONE", "DELETE"] | None = None
    kms_key_arn: _Arn | None = None
    client_token: _Token = ""


class TagBody(AwsBody):
    """A tag."""

    key: Annotated[str, Field(min_length=1, max_length=128)]
    value: Annotated[str, Field(min_length=1, max_length=256)]


class GroupBody(AwsBody):
    """The body of CreateScheduleGroup."""

    tags: list[TagBody] = Field([], max_length=TAGS_MAX)
    client_token: _Token = ""


class TagsBody(AwsBody):
    """The body of TagResource."""

    tags: list[TagBody] = Field(max_length=TAGS_MAX)


class ScheduleQuery(QueryParameters):
    """The query of GetSchedule and DeleteSchedule."""

    group_name: _Name = "default"
    client_token: _Token = ""


class TokenQuery(QueryParameters):
    """The query of DeleteScheduleGroup."""

    client_token: _Token = ""


class _ListQuery(QueryParameters):
    model_config = ConfigDict(alias_generator=to_pascal)

    name_prefix: Annotated[str, Field(max_length=64)] = ""
    next_token: str = ""
    max_results: Annotated[Whole, Field(ge=1, le=RESULTS_MAX)] = RESULTS_MAX


class GroupsQuery(_ListQuery):
    """The query of ListScheduleGroups."""


class SchedulesQuery(_ListQuery):
    """The query of ListSchedules."""

    schedule_group: _Name | None = None
    state: _State | None = None


class UntagQuery(QueryParameters):
    """The query of UntagResource."""

    model_config = ConfigDict(alias_generator=to_pascal)

    tag_keys: Annotated[list[str], Field(min_length=1, max_length=50)]
