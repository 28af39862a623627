"""Errors with what outlives a request: threads, connections, and the ids that a queue remembers."""

from collections.abc import Callable, Sequence
from typing import Any
from unittest.mock import patch

from tests.simulation.mutations.registry import Broken, everywhere, mutation, together
from tests.simulation.world.network import Network

from sweephand.base.concurrency import always
from sweephand.jobs import commit
from sweephand.model.attempt import Attempt
from sweephand.model.trigger import TriggerMessage
from sweephand.runs.attempt import Attempts
from sweephand.runtime import compose_api, machine


@mutation("A bulk call that fails leaves threads behind, and a commit does not ask how old its arming is")
def leaves_threads_behind() -> Broken:
    def concurrently(tasks: Sequence[Callable[[], Any]]) -> list[Any]:
        return list(machine.write_pool().map(lambda task: task(), tasks))

    return together(
        patch.object(compose_api, "write_concurrently", concurrently),
        patch.object(commit, "within_time_limit", lambda *_: always),
    )


@mutation("A retry to a FIFO queue has a deduplication id of its own only if its job is asynchronous now")
def repeats_deduplication_ids() -> Broken:
    def must_be_new(message: TriggerMessage, run_token: str | None) -> bool:
        return message.attempt > 1 and run_token is not None

    return everywhere("_must_be_new", must_be_new)


@mutation("A connection over which nothing was sent is closed, so a new one may take as long again")
def closes_what_it_did_not_use() -> Broken:
    send = Attempts._send

    def unbound(attempts: Attempts, attempt: Attempt, *args: Any) -> Any:
        return send(attempts, attempt._replace(within_ms=None), *args)

    return together(
        patch.object(Network, "keep", lambda *_: None),
        patch.object(Attempts, "_send", unbound),
        patch.object(Attempts, "_is_time_for", lambda *_: True),
    )
