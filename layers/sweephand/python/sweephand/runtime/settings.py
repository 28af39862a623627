"""The environment of a function, parsed once, with an error that names the variable that is wrong."""

import os
from collections.abc import Mapping
from ipaddress import ip_network
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias, cast, get_args

from sweephand.access.authentication import AUTH_MODES, Auth
from sweephand.base.errors import SweephandError
from sweephand.base.instants import SECOND_MS
from sweephand.base.limits import NAMESPACE_TRIGGERS_PER_MINUTE_DEFAULT
from sweephand.base.timing import BUNDLE_SPAN_MAX_MS
from sweephand.model.policy_names import Lane, Lanes
from sweephand.targets.reach import JobQueues, Reach, read_patterns
from sweephand.targets.url import Networks

if TYPE_CHECKING:
    # Many stacks have no such lists.
    from sweephand.targets.destinations import Destinations


#: Which metrics the functions write: those of the alarms, eight more, or those of each namespace besides.
MetricsLevel: TypeAlias = Literal["default", "all", "namespaces"]


class SettingsError(SweephandError):
    """An environment variable has a value that cannot be read. template.yaml sets all of them."""


class Options(NamedTuple):
    """What the deployer of a stack chooses.

    `shards` is the number of shards over which new jobs are spread, at least. `sweepers_max` is how many
    sweepers tick may start in a minute. `deliveries_max` is how many delivery functions may run at once.
    Triggers that fall due within `bundle_span_ms` travel in one message;
    0 stands for a message for each trigger.
    `is_enabled` is the stack's switch: tick sweeps only while it is on.
    `reach` is what the targets of jobs may reach; by default no queue, and `https` to public addresses.
    `flow_functions_max` is how many flow functions may run at once; 0 stands for a stack without flow
    policies. If it `limits_namespaces`, the limits in the settings of namespaces are obeyed.
    `triggers_per_minute_max` is the stack's valve; 0 stands for none. `namespace_triggers_default` is the
    limit of namespaces whose settings have none; 0 stands for no such limit. `auth` is how callers prove who
    they are, by default with keys. If the stack `counts_deliveries`, functions count what they delivered.
    """

    shards: int = 1
    sweepers_max: int = 1
    deliveries_max: int = 2
    bundle_span_ms: int = 0
    is_enabled: bool = True
    reach: Reach = Reach()
    flow_functions_max: int = 0
    limits_namespaces: bool = False
    triggers_per_minute_max: int = 0
    namespace_triggers_default: int = 0
    auth: Auth = Auth()
    counts_deliveries: bool = False


