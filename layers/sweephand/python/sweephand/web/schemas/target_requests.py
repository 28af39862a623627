"""What callers may write as a target: where triggers go, and who is told of the end of a run."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema
from pydantic.alias_generators import to_camel

from sweephand.base import limits
from sweephand.web.schemas.formats import DurationText, Name, UrlText

DURATION_RULE = "A Go duration (90s, 1h30m), days (7d) or an ISO 8601 duration (PT90S, P7D)."


class Document(BaseModel):
    """A JSON object of which every field is known; null stands for a field left out."""

    model_config = ConfigDict(
        extra="forbid", strict=True, alias_generator=to_camel, validate_by_name=False, validate_by_alias=True
    )


_HeaderName = Annotated[str, Field(min_length=1, pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")]
_HeaderValue = Annotated[str, Field(pattern=r"^[\t -~\x80-\xff]*$")]


class HttpTarget(Document):
    """An HTTPS endpoint: it receives `data` as the body, signed by Standard Webhooks."""

    type: Literal["http"] = Field(description="An HTTPS endpoint.")
    url: UrlText = Field(
        description="An https URL of a public address (http and loopback where the stack allows it).",
    )
    method: Literal["POST", "PUT", "PATCH", "GET", "DELETE"] | None = Field(
        None, description="The method; POST by default."
    )
    headers: dict[_HeaderName, _HeaderValue] | None = Field(
        None,
        max_length=limits.HEADERS_MAX,
        description="Headers to send; those of Standard Webhooks, `sweephand-`, `host` and framing are "
        "Sweephand's. Callers with the role `read` see the names, not the values.",
    )
    timeout: DurationText | None = Field(
        None, description=f"A duration of at most {limits.TARGET_TIMEOUT_S_MAX} s; 15s by default."
    )


class SqsTarget(Document):
    """An SQS queue: each trigger is a message of `data`, with one attribute `sweephand`.

    A message has 256 KiB with its attributes, so `data` has at most `sqsDataBytesMax` bytes.
    """

    type: Literal["sqs"] = Field(description="An SQS queue.")
    queue_url: UrlText = Field(
        description="The URL of a queue that the stack's parameter TargetQueueArns names."
    )
    message_group_id: str | None = Field(
        None,
        min_length=1,
        max_length=128,
        pattern="^[!-~]+$",
        description="For a FIFO queue: the message group.",
    )


class JobTarget(Document):
    """Another job of the namespace, triggered when a run has ended; its `data` is what is told of the end."""

    type: Literal["job"] = Field(description="Another job of the namespace.")
    name: Name = Field(description="The name of that job.")
    when: Literal["succeeded", "failed", "always"] | None = Field(
        None, description="After which ends it is triggered; succeeded by default."
    )


Target = Annotated[
    dict[str, Any],
    WithJsonSchema(
        {
            "oneOf": [
                {"$ref": "#/components/schemas/HttpTarget"},
                {"$ref": "#/components/schemas/SqsTarget"},
            ],
            "discriminator": {
                "propertyName": "type",
                "mapping": {
                    "http": "#/components/schemas/HttpTarget",
                    "sqs": "#/components/schemas/SqsTarget",
                },
            },
        }
    ),
]

_KINDS = {"http": "HttpTarget", "sqs": "SqsTarget", "job": "JobTarget"}

EndTarget = Annotated[
    dict[str, Any],
    WithJsonSchema(
        {
            "oneOf": [{"$ref": f"#/components/schemas/{model}"} for model in _KINDS.values()],
            "discriminator": {
                "propertyName": "type",
                "mapping": {kind: f"#/components/schemas/{model}" for kind, model in _KINDS.items()},
            },
        }
    ),
]
