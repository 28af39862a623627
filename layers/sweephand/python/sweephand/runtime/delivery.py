"""The delivery function: the records of an SQS event in, and what became of each message out."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

# Imported while the function starts: Lambda then gives it a whole CPU, and a snapshot keeps the modules.
import sweephand.access.signing_keys
import sweephand.delivery.registry
import sweephand.delivery.sqs_queue
import sweephand.jobs.settings_cache
import sweephand.runs.handlers
import sweephand.runs.valve
import sweephand.runtime.app_flow
import sweephand.runtime.app_namespaces
import sweephand.runtime.app_secrets
import sweephand.storage.allowances
import sweephand.storage.jobs
import sweephand.storage.lines
import sweephand.storage.namespaces
import sweephand.storage.payloads
import sweephand.storage.runs
import sweephand.storage.signing_secrets  # noqa: F401
from sweephand.runs.intake import Handled, Received
from sweephand.runs.outcome import FAILURES, OutcomeName
from sweephand.runtime.aws_ports import app
from sweephand.runtime.metrics import Values, write
from sweephand.runtime.tables import settings

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger

#: A tick of the version before does not say how long a wake-up holds its function. It sends two at a time.
_HOLD_MS_DEFAULT: Final = 100


def wake_up(hold_ms: int | None) -> None:
    """Keep this function for a moment, so that Lambda starts others for the other wake-ups.

    The function also makes what its first delivery needs.
    """
    app().intake.hold(_HOLD_MS_DEFAULT if hold_ms is None else hold_ms)


def deliver(records: Sequence[Mapping[str, Any]], remaining_ms: int) -> Sequence[Handled]:
    """Handle the records of an SQS event, within the function's remaining time in milliseconds."""
    received = [received_of(record) for record in records]
    return app().intake.handle(received, deadline=app().ports.clock.now() + remaining_ms)


def report(logger: "Logger", handled: Sequence[Handled]) -> None:
    """Write the log line of a call, with its metrics."""
    outcomes = Counter(each.outcome.name for each in handled)
    lateness = [each.outcome.lateness_ms for each in handled if each.outcome.lateness_ms is not None]
    fields: dict[str, object] = {str(name): count for name, count in outcomes.items()}
    fields["lateness_ms"] = max(lateness, default=None)
    write(logger, "delivered", fields, {**values_of(outcomes), "Lateness": lateness}, app().ports.clock.now())


def values_of(outcomes: Mapping[OutcomeName, int]) -> Values:
    """The values of the metrics that count outcomes."""
    failures = ([value] * outcomes[name] for name, value in FAILURES.items() if name in outcomes)
    limited = outcomes.get("stack_limited")
    return {"Failures": list(chain.from_iterable(failures)), "StackLimited": [limited] if limited else []}


def received_of(record: Mapping[str, Any]) -> Received:
    """The message that a record of an SQS event carries."""
    return Received(
        id=record["messageId"],
        receipt=settings().lanes.receipt(record["receiptHandle"], record.get("eventSourceARN", "")),
        receives=int(record["attributes"]["ApproximateReceiveCount"]),
        body=record["body"],
    )
