"""Turns an event of API Gateway into the answer of an operation, or into a problem document.

It finds the caller of a request and checks its access before it reads the rest of the request.
"""

import re
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, Final

from aws_lambda_powertools import Logger
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.exceptions import NotFoundError as NoRouteError
from aws_lambda_powertools.utilities.typing import LambdaContext

from sweephand.access import callers
from sweephand.access.authentication import OWN_FUNCTION, Auth, sent_run_token
from sweephand.base.errors import (
    BadRequestError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    UnavailableError,
    Violation,
)
from sweephand.base.instants import Instant
from sweephand.base.names import name_violations
from sweephand.model.api_key import ROLES, Caller
from sweephand.ports.access import KeyStore
from sweephand.web.http import json_text, problems
from sweephand.web.http.json_text import body_violations, read_body
from sweephand.web.http.operation import Accepts, Operation, Reply, Request, Services, precondition_violations
from sweephand.web.http.problems import MethodError, UnauthenticatedError
from sweephand.web.operations import OPERATIONS
from sweephand.web.scheduler.groups import GROUPS
from sweephand.web.scheduler.schedules import SCHEDULES
from sweephand.web.schemas.formats import read_query
from sweephand.web.schemas.shapes import given_fields, read_as

#: The caller of an open operation if the request has no key.
ANONYMOUS = Caller("", "", "read")

#: The caller that sends the token of a run. The operation checks whether a run has that token.
CONSUMER = Caller("run", "", "read")


def caller_of(event: Mapping[str, Any], auth: Auth, keys: KeyStore, now: Instant) -> Caller | None:
    """The caller that the gateway has authenticated as the mode of the stack says; None without one.

    The gateway writes it to `requestContext.authorizer` of the event (payload format 2.0), under another
    name for each kind of authorizer. What another kind would write there is never read, so a stack whose
    mode is just being changed lets nobody in by mistake. A function of the stack calls without the gateway,
    in every mode.

    Raises ForbiddenError for a caller that the gateway lets in and that has no namespace or role. Raises
    StoreError if the key of an IAM principal cannot be looked up.
    """
    found = event.get("requestContext", {}).get("authorizer") or {}
    if OWN_FUNCTION in found:
        return _caller_of_authorizer(found[OWN_FUNCTION])
    match auth.mode:
        case "keys":
            return _caller_of_authorizer(found.get("lambda") or {})
        case "iam":
            arn = (found.get("iam") or {}).get("userArn")
            return callers.caller_of(arn, keys=keys, now=now) if isinstance(arn, str) else None
        case "jwt":
            given = (found.get("jwt") or {}).get("claims")
            return callers.caller_by_claims(given, auth) if isinstance(given, Mapping) else None


def _caller_of_authorizer(found: Mapping[str, Any]) -> Caller | None:
    """The caller in the answer of the authorizer function."""
    key_id, namespace, role = (found.get(name) for name in ("keyId", "namespace", "role"))
    if not (isinstance(key_id, str) and isinstance(namespace, str) and role in ROLES):
        return None
    rate = found.get("requestsPerMinute")
    return Caller(key_id, namespace, role, requests_per_minute=None if rate is None else int(rate))


def authorize(
    operation: Operation, caller: Caller | None, path: Mapping[str, str], authorization: str | None
) -> Caller:
    """The caller, if it may call the operation. `authorization` is the header of that name.

    Raises UnauthenticatedError if the request has no caller. Raises NotFoundError if the path names a
    namespace that is not the caller's. The error is the same whether that namespace exists or not. Raises
    ForbiddenError if the caller's role does not suffice.
    """
    if operation.access == "open":
        return caller or ANONYMOUS
    if operation.access == "callback" and caller is None and sent_run_token(authorization) is not None:
        return CONSUMER
    if caller is None:
        if operation.access == "callback":
            raise UnauthenticatedError("Send the token of the run: Authorization: Bearer shr_…")
        raise UnauthenticatedError("Say who you are. /v1/openapi.json describes how.")
    if "namespace" in path and not caller.sees(path["namespace"]):
        raise NotFoundError("There is no such namespace, or you are a caller of another one.")
    role = "write" if operation.access == "callback" else operation.access
    if role != "any" and not caller.may(role):
        enough = " or ".join(ROLES[ROLES.index(role) :])
        raise ForbiddenError(f"You have the role {caller.role}. This call needs the role {enough}.")
    return caller


Handler = Callable[[Mapping[str, Any], LambdaContext], dict[str, Any]]

_INTERNAL: Final = RuntimeError()

#: The parameters of paths that are names.
_NAMES: Final = ("namespace", "name", "calendar", "policy", "secret", "window")


class Resolver(APIGatewayHttpResolver):
    """Powertools' resolver with another pattern for path parameters: any text between two slashes.

    Powertools' own pattern excludes some characters. The API would answer a name with such a character by
    404, and would not state the rule of names. That pattern also accepts a line break at the end of a path.
    """

    @staticmethod
    def _compile_regex(rule: str, base_regex: str = r"\A{}\Z") -> re.Pattern[str]:
        if rule == ".*":  # Powertools compiles this rule for paths without a route
            return re.compile(rule)
        return _path_pattern(rule, base_regex)


