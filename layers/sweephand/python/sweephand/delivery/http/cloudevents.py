"""A trigger as a CloudEvent (CloudEvents 1.0, JSON format and HTTP protocol binding)."""

import json
from typing import Final
from urllib.parse import quote

from sweephand.base.instants import rfc3339
from sweephand.model.run_id import batch_id
from sweephand.ports import Attempt

#: The type of a structured event (CloudEvents 1.0, HTTP protocol binding, 3.2).
CONTENT_TYPE: Final = "application/cloudevents+json; charset=utf-8"


def attributes_of(attempt: Attempt) -> dict[str, str]:
    """The attributes of the event. Names of extensions have lower-case letters only."""
    trigger = attempt.trigger
    return {
        "specversion": "1.0",
        "id": attempt.id,
        "source": f"/sweephand/{trigger.key.namespace}",
        "type": f"sweephand.{'trigger' if attempt.ended_after is None else attempt.event}",
        "subject": trigger.key.name,
        "time": rfc3339(trigger.due_at),
        **_subject_of(attempt),
        "sweephandattempt": str(attempt.number),
    }


def _subject_of(attempt: Attempt) -> dict[str, str]:
    """The run that the attempt is about, or the batch that has ended."""
    trigger = attempt.trigger
    if attempt.ends_batch:
        return {"sweephandbatch": batch_id(trigger.due_at, trigger.demand)}
    return {"sweephandrun": trigger.run_id}


def structured(attempt: Attempt) -> bytes:
    """The event as JSON. `data` has the very bytes that the caller wrote, so that numbers stay exact."""
    attributes = {**attributes_of(attempt), "datacontenttype": "application/json"}
    head = json.dumps(attributes, separators=(",", ":"))
    return head[:-1].encode() + b',"data":' + attempt.body + b"}"


def binary_headers(attempt: Attempt) -> dict[str, str]:
    """The headers of the event in binary mode. What a header value cannot hold is escaped (3.1.3.2)."""
    return {f"ce-{name}": quote(value, safe=_UNQUOTED) for name, value in attributes_of(attempt).items()}


#: Printable ASCII without the space, the quotation mark and the percent sign.
_UNQUOTED: Final = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) not in '"%')
