"""Delivering to a service of AWS: one request with the rights of the stack or of a role, and its outcome.

A target of AWS has no headers. So this module also says how a trigger's names and data are handed to it.
"""

import json
from collections.abc import Callable
from time import monotonic
from typing import Any, Final, NamedTuple, TypeAlias

from botocore.exceptions import BotoCoreError, ClientError

from sweephand.base.instants import SECOND_MS
from sweephand.base.limits import TARGET_TIMEOUT_S_MAX
from sweephand.delivery.adapter import WITHDRAWN, AwsClients, Role, Service, session_name
from sweephand.delivery.checked_clients import SEND_S_MAX, UnsentError, answered_by, may_send
from sweephand.model.attempt import Answer, Attempt
from sweephand.model.webhook import NAMES, values_of
from sweephand.targets.aws_resource import (
    ASSUME_ROLE_MS_MAX,
    ROLES_PARAMETER,
    Resource,
    external_id,
    role_refusal,
)
from sweephand.targets.raw_format import Filling, is_raw, names_refusal, raw_text
from sweephand.targets.reach import ESCAPES, Reach, group_id

#: The error text is kept with the run, so its length is limited.
ERROR_LENGTH_MAX: Final = 600

#: The codes with which AWS's services deny access. A KMS key that cannot be used has another code, and the
#: key's owner can repair it.
DENIED: Final = frozenset(
    {
        "AccessDenied",
        "AccessDeniedException",
        "AuthorizationError",
        "NotAuthorizedForDetailTypeException",
        "NotAuthorizedForSourceException",
    }
)

#: Makes a request by a client of the service and returns the answer. It raises what boto3 raises.
Send: TypeAlias = Callable[[Any, Attempt], Answer]


class AwsKind(NamedTuple):
    """One kind of AWS's resources, and how a trigger is handed to it.

    - `name` is the service as people call it, and `service` as boto3 calls it. `noun` is the resource, as in
      "an SNS topic".
    - `missing` are the error codes which say that there is no such resource.
    - `hopeless` are the codes of other refusals after which no retry can succeed.
    - `answer_ms` returns for how long an attempt waits for the answer, in ms from connecting on. It is None
      where the SDK's own time-outs and its second try hold.
    - It `has_attributes` if the names of a trigger come beside its data.
    """

    name: str
    service: str
    noun: str
    send: Send
    missing: frozenset[str] = frozenset()
    hopeless: frozenset[str] = frozenset()
    answer_ms: Callable[[Attempt], int | None] = lambda _: None
    has_attributes: bool = False


class Request(NamedTuple):
    """What one attempt asks of AWS.

    `arn` names the resource, and `not_listed` says what to do if the stack may not reach it. `client` returns
    the client that makes the request.
    """

    kind: AwsKind
    arn: str
    not_listed: str
    role: Role | None
    client: Callable[[], Any]
    answer_ms: int | None = None


class AwsTargets:
    """Delivers to the resources of one kind. Safe to use from many threads at once.

    A refusal that only the stack's operator or the resource's owner can mend is final: the resource does not
    exist, or the stack may not reach it. Its sentence says what to change. The run can then be redriven.
    """

    def __init__(self, kind: AwsKind, resource: Resource, clients: AwsClients, reach: Reach) -> None:
        self._kind = kind
        self._resource = resource
        self._clients = clients
        self._reach = reach

    def deliver(self, attempt: Attempt) -> Answer:
        """Make the request and return the answer (ports.Targets)."""
        kind, resource = self._kind, self._resource
        arn: str = attempt.spec[resource.field]
        refusal = resource.refusal(attempt.spec, self._reach)
        if refusal is None and is_raw(attempt.spec) and not kind.has_attributes:
            refusal = names_refusal(text_of(attempt))
        if refusal is not None:
            return final(refusal)
        service = Service(kind.service, resource.region(arn), role_of(attempt))
        if attempt.sends_once:
            service = service._replace(tries_max=1)
        answer_ms = kind.answer_ms(attempt)
        if answer_ms is not None:
            # A second try would hand the trigger over twice. The attempt ends before the client's time-out.
            service = service._replace(read_timeout_s=TARGET_TIMEOUT_S_MAX, tries_max=1)
        request = Request(
            kind=kind,
            arn=arn,
            not_listed=resource.not_listed(arn),
            role=service.role,
            client=lambda: self._clients.client(service),
            answer_ms=answer_ms,
        )
        return answer_to(request, attempt, self._reach)


