"""The body of the call that writes a flow policy."""

from typing import Annotated, Any

from pydantic import ConfigDict, Field

from sweephand.jobs.fields.field import DURATION_RULE
from sweephand.jobs.policy_rules import MAX_CONCURRENT, PER_MEANING, RATE_LIMIT
from sweephand.web.schemas.formats import DurationText, bounded
from sweephand.web.schemas.request_body import RequestBody


class PolicyRateRequest(RequestBody):
    """How many requests may leave within a time."""

    limit: Annotated[int, bounded(RATE_LIMIT)] = Field(description=RATE_LIMIT.meaning)
    per: DurationText = Field(description=f"{PER_MEANING} {DURATION_RULE}")


#: A policy without any limit is none.
_HAS_A_LIMIT: dict[str, Any] = {
    "anyOf": [
        {"required": ["maxConcurrent"], "properties": {"maxConcurrent": {"type": "integer"}}},
        {"required": ["rate"], "properties": {"rate": {"type": "object"}}},
    ]
}


class PolicyRequest(RequestBody):
    """The limits that the triggers of all jobs of a policy share. Give one of them, or both."""

    model_config = ConfigDict(json_schema_extra=_HAS_A_LIMIT)

    max_concurrent: Annotated[int, bounded(MAX_CONCURRENT)] | None = Field(
        None, description=MAX_CONCURRENT.meaning
    )
    rate: PolicyRateRequest | None = Field(
        None,
        description="How many requests may leave within a time: an object. Requests leave evenly spaced, so "
        "that no window of that length has more. About 95% of the rate can be used.",
    )
