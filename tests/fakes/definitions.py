"""The names and definitions of jobs, as the tests of a world write them."""

from typing import Any

from sweephand.model.definition import Definition, Payload
from sweephand.model.job import JobKey


def key_of(name: str = "job") -> JobKey:
    return JobKey("ns", name)


def definition(*, data: str | None = None, **written: Any) -> Definition:
    """A definition with an HTTP target and the given fields, by their names in the API."""
    target = {"type": "http", "url": "https://consumer.example/hook"}
    return Definition({"target": target, **written}, Payload.of(data) if data is not None else None)
