"""Makes the use cases of the delivery function, which the flow function needs too."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from sweephand.access.signing_keys import SigningKeys
from sweephand.base.concurrency import Concurrently
from sweephand.jobs.settings_cache import CachedSettings, JobDefaults, NoSettings
from sweephand.model.wire import decode as decode_message
from sweephand.ports.clock import Clock, Ids
from sweephand.ports.jobs import ChangeStore, JobStore, PayloadStore
from sweephand.ports.queue import Queue, Targets
from sweephand.ports.runs import FlagStore, LineStore, RunStore, StatsStore
from sweephand.runs.attempt import NamespaceParts, Signing
from sweephand.runs.flagged import FlaggedRuns
from sweephand.runs.handlers import Handlers, Rare
from sweephand.runs.intake import Decoder, Intake
from sweephand.runs.valve import Valve
from sweephand.runtime.machine import deliver_concurrently
from sweephand.runtime.settings import Options

if TYPE_CHECKING:
    from sweephand.model.namespace import AllowedTargets
    from sweephand.ports.access import SecretStore
    from sweephand.ports.flow import AllowanceStore, NamespaceStore
    from sweephand.runs.delivery_stats import DeliveryStats
    from sweephand.runtime.compose_rare import FlowStores


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DeliveryStores:
    """What most deliveries need."""

    clock: Clock
    ids: Ids
    jobs: JobStore
    changes: ChangeStore
    runs: RunStore
    flags: FlagStore
    lines: LineStore
    stats: StatsStore
    queue: Queue
    payloads: PayloadStore
    namespaces: "NamespaceStore"
    secrets: "SecretStore"
    allowances: "AllowanceStore"


class Deliveries(NamedTuple):
    """The use cases over `stores`. `stats` counts deliveries; None in a stack that does not count."""

    stores: DeliveryStores
    rare: Callable[[], Rare]
    handlers: Handlers
    intake: Intake
    stats: "DeliveryStats | None"


def compose_delivery(
    stores: DeliveryStores,
    more: "Callable[[], FlowStores]",
    targets: Targets,
    options: Options,
    *,
    signing: Signing | None = None,
    decode: Decoder = decode_message,
    namespace_limit: Callable[[str], int] | None = None,
    concurrently: Concurrently = deliver_concurrently,
) -> Deliveries:
    """The use cases of the delivery function. `more` returns the stores that few deliveries need.

    Tests set what follows `options`. `namespace_limit` returns triggers a minute (0: any number).
    """
    clock, ids = stores.clock, stores.ids
    settings = CachedSettings(namespaces=stores.namespaces, clock=clock)
    limits = options.limits_namespaces
    defaults = JobDefaults(settings if limits else NoSettings(), options.reach)

    def allowed(namespace: str, fresh: bool) -> "AllowedTargets | None":  # noqa: FBT001 - as AllowedIn has it
        return settings.allowed_of(namespace, fresh=fresh) if limits else None

    @cache
    def rare() -> Rare:
        # Few deliveries need it. It takes 8 ms of a start's 165 ms (infra.bench start).
        from sweephand.runtime.compose_rare import compose_rare  # noqa: PLC0415 - as above

        return compose_rare(more())

    handlers = Handlers(
        jobs=stores.jobs,
        changes=stores.changes,
        runs=FlaggedRuns(stores.runs, stores.flags),
        lines=stores.lines,
        queue=stores.queue,
        payloads=stores.payloads,
        targets=targets,
        namespaces=NamespaceParts(
            signing or SigningKeys(secrets=stores.secrets, ids=ids, clock=clock),
            defaults.target,
            allowed,
            settings.windows_of if limits else None,
        ),
        clock=clock,
        ids=ids,
        rare=rare,
        valve=_valve(stores, options, namespace_limit or (settings.triggers_per_minute if limits else None)),
    )
    intake = Intake(
        handlers=handlers,
        rare=rare,
        jobs=stores.jobs,
        queue=stores.queue,
        decode=decode,
        clock=clock,
        ids=ids,
        concurrently=concurrently,
        takes_slots=options.flow_functions_max > 0,
    )
    return Deliveries(stores, rare, handlers, intake, _stats(stores) if options.counts_deliveries else None)


def _stats(stores: DeliveryStores) -> "DeliveryStats":
    # Many stacks do not count. It takes 1 ms of a start's 165 ms (infra.bench start).
    from sweephand.runs.delivery_stats import DeliveryStats  # noqa: PLC0415 - as above

    return DeliveryStats(stats=stores.stats, clock=stores.clock)


def _valve(
    stores: DeliveryStores, options: Options, namespace_limit: Callable[[str], int] | None
) -> Valve | None:
    """The valve of a stack; None if neither the stack nor its namespaces have a limit."""
    stack_limit, namespace_default = options.triggers_per_minute_max, options.namespace_triggers_default
    if not stack_limit and not namespace_default and namespace_limit is None:
        return None
    return Valve(
        allowances=stores.allowances,
        clock=stores.clock,
        stack_limit=stack_limit,
        namespace_limit=namespace_limit or (lambda _: 0),
        namespace_default=namespace_default,
    )
