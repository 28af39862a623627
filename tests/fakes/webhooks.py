"""Compares each request that Sweephand sends to an HTTP target with `webhooks` of the OpenAPI document."""

import json
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Any, Final

import jsonschema
import pytest

import sweephand.delivery.http.targets
import sweephand_engine.testing.targets
from sweephand.delivery.http.http1 import HttpRequest
from sweephand.delivery.http.request import SecretValues, signed_request
from sweephand.model.attempt import Attempt
from sweephand.targets.http import http_target
from sweephand.targets.registry import secret_refs
from sweephand.web.operations import description

#: Signs where a fake has no secret that can sign.
SECRET: Final = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3"

#: The headers of a binary CloudEvent come together.
_BINARY: Final = "ce-specversion"


def _reads_time(value: object) -> bool:
    return not isinstance(value, str) or datetime.fromisoformat(value).tzinfo is not None


_FORMATS: Final = jsonschema.FormatChecker(())
_FORMATS.checks("date-time", raises=ValueError)(_reads_time)


def check(request: HttpRequest) -> str:
    """The event of a request. Raises an error if the document describes another request for it."""
    return check_received(request.headers, request.body)


def check_received(headers: Mapping[str, str], body: bytes | None) -> str:
    """The event of a request with these headers, whose names are in lower case. None stands for no body."""
    event = headers.get("sweephand-event", "trigger")
    post = _document()["webhooks"][event]["post"]
    described = {each["name"]: each for each in post["parameters"]}
    sent = {
        name: text for name, text in headers.items() if name.startswith(("webhook-", "sweephand-", "trace"))
    }
    if _BINARY in headers:
        sent |= {name: text for name, text in headers.items() if name in described}
    required = {name for name, each in described.items() if each["required"] or name in sent}
    if _BINARY in headers:
        envelope = post["requestBody"]["content"]["application/cloudevents+json"]["schema"]
        required |= {f"ce-{name}" for name in envelope["required"]} & described.keys()
    assert required <= sent.keys() <= described.keys(), (event, sent)
    for name, text in sent.items():
        is_json = _schema_of(described[name]).get("type") in ("integer", "object")
        _validator(event, name).validate(json.loads(text) if is_json else text)
    if body is not None:
        is_event = headers["content-type"].startswith("application/cloudevents+json")
        kind = "application/cloudevents+json" if is_event else "application/json"
        # Python is slow to read a long number, and a schema does not need all of its digits.
        value = json.loads(body, parse_int=lambda digits: int(digits[:100]))
        _validator(event, kind).validate(value)
    return event


def check_attempt(attempt: Attempt) -> str | None:
    """The event of the request that production makes of an attempt. None if it is not for an HTTP target."""
    if attempt.spec["type"] != "http":
        return None
    values = SecretValues({each.name: [SECRET] for each in secret_refs(attempt.spec)})
    target = http_target(attempt.spec, allow_insecure=True)
    return check(signed_request(target, attempt._replace(secrets=(SECRET,)), values))


def watch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check each request that the adapters send in this process."""

    def checked(*args: Any) -> HttpRequest:
        request = signed_request(*args)
        check(request)
        return request

    for module in (sweephand.delivery.http.targets, sweephand_engine.testing.targets):
        monkeypatch.setattr(module, "signed_request", checked)


@cache
def _document() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(description())
    return found


def _schema_of(parameter: dict[str, Any]) -> dict[str, Any]:
    content = parameter.get("content")
    found: dict[str, Any] = parameter["schema"] if content is None else content["application/json"]["schema"]
    return found


@cache
def _validator(event: str, place: str) -> jsonschema.Draft202012Validator:
    """The validator of a header, or of the body of a content type."""
    post = _document()["webhooks"][event]["post"]
    schemas = {each["name"]: _schema_of(each) for each in post["parameters"]}
    schemas |= {kind: each["schema"] for kind, each in post["requestBody"]["content"].items()}
    whole = {**schemas[place], "components": _document()["components"]}
    return jsonschema.Draft202012Validator(whole, format_checker=_FORMATS)
