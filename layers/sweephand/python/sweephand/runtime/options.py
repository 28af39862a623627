"""What the deployer of a stack chooses, as an App takes it."""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from sweephand.access.auth_mode import Auth
    from sweephand.targets.queues import Reach


class Options(NamedTuple):
    """What the deployer of a stack chooses.

    `shards` is the number of shards over which new jobs are spread, at least. `sweepers_max` is how many
    sweepers tick may start in a minute. `deliveries_max` is how many delivery functions may run at once.
    Triggers that fall due within `bundle_span_ms` travel in one message;
    0 stands for a message for each trigger.
    `is_enabled` is the stack's switch: tick sweeps only while it is on.
    `reach` is what the targets of jobs may reach; None stands for no queue, and for `https` to public
    addresses alone. `flow_functions_max` is how many flow functions may run at once; 0 stands for a stack
    without flow policies. If it `limits_namespaces`, the limits in the settings of namespaces are obeyed.
    `triggers_per_minute_max` is the stack's valve; 0 stands for none. `namespace_triggers_default` is the
    limit of namespaces whose settings have none; 0 stands for no such limit. `auth` is how callers prove who
    they are; None stands for keys. If the stack `counts_deliveries`, functions count what they delivered.
    """

    shards: int = 1
    sweepers_max: int = 1
    deliveries_max: int = 2
    bundle_span_ms: int = 0
    is_enabled: bool = True
    reach: "Reach | None" = None
    flow_functions_max: int = 0
    limits_namespaces: bool = False
    triggers_per_minute_max: int = 0
    namespace_triggers_default: int = 0
    auth: "Auth | None" = None
    counts_deliveries: bool = False
