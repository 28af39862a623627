"""The field `messageGroupId` of queues and topics."""

import re
from collections.abc import Mapping
from typing import Any, Final

from sweephand.base.errors import Violation
from sweephand.base.text_schema import text_schema
from sweephand.targets.queue_url import GROUP_ID_LENGTH_MAX
from sweephand.targets.target_type import Field

#: Letters, digits and punctuation (AWS, SendMessage and Publish: MessageGroupId).
_GROUP_ID: Final = "[!-~]+"


def group_field(meaning: str) -> Field:
    """The field `messageGroupId` of a target type."""
    return Field("messageGroupId", text_schema(f"^{_GROUP_ID}$", GROUP_ID_LENGTH_MAX), meaning)


def group_violations(spec: Mapping[str, Any]) -> list[Violation]:
    """What is wrong with the message group of a target; empty if it has none."""
    group = spec.get("messageGroupId")
    if group is None or _is_group_id(group):
        return []
    return [Violation("/messageGroupId", "Give 1 to 128 letters, digits and punctuation marks.")]


def _is_group_id(value: object) -> bool:
    if not isinstance(value, str) or len(value) > GROUP_ID_LENGTH_MAX:
        return False
    return re.fullmatch(_GROUP_ID, value) is not None
