"""What callers may write when they make an API key."""

from pydantic import Field

from sweephand.base import limits
from sweephand.model.api_key import Role
from sweephand.web.schemas.formats import DurationText, NameOrAll
from sweephand.web.schemas.request_body import DURATION_RULE, RequestBody


class KeyRequest(RequestBody):
    """A key to be made."""

    namespace: NameOrAll = Field(
        description="The namespace it is for; * for every one, which only a key for * can make."
    )
    role: Role = Field(description="What it may do: read, write (read too) or admin (all of it).")
    expires_in: DurationText | None = Field(
        None,
        description=f"How long it works; for ever by default, at most {limits.KEY_DAYS_MAX}d. "
        f"{DURATION_RULE}",
    )
    description: str | None = Field(
        None,
        max_length=limits.DESCRIPTION_LENGTH_MAX,
        description=f"For people: up to {limits.DESCRIPTION_LENGTH_MAX} characters.",
    )
