"""The base of all models of request bodies."""

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

#: The sentence about durations that ends the description of a field.
DURATION_RULE = "A Go duration (90s, 1h30m), days (7d) or an ISO 8601 duration (PT90S, P7D)."


class RequestBody(BaseModel):
    """A JSON object that refuses unknown fields. A field of null counts as left out."""

    model_config = ConfigDict(
        extra="forbid", strict=True, alias_generator=to_camel, validate_by_name=False, validate_by_alias=True
    )
