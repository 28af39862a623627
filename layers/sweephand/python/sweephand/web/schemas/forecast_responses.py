"""The responses that show a forecast."""

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict  # pydantic asks for this one below Python 3.12

from sweephand.web.schemas.run_responses import NextCursor, Time


class ForecastBucketResponse(TypedDict):
    """A bucket of a forecast."""

    at: Annotated[Time, Field(description="The first instant of the bucket.")]
    triggers: Annotated[int, Field(description="How many triggers fall due in the bucket.")]


# A class cannot have a field `from`.
ForecastResponse = TypedDict(
    "ForecastResponse",
    {
        "from": Annotated[Time, Field(description="The first instant of the first bucket.")],
        "to": Annotated[Time, Field(description="The end of the last bucket, which it does not include.")],
        "bucketSeconds": Annotated[
            int, Field(description="The length of a bucket. The last one may be shorter.")
        ],
        "buckets": Annotated[
            list[ForecastBucketResponse],
            Field(description="The buckets, earliest first, without those in which nothing falls due."),
        ],
        "jobs": Annotated[int, Field(description="How many jobs were counted.")],
        "paused": Annotated[
            int, Field(description="How many more jobs are paused. Nothing of theirs falls due.")
        ],
        "nextCursor": NotRequired[NextCursor],
    },
)
ForecastResponse.__doc__ = """How many triggers fall due in each bucket.

It has a `nextCursor` if there may be more jobs. The forecast is then partial: add what the calls with the
further cursors return.
"""
