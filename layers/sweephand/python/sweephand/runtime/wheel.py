"""The tick function and the sweep function."""

from typing import TYPE_CHECKING

# Imported while the function starts: Lambda then gives it a whole CPU, and a snapshot keeps the modules.
import sweephand.delivery.functions
import sweephand.delivery.sqs_queue
import sweephand.schedules.timelines
import sweephand.storage.jobs
import sweephand.storage.leases
import sweephand.storage.timers  # noqa: F401
from sweephand.base.instants import HOUR_MS, MINUTE_MS
from sweephand.base.timing import AUDIT_MINUTE
from sweephand.runtime.aws_ports import app
from sweephand.wheel.sweep import Swept
from sweephand.wheel.tick import Ticked

if TYPE_CHECKING:
    from sweephand.jobs.payload_audit import Audited


def tick(remaining_ms: int) -> Ticked:
    """Do one tick, within the function's remaining time in milliseconds."""
    ports = app().ports
    return app().ticker.tick(owner=ports.ids.token(), deadline=ports.clock.now() + remaining_ms)


def audit() -> "Audited | None":
    """Do one step of the payload audit in one minute of each hour; None in the other minutes.

    StoreError: the step failed, and the next hour repeats it.
    """
    if app().ports.clock.now() % HOUR_MS // MINUTE_MS != AUDIT_MINUTE:
        return None
    return app().payload_audit.step()


def sweep(first_shard: int, remaining_ms: int) -> Swept:
    """Do one sweep that starts at that shard, within the function's remaining time in milliseconds."""
    ports = app().ports
    return app().sweeper.sweep(
        ports.leases.state().leases,
        owner=ports.ids.token(),
        first_shard=first_shard,
        deadline=ports.clock.now() + remaining_ms,
    )
