"""The base of all models of request bodies."""

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class RequestBody(BaseModel):
    """A JSON object that refuses unknown fields. A field of null counts as left out."""

    model_config = ConfigDict(
        extra="forbid", strict=True, alias_generator=to_camel, validate_by_name=False, validate_by_alias=True
    )
