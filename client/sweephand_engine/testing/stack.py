"""What a test holds: a whole stack in simulated time, its consumers, and what goes wrong with them.

The stores are production's adapters over clients in memory, as in `sweephand dev`. So a test runs each
condition of a write that a stack runs. Ports in memory would save at most half of a run's time and take 1,900
lines more.
"""

import datetime as dt
import gc
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from http import HTTPStatus
from threading import get_ident
from types import TracebackType
from typing import Any, Final, Self

import time_machine
from aws_lambda_powertools import Logger

from sweephand.access.key_making import keep_admin_key
from sweephand.base.instants import SECOND_MS, to_datetime
from sweephand.model.api_key import ADMIN_KEY_ID, digest_of, format_key
from sweephand.web.http.app import build_handler
from sweephand_client.api.client import Client
from sweephand_client.http.errors import error_of, problem_of
from sweephand_engine.gateway import Gateway
from sweephand_engine.local_client import URL, client_of
from sweephand_engine.seeded_ids import SeededIds
from sweephand_engine.testing.clock import SimulatedClock
from sweephand_engine.testing.consumers import Consumers, Delivery, Function, Incident, Outage
from sweephand_engine.testing.simulation import Simulation
from sweephand_engine.testing.targets import SimulatedTargets
from sweephand_engine.times import Moment, Span, instant_of, span_ms

#: Every test begins then unless it says otherwise. It is a Monday.
NOW_DEFAULT: Final = "2026-01-05T09:00:00Z"


@dataclass(frozen=True, slots=True)
class Run:
    """The record of delivering one trigger. `answer` has all of its fields as the API returns them."""

    id: str
    state: str
    due_at: dt.datetime
    attempts: int
    reason: str | None
    answer: Mapping[str, Any]