def answer_to(request: Request, attempt: Attempt, reach: Reach) -> Answer:
    """Make a request, and return its outcome. It raises what `may_send` raises."""
    role = request.role
    refusal = None if role is None else role_refusal(role.arn, reach)
    if refusal is not None:
        return final(refusal)
    answer_ms = request.answer_ms
    if answer_ms is None and not _is_time_to_send(attempt):
        # With less time left than the SDK's time-outs take, the request is not begun.
        return WITHDRAWN
    token = may_send.set(attempt.may_send)
    try:
        with answered_by(float("inf") if answer_ms is None else monotonic() + answer_ms / SECOND_MS):
            return request.kind.send(request.client(), attempt)
    except UnsentError as error:
        if error.__cause__ is None:
            return WITHDRAWN
        raise error.__cause__ from None
    except ClientError as error:
        return _refused(request, error)
    except BotoCoreError as error:
        return _failure(f"{request.kind.name} did not answer: {error}")
    finally:
        may_send.reset(token)


def role_of(attempt: Attempt) -> Role | None:
    """The role that the target names, as deliveries of the job's namespace assume it."""
    arn = attempt.spec.get("roleArn")
    if arn is None:
        return None
    namespace = attempt.trigger.key.namespace
    return Role(arn, external_id(namespace), session_name(namespace))


def final(sentence: str) -> Answer:
    """A failure that no retry can mend."""
    return _failure(sentence)._replace(is_final=True)


def refusal_of(code: str, message: str, operation: str) -> ClientError:
    """What boto3 would raise if AWS had refused the whole request with that code."""
    return ClientError({"Error": {"Code": code, "Message": message}}, operation)


def _failure(sentence: str) -> Answer:
    return Answer(succeeded=False, error=sentence[:ERROR_LENGTH_MAX])


def _is_time_to_send(attempt: Attempt) -> bool:
    needed_ms = SEND_S_MAX * SECOND_MS + (0 if attempt.spec.get("roleArn") is None else ASSUME_ROLE_MS_MAX)
    return attempt.within_ms is None or attempt.within_ms >= needed_ms


def _refused(request: Request, error: ClientError) -> Answer:
    """The outcome of a request that AWS refused."""
    kind, role = request.kind, request.role
    code = str(error.response["Error"].get("Code"))
    said = f"{code}: {error.response['Error'].get('Message')}"
    if error.operation_name == "AssumeRole" and role is not None:
        if code not in DENIED:
            return _failure(f"STS refused: {said}")
        return final(
            f"The deliveries may not assume {role.arn}: have the stack's operator name it in "
            f"{ROLES_PARAMETER}, and have its trust policy allow the external id {role.external_id}. "
            f"STS refused: {said}"
        )
    sentence = f"{kind.name} refused: {said}"
    if code in DENIED and role is not None:
        return final(f"The policy of {role.arn} has to allow deliveries to {request.arn}. {sentence}")
    if code in DENIED:
        policy = f"The policy of {kind.noun} in another account has to allow the stack's deliveries, too."
        return final(f"{request.not_listed} {policy} {sentence}")
    if code in kind.missing:
        return final(f"There is no {request.arn}: create it, or name {kind.noun} that exists. {sentence}")
    return final(sentence) if code in kind.hopeless else _failure(sentence)


def order_of(attempt: Attempt) -> dict[str, str]:
    """The message group and the deduplication id.

    The id is the trigger's, so that a retry is no second message: what was taken has succeeded. For an
    attempt that must be new, the attempt's number follows the id. Otherwise AWS would drop the attempt within
    five minutes of the one before, and report success.
    """
    return {
        "MessageGroupId": attempt.spec.get("messageGroupId") or group_id(attempt.trigger.key),
        "MessageDeduplicationId": identity_of(attempt),
    }


def identity_of(attempt: Attempt) -> str:
    """What names the trigger where a repetition is dropped."""
    return f"{attempt.id}-{attempt.number}" if attempt.must_be_new else attempt.id


def names_of(attempt: Attempt) -> str:
    """The names that an HTTP delivery carries in headers, as compact JSON."""
    names = {"id": attempt.id, **values_of(NAMES, attempt, attempt.event)}
    return json.dumps(names, separators=(",", ":"))


def text_of(attempt: Attempt) -> str:
    """`data` as JSON that every service takes, or as the format `raw` sends it."""
    body = attempt.body.decode()
    if not is_raw(attempt.spec):
        return body.translate(ESCAPES)
    arn: str = attempt.spec.get("scheduleArn", "")
    return raw_text(body, Filling(arn, attempt.trigger.due_at, attempt.id, attempt.number))


def envelope_of(attempt: Attempt) -> str:
    """The names and `data` in one JSON object, for a target that takes no attributes.

    `data` has the very bytes that the caller wrote, so that numbers stay exact. In the format `raw` it comes
    alone.
    """
    if is_raw(attempt.spec):
        return text_of(attempt)
    return f'{{"sweephand":{names_of(attempt)},"data":{text_of(attempt)}}}'
