"""What template.yaml says about the stack: the parts of it that AWS bills by the month, and memory."""

from functools import cache
from typing import Any, Final

from sweephand_deploy.build import source
from sweephand_deploy.template import parse_template

FILE: Final = source() / "template.yaml"


class Template:
    """A template with its parameters' defaults."""

    def __init__(self, text: str) -> None:
        self._template = parse_template(text)
        self._resources: dict[str, Any] = self._template["Resources"]
        # That of flow policies has a condition, and is there only if they are on.
        self._event_sources = [
            each for each in self._of_type("AWS::Lambda::EventSourceMapping") if "Condition" not in each
        ]

    def _of_type(self, kind: str) -> list[dict[str, Any]]:
        return [resource for resource in self._resources.values() if resource["Type"] == kind]

    def default(self, parameter: str) -> Any:
        """The default of a parameter."""
        return self._template["Parameters"][parameter]["Default"]

    def memory_mb(self, function: str) -> int:
        """The memory of a function, given as `Deliver`, `Tick` and so on."""
        properties = self._resources[f"{function}Function"]["Properties"]
        memory: int = properties.get("MemorySize", self._template["Globals"]["Function"]["MemorySize"])
        return memory

    def alarm_metrics(self, condition: str = "HasAlarms") -> int:
        """How many metrics those alarms read that have the condition. AWS bills each metric of an alarm.

        The default is that of the usual alarms. Those of valve, lanes and flow policies have their own.
        """
        alarms = self._of_type("AWS::CloudWatch::Alarm")
        found = (alarm["Properties"] for alarm in alarms if alarm["Condition"] == condition)
        metrics = (alarm.get("Metrics", [{"MetricStat": None}]) for alarm in found)
        return sum("MetricStat" in each for of_alarm in metrics for each in of_alarm)

    @property
    def snapshots(self) -> list[str]:
        """The functions of which Lambda keeps a snapshot, if SnapStart is on."""
        return [
            name.removesuffix("Function")
            for name, resource in self._resources.items()
            if "SnapStart" in resource.get("Properties", {})
        ]

    @property
    def polled_queues(self) -> int:
        """The queues that Lambda polls, if no parameter says otherwise."""
        return len(self._event_sources)

    @property
    def bounds_pollers(self) -> bool:
        """Whether an event source has a maximum concurrency. Lambda then never polls with fewer than five."""
        return any("ScalingConfig" in each["Properties"] for each in self._event_sources)

    @property
    def access_log_bytes(self) -> int:
        """The length of a line of the API's access log, with variables' names in place of their values."""
        text, values = self._resources["HttpApiStage"]["Properties"]["AccessLogSettings"]["Format"]["Fn::Sub"]
        [_, caller_by_key, _] = values["Caller"]["Fn::If"]
        return len(text.replace("${Caller}", caller_by_key))


@cache
def template() -> Template:
    """The template of this version of Sweephand."""
    return Template(FILE.read_text(encoding="utf-8"))
