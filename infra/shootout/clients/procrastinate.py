"""Procrastinate: a worker, and a client that defers one-offs with `schedule_at`.

python -m infra.shootout.clients.procrastinate ADDRESS work FOLDER [FILE]    # the file has periodic tasks
python -m infra.shootout.clients.procrastinate ADDRESS create
"""

import asyncio
import json
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from infra.shootout.worker import arrive, took, wanted
from procrastinate import App, PsycopgConnector, RetryStrategy
from procrastinate.jobs import Job

_ADDRESS, _ROLE, *_MORE = sys.argv[1:]
_RETRY = RetryStrategy(max_attempts=1_000, wait=5)

app = App(connector=PsycopgConnector(conninfo=_ADDRESS, max_size=20))


@app.task(name="once", retry=_RETRY)
async def once(key: str) -> None:
    """Write down that a one-off has come."""
    arrive(_MORE[0], key)


@app.task(name="each", retry=_RETRY)
async def each(timestamp: int, key: str) -> None:
    """Write down that a periodic task has come."""
    arrive(_MORE[0], key, timestamp * 1_000)


@app.periodic(cron="* * * * * */5")
@app.task(queueing_lock="retry_stalled")
async def retry_stalled(timestamp: int) -> None:
    """Try the jobs of killed workers again, as the documentation advises."""
    del timestamp
    for job in await app.job_manager.get_stalled_jobs():
        await app.job_manager.retry_job(job)


async def _work() -> None:
    async with app.open_async():
        if not await app.check_connection_async():
            await app.schema_manager.apply_schema_async()
        print("ready", flush=True)
        await app.run_worker_async(concurrency=50, fetch_job_polling_interval=0.1, delete_jobs="successful")


async def _create() -> None:
    triggers = wanted()["once"]
    async with app.open_async():
        began_s = time.monotonic()
        for start in range(0, len(triggers), 1_000):
            jobs = [_job(*trigger) for trigger in triggers[start : start + 1_000]]
            await app.job_manager.batch_defer_jobs_async(jobs)
        took(began_s)


def _job(key: str, due_at: int) -> Job:
    return once.configure(schedule_at=datetime.fromtimestamp(due_at / 1_000, UTC)).make_new_job(key=key)


for file in _MORE[1:]:
    for name in json.loads(Path(file).read_text()):
        app.periodic(cron="* * * * * *", periodic_id=name, task_kwargs={"key": name})(each)
asyncio.run(_work() if _ROLE == "work" else _create())
