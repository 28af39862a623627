"""The adapter of a target type, and the parts of a stack that an adapter is made from.

Here are the clients of AWS's services too, with the rights of the stack or of a role that they assume.
"""

from collections import OrderedDict
from collections.abc import Callable
from functools import cache, partial
from threading import Lock
from typing import Any, Final, NamedTuple, Protocol

import boto3
import botocore.session
from botocore.config import Config
from botocore.credentials import AssumeRoleCredentialFetcher, DeferredRefreshableCredentials

from sweephand.delivery.checked_clients import READ_TIMEOUT_S, TRIES_MAX, SqsClients, checked_client
from sweephand.model.attempt import Answer, Attempt
from sweephand.model.secret import ReadValues
from sweephand.ports.clock import Clock
from sweephand.targets.reach import Reach

#: How many clients stay open. A client takes up to 5 MB, and roles can be many.
CLIENTS_MAX: Final = 24

#: STS answers in less than a second. With one try, connecting and reading end within ASSUME_ROLE_MS_MAX.
_STS_CONFIG: Final = Config(connect_timeout=2, read_timeout=4, retries={"total_max_attempts": 1})

_SESSION_NAME_LENGTH_MAX: Final = 64


class Role(NamedTuple):
    """A role that deliveries of one namespace assume."""

    arn: str
    external_id: str
    session_name: str


class Service(NamedTuple):
    """A client's service, region and role, and how it waits. Without a role, the rights are the stack's."""

    name: str
    region: str | None
    role: Role | None = None
    read_timeout_s: float = READ_TIMEOUT_S
    tries_max: int = TRIES_MAX


def session_name(namespace: str) -> str:
    """The name under which CloudTrail shows what a role did for a namespace.

    IAM takes fewer characters there than names have (AWS, AssumeRole: RoleSessionName).
    """
    written = "".join(each if each.isalnum() or each in "_+=,.@-" else "-" for each in namespace)
    return f"sweephand-{written}"[:_SESSION_NAME_LENGTH_MAX]


def connect(service: Service) -> Any:
    """A client. That of a role assumes the role at its first request, and again before the role ends."""
    session = None if service.role is None else _session(service.role, service.region)
    return checked_client(
        service.name,
        service.region,
        session=session,
        read_timeout_s=service.read_timeout_s,
        tries_max=service.tries_max,
    )


class AwsClients:
    """The clients that were used last. Safe to use from many threads, and so is each client."""

    def __init__(self, make: Callable[[Service], Any] = connect) -> None:
        self._make = make
        self._clients: OrderedDict[Service, Any] = OrderedDict()
        self._lock = Lock()

    def client(self, service: Service) -> Any:
        """The client of a service, made when it is first needed."""
        with self._lock:  # making a client is not safe in two threads at once
            if service not in self._clients:
                self._clients[service] = self._make(service)
            self._clients.move_to_end(service)
            while len(self._clients) > CLIENTS_MAX:
                self._clients.popitem(last=False)
            return self._clients[service]


def _session(role: Role, region: str | None) -> boto3.Session:
    """A session whose credentials are those of the role."""
    own = botocore.session.get_session()
    fetcher = AssumeRoleCredentialFetcher(
        client_creator=partial(own.create_client, region_name=region, config=_STS_CONFIG),
        source_credentials=own.get_credentials(),
        role_arn=role.arn,
        extra_args={"ExternalId": role.external_id, "RoleSessionName": role.session_name},
    )
    assumed = botocore.session.get_session()
    # botocore has no public way to give a session credentials that refresh themselves.
    inner: Any = assumed
    inner._credentials = DeferredRefreshableCredentials(fetcher.fetch_credentials, "assume-role")  # noqa: SLF001
    # The descriptions of services are read once for all roles.
    assumed.register_component("data_loader", _loader())
    return boto3.Session(botocore_session=assumed, region_name=region)


@cache
def _loader() -> Any:
    return botocore.session.get_session().get_component("data_loader")


#: The answer to an attempt that was not sent because its trigger was no longer alive.
WITHDRAWN: Final = Answer(
    succeeded=False, error="The attempt was withdrawn before it was sent.", was_withdrawn=True
)


class Stack(NamedTuple):
    """The parts of a stack that adapters are made from.

    The SQS clients are shared with the delivery queue. The clients of AWS's other services are made when an
    attempt first needs one. `read_secrets` reads the secrets that targets
    name; None in a stack without any.
    """

    clock: Clock
    sqs_clients: SqsClients
    aws_clients: AwsClients
    reach: Reach
    read_secrets: ReadValues | None = None


class Adapter(Protocol):
    """Delivers to the targets of one type. It is safe to use from many threads at once.

    Each target type names a module as its `delivery`. That module has a function `adapter(stack: Stack) ->
    Adapter`. A process calls it once, before its first attempt at a target of the type.
    """

    def deliver(self, attempt: Attempt) -> Answer:
        """As ports.Targets promises. The spec is of this type, and was valid when its job was written."""
        ...
