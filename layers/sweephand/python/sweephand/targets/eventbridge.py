"""The target type `eventbridge`: an event on an EventBridge bus."""

from collections.abc import Mapping
from typing import Any, Final

from sweephand.base.errors import Violation
from sweephand.base.limits import ENVELOPE_DATA_BYTES_MAX
from sweephand.base.names import text_schema
from sweephand.targets.aws_resource import SHARED_FIELDS, Resource, attempt_ms_max
from sweephand.targets.reach import Reach
from sweephand.targets.target_type import Field, TargetType, is_text

BUS: Final = Resource(
    field="busArn",
    noun="an EventBridge bus",
    service="events",
    name=r"event-bus/[A-Za-z0-9._/-]{1,256}",
    example="arn:aws:events:eu-west-1:123456789012:event-bus/orders",
    parameter="TargetBusArns",
)

DETAIL_TYPE_DEFAULT: Final = "sweephand.trigger"
SOURCE_DEFAULT: Final = "sweephand"

#: The longest detail type (AWS, PutEventsRequestEntry), and the same for the source.
_TEXT_LENGTH_MAX: Final = 128
_TEXT: Final = "[ -~]+"

#: AWS keeps this beginning of a source for itself, and refuses other events that have it.
_SOURCE_OF_AWS: Final = "aws."


def _violations(spec: Mapping[str, Any], *, has_data: bool, reach: Reach) -> list[Violation]:  # noqa: ARG001 - all types share one signature; a bus takes any data
    found = BUS.violations(spec, reach)
    for name in ("detailType", "source"):
        value = spec.get(name)
        if value is None:
            continue
        if not is_text(value, _TEXT, _TEXT_LENGTH_MAX):
            found.append(
                Violation(f"/{name}", f"Give 1 to {_TEXT_LENGTH_MAX} printable characters of ASCII.")
            )
        elif name == "source" and value.lower().startswith(_SOURCE_OF_AWS):
            found.append(Violation("/source", f"Use another beginning than {_SOURCE_OF_AWS}: that is AWS's."))
    return found


_TEXT_SCHEMA: Final = text_schema(f"^{_TEXT}$", _TEXT_LENGTH_MAX)

TYPE: Final = TargetType(
    name="eventbridge",
    summary="An EventBridge bus.",
    description="An EventBridge bus: the event's detail has `data`, and the trigger's names as `sweephand`. "
    "Its time is the due time.\n\nEventBridge takes whole numbers of up to 63 bits in it.",
    own_fields=(
        BUS.own_field,
        Field("detailType", _TEXT_SCHEMA, f"The event's detail type; {DETAIL_TYPE_DEFAULT} by default."),
        Field("source", _TEXT_SCHEMA, f"The event's source; {SOURCE_DEFAULT} by default."),
        *SHARED_FIELDS,
    ),
    rules=_violations,
    attempt_ms_max=attempt_ms_max,
    delivery="sweephand.delivery.eventbridge",
    data_bytes_max=ENVELOPE_DATA_BYTES_MAX,
    data_limit="envelopeDataBytesMax",
    raw_form="object",
)
