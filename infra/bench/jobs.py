"""Jobs as the stack stores them, for benches that do not create them by the API."""

from typing import Any, Final

from sweephand.base.instants import Instant
from sweephand.model.definition import Definition, Payload
from sweephand.model.job import Job, JobKey, Revision
from sweephand.schedules import Series

#: A consumer that nobody calls.
URL: Final = "https://hooks.example.com/tenants/4711/jobs"

#: A little data, as most jobs have.
DATA: Final = '{"tenant":4711,"task":"refresh"}'


def stored_job(
    name: str,
    start_at: Instant,
    *,
    schedule: str | None = None,
    due_at: Instant | None = None,
    url: str = URL,
    **fields: Any,
) -> Job:
    """A job of the namespace `bench` that was written at `start_at`. `name` has up to 16 characters."""
    token = f"{name:0>16}"
    given = fields if schedule is None else {"schedule": schedule, **fields}
    return Job(
        key=JobKey("bench", name),
        uid=token,
        version=token,
        current=Revision(f"1-{token}", since=start_at - 1),
        cut=start_at,
        earlier=(),
        shard=0,
        definition=Definition({**given, "target": {"type": "http", "url": url}}, Payload.of(DATA)),
        series=Series(schedule, "UTC", start_at=start_at, due_at=due_at),
        created_at=start_at,
        updated_at=start_at,
        owner="bench",
    )