class Settings(NamedTuple):
    """The environment of a function. A variable that template.yaml does not set for the function is empty.

    `endpoint_url` is the address of a local AWS, which alone sets its variable.
    """

    jobs_table: str
    timers_table: str
    payload_bucket: str
    payload_table: str
    former_payload_table: str
    delivery_queue_url: str
    high_queue_url: str
    low_queue_url: str
    policy_queue_url: str
    has_lanes: bool
    dead_letter_queue_url: str
    flow_queue_url: str
    sweep_function: str
    deliver_function: str
    shards: int
    sweepers_max: int
    deliveries_max: int
    has_flow_policies: bool
    flow_functions_max: int
    bundle_seconds: int
    is_enabled: bool
    triggers_per_minute_max: int
    allows_insecure_targets: bool
    target_queue_arns: tuple[str, ...]
    listed_arns: Mapping[str, tuple[str, ...]]
    private_networks: Networks
    auth: Auth
    destinations: "Destinations | None"
    stack_name: str
    metrics: MetricsLevel
    counts_deliveries: bool
    endpoint_url: str
    api_function: str
    template_namespaces: tuple[str, ...]

    @property
    def queues(self) -> JobQueues:
        """The queues that jobs may name as targets. Without any ARN, no queue is allowed."""
        own = (
            self.delivery_queue_url,
            self.dead_letter_queue_url,
            self.flow_queue_url,
            self.high_queue_url,
            self.low_queue_url,
            self.policy_queue_url,
        )
        return JobQueues(tuple(filter(None, own)), self.target_queue_arns)

    @property
    def urls_of_queues(self) -> Mapping[str, str]:
        """The URL of each queue of the stack by its name; empty for a queue that the stack does not have."""
        return {
            "delivery": self.delivery_queue_url,
            "high": self.high_queue_url,
            "low": self.low_queue_url,
            "policy": self.policy_queue_url,
            "flow": self.flow_queue_url,
        }

    @property
    def lanes(self) -> Lanes:
        """The delivery queues. While the stack has no flow policies, nothing is sent to theirs."""
        lanes: set[Lane] = {"policy"} if self.has_flow_policies else set()
        if self.has_lanes:
            lanes |= {"high", "low"}
        return Lanes(
            self.delivery_queue_url,
            self.high_queue_url,
            self.low_queue_url,
            self.policy_queue_url,
            frozenset(lanes),
        )

    @property
    def reach(self) -> Reach:
        """What the deliveries of the stack may reach."""
        return Reach(
            self.allows_insecure_targets,
            self.queues,
            self.listed_arns,
            self.private_networks,
            self.destinations,
            self.stack_name,
        )

    @property
    def options(self) -> Options:
        """What use cases take of the settings."""
        return Options(
            shards=self.shards,
            sweepers_max=self.sweepers_max,
            deliveries_max=self.deliveries_max,
            bundle_span_ms=self.bundle_seconds * SECOND_MS,
            is_enabled=self.is_enabled,
            triggers_per_minute_max=self.triggers_per_minute_max,
            namespace_triggers_default=NAMESPACE_TRIGGERS_PER_MINUTE_DEFAULT,
            reach=self.reach,
            flow_functions_max=self.flow_functions_max if self.has_flow_policies else 0,
            limits_namespaces=True,
            auth=self.auth,
            counts_deliveries=self.counts_deliveries,
        )

    @classmethod
    def read(cls, environment: Mapping[str, str] = os.environ) -> "Settings":
        """The settings. SettingsError names a variable whose value cannot be read."""
        environment = _with_targets(environment)
        return cls(
            jobs_table=environment.get("JOBS_TABLE", ""),
            timers_table=environment.get("TIMERS_TABLE", ""),
            payload_bucket=environment.get("PAYLOAD_BUCKET", ""),
            payload_table=environment.get("PAYLOAD_TABLE", ""),
            former_payload_table=environment.get("FORMER_PAYLOAD_TABLE", ""),
            delivery_queue_url=environment.get("DELIVERY_QUEUE_URL", ""),
            high_queue_url=environment.get("HIGH_QUEUE_URL", ""),
            low_queue_url=environment.get("LOW_QUEUE_URL", ""),
            policy_queue_url=environment.get("POLICY_QUEUE_URL", ""),
            # While the lanes are drained, nothing more is sent to them.
            has_lanes=environment.get("PRIORITY_LANES") == "on",
            dead_letter_queue_url=environment.get("DEAD_LETTER_QUEUE_URL", ""),
            flow_queue_url=environment.get("FLOW_QUEUE_URL", ""),
            sweep_function=environment.get("SWEEP_FUNCTION", ""),
            deliver_function=environment.get("DELIVER_FUNCTION", ""),
            shards=_number(environment, "SHARD_COUNT", 1),
            sweepers_max=_number(environment, "SWEEPERS_MAX", 1),
            deliveries_max=_number(environment, "DELIVERIES_MAX", 2),
            has_flow_policies=_switch(environment, "FLOW_POLICIES"),
            flow_functions_max=_number(environment, "FLOW_FUNCTIONS_MAX", 1),
            bundle_seconds=_bundle_seconds(environment),
            is_enabled=_truth(environment, "ENABLED", "true"),
            triggers_per_minute_max=_number(environment, "MAX_TRIGGERS_PER_MINUTE", 0, least=0),
            allows_insecure_targets=_truth(environment, "ALLOW_INSECURE_TARGETS"),
            target_queue_arns=_arns(environment, "TARGET_QUEUE_ARNS"),
            listed_arns={_parameter(each): _arns(environment, each) for each in _lists(environment)},
            private_networks=_networks(environment, "PRIVATE_TARGET_CIDRS"),
            auth=_auth(environment),
            destinations=_destinations(environment),
            stack_name=environment.get("STACK_NAME", "sweephand"),
            metrics=_metrics(environment),
            counts_deliveries=_switch(environment, "STATS"),
            endpoint_url=environment.get("AWS_ENDPOINT_URL", ""),
            api_function=environment.get("API_FUNCTION", ""),
            template_namespaces=tuple(environment.get("TEMPLATE_NAMESPACES", "").split(",")),
        )


#: The variables that list hosts and networks of HTTP targets.
_DESTINATIONS: Final = (
    "ALLOWED_TARGET_HOSTS",
    "DENIED_TARGET_HOSTS",
    "ALLOWED_TARGET_CIDRS",
    "DENIED_TARGET_CIDRS",
)


