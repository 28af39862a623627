"""What the target types of AWS have in common: a resource that an ARN names, and a role to reach it with."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from sweephand.base.errors import Violation
from sweephand.base.instants import SECOND_MS
from sweephand.base.names import text_schema
from sweephand.targets.raw_format import FORMAT_FIELDS, format_violations
from sweephand.targets.reach import Reach
from sweephand.targets.target_type import Field, is_text

#: The parameter of the stack that lists the roles which deliveries may assume.
ROLES_PARAMETER: Final = "TargetRoleArns"

#: The longest request to AWS, connections that failed included, and the longest time to assume a role first.
REQUEST_MS_MAX: Final = 45 * SECOND_MS
ASSUME_ROLE_MS_MAX: Final = 10 * SECOND_MS

_LENGTH_MAX: Final = 1_600

#: How ARNs of resources begin: partition, service, region and account (AWS, "Amazon Resource Names").
_START: Final = r"arn:aws[a-z-]*:{service}:(?P<region>[a-z]{{2,5}}(?:-[a-z]+){{1,3}}-[0-9]):[0-9]{{12}}:"

_ROLE: Final = r"arn:aws[a-z-]*:iam::[0-9]{12}:role/(?:[\x21-\x2b\x2d-\x7e]+/)?[A-Za-z0-9_+=,.@-]{1,64}"


class Resource(NamedTuple):
    """One kind of AWS's resources that a target can name.

    - `field` is the field of the target that has the ARN, and `noun` what stands there, as in "a topic".
    - `service` is the service's name in ARNs, and `name` what follows the account there, as a regular
      expression.
    - `example` is a valid ARN.
    - `parameter` is the stack's parameter that lists what jobs may name.
    - `is_own` returns whether an ARN names a resource of the stack itself, which is nobody's target.
    """

    field: str
    noun: str
    service: str
    name: str
    example: str
    parameter: str
    is_own: Callable[[str, Reach], bool] = lambda _arn, _reach: False

    @property
    def own_field(self) -> Field:
        """The field of the target, for its type."""
        meaning = (
            f"The ARN of {self.noun} that the stack's parameter {self.parameter} names, or that `roleArn` "
            "may reach."
        )
        # A JSON Schema has no groups with names.
        pattern = re.sub(r"\?P<[a-z]+>", "?:", self._pattern)
        return Field(self.field, text_schema(f"^{pattern}$", _LENGTH_MAX), meaning, is_required=True)

    @property
    def _pattern(self) -> str:
        return _START.format(service=self.service) + self.name

    def region(self, arn: str) -> str:
        """The region in which the resource lies. The ARN is valid."""
        return arn.split(":")[3]

    def violations(self, spec: Mapping[str, Any], reach: Reach) -> list[Violation]:
        """What is wrong with the ARN of a target and with its role."""
        arn = spec.get(self.field)
        if not is_text(arn, self._pattern, _LENGTH_MAX):
            detail = f"Give the ARN of {self.noun}, for instance {self.example}."
            return [Violation(f"/{self.field}", detail), *shared_violations(spec, reach)]
        refusal = self.refusal(spec, reach)
        own = [] if refusal is None else [Violation(f"/{self.field}", refusal)]
        return own + shared_violations(spec, reach)

    def refusal(self, spec: Mapping[str, Any], reach: Reach) -> str | None:
        """Why the stack may not reach the resource of a valid target; None if it may.

        With a role, the role's own policy decides, and not the list of the stack. The stack's own resources
        are refused in either case.
        """
        arn = spec[self.field]
        if self.is_own(arn, reach):
            return f"Give {self.noun} of yours: this one is the stack's own."
        if spec.get("roleArn") is not None or reach.lists(self.parameter, arn):
            return None
        return self.not_listed(arn)

    def not_listed(self, arn: str) -> str:
        """The sentence that says that the stack may not reach a resource, and what can be done."""
        return (
            f"This stack may not reach {arn}: have its operator add the ARN to the parameter "
            f"{self.parameter}, or give a roleArn that may."
        )


#: The fields that every target type of AWS has.
SHARED_FIELDS: Final = (
    *FORMAT_FIELDS,
    Field(
        "roleArn",
        text_schema(f"^{_ROLE}$", 2_048),
        f"A role that the stack's parameter {ROLES_PARAMETER} names. Deliveries assume it with the "
        "namespace's external id, and reach the target with its rights.",
    ),
)


def shared_violations(spec: Mapping[str, Any], reach: Reach) -> list[Violation]:
    """What is wrong with the fields that every target type of AWS has."""
    return format_violations(spec) + _role_violations(spec, reach)


def _role_violations(spec: Mapping[str, Any], reach: Reach) -> list[Violation]:
    arn = spec.get("roleArn")
    if arn is None:
        return []
    if not isinstance(arn, str) or not re.fullmatch(_ROLE, arn):
        example = "arn:aws:iam::123456789012:role/sweephand-deliveries"
        return [Violation("/roleArn", f"Give the ARN of an IAM role, for instance {example}.")]
    refusal = role_refusal(arn, reach)
    return [] if refusal is None else [Violation("/roleArn", refusal)]


def role_refusal(arn: str, reach: Reach) -> str | None:
    """Why deliveries may not assume a role; None if they may."""
    if reach.lists(ROLES_PARAMETER, arn):
        return None
    return (
        f"This stack may not assume {arn}: have its operator add the ARN to the parameter {ROLES_PARAMETER}."
    )


def external_id(namespace: str) -> str:
    """The external id with which deliveries of a namespace assume a role. No other namespace has the same.

    A role's trust policy that asks for this id can be used by the jobs of that namespace only. IAM takes a
    slash there and no tilde (AWS, AssumeRole: ExternalId). Names have tildes and no slashes.
    """
    return "sweephand/" + namespace.replace("~", "/")


def attempt_ms_max(spec: Mapping[str, Any]) -> int:
    """How long a request to AWS may take at most, in ms, with the role's credentials."""
    return REQUEST_MS_MAX + (0 if spec.get("roleArn") is None else ASSUME_ROLE_MS_MAX)