class Stack:
    """A Sweephand in simulated time. Time stands still unless the test lets it pass.

    While a stack is open, the clock of Python shows its time. Each stack is new and empty, and every run of
    one test gets the same ids, times and signatures. A stack belongs to the thread that has made it.
    """

    def __init__(self, now: Moment = NOW_DEFAULT, *, namespace: str = "default", seed: int = 0) -> None:
        """`namespace` is that of put_job, runs and secret. Another `seed` makes other ids."""
        begins_at = instant_of(now)
        self._thread = get_ident()
        self.namespace = namespace
        # An aware datetime would also change the time zone of the process.
        self._time = time_machine.travel(begins_at // SECOND_MS, tick=False)
        traveller = self._time.start()
        traveller.shift(dt.timedelta(milliseconds=begins_at % SECOND_MS))
        try:
            self._clock = SimulatedClock(
                begins_at, lambda passed_ms: traveller.shift(dt.timedelta(milliseconds=passed_ms))
            )
            self._consumers = Consumers(self._clock)
            ids = SeededIds(seed)
            self._simulation = Simulation(
                self._clock,
                ids,
                lambda reach, read: SimulatedTargets(reach, read, self._consumers, self._clock),
            )
            engine = self._engine = self._simulation.engine
            secret = ids.secret()
            keep_admin_key(engine.stores.keys, ids, digest_of(secret), "test", begins_at)
            self._key = format_key(ADMIN_KEY_ID, secret)
            api = build_handler(engine.services, _log())
            self._gateway = Gateway(api, engine.stores.keys, self._clock, ids)
        except BaseException:
            self._time.stop()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the stack and all handlers that wait. The clock of Python shows the true time again."""
        try:
            self._clock.close()
            self._consumers.loops.close()
        finally:
            self._time.stop()

    # Time

    @property
    def now(self) -> dt.datetime:
        """The present instant of the stack, in UTC."""
        return to_datetime(self._clock.now())

    def travel(self, span: Span) -> None:
        """Let that much time pass: `3 weeks`, `1 day 2 hours`, a number of seconds, or a timedelta.

        All that falls due meanwhile is delivered. Raises the AssertionError of a handler that raised one.
        """
        self._run_until(self._clock.now() + span_ms(span))

    def travel_to(self, moment: Moment) -> None:
        """Let time pass until that instant, as `travel` does. Raises ValueError if it is past."""
        instant = instant_of(moment)
        if instant < self._clock.now():
            raise ValueError(f"{moment} is past: it is {self.now.isoformat()}. Time goes forward only.")
        self._run_until(instant)

    def sleep(self, span: Span) -> None:
        """For a handler: take that long. Other deliveries go on meanwhile.

        Outside of a handler, this is `travel`. An endpoint that its framework runs in another thread cannot
        call it. Use `slow` for that.
        """
        if get_ident() != self._thread:
            raise RuntimeError("sleep() works in the thread of the test only. Call slow() in the test.")
        until = self._clock.now() + span_ms(span)
        if self._clock.is_in_strand:
            self._clock.wait_until(until)
        else:
            self._run_until(until)

    def _run_until(self, instant: int) -> None:
        if self._clock.is_in_strand:
            raise RuntimeError("A handler cannot travel, since time is passing already. Use sleep().")
        # The collector would look through all modules of the process again and again.
        gc.freeze()
        try:
            self._simulation.run(instant)
        finally:
            gc.unfreeze()

    # Jobs and their runs

    def put_job(self, name: str, schedule: str | None = None, **fields: Any) -> Mapping[str, Any]:
        """Create or replace a job, and return it. `fields` are those of the API, such as `dueTime`.

        Without a `target`, the job has `https://consumer.test/NAME`.
        """
        job = {"target": {"type": "http", "url": f"https://consumer.test/{name}"}, **fields}
        if schedule is not None:
            job["schedule"] = schedule
        answer: Mapping[str, Any] = self.api("PUT", f"/v1/namespaces/{self.namespace}/jobs/{name}", job)
        return answer

    def runs(self, job: str) -> list[Run]:
        """The runs of a job whose first attempt has begun, oldest due time first."""
        return [
            Run(
                each["id"],
                each["state"],
                dt.datetime.fromisoformat(each["dueAt"]),
                each["attempts"],
                each["reason"],
                dict(each),
            )
            for each in reversed(list(self.client.runs.list(self.namespace, job)))
        ]

    def secret(self) -> str:
        """The secret that signs the deliveries of the namespace."""
        return self._engine.services.signing.active(self.namespace)[0]

    @cached_property
    def client(self) -> Client:
        """The typed client of this stack, as an admin. It can do all that the API can."""
        return client_of(self._gateway, self._key, self.sleep)

    def api(
        self, method: str, path: str, body: Any = None, *, headers: Mapping[str, str] | None = None
    ) -> Any:
        """The JSON of the API's answer, None if it has none. Raises the client's error for a refusal.

        The names in `headers` are in lower case.
        """
        own = {"authorization": f"Bearer {self._key}", "content-type": "application/json"}
        sent = b"" if body is None else json.dumps(body).encode()
        response = self._gateway.answer(method, path, own | dict(headers or {}), sent)
        answer = json.loads(response.body) if response.body else None
        if response.status >= HTTPStatus.BAD_REQUEST:
            raise error_of(problem_of(response.status, answer), f"{URL}{path}")
        return answer

    # Consumers

    def deliver_to(self, handler: Any) -> None:
        """Let a handler answer the deliveries by HTTP, in this thread.

        It is a WSGI or ASGI application, or a callable that gets a Delivery and returns None (204), a status
        or a Reply. A mapping names a handler for each host: `{"billing.test": app}`. An error of a handler
        is a 500. An AssertionError fails the test, too. No lifespan events are sent to ASGI applications.
        """
        self._consumers.mount(handler)

    def function(self, arn: str, handler: Function) -> None:
        """Let `handler(event, context)` be the Lambda function of that ARN or name."""
        self._consumers.mount_function(arn, handler)

    @property
    def deliveries(self) -> list[Delivery]:
        """The requests that Sweephand has made so far, oldest first: also those that did not arrive."""
        return list(self._consumers.deliveries)

    # What goes wrong. Each incident happens to one request, in the order of the calls.

    def fail_next(self, *statuses: int) -> None:
        """Let the next requests be answered with these statuses. No handler is called."""
        self._consumers.incidents += [Incident(status=each) for each in statuses]

    def slow(self, span: Span) -> None:
        """Let the consumer of the next request begin that much later."""
        self._consumers.incidents.append(Incident(slow_ms=span_ms(span)))

    def deliver_twice(self) -> None:
        """Let the next request reach its consumer twice, as when a function of the stack crashes."""
        self._consumers.incidents.append(Incident(comes_twice=True))

    def lose_answer(self) -> None:
        """Let the next request reach its consumer, and its answer get lost."""
        self._consumers.incidents.append(Incident(loses_answer=True))

    def outage(self, of: str | None = None, until: Moment | None = None) -> Outage:
        """Let no consumer be reached from now on, or only not the host or ARN `of`.

        The outage ends with its `with` block, or at `until`.
        """
        outage = Outage(of, None if until is None else instant_of(until))
        self._consumers.outages.append(outage)
        return outage


def _log() -> Logger:
    """The log of the API, which has its failures only. The root logger gets them, where pytest finds them."""
    return Logger(service=__name__, level="ERROR", logger_handler=logging.NullHandler())
