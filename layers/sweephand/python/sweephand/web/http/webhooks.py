"""Makes the `webhooks` of the OpenAPI document: the requests that Sweephand sends to HTTP targets."""

from typing import Any, Final

from sweephand.model.attempt import Event
from sweephand.model.webhook import (
    CONTENT_TYPE,
    EVENT_ATTRIBUTES,
    EVENTS,
    NAMES,
    SIGNED_HEADERS,
    Fact,
    header_of,
    object_of,
)
from sweephand.runs.notification import ALERT, BATCH_END, END, RESULT
from sweephand.targets.http import BINARY, STRUCTURED

_ABOUT: Final = f"""\
A target sets the method, and may set headers of its own. With `format: {STRUCTURED}` the body is a CloudEvent
in structured mode. With `format: {BINARY}` the headers `ce-` have the attributes of the event. The signature
covers `webhook-id`, `webhook-timestamp` and the bytes of the body."""

#: Of each event: what its request is, and the name and the facts of its body. The body of a trigger is
#: `data`.
_REQUESTS: Final[dict[Event, tuple[str, str, tuple[Fact, ...]]]] = {
    "trigger": ("A trigger of a job, for its `target`", "Trigger", ()),
    "end": ("The end of a run, for `onComplete`", "End", (*END, RESULT)),
    "batch-end": ("The end of a batch, for `onComplete`", "BatchEnd", BATCH_END),
    "alert": ("The alert of a watch, for `onAlert`", "Alert", ALERT),
}

_ANSWERS: Final = {
    "202": {"description": "Success. With `completion: async` the consumer sends callbacks later."},
    "2XX": {"description": "Success."},
    "410": {"description": "The attempt has failed for good. After a trigger the job is paused."},
    "default": {
        "description": "The attempt has failed. Sweephand tries again, but not after 400, 413 or 422."
    },
}


def webhooks() -> dict[str, Any]:
    """The request of each event."""
    return {event: {"post": _request(event)} for event in EVENTS}


def components() -> dict[str, Any]:
    """The JSON Schemas of the bodies."""
    return {
        f"{name}Notification": object_of(facts, event, f"{name}Notification", f"{summary}.")
        for event, (summary, name, facts) in _REQUESTS.items()
        if facts
    }


def _request(event: Event) -> dict[str, Any]:
    summary, name, facts = _REQUESTS[event]
    data: dict[str, Any] = {"$ref": f"#/components/schemas/{name}Notification"} if facts else {}
    attributes = (*EVENT_ATTRIBUTES, CONTENT_TYPE)
    envelope = object_of(attributes, event, f"{name}Event", f"{summary}, as a CloudEvent.")
    envelope["properties"]["data"] = data
    envelope["required"].append("data")
    headers = {
        **{each.name: each for each in SIGNED_HEADERS},
        **{header_of(each.name): each for each in NAMES},
        **{f"ce-{each.name}": each._replace(is_optional=True) for each in EVENT_ATTRIBUTES},
    }
    return {
        "operationId": f"receive{name}",
        "summary": summary,
        "description": _ABOUT,
        "security": [],
        "parameters": [_header(name, each, event) for name, each in headers.items() if event in each.events],
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {"schema": data},
                "application/cloudevents+json": {"schema": envelope},
            },
        },
        "responses": _ANSWERS,
    }


def _header(name: str, fact: Fact, event: Event) -> dict[str, Any]:
    schema = fact.schema_of(event)
    meaning = schema.pop("description")
    is_json = schema.get("type") == "object"
    return {
        "name": name,
        "in": "header",
        "required": not fact.is_optional,
        "description": meaning,
        **({"content": {"application/json": {"schema": schema}}} if is_json else {"schema": schema}),
    }
