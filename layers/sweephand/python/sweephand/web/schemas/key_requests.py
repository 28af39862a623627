"""The bodies of the calls that make and rotate API keys."""

from pydantic import Field

from sweephand.base import limits
from sweephand.jobs.fields.field import DURATION_RULE
from sweephand.jobs.fields.registry import DESCRIPTION_MEANING
from sweephand.model.api_key import Role
from sweephand.web.schemas.formats import DescriptionText, DurationText, NameOrAll, PrincipalText
from sweephand.web.schemas.shapes import RequestBody


class KeyRequest(RequestBody):
    """The API key to make."""

    namespace: NameOrAll = Field(
        description="The namespace that the key opens. `*` opens every namespace; only a key for `*` can "
        "make such a key."
    )
    role: Role = Field(description="What the key may do: read, write (also read) or admin (everything).")
    expires_in: DurationText | None = Field(
        None,
        description=f"How long the key works, at most {limits.KEY_DAYS_MAX}d, and no longer than the key "
        f"that makes it. By default it ends with that key, or never. {DURATION_RULE}",
    )
    description: DescriptionText | None = Field(None, description=DESCRIPTION_MEANING)
    requests_per_minute: int | None = Field(
        None,
        ge=1,
        le=limits.KEY_REQUESTS_PER_MINUTE_MAX,
        description="How many requests the key may send in a minute; more are refused with 429. By default "
        "as many as the key that makes it, which may also have no rate. A whole number from 1 to "
        f"{limits.KEY_REQUESTS_PER_MINUTE_MAX}.",
    )
    principal: PrincipalText | None = Field(
        None,
        description="The ARN of the IAM role or user that holds the key, for stacks with `AuthMode=iam`. "
        "Such a key has no secret, and replaces the key that the role or user has. Only an admin "
        "of `*` makes it.",
    )


class KeyRotation(RequestBody):
    """How to rotate an API key."""

    overlap: DurationText | None = Field(
        None,
        description=f"How long the old key works on; by default {limits.KEY_OVERLAP_HOURS_DEFAULT}h, at most "
        f"{limits.KEY_OVERLAP_DAYS_MAX}d. `0s` ends the old key at once. {DURATION_RULE}",
    )
    expires_in: DurationText | None = Field(
        None,
        description="How long the new key works, at most "
        f"{limits.KEY_DAYS_MAX}d, and no longer than the key with which you call. By default it expires when "
        f"the old key was to expire, or with that key if it expires earlier. {DURATION_RULE}",
    )
