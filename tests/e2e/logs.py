"""The lines that the functions of a deployed stack have logged."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from infra.local.deploy import session

from sweephand.base.instants import Instant, rfc3339


@dataclass(frozen=True)
class Line:
    """A line, and the group of the function that logged it."""

    at: Instant
    group: str
    text: str

    def __str__(self) -> str:
        return f"{rfc3339(self.at)} {self.group.rpartition('/')[2]} {self.text.rstrip()}"


def lines(stack: Mapping[str, Any], since: Instant = 0) -> Iterator[Line]:
    """All lines of all functions, one function after the other."""
    logs: Any = session().client("logs", endpoint_url=stack["awsEndpointUrl"])
    pages = logs.get_paginator("filter_log_events")
    for group in logs.describe_log_groups()["logGroups"]:
        name = group["logGroupName"]
        for page in pages.paginate(logGroupName=name, startTime=since):
            for event in page["events"]:
                yield Line(event["timestamp"], name, event["message"])


def latest(stack: Mapping[str, Any], since: Instant, count: int) -> str:
    """The last lines of all functions together, in the order of time."""
    found = sorted(lines(stack, since), key=lambda line: line.at)
    return "\n".join(map(str, found[-count:]))
