"""What a job keeps of the call that wrote it as a schedule, so that it comes back as it was written.

It stands in the job's field `eventbridge`, as the text of a JSON object. Another write of the job leaves that
text behind, or keeps it beside other fields. A digest of these fields tells.
"""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    # The client, which has none of the package's dependencies, imports this module too.
    from sweephand.model.definition import Definition

#: The name of the field.
FIELD: Final = "eventbridge"


class Written(NamedTuple):
    """A schedule as its caller wrote it, but its State. If it `has_input`, that Input is the job's data.

    `call` is the token of the call that wrote it last, and `asked` a digest of what that call asked for.
    `digest` is that of the job's other fields.
    """

    schedule: Mapping[str, Any]
    has_input: bool
    call: str
    asked: str
    digest: str

    def text(self) -> str:
        """The value of the field."""
        return json.dumps(self._asdict(), separators=(",", ":"), ensure_ascii=False)


#: What is not kept of a schedule: its place, its dates, and what the job's state says.
_NOT_KEPT: Final = frozenset(
    {"Arn", "ClientToken", "CreationDate", "GroupName", "LastModificationDate", "Name", "State"}
)


def written_text(
    document: Mapping[str, Any], fields: Mapping[str, Any], data_digest: str | None, call: str
) -> str:
    """The value of the field for a schedule that was written as `document`, a JSON object.

    `fields` are the other fields of the job without `data`, and `data_digest` is that of its data. `call` is
    the token of the call. The Input
    is read from the data, except for an HTTP target, which gets other white space.
    """
    target = document["Target"]
    has_input = "Input" in target and fields["target"]["type"] != "http"
    schedule = {name: value for name, value in document.items() if name not in _NOT_KEPT}
    if has_input:
        schedule["Target"] = {name: value for name, value in target.items() if name != "Input"}
    digest = _digest_of(fields, data_digest)
    return Written(schedule, has_input, call, _asked(document), digest).text()


def written_of(definition: "Definition") -> Written | None:
    """The schedule that a job was written as; None for another job."""
    return read_written(definition.written.get(FIELD, ""))


def read_written(text: str) -> Written | None:
    """The schedule in the value of the field; None for a text that `written_text` has not made."""
    try:
        found = Written(**json.loads(text))
    except (TypeError, ValueError, RecursionError):
        return None
    is_whole = isinstance(found.schedule, dict) and isinstance(found.schedule.get("Target"), dict)
    return found if is_whole and "Arn" in found.schedule["Target"] else None


def is_as_written(definition: "Definition", written: Written) -> bool:
    """Whether no other write has changed the job since."""
    others = {name: value for name, value in definition.written.items() if name != FIELD}
    payload = definition.payload
    return _digest_of(others, None if payload is None else payload.digest) == written.digest


def is_repeated(written: Written, document: Mapping[str, Any], call: str) -> bool:
    """Whether a call is the one that wrote the job last, sent again by the SDK."""
    return written.call == call and written.asked == _asked(document)


def _asked(document: Mapping[str, Any]) -> str:
    return _digest({name: value for name, value in document.items() if name != "ClientToken"})


def _digest_of(fields: Mapping[str, Any], data_digest: str | None) -> str:
    return _digest({"fields": fields, "data": data_digest})


def _digest(value: Mapping[str, Any]) -> str:
    return sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:32]
