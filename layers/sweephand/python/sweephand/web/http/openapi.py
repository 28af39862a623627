"""Makes the OpenAPI 3.1 document from the operations, their models and the target types."""

from collections.abc import Iterable, Mapping
from functools import cache
from http import HTTPStatus
from typing import Any, Final, Literal

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue
from pydantic_core import core_schema

from sweephand import __version__
from sweephand.access.authentication import Auth
from sweephand.web.http import webhooks
from sweephand.web.http.credentials import Credentials, credentials
from sweephand.web.http.operation import NoQuery, Operation, Returns
from sweephand.web.http.problems import CONTENT_TYPE, KINDS, GatewayRefusal, ProblemResponse
from sweephand.web.schemas import field_models, formats
from sweephand.web.schemas.job_requests import BulkJobRequest, NamedJobRequest

_REFS: Final = "#/components/schemas/{model}"

_ABOUT: Final = """\
A job scheduler in your own AWS account. It delivers each trigger at least once, never early, and to the
second.

{credentials}

The field `x-access` of a call names the least role that it needs: `read`, `write` or `admin`. `any` is any
caller that has proved who it is. `callback` is the role `write` or the token of a run. `open` needs nothing.

Errors are problem documents (RFC 9457). Their `errors` name every field that cannot be accepted, by its JSON
pointer. API Gateway refuses some requests by itself ({statuses}). Then the body is
`{{"message": "…"}}`, as `application/json`.

Times in answers are RFC 3339 in UTC, with milliseconds. The API refuses a field that a call does not know. It
also refuses a body or a precondition that a call does not take. The gateway decodes a path before the API
reads it: `%2F` is a slash.
"""

_TAGS: Final = (
    ("Jobs", "A job says when a trigger is due and where Sweephand delivers it."),
    ("Runs", "A run is the record of delivering one trigger."),
    ("Windows", "While a window is open, nothing scheduled is delivered."),
    ("Calendars", "Calendars say which days are closed. Jobs can fire on the other days, or on these alone."),
    ("Flow", "Policies limit how many requests of many jobs are open at once, and how many leave in a time."),
    ("Namespaces", "The limits of a namespace, which an admin sets."),
    ("Occurrences", "The due times of a job, or of a schedule."),
    ("Access", "API keys, and the secrets that sign deliveries."),
    ("Service", "The stack itself."),
)

_ROLES: Final[Mapping[str, str]] = {
    "read": "Needs the role `read`, `write` or `admin`.",
    "write": "Needs the role `write` or `admin`.",
    "admin": "Needs the role `admin`.",
    "open": "Open to everybody.",
}


def describe(operations: Iterable[Operation], auth: Auth) -> dict[str, Any]:
    """The OpenAPI document of the operations, for a stack with this mode.

    The URL of its server is relative, so that the document is right at every address of the stack.
    """
    operations, proof = tuple(operations), credentials(auth)
    schemas = _Schemas(operations)
    paths: dict[str, dict[str, Any]] = {}
    for each in operations:
        paths.setdefault(each.path, {})[each.method.lower()] = _operation(each, schemas, proof)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Sweephand",
            "version": __version__,
            "summary": "A job scheduler in your own AWS account",
            "description": _ABOUT.format(
                credentials=proof.about, statuses=", ".join(map(str, proof.gateway))
            ),
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "..", "description": "Where this document was read"}],
        "tags": [{"name": name, "description": text} for name, text in _TAGS],
        "paths": paths,
        "webhooks": webhooks.webhooks(),
        "components": {
            "schemas": schemas.definitions,
            "responses": {
                **{_problem_name(status): _problem(status, proof) for status in KINDS},
                **{_refusal_name(status): _refusal(status, proof) for status in proof.gateway},
            },
            "securitySchemes": dict(proof.schemes),
        },
    }


