"""What the bodies of the calls that go through all jobs have in common."""

from pydantic import Field

from sweephand.base.names import NAME_RULE
from sweephand.web.schemas.formats import CursorText, Name
from sweephand.web.schemas.request_body import RequestBody


class JobWalkRequest(RequestBody):
    """Whose jobs a call goes through, and where it goes on."""

    namespace: Name | None = Field(
        None,
        description="Only the jobs of this namespace. By default those of every listed namespace that the "
        f"key opens. {NAME_RULE}",
    )
    cursor: CursorText | None = Field(
        None, description="The nextCursor of the previous answer. Leave it out of the first call."
    )
