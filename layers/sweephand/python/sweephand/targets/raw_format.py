"""The format `raw` of the targets of AWS: the consumer gets `data` alone, as EventBridge Scheduler sends it.

A text is sent as it is, and other JSON in compact form. EventBridge Scheduler fills in some placeholders
(AWS, "Adding context attributes in EventBridge Scheduler"), and so does this format.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from sweephand.base.errors import Violation
from sweephand.base.instants import Instant, rfc3339
from sweephand.base.names import suggestion, text_schema
from sweephand.targets.target_type import Field, RawForm, is_text

#: The field of the envelope that has the names of a trigger.
_NAMES: Final = "sweephand"

_NO_JSON: Final = object()

FORMAT_DEFAULT: Final = "json"
RAW: Final = "raw"
_FORMATS: Final = (FORMAT_DEFAULT, RAW)

_ARN: Final = r"arn:aws[a-z-]*:scheduler:[a-z0-9-]+:[0-9]{12}:schedule/[0-9A-Za-z._-]+/[0-9A-Za-z._-]+"
_ARN_LENGTH_MAX: Final = 1_224

FORMAT_FIELDS: Final = (
    Field(
        "format",
        {"type": "string", "enum": list(_FORMATS)},
        f"`{RAW}`: the consumer gets `data` alone. A text comes without quotes, and placeholders of "
        "EventBridge Scheduler, such as `<aws.scheduler.scheduled-time>`, are filled in. "
        f"{FORMAT_DEFAULT} by default.",
    ),
    Field(
        "scheduleArn",
        text_schema(f"^{_ARN}$", _ARN_LENGTH_MAX),
        f"With `{RAW}`: what stands for `<aws.scheduler.schedule-arn>`.",
    ),
)


class Filling(NamedTuple):
    """What stands for the placeholders in one attempt. `id` is the trigger's, the same at each attempt."""

    schedule_arn: str
    due_at: Instant
    id: str
    attempt: int


_SAMPLE: Final = Filling("", 0, "id", 1)

_PLACEHOLDERS: Final[Mapping[str, Callable[[Filling], str]]] = {
    "schedule-arn": lambda filling: filling.schedule_arn,
    "scheduled-time": lambda filling: f"{rfc3339(filling.due_at)[:-5]}Z",
    "execution-id": lambda filling: filling.id,
    "attempt-number": lambda filling: str(filling.attempt),
}
_PLACEHOLDER: Final = re.compile(rf"<aws\.scheduler\.({'|'.join(_PLACEHOLDERS)})>")


def is_raw(spec: Mapping[str, Any]) -> bool:
    """Whether a target gets `data` alone."""
    return spec.get("format") == RAW


def raw_text(body: str, filling: Filling) -> str:
    """What the consumer gets. `body` is the JSON text of `data`."""
    text = json.loads(body) if body.startswith('"') else body
    return _PLACEHOLDER.sub(lambda found: _PLACEHOLDERS[found[1]](filling), text)


def names_refusal(text: str) -> str | None:
    """Why a consumer may not get a JSON text alone that has a field `sweephand`; None if it has none.

    The envelope has the names of a trigger in that field. A consumer would take the text for a delivery of
    the namespace and the job that are named there.
    """
    waiting: list[Any] = [_value(text)] if _NAMES in text or "\\" in text else []
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if _NAMES in value:
                return f"The names of a delivery stand in the field {_NAMES}: `data` alone may not have it."
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return None


def format_violations(spec: Mapping[str, Any]) -> list[Violation]:
    """What is wrong with `format` and `scheduleArn` of a target; empty if it has neither."""
    found = []
    written, arn = spec.get("format"), spec.get("scheduleArn")
    if written is not None and written not in _FORMATS:
        detail = f"{suggestion(written, _FORMATS)} Use one of {', '.join(_FORMATS)}.".lstrip()
        found.append(Violation("/format", detail))
    if arn is not None and not is_text(arn, _ARN, _ARN_LENGTH_MAX):
        example = "arn:aws:scheduler:eu-west-1:123456789012:schedule/default/nightly"
        found.append(Violation("/scheduleArn", f"Give the ARN of a schedule, for instance {example}."))
    elif arn is not None and not is_raw(spec):
        found.append(Violation("/scheduleArn", f'Leave it out: only "format": "{RAW}" fills it in.'))
    return found


def raw_data_violations(form: RawForm, body: str, schedule_arn: str) -> list[Violation]:
    """What is wrong with `data` that a consumer gets alone. `body` is its JSON text.

    It names what the service would refuse at each delivery.
    """
    text = raw_text(body, _SAMPLE._replace(schedule_arn=schedule_arn))
    taken = _what_is_taken(form, text)
    if taken is not None:
        return [Violation("/data", f"This target gets the text alone, and takes {taken}.")]
    refusal = names_refusal(text) if form in ("json", "object") else None
    return [] if refusal is None else [Violation("/data", refusal)]


#: What is not Char in XML 1.0. SQS refuses such characters, or puts U+FFFD in their place (AWS, SendMessage).
_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _what_is_taken(form: RawForm, text: str) -> str | None:
    """What a consumer takes in place of this text; None if it takes the text."""
    if form in ("text", "xml"):
        if not text:
            return "no empty one"
        wrong = _NOT_XML.search(text) if form == "xml" else None
        return None if wrong is None else f"no U+{ord(wrong[0]):04X}, which is no character of XML 1.0"
    value = _value(text)
    if value is _NO_JSON:
        return "only JSON"
    return "only a JSON object" if form == "object" and not isinstance(value, dict) else None


def _value(text: str) -> Any:
    """The value of a JSON text. `_NO_JSON` if the text is not JSON, or is nested too deeply to be read."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _NO_JSON
