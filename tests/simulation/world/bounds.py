"""Production constants that a seed makes smaller, so that a few triggers do what thousands would."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

from tests.fakes import memory
from tests.simulation.workload.bulk_writes import BulkWrites
from tests.simulation.workload.bulks import Bulks
from tests.simulation.workload.bundling import Bundling, Packs
from tests.simulation.workload.calendars import Calendars
from tests.simulation.workload.circles import Circles
from tests.simulation.workload.drills import looks_far_back
from tests.simulation.workload.scenario import is_for_weeks
from tests.simulation.workload.switching import Switching
from tests.simulation.workload.updates import Updates
from tests.simulation.workload.weeks import LATE_MS, LONGEST_WAIT_MS
from tests.simulation.world.faults import Mask, Troubles, stream

from sweephand.base.instants import DAY_MS, SECOND_MS
from sweephand.jobs import payload_audit
from sweephand.model import revisions
from sweephand.model.definition import RetryPolicy
from sweephand.runs import audit, audit_lines, job_walk, notify, requeue
from sweephand.wheel import arm, shard_visit, span, sweep, tick

#: These modules take constants from others as they are imported. So they are imported here and not within a
#: seed, whose smaller constants they would keep for the seeds after it.
IMPORTED_BEFORE_ANY_SEED = (audit, audit_lines)


@contextmanager
def bounds_of(seed: int, mask: Mask) -> Iterator[None]:
    """Patch the production constants that differ by seed. The protocol rests on none of them."""
    with ExitStack() as stack:
        random = stream(seed, "unknown")
        # In most seeds a trigger of an unknown revision is put back for longer. Such triggers are most of the
        # work and show little.
        patience_ms = random.choice((2, 20, 20, 20)) * SECOND_MS
        stack.enter_context(patch.object(requeue, "UNKNOWN_DELAY_MS", patience_ms))
        # With the defaults, a notification that no consumer accepts would be tried for fifteen hours.
        policy = RetryPolicy(attempts_max=8, initial_delay_ms=2_000, multiplier=2, delay_max_ms=60_000)
        stack.enter_context(patch.object(notify, "_POLICY", policy))
        stack.enter_context(Bulks.of(seed).bounds())
        stack.enter_context(BulkWrites.of(seed).bounds())
        stack.enter_context(Bundling.of(seed).bounds())
        stack.enter_context(Calendars.of(seed).bounds())
        stack.enter_context(Circles.of(seed).bounds())
        if (room := Updates.of(seed).room) is not None:
            # A few updates then push out an earlier revision, where it would take dozens.
            stack.enter_context(patch.object(revisions, "EARLIER_REVISIONS_MAX", room))
        if Troubles.of(seed, mask)["small pages"]:
            # A few triggers then fill a page, where it would take thousands.
            random = stream(seed, "small pages")
            arming = arm.arm.__kwdefaults__
            assert arming is not None, "its bound is taken by keyword"
            stack.enter_context(patch.dict(arming, singles_max=random.choice((1, 3, 12))))
            stack.enter_context(patch.object(shard_visit, "TRIGGERS_MAX", random.choice((1, 2, 5))))
            page = random.choice((1, 2, 5))
            stack.enter_context(patch.object(sweep, "PAGE_TIMERS_MAX", page))
            stack.enter_context(patch.object(shard_visit, "PAGE_TIMERS_MAX", page))
            stack.enter_context(patch.object(tick, "TRIGGERS_PER_SWEEPER", random.choice((1, 3, 10))))
            stack.enter_context(patch.object(span, "WALK_MAX", random.choice((1, 2, 64))))
        if (bounds := Packs.of(seed).bounds) is not None:
            triggers_max, timers_max = bounds
            stack.enter_context(patch.object(shard_visit, "TRIGGERS_MAX", triggers_max))
            stack.enter_context(patch.object(sweep, "PAGE_TIMERS_MAX", timers_max))
            stack.enter_context(patch.object(shard_visit, "PAGE_TIMERS_MAX", timers_max))
        if is_for_weeks(seed):
            # Data over 2 KB then lives for about as long as the longest single wait in these seeds, as in a
            # stack. Triggers that wait for their turn wait for longer.
            late_ms = LATE_MS + sum(lasts_ms for _, lasts_ms in Switching.of(seed).spans)
            kept_ms = LONGEST_WAIT_MS + late_ms + DAY_MS
            stack.enter_context(patch.object(requeue, "PAYLOAD_LATE_MS", late_ms))
            for module in (payload_audit, requeue, memory):
                stack.enter_context(patch.object(module, "PAYLOAD_KEPT_MS", kept_ms))
        if looks_far_back(seed):
            # A few newer runs then hide one that was due days before.
            stack.enter_context(patch.object(job_walk, "PAGE_MAX", 5))
        yield
