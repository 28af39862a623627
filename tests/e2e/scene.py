"""A consumer and the jobs of its namespace."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from infra.local.client import Client
from tests.e2e.schedule import Schedule
from tests.fakes.receiver import Receiver


@dataclass(frozen=True)
class Scene:
    """The jobs of one namespace, and their consumer."""

    schedule: Schedule
    receiver: Receiver

    @classmethod
    @contextmanager
    def of(cls, client: Client, namespace: str) -> Iterator["Scene"]:
        """A consumer that verifies with the namespace's signing secrets.

        The secrets are asked for beforehand. A consumer that asked when a trigger came would answer late. It
        would never answer if all that the local AWS does at once were deliveries that wait for it.
        """
        secrets = client.signing_secrets(namespace)
        with Receiver(lambda _: secrets) as receiver:
            yield cls(Schedule(client, namespace), receiver)

    def target(self, name: str) -> dict[str, Any]:
        """The consumer's path of that name."""
        return {"type": "http", "url": self.receiver.url(f"/{name}")}
