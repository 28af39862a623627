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
    taken = _what_is_taken(form, raw_text(body, _SAMPLE._replace(schedule_arn=schedule_arn)))
    if taken is None:
        return []
    return [Violation("/data", f"This target gets the text alone, and takes {taken}.")]


#: What is not Char in XML 1.0. SQS refuses such characters, or puts U+FFFD in their place (AWS, SendMessage).
_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _what_is_taken(form: RawForm, text: str) -> str | None:
    """What a consumer takes in place of this text; None if it takes the text."""
    if form in ("text", "xml"):
        if not text:
            return "no empty one"
        wrong = _NOT_XML.search(text) if form == "xml" else None
        return None if wrong is None else f"no U+{ord(wrong[0]):04X}, which is no character of XML 1.0"
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return "only JSON"
    return "only a JSON object" if form == "object" and not isinstance(value, dict) else None
