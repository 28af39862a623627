"""What the functions of a stack share in AWS: its queues, its secrets, and all of its stores."""

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from sweephand.base.instants import SECOND_MS
from sweephand.delivery.checked_clients import SqsClients
from sweephand.delivery.sqs_queue import SqsQueue
from sweephand.runtime import tables
from sweephand.runtime.machine import SystemIds
from sweephand.runtime.settings import Settings

if TYPE_CHECKING:
    from sweephand.access.named_secrets import SecretReader
    from sweephand.runtime.stores import Stores

ids = cache(SystemIds)

#: The clients of the queues' regions, which the queues and the targets share.
sqs_clients = cache(SqsClients)


@cache
def queue() -> SqsQueue:
    """ports.Queue."""
    settings = tables.settings()
    return SqsQueue(
        sqs_clients(),
        settings.delivery_queue_url,
        settings.dead_letter_queue_url,
        lambda duration_s: tables.wait_ms(round(duration_s * SECOND_MS)),
        allow_insecure=settings.allows_insecure_targets,
        queues=settings.queues,
        lanes=settings.lanes,
    )


def read_secrets(namespace: str, names: Collection[str]) -> Mapping[str, Sequence[str]]:
    """The values of secrets that a job names (model.secret.ReadValues)."""
    return _secret_reader().active(namespace, names)


@cache
def _secret_reader() -> "SecretReader":
    # Most deliveries name no secret. It takes 1 ms of a start's 165 ms (infra.bench start).
    from sweephand.access.named_secrets import SecretReader  # noqa: PLC0415 - as above
    from sweephand.storage.signing_secrets import DynamoNamedSecrets  # noqa: PLC0415 - same

    return SecretReader(secrets=DynamoNamedSecrets(tables.jobs_table()), clock=tables.clock())


def more_stores() -> "Stores":
    """All stores of the stack."""
    # The functions that fire triggers seldom need the others, which take 20 ms of a start's 165 ms
    # (infra.bench start).
    from sweephand.runtime.aws_stores import stores  # noqa: PLC0415 - as above

    return stores()


def make_clients() -> None:
    """Make the clients of DynamoDB and SQS that a function uses in nearly every call.

    Making them takes 60 ms of CPU. Lambda gives a function a whole core while it starts, and afterwards a
    part that depends on its memory. So the first triggers after an idle hour would be late by several times
    that. The clients that few calls need are made when they are needed.

    Nothing is made without the settings of a stack.
    """
    if Settings.read().jobs_table:
        tables.jobs_table()
        tables.timers_table()
        sqs_clients().client(None)
