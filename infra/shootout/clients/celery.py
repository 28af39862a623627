"""Celery: the application of worker and beat, and a client that sends tasks with an ETA.

celery -A infra.shootout.clients.celery worker
python -m infra.shootout.clients.celery         # the client
"""

import json
import os
import time
from datetime import UTC, datetime
from pathlib import Path

from celery import Celery, Task
from celery.signals import worker_ready
from infra.shootout.worker import RefusedError, arrive, took, wanted

_HOME = os.environ["SHOOTOUT_HOME"]
_IS_DURABLE = os.environ["SHOOTOUT_DURABLE"] == "1"

app = Celery("shootout", broker=os.environ["SHOOTOUT_BROKER"])
app.conf.update(
    task_ignore_result=True,
    task_acks_late=_IS_DURABLE,
    task_reject_on_worker_lost=_IS_DURABLE,
    broker_connection_retry_on_startup=True,
)
if (keys := Path(_HOME, "each_second.json")).exists():
    app.conf.beat_schedule = {
        key: {"task": "arrive", "schedule": 1.0, "args": [key]} for key in json.loads(keys.read_text())
    }


@worker_ready.connect
def tell(**_: object) -> None:
    """Tell the harness that the worker takes tasks."""
    print("takes tasks", flush=True)


@app.task(name="arrive", bind=True, max_retries=None)
def take(self: Task, key: str) -> None:
    """Write down that a trigger has come, or try again in 5 s."""
    try:
        arrive(_HOME, key)
    except RefusedError as refused:
        raise self.retry(exc=refused, countdown=5) from refused


if __name__ == "__main__":
    triggers = wanted()["once"]
    app.connection_for_write().ensure_connection(max_retries=3)
    began_s = time.monotonic()
    with app.producer_or_acquire() as producer:
        for key, due_at in triggers:
            eta = datetime.fromtimestamp(due_at / 1_000, UTC)
            app.send_task("arrive", args=[key], eta=eta, producer=producer)
    took(began_s)
