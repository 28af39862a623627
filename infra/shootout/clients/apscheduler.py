"""APScheduler: a process that has the scheduler, its executor and its jobs.

python -m infra.shootout.clients.apscheduler FOLDER [DATABASE]

Whoever connects to the socket in that folder sends which jobs it shall add, and gets the seconds.
"""

import sys
import time
from datetime import UTC, datetime
from multiprocessing.connection import Listener
from pathlib import Path
from typing import Any

from apscheduler.events import EVENT_JOB_EXECUTED, JobExecutionEvent
from apscheduler.jobstores.memory import MemoryJobStore
from apscheduler.jobstores.sqlalchemy import SQLAlchemyJobStore
from apscheduler.schedulers.background import BackgroundScheduler
from infra.shootout.worker import arrive, check
from sqlalchemy import Engine, create_engine, event

_HOME, *_DATABASE = sys.argv[1:]


def fire() -> int:
    """A job. It returns when it ran, by the monotonic clock."""
    came_ns = time.monotonic_ns()
    check(_HOME)
    return came_ns


def _tell(event: JobExecutionEvent) -> None:
    """Write down a job that has run. Only its event names the due time."""
    due_at = round(event.scheduled_run_time.timestamp() * 1_000)
    arrive(_HOME, event.job_id, due_at, event.retval)


def _add(scheduler: BackgroundScheduler, asked: Any) -> None:
    for key, due_at in asked.get("once", ()):
        at = datetime.fromtimestamp(due_at / 1_000, UTC)
        scheduler.add_job("__main__:fire", "date", run_date=at, id=key)
    for key in asked.get("each_second", ()):
        scheduler.add_job("__main__:fire", "cron", second="*", id=key, max_instances=100)


def _engine(database: str) -> Engine:
    """SQLite as Sweephand's own file has it."""
    engine = create_engine(f"sqlite:///{database}")

    @event.listens_for(engine, "connect")
    def set_up(connection: Any, _: object) -> None:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")

    return engine


def _main() -> None:
    store = SQLAlchemyJobStore(engine=_engine(_DATABASE[0])) if _DATABASE else MemoryJobStore()
    # By default a job that is a second late is dropped.
    defaults = {"misfire_grace_time": None, "coalesce": False}
    scheduler = BackgroundScheduler(jobstores={"default": store}, job_defaults=defaults, timezone=UTC)
    scheduler.add_listener(_tell, EVENT_JOB_EXECUTED)
    scheduler.start()
    socket = Path(_HOME, "socket")
    socket.unlink(missing_ok=True)
    with Listener(str(socket)) as listener:
        print("ready", flush=True)
        while True:
            with listener.accept() as caller:
                asked, began_s = caller.recv(), time.monotonic()
                _add(scheduler, asked)
                caller.send(time.monotonic() - began_s)


if __name__ == "__main__":
    _main()