def _with_targets(environment: Mapping[str, str]) -> Mapping[str, str]:
    """The environment with the lists that the lists function has packed into the variable TARGETS."""
    if not (packed := environment.get("TARGETS")):
        return environment
    from sweephand.runtime.lists import unpack  # noqa: PLC0415 - tick and sweep have no such lists

    try:
        return {**environment, **unpack(packed)}
    except ValueError as error:
        raise SettingsError(f"TARGETS must be what the stack's resource Lists returns: {error}.") from None


def _number(environment: Mapping[str, str], name: str, otherwise: int, *, least: int = 1) -> int:
    text = environment.get(name, str(otherwise))
    if not text.isdecimal() or int(text) < least:
        raise SettingsError(f"{name} must be a whole number of at least {least}, not {text!r}.")
    return int(text)


def _bundle_seconds(environment: Mapping[str, str]) -> int:
    text, most = environment.get("BUNDLE_SECONDS", "0"), BUNDLE_SPAN_MAX_MS // SECOND_MS
    if not text.isdecimal() or int(text) > most:
        raise SettingsError(f"BUNDLE_SECONDS must be a whole number from 0 to {most}, not {text!r}.")
    return int(text)


def _truth(environment: Mapping[str, str], name: str, otherwise: str = "false") -> bool:
    text = environment.get(name, otherwise)
    if text not in ("true", "false"):
        raise SettingsError(f"{name} must be true or false, not {text!r}.")
    return text == "true"


def _switch(environment: Mapping[str, str], name: str) -> bool:
    text = environment.get(name, "off")
    if text not in ("on", "off"):
        raise SettingsError(f"{name} must be on or off, not {text!r}.")
    return text == "on"


def _metrics(environment: Mapping[str, str]) -> MetricsLevel:
    text = environment.get("METRICS", "default")
    level = next((each for each in get_args(MetricsLevel) if each == text), None)
    if level is None:
        levels = ", ".join(get_args(MetricsLevel))
        raise SettingsError(f"METRICS must be one of {levels}, not {text!r}.")
    return cast("MetricsLevel", level)


def _auth(environment: Mapping[str, str]) -> Auth:
    text = environment.get("AUTH_MODE", "keys")
    mode = next((each for each in AUTH_MODES if each == text), None)
    if mode is None:
        raise SettingsError(f"AUTH_MODE must be one of {', '.join(AUTH_MODES)}, not {text!r}.")
    claims = [environment.get(name, "") for name in ("JWT_NAMESPACE_CLAIM", "JWT_ROLE_CLAIM")]
    if mode == "jwt" and not all(claims):
        raise SettingsError("JWT_NAMESPACE_CLAIM and JWT_ROLE_CLAIM must name claims where AUTH_MODE is jwt.")
    return Auth(mode, *claims)


def _networks(environment: Mapping[str, str], name: str) -> Networks:
    text = environment.get(name, "")
    try:
        return tuple(ip_network(each.strip()) for each in text.split(",") if each.strip())
    except ValueError as error:
        raise SettingsError(f"{name} must be a list of networks with commas between them: {error}.") from None


def _destinations(environment: Mapping[str, str]) -> "Destinations | None":
    """The lists of hosts and networks of HTTP targets; None if all of them are empty."""
    if not any(environment.get(name) for name in _DESTINATIONS):
        return None
    from sweephand.targets.destinations import Destinations  # noqa: PLC0415 - many stacks have no such lists

    allowed_hosts, denied_hosts, allowed_networks, denied_networks = _DESTINATIONS
    return Destinations(
        _hosts(environment, allowed_hosts),
        _hosts(environment, denied_hosts),
        _networks(environment, allowed_networks),
        _networks(environment, denied_networks),
    )


def _hosts(environment: Mapping[str, str], name: str) -> tuple[str, ...]:
    from sweephand.targets.destinations import read_rule  # noqa: PLC0415 - same

    text = environment.get(name, "")
    try:
        return tuple(read_rule(each.strip()) for each in text.split(",") if each.strip())
    except ValueError as error:
        raise SettingsError(f"{name} must be a list of hosts with commas between them: {error}") from None


def _lists(environment: Mapping[str, str]) -> list[str]:
    """The variables that list ARNs, such as TARGET_FUNCTION_ARNS."""
    return [name for name in environment if name.startswith("TARGET_") and name.endswith("_ARNS")]


def _parameter(variable: str) -> str:
    """The parameter of template.yaml that sets a variable: TargetFunctionArns sets TARGET_FUNCTION_ARNS."""
    return variable.title().replace("_", "")


def _arns(environment: Mapping[str, str], name: str) -> tuple[str, ...]:
    try:
        return read_patterns(environment.get(name, ""))
    except ValueError as error:
        raise SettingsError(f"{name} must be a list of ARNs with commas between them: {error}.") from None
