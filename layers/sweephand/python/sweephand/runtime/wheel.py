"""The tick function and the sweep function."""

from typing import TYPE_CHECKING

# Imported while the function starts, when Lambda gives it a whole CPU and a snapshot keeps what was imported.
import sweephand.delivery.sqs_queue
import sweephand.delivery.sweepers
import sweephand.storage.jobs
import sweephand.storage.leases
import sweephand.storage.runs
import sweephand.storage.timers  # noqa: F401
from sweephand.base.instants import HOUR_MS, MINUTE_MS
from sweephand.base.timing import AUDIT_MINUTE
from sweephand.runtime.aws_ports import app
from sweephand.wheel.sweep import Swept
from sweephand.wheel.tick import Ticked

if TYPE_CHECKING:
    from sweephand.jobs.payload_audit import Audited


def tick(remaining_ms: int) -> Ticked:
    """One tick, within what is left of the function's time."""
    ports = app().ports
    return app().ticker.tick(owner=ports.ids.token(), deadline=ports.clock.now() + remaining_ms)


def audit() -> "Audited | None":
    """Once an hour one step of the audit of payloads, None in every other minute; StoreError if it failed."""
    if app().ports.clock.now() % HOUR_MS // MINUTE_MS != AUDIT_MINUTE:
        return None
    return app().payload_audit.step()


def sweep(first_shard: int, remaining_ms: int) -> Swept:
    """One sweep from a shard on, within what is left of the function's time."""
    ports = app().ports
    return app().sweeper.sweep(
        ports.leases.state().leases,
        owner=ports.ids.token(),
        first_shard=first_shard,
        deadline=ports.clock.now() + remaining_ms,
    )
