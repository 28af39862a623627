"""What a target type is: its fields, its rules and its bounds. And the fields that several types share."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, Protocol, TypeAlias

from sweephand.base.errors import BadRequestError, Violation
from sweephand.base.instants import SECOND_MS
from sweephand.base.limits import DATA_BYTES_MAX, TARGET_TIMEOUT_S_MAX
from sweephand.base.names import NAME_RULE, NAME_SCHEMA, is_name, text_schema
from sweephand.schedules import parse_duration_ms
from sweephand.schedules.time_points import DURATION_SCHEMA
from sweephand.targets.reach import GROUP_ID_LENGTH_MAX, Reach

#: What a consumer takes in the format `raw`: any text but an empty one, such a text of XML's characters, any
#: JSON, or a JSON object.
RawForm: TypeAlias = Literal["text", "xml", "json", "object"]

#: The one field of a reference.
REF_FIELD: Final = "secretRef"

#: How a reference is written, as JSON Schema.
REF_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "title": "SecretRef",
    "description": "The name of a secret of the namespace. Each attempt uses the secret's present value.",
    "properties": {REF_FIELD: {**NAME_SCHEMA, "description": "The secret's name."}},
    "required": [REF_FIELD],
    "additionalProperties": False,
}


class SecretRef(NamedTuple):
    """A secret that a target names, and the JSON pointer below the target at which it stands.

    `must_sign` says that its value signs deliveries.
    """

    pointer: str
    name: str
    must_sign: bool = False


def referred(value: object) -> str | None:
    """The name of the secret that a value refers to; None if the value is no valid reference."""
    if not isinstance(value, Mapping) or value.keys() != {REF_FIELD} or not is_name(value[REF_FIELD]):
        return None
    name: str = value[REF_FIELD]
    return name


def reference_violations(at: str, value: object) -> list[Violation]:
    """What is wrong with a reference; `at` is its JSON pointer."""
    if referred(value) is not None:
        return []
    if isinstance(value, Mapping) and value.keys() == {REF_FIELD}:
        return [Violation(f"{at}/{REF_FIELD}", f"Give the name of a secret. {NAME_RULE}")]
    return [Violation(at, f'Give an object with the name of a secret alone: {{"{REF_FIELD}": "api-token"}}.')]


class Rules(Protocol):
    """The rules of one target type."""

    def __call__(self, spec: Mapping[str, Any], *, has_data: bool, reach: Reach) -> list[Violation]:
        """What is wrong with the fields of a target, in order; their JSON pointers begin below the target.

        `has_data` says whether there is a body to send. A value may be any JSON value. A rule never raises.
        """
        ...


class Field(NamedTuple):
    """One field of a target: its name, its JSON Schema, and a sentence that says what it means.

    A field with `hides_values` is an object whose values can be secrets. Callers who may only read see its
    names.
    """

    name: str
    schema: Mapping[str, Any]
    meaning: str
    is_required: bool = False
    hides_values: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class TargetType:
    """A target type.

    - `name` is what callers write as the target's `type`.
    - `summary` and `description` are shown in the OpenAPI document.
    - `own_fields` are the fields that a target of this type has besides `type`.
    - `rules` judges these fields.
    - `attempt_ms_max` returns how long an attempt at a target may take at most, in ms, from connecting to the
      answer.
    - `delivery` names the module in `delivery/` that makes the type's adapter. It is a name and no import:
      this room lies below `delivery/`, and only the delivery function loads that module. It is None for a
      type that no adapter delivers to.
    - `triggered_job` returns the name of the job that the end of a run triggers; None if that end triggers
      none. It gets the fields of the target and the state in which the run ended. A type has either this or
      an adapter, unless it `is_default`.
    - `is_default` says that a target of this type stands for the default target of its namespace. It has no
      adapter, because it is replaced before it is delivered to.
    - `takes_triggers` says whether a job's `target` may be of this type. Every type may be that of
      `onComplete`.
    - `raw_form` is what the consumer takes in the format `raw`; None for a type without that format.
    - `secret_refs` returns the secrets that a valid target names.
    - `host` returns the host of a valid target, if lists of hosts govern the type, and None if not.
    - `data_bytes_max` is how much data a target takes, as compact JSON, and `data_limit` the name of that
      limit in /v1/limits. A target that takes less than DATA_BYTES_MAX also has the job's labels in its
      message.
    """

    name: str
    summary: str
    description: str
    own_fields: tuple[Field, ...]
    rules: Rules
    attempt_ms_max: Callable[[Mapping[str, Any]], int]
    delivery: str | None
    triggered_job: Callable[[Mapping[str, Any], str], str | None] | None = None
    takes_triggers: bool = True
    is_default: bool = False
    data_bytes_max: int = DATA_BYTES_MAX
    data_limit: str = "dataBytesMax"
    raw_form: RawForm | None = None
    secret_refs: Callable[[Mapping[str, Any]], Sequence[SecretRef]] = lambda _: ()
    host: Callable[[Mapping[str, Any]], str | None] = lambda _: None

    def __post_init__(self) -> None:
        ways = (self.delivery is not None, self.triggered_job is not None, self.is_default)
        assert sum(ways) == 1, "an end has one way to be told"

    def data_room(self, labels: Mapping[str, str]) -> int:
        """How many bytes of data a target takes, if the job has these labels."""
        sends_apart = not labels or self.data_bytes_max == DATA_BYTES_MAX
        return self.data_bytes_max - (0 if sends_apart else labels_bytes(labels))

    @property
    def field_names(self) -> tuple[str, ...]:
        """The names of all fields, `type` first."""
        return ("type", *(each.name for each in self.own_fields))

    @property
    def schema_name(self) -> str:
        """The name of the type's schema in the OpenAPI document."""
        return f"{self.name[:1].upper()}{self.name[1:]}Target"

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of a target. `null` for a field that is not required is the field left out."""
        properties = {"type": {"type": "string", "const": self.name, "description": self.summary}}
        properties |= {each.name: _property(each) for each in self.own_fields}
        return {
            "type": "object",
            "title": self.schema_name,
            "description": self.description,
            "properties": properties,
            "required": ["type", *(each.name for each in self.own_fields if each.is_required)],
            "additionalProperties": False,
        }


def labels_bytes(labels: Mapping[str, str]) -> int:
    """How many bytes labels take in a delivery."""
    return len(json.dumps(labels, separators=(",", ":")))


def _property(field: Field) -> dict[str, Any]:
    schema = field.schema if field.is_required else {"anyOf": [field.schema, {"type": "null"}]}
    return {**schema, "description": field.meaning}


TIMEOUT_DEFAULT_MS: Final = 15 * SECOND_MS

#: What a time-out may be, for the meaning of the field.
TIMEOUT_BOUNDS: Final = f"at most {TARGET_TIMEOUT_S_MAX} s; {TIMEOUT_DEFAULT_MS // SECOND_MS}s by default."


def timeout_field(meaning: str) -> Field:
    """The field `timeout` of a target type."""
    return Field("timeout", DURATION_SCHEMA, meaning)


def timeout_ms(spec: Mapping[str, Any]) -> int:
    """The time-out of a target in ms. It is the default if none was written, or one that is not valid."""
    return _accepted_ms(spec.get("timeout")) or TIMEOUT_DEFAULT_MS


def timeout_violations(spec: Mapping[str, Any]) -> list[Violation]:
    """What is wrong with the time-out of a target; empty if it has none."""
    written = spec.get("timeout")
    if written is None or _accepted_ms(written) is not None:
        return []
    most = TARGET_TIMEOUT_S_MAX
    return [Violation("/timeout", f"Give a duration of more than 0 and at most {most}s, as in 15s.")]


def _accepted_ms(written: object) -> int | None:
    """The time-out in ms; None if it cannot be accepted."""
    if not isinstance(written, str):
        return None
    try:
        found = parse_duration_ms(written)
    except BadRequestError:
        return None
    return found if 0 < found <= TARGET_TIMEOUT_S_MAX * SECOND_MS else None


#: Letters, digits and punctuation (AWS, SendMessage and Publish: MessageGroupId).
_GROUP_ID: Final = "[!-~]+"


def group_field(meaning: str) -> Field:
    """The field `messageGroupId` of a target type."""
    return Field("messageGroupId", text_schema(f"^{_GROUP_ID}$", GROUP_ID_LENGTH_MAX), meaning)


def group_violations(spec: Mapping[str, Any]) -> list[Violation]:
    """What is wrong with the message group of a target; empty if it has none."""
    group = spec.get("messageGroupId")
    if group is None or is_text(group, _GROUP_ID, GROUP_ID_LENGTH_MAX):
        return []
    return [Violation("/messageGroupId", "Give 1 to 128 letters, digits and punctuation marks.")]


def is_text(value: object, pattern: str, length_max: int) -> bool:
    """Whether a value is a text of at most that length, and the whole of it matches the pattern."""
    return isinstance(value, str) and len(value) <= length_max and re.fullmatch(pattern, value) is not None