def build_handler(services: Services, log: Logger | None = None) -> Handler:
    """The handler of the API function. It answers every event and never raises.

    It writes a line for each request to `log` (None: that of the function).
    Powertools' resolver has a route for each operation. Other paths and methods get a problem.
    """
    app, log = Resolver(), log or Logger()
    dispatcher = _Dispatcher(services, app, log)
    for operation in (*OPERATIONS, *SCHEDULES, *GROUPS):
        # Powertools writes a path's parameters in angle brackets.
        rule = re.sub(r"{(\w+)}", r"<\1>", operation.path)
        app.route(rule, method=operation.method)(dispatcher.route_handler(operation))
    app.not_found(dispatcher.answer_without_route)

    def handle(event: Mapping[str, Any], context: LambdaContext) -> dict[str, Any]:
        try:
            return app.resolve(event, context)
        except Exception:
            log.exception("the event could not be resolved")
            return _lambda_response(_problem_reply(_INTERNAL))

    return handle


class _Dispatcher:
    """Answers requests.

    It authorizes and validates each one, runs its operation, and logs one line for it.
    """

    def __init__(self, services: Services, app: APIGatewayHttpResolver, log: Logger) -> None:
        self._services = services
        self._app = app
        self._log = log

    def route_handler(self, operation: Operation) -> Callable[..., Response[Any]]:
        """The function that Powertools calls with the path's parameters."""

        def answer(**path: str) -> Response[Any]:
            return self._answer(
                operation.path, lambda caller: self._run(operation, caller, path), operation.refuses
            )

        return answer

    def answer_without_route(self, _: NoRouteError) -> Response[Any]:
        """Answer a request for a path or method that has no route."""
        event = self._app.current_event

        def refuse(_: Caller | None) -> Reply:
            allowed = {each.method for each in OPERATIONS if _path_pattern(each.path).match(event.path)}
            if allowed:
                raise MethodError(event.http_method, allowed)
            raise NotFoundError("There is no such path. /v1/openapi.json describes every path.")

        return self._answer("none", refuse)

    def _run(self, operation: Operation, caller: Caller | None, path: Mapping[str, str]) -> Reply:
        """The reply of the operation, which runs only if the whole request is valid."""
        services, event = self._services, self._app.current_event
        now = services.clock.now()
        caller = authorize(operation, caller, path, event.headers.get("authorization"))
        violations = [each for name in _NAMES for each in _name_violations(path, name)]
        query_text = "" if operation.access == "open" else event.raw_event.get("rawQueryString") or ""
        query, found = read_query(operation.query, query_text)
        violations += found
        headers = {name.lower(): text for name, text in event.headers.items()}
        if operation.method != "GET":
            violations += precondition_violations(operation.headers, headers)
        value = None
        if operation.accepts is None:
            violations += body_violations(event.raw_event)
        else:
            document = read_body(
                event.raw_event,
                event.headers.get("content-type"),
                limit=operation.accepts.limit,
                types=operation.accepts.types,
                may_be_empty=not operation.accepts.required,
            )
            try:
                value = _value_of(operation.accepts, document, services, now)
            except InvalidError as error:
                violations += error.violations
        if violations:
            raise InvalidError(violations)
        function_arn = getattr(self._app.lambda_context, "invoked_function_arn", "")
        return operation.run(services, Request(caller, path, query, value, headers, now, function_arn))

    def _answer(
        self,
        route: str,
        run: Callable[[Caller | None], Reply],
        refuses: Callable[[Exception], Reply] | None = None,
    ) -> Response[Any]:
        event = self._app.current_event
        services = self._services
        began_at = services.clock.now()
        caller = None
        try:
            caller = caller_of(event.raw_event, services.auth, services.keys, began_at)
            if caller is not None:
                services.rates.check(caller, began_at)
            reply = run(caller)
        except Exception as error:  # noqa: BLE001 - errors become statuses only here
            reads = event.http_method == "GET"
            reply = _problem_reply(error, reads=reads) if refuses is None else refuses(error)
            if not isinstance(error, BadRequestError | UnavailableError):
                self._log.exception("the request failed")
        self._log.info(
            "request",
            method=event.http_method,
            route=route,
            path=event.path,
            status=reply.status,
            duration_ms=services.clock.now() - began_at,
            key_id=caller.key_id if caller else None,
            request_id=event.request_context.request_id,
        )
        if reply.status == HTTPStatus.NO_CONTENT:
            return Response(reply.status, None, "", dict(reply.headers))
        return Response(reply.status, reply.content_type, _body(reply), dict(reply.headers))


def _value_of(accepts: Accepts, document: Mapping[str, Any], services: Services, now: Instant) -> Any:
    if accepts.read is None:
        return read_as(accepts.model, given_fields(document))
    return accepts.read(document, services, now)


def _path_pattern(path: str, base: str = r"\A{}\Z") -> re.Pattern[str]:
    parts = re.split(r"[<{](\w+)[>}]", path)
    made = (f"(?P<{part}>[^/]+)" if at % 2 else re.escape(part) for at, part in enumerate(parts))
    return re.compile(base.format("".join(made)))


def _name_violations(path: Mapping[str, str], parameter: str) -> list[Violation]:
    return name_violations(f"/{parameter}", path[parameter]) if parameter in path else []


def _problem_reply(error: Exception, *, reads: bool = False) -> Reply:
    document = problems.problem_of(error, reads=reads)
    return Reply(document["status"], document, problems.headers(error), problems.CONTENT_TYPE)


def _body(reply: Reply) -> str | bytes:
    """The body as Powertools takes it. It encodes bytes for the gateway, which decodes them."""
    body: str | bytes = reply.body
    return body if reply.content_type.startswith("text/") else json_text.write(reply.body)


def _lambda_response(reply: Reply) -> dict[str, Any]:
    return {
        "statusCode": reply.status,
        "headers": {"content-type": reply.content_type, **reply.headers},
        "body": _body(reply),
        "isBase64Encoded": False,
    }
