"""Jobs of one namespace of the deployed stack, and waiting for what becomes of them."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from infra.local.client import Client


@dataclass(frozen=True)
class Schedule:
    """Puts jobs of one namespace."""

    client: Client
    namespace: str

    def path(self, name: str) -> str:
        return f"/v1/namespaces/{self.namespace}/jobs/{name}"

    def put(self, name: str, **job: Any) -> Any:
        return self.client.ask("PUT", self.path(name), job)

    def runs(self, name: str) -> list[Any]:
        items: list[Any] = self.client.ask("GET", f"{self.path(name)}/runs")["items"]
        return items


def eventually(read: Callable[[], list[Any]], wanted: Callable[[Any], bool], within_s: float = 30) -> Any:
    """The first wanted of what is read, again and again."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        for each in read():
            if wanted(each):
                return each
    raise TimeoutError(f"nothing of the kind came within {within_s} s")