class _Generator(GenerateJsonSchema):
    """Makes schemas without the titles that pydantic derives from names, and without `default: null`."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - pydantic passes every field
        return False

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        found = super().default_schema(schema)
        if found.get("default", ...) is None:
            del found["default"]
        return found


class _Schemas:
    """The JSON Schemas of all models.

    The schema of a request is that of pydantic's validation. The schema of a response is that of its
    serialization.
    """

    def __init__(self, operations: Iterable[Operation]) -> None:
        models: dict[Any, JsonSchemaMode] = {
            NamedJobRequest: "validation",
            BulkJobRequest: "validation",
            ProblemResponse: "serialization",
            GatewayRefusal: "serialization",
        }
        for each in operations:
            if each.accepts:
                models[each.accepts.model] = "validation"
            models |= {
                gives.model: "serialization" for gives in each.returns.values() if gives.model is not None
            }
        adapters = [(model, mode, _adapter(model)) for model, mode in models.items()]
        found, whole = TypeAdapter.json_schemas(adapters, ref_template=_REFS, schema_generator=_Generator)
        self._schemas = {model: schema for (model, _), schema in found.items()}
        # pydantic sorts its definitions by name. Sort them again with those of the target types.
        self.definitions: dict[str, Any] = dict(
            sorted((whole["$defs"] | field_models.components() | webhooks.components()).items())
        )

    def of(self, model: Any) -> dict[str, Any]:
        """The schema of a model. For most models it is a reference to a component."""
        return dict(self._schemas[model])


@cache
def _adapter(model: Any) -> TypeAdapter[Any]:
    return TypeAdapter(model)


def _operation(each: Operation, schemas: _Schemas, proof: Credentials) -> dict[str, Any]:
    needs = {**_ROLES, "callback": proof.callback_role, "any": proof.any_caller}[each.access]
    security = {"open": [], "callback": proof.of_callbacks}.get(each.access, [{proof.scheme: []}])
    found: dict[str, Any] = {
        "operationId": each.name,
        "tags": [each.tag],
        "summary": each.summary,
        "description": " ".join(text for text in (each.description, needs) if text),
        "security": security,
        "x-access": each.access,
    }
    if parameters := [*_path_parameters(each), *_query_parameters(each), *_header_parameters(each)]:
        found["parameters"] = parameters
    if each.accepts:
        body = {
            "schema": schemas.of(each.accepts.model),
            "examples": {name: {"value": value} for name, value in each.accepts.examples.items()},
        }
        found["requestBody"] = {
            "required": each.accepts.required,
            "content": dict.fromkeys(each.accepts.types or ("application/json",), body),
        }
    answers = {str(status): _answer(gives, schemas) for status, gives in sorted(each.returns.items())}
    problems = {
        str(status): {"$ref": f"#/components/responses/{_problem_name(status)}"}
        for status in statuses(each, proof)
    }
    for status in proof.gateway if each.access != "open" else ():
        problems.setdefault(str(status), {"$ref": f"#/components/responses/{_refusal_name(status)}"})
    found["responses"] = answers | problems
    return found


def statuses(operation: Operation, proof: Credentials) -> list[int]:
    """The statuses of the problems with which an operation can answer, in ascending order."""
    found = set(operation.problems) | {500}
    if operation.access != "open":
        found |= {401, 503}
        # A token has no rate. What has a key, may have one.
        found |= {429} if proof.scheme != "token" else set()
    # What is not of Sweephand's own can lack a namespace or a role. An authorizer lets no such caller in.
    if operation.access not in ("any", "open") or (operation.access == "any" and proof.scheme != "key"):
        found.add(403)
    if "{namespace}" in operation.path:
        found |= {404, 422}
    if operation.query is not NoQuery or operation.headers:
        found.add(422)
    # An operation that takes no body reads the body all the same, to refuse it.
    found |= {400, 413, 422}
    if operation.accepts:
        found.add(415)
    return sorted(found)


def _path_parameters(each: Operation) -> list[dict[str, Any]]:
    return [
        _parameter("path", name, meaning, schema)
        for name, (schema, meaning) in formats.PATH.items()
        if f"{{{name}}}" in each.path
    ]


def _query_parameters(each: Operation) -> list[dict[str, Any]]:
    model: type[BaseModel] = each.query
    properties = (
        model.model_json_schema(schema_generator=_Generator)["properties"] if model.model_fields else {}
    )
    found = []
    for name, schema in properties.items():
        kept = {key: value for key, value in schema.items() if key not in ("title", "description", "default")}
        default = {"default": schema["default"]} if schema.get("default") else {}
        found.append(_parameter("query", name, schema["description"], _without_null(kept) | default))
    return found


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a parameter without `null`. In the model, null means that the caller left it out."""
    kinds = [each for each in schema.get("anyOf", ()) if each != {"type": "null"}]
    return kinds[0] if len(kinds) == 1 else schema


def _header_parameters(each: Operation) -> list[dict[str, Any]]:
    return [_parameter("header", name, text, formats.HEADERS[name]) for name, text in each.headers.items()]


def _parameter(
    place: Literal["path", "query", "header"], name: str, meaning: str, schema: dict[str, Any]
) -> dict[str, Any]:
    """A parameter of an operation. Only those in a path are required."""
    return {
        "name": name,
        "in": place,
        "required": place == "path",
        "description": meaning,
        "schema": schema,
    }


def _answer(gives: Returns, schemas: _Schemas) -> dict[str, Any]:
    found: dict[str, Any] = {"description": gives.meaning}
    if gives.headers:
        found["headers"] = {
            name: {"description": text, "schema": {"type": "string"}} for name, text in gives.headers.items()
        }
    if gives.model is not None:
        found["content"] = {gives.content_type: {"schema": schemas.of(gives.model)}}
    return found


def _problem_name(status: int) -> str:
    return HTTPStatus(status).name.title().replace("_", "")


def _problem(status: int, proof: Credentials) -> dict[str, Any]:
    kind, title = KINDS[status]
    described = f"{title} (`urn:sweephand:problem:{kind}`)"
    problem = {"$ref": _REFS.format(model="ProblemResponse")}
    content: dict[str, Any] = {CONTENT_TYPE: {"schema": problem}}
    if status in proof.gateway:
        refusal = _refusal(status, proof)
        described += f"; or {refusal['description']}"
        # openapi-python-client reads each answer by the first content type, so that type has both forms.
        ((kind, answer),) = refusal["content"].items()
        content = {kind: {**answer, "schema": {"anyOf": [answer["schema"], problem]}}, **content}
    return {"description": described, "content": content}


def _refusal_name(status: int) -> str:
    return f"Gateway{_problem_name(status)}"


def _refusal(status: int, proof: Credentials) -> dict[str, Any]:
    """The response that the gateway sends by itself, without an answer of the API function."""
    reason, message = proof.gateway[status]
    schema = {"$ref": _REFS.format(model="GatewayRefusal")}
    return {
        "description": f"the gateway's own answer: {reason}",
        "content": {"application/json": {"schema": schema, "example": {"message": message}}},
    }
