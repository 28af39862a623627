"""What a job keeps of the call that wrote it as a schedule, so that it comes back as it was written.

It stands in the job's field `eventbridge`, as the text of a JSON object. Another write of the job leaves that
text behind, or keeps it beside other fields. A digest of these fields tells.
"""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final, NamedTuple

from sweephand.model.definition import Definition, Payload

#: The name of the field.
FIELD: Final = "eventbridge"


class Written(NamedTuple):
    """A schedule as its caller wrote it, but its State. If it `has_input`, that Input is the job's data.

    `token` names the call that wrote it last, and `asked` is a digest of what that call asked for. `digest`
    is that of the job's other fields.
    """

    schedule: Mapping[str, Any]
    has_input: bool
    token: str
    asked: str
    digest: str

    def text(self) -> str:
        """The value of the field."""
        return json.dumps(self._asdict(), separators=(",", ":"), ensure_ascii=False)


def with_written(
    definition: Definition,
    schedule: Mapping[str, Any],
    *,
    has_input: bool,
    token: str,
    asked: Mapping[str, Any],
) -> Definition:
    """The definition of a job with the schedule that it was written as."""
    digest = _digest_of(definition.written, definition.payload)
    kept = Written(schedule, has_input, token, _digest(asked), digest)
    return Definition({**definition.written, FIELD: kept.text()}, definition.payload)


def written_of(definition: Definition) -> Written | None:
    """The schedule that a job was written as; None for another job, and for a text that is none."""
    try:
        found = json.loads(definition.written.get(FIELD, "null"))
        return Written(**found)
    except (TypeError, ValueError):
        return None


def is_as_written(definition: Definition, written: Written) -> bool:
    """Whether no other write has changed the job since."""
    others = {name: value for name, value in definition.written.items() if name != FIELD}
    return _digest_of(others, definition.payload) == written.digest


def is_repeated(written: Written, *, token: str, asked: Mapping[str, Any]) -> bool:
    """Whether a call is the one that wrote the job last, sent again by the SDK."""
    return written.token == token and written.asked == _digest(asked)


def _digest_of(fields: Mapping[str, Any], payload: Payload | None) -> str:
    return _digest({"fields": fields, "data": None if payload is None else payload.digest})


def _digest(value: Mapping[str, Any]) -> str:
    return sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:32]
