"""Reads the body of a call whose fields have no rules but their shapes."""

from collections.abc import Callable, Mapping
from typing import Any

from sweephand.base.instants import Instant
from sweephand.web.http import json_text
from sweephand.web.http.operation import ParsedBody
from sweephand.web.schemas.shapes import Model, check
from sweephand.web.services import Services


def body_reader(
    model: type[Model],
) -> Callable[[Mapping[str, Any], Services, Instant], ParsedBody[Model]]:
    """Reads a body as the model, or its violations."""

    def read(document: Mapping[str, Any], _: Services, __: Instant) -> ParsedBody[Model]:
        found, violations = check(model, json_text.with_plain_numbers(document))
        return ParsedBody(found, tuple(violations))

    return read
