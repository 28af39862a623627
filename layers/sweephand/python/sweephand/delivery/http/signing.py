"""The headers of a delivery, with its signatures (Standard Webhooks 1.0, schemes v1 and v1a)."""

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import Final, Protocol

from standardwebhooks.webhooks import Webhook

from sweephand.base.instants import (
    SECOND_MS,
    Instant,
    rfc3339,
    to_datetime,
)
from sweephand.model.run_id import batch_id
from sweephand.model.signing_secret import ED25519_PREFIX
from sweephand.ports import Attempt

#: How many secrets are kept decoded: those of the namespaces that one function delivers for.
_SIGNERS_MAX: Final = 2_048


def signatures(secrets: Sequence[str], trigger_id: str, sent_at: Instant, body: bytes) -> str:
    """One signature of the body for each secret, in their order, separated by spaces.

    The prefix of a secret says which scheme signs: `whsk_` stands for ed25519, any other for HMAC.
    """
    moment = to_datetime(sent_at)
    text = body.decode()
    return " ".join(_signer(secret).sign(trigger_id, moment, text) for secret in secrets)


class _Signer(Protocol):
    def sign(self, msg_id: str, timestamp: datetime, data: str) -> str: ...


@lru_cache(_SIGNERS_MAX)
def _signer(secret: str) -> _Signer:
    if not secret.startswith(ED25519_PREFIX):
        return Webhook(secret)
    from sweephand.access.ed25519 import Ed25519Webhook  # noqa: PLC0415 - most namespaces have no such key

    return Ed25519Webhook(secret)


def delivery_headers(attempt: Attempt, body: bytes) -> dict[str, str]:
    """The headers that Sweephand sets itself. `body` is the request's body, which the signatures cover."""
    trigger = attempt.trigger
    token = {} if attempt.run_token is None else {"sweephand-run-token": attempt.run_token}
    return {
        "webhook-id": attempt.id,
        "webhook-timestamp": str(attempt.sent_at // SECOND_MS),
        "webhook-signature": signatures(attempt.secrets, attempt.id, attempt.sent_at, body),
        "sweephand-namespace": trigger.key.namespace,
        "sweephand-job": trigger.key.name,
        **_subject_of(attempt),
        "sweephand-due": rfc3339(trigger.due_at),
        "sweephand-attempt": str(attempt.number),
        "sweephand-sequence": str(trigger.sequence),
        **token,
        **({} if attempt.ended_after is None else {"sweephand-event": attempt.event}),
    }


def _subject_of(attempt: Attempt) -> dict[str, str]:
    """The run that the attempt is about, with its index; or the batch that has ended."""
    trigger = attempt.trigger
    if attempt.ends_batch:
        return {"sweephand-batch": batch_id(trigger.due_at, trigger.demand)}
    return {"sweephand-run": trigger.run_id, "sweephand-batch-index": str(trigger.index)}
