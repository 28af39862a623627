"""Reads the body of a call whose fields have no rules but their shapes and the bounds of their texts."""

from collections.abc import Callable, Mapping
from typing import Any

from sweephand.base.field_bounds import TextBounds
from sweephand.base.instants import Instant
from sweephand.web.http import json_text
from sweephand.web.http.operation import ParsedBody
from sweephand.web.schemas.shapes import NO_BOUNDS, Model, check
from sweephand.web.services import Services


def body_reader(
    model: type[Model], bounds: Mapping[str, TextBounds] = NO_BOUNDS
) -> Callable[[Mapping[str, Any], Services, Instant], ParsedBody[Model]]:
    """Reads a body as the model, or its violations. `bounds` are those of its texts, by field name."""

    def read(document: Mapping[str, Any], _: Services, __: Instant) -> ParsedBody[Model]:
        found, violations = check(model, json_text.with_plain_numbers(document), bounds=bounds)
        return ParsedBody(found, tuple(violations))

    return read
