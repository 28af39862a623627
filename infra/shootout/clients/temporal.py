"""Temporal's Python SDK: a worker, and a client that starts delayed workflows and creates schedules.

python -m infra.shootout.clients.temporal PORT work FOLDER
python -m infra.shootout.clients.temporal PORT create
"""

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Iterable
from datetime import datetime, timedelta

from infra.shootout.worker import arrive, took, wanted
from temporalio import activity, workflow
from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleSpec,
)
from temporalio.common import RetryPolicy
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

_QUEUE = "shootout"
_IN_FLIGHT = 50
_RETRY = RetryPolicy(initial_interval=timedelta(seconds=5), backoff_coefficient=1)


@activity.defn(name="arrive")
async def _arrive(home: str, key: str, due_at: str) -> None:
    arrive(home, key, due_at)


@workflow.defn(name="fire")
class Fire:
    """One trigger: a local activity, which is Temporal's shortest way to do something."""

    @workflow.run
    async def run(self, home: str, key: str) -> None:
        """Fire."""
        # A schedule puts the due time behind the id of its workflow.
        due = workflow.info().workflow_id.removeprefix(f"{key}-")
        due_at = "-" if due == key else str(round(datetime.fromisoformat(due).timestamp() * 1_000))
        await workflow.execute_local_activity(
            _arrive,
            args=[home, key, due_at],
            start_to_close_timeout=timedelta(seconds=10),
            retry_policy=_RETRY,
        )


async def _work(client: Client) -> None:
    async with Worker(
        client,
        task_queue=_QUEUE,
        workflows=[Fire],
        activities=[_arrive],
        workflow_runner=UnsandboxedWorkflowRunner(),
    ):
        print("ready", flush=True)
        await asyncio.Event().wait()


async def _create(client: Client, home: str) -> None:
    asked = wanted()

    async def once(key: str, due_at: int) -> None:
        delay = timedelta(milliseconds=max(0, due_at - time.time() * 1_000))
        await client.start_workflow("fire", args=[home, key], id=key, task_queue=_QUEUE, start_delay=delay)

    async def each_second(key: str) -> None:
        action = ScheduleActionStartWorkflow("fire", args=[home, key], id=key, task_queue=_QUEUE)
        spec = ScheduleSpec(intervals=[ScheduleIntervalSpec(every=timedelta(seconds=1))])
        policy = SchedulePolicy(overlap=ScheduleOverlapPolicy.ALLOW_ALL)
        await client.create_schedule(key, Schedule(action=action, spec=spec, policy=policy))

    began_s = time.monotonic()
    await _together(once(*each) for each in asked.get("once", ()))
    await _together(each_second(key) for key in asked.get("each_second", ()))
    took(began_s)


async def _together(calls: Iterable[Awaitable[None]]) -> None:
    """Make calls, so many at a time."""
    waiting = iter(calls)

    async def one_after_the_other() -> None:
        for call in waiting:
            await call

    await asyncio.gather(*(one_after_the_other() for _ in range(_IN_FLIGHT)))


async def _main() -> None:
    client = await Client.connect(f"127.0.0.1:{sys.argv[1]}")
    if sys.argv[2] == "work":
        await _work(client)
    else:
        await _create(client, sys.argv[3])
        # The SDK's threads crash Python 3.11 if they outlive it.
        sys.stdout.flush()
        os._exit(0)


if __name__ == "__main__":
    asyncio.run(_main())
