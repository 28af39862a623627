"""Receives the deliveries of one namespace: verifies each, does its work once, and answers.

A framework's module hands requests in. The receiver knows no framework.
"""

import asyncio
import datetime as dt
import inspect
import json
import logging
import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from http import HTTPStatus
from typing import Any, Final, NamedTuple, TypeVar, Unpack

from sweephand_client.api.client import Client
from sweephand_client.http.errors import ConflictError, GoneError, InputError, InvalidError
from sweephand_client.openapi.requests import JobRequest, NamedJobRequest, ScheduleFields
from sweephand_client.receive.hiding import without_secrets
from sweephand_client.receive.outcomes import ACCEPTED, FinalError, Gone, RetryAfter
from sweephand_client.receive.run import Run, UnreadableError, run_of_request
from sweephand_client.receive.signatures import FixedSecrets, Secrets, SignatureError, StackSecrets, verify
from sweephand_client.receive.stores import MemoryStore, Store

#: How long a handler may work before another attempt may do the same work.
_LEASE: Final = dt.timedelta(minutes=15)
#: How long the id of a finished trigger is kept. Attempts of one trigger are at most this far apart.
_KEEP: Final = dt.timedelta(days=1)

#: What the store has of a trigger or of its attempt. While it is worked on, that is when the lease ends.
_ACCEPTED: Final = "accepted"
_DONE: Final = "done"

Handler = Callable[[Run], Any]
AnyHandler = TypeVar("AnyHandler", bound=Handler)


class Answer(NamedTuple):
    """The answer to a request by HTTP."""

    status: int
    headers: Mapping[str, str] = {}
    body: bytes = b""


class Work(NamedTuple):
    """Work that nobody does yet: the handler, its argument, and the claim that keeps others from it.

    `ends_at` is when the claim ends by itself, in seconds since 1970.
    """

    handler: Handler
    run: Run
    claim: str
    ends_at: float

    def done(self) -> Any:
        """What the handler returns. A coroutine runs in a loop of its own."""
        returned = self.handler(self.run)
        return asyncio.run(returned) if inspect.iscoroutine(returned) else returned


class _Key(NamedTuple):
    event: str
    job: str | None
    prefix: str | None

    @property
    def pattern(self) -> str:
        return self.job or f"{self.prefix or ''}*"


class Receiver:
    """Receives the deliveries of one namespace. Threads and processes may share its store.

    `secrets` are those of the namespace, `whsec_…` or `whpk_…`: one, several with spaces between, or a list.
    Without them, SWEEPHAND_SIGNING_SECRET has them, or else the stack is asked. `client` is for callbacks and
    for that question. By default it calls SWEEPHAND_URL, with SWEEPHAND_KEY if it is set.

    `store` keeps the ids of what was done for `keep`, and of what is being done for `lease`. The jobs that
    `scheduled` declares have the fields of `defaults` and `labels`. `now` is in seconds since 1970.
    """

    def __init__(
        self,
        namespace: str = "default",
        *,
        secrets: str | Sequence[str] | None = None,
        client: Client | None = None,
        store: Store | None = None,
        lease: dt.timedelta = _LEASE,
        keep: dt.timedelta = _KEEP,
        defaults: JobRequest | None = None,
        labels: Mapping[str, str] | None = None,
        now: Callable[[], float] = time.time,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self.namespace = namespace
        self.jobs: list[NamedJobRequest] = []
        self.log = logging.getLogger("sweephand.receive")
        self._defaults = defaults
        self._labels = labels
        self._given_secrets = secrets
        self._given_client = client
        self._now = now
        self._environment = environment
        self._store = MemoryStore(now) if store is None else store
        self._lease_s = self._longest_s = math.ceil(lease.total_seconds())
        self._keep_s = math.ceil(keep.total_seconds())
        self._handlers: dict[_Key, Handler] = {}
        # A loop alone does not keep its tasks.
        self._tasks: set[asyncio.Task[Answer]] = set()

    # What is received

    def on(
        self, job: str | None = None, *, prefix: str | None = None, event: str = "trigger"
    ) -> Callable[[AnyHandler], AnyHandler]:
        """Let the decorated function handle a job, the jobs with a prefix, or every other job.

        It gets a Run, and may be a coroutine function. `event` is `trigger`, or for notifications `end`,
        `batch-end` or `alert`. ValueError if there is such a handler already.
        """
        key = _Key(event, job, prefix)

        def register(handler: AnyHandler) -> AnyHandler:
            if key in self._handlers:
                raise ValueError(f"There is a handler already for {key.pattern} ({event}).")
            self._handlers[key] = handler
            return handler

        return register

    def scheduled(
        self, schedule: str | ScheduleFields, /, *, name: str | None = None, **fields: Unpack[JobRequest]
    ) -> Callable[[AnyHandler], AnyHandler]:
        """Declare a job that the decorated function handles. `sweephand apply --from` writes it.

        `fields` are those of the API. The name is the function's, with `-` in place of `_`.
        """

        def declare(handler: AnyHandler) -> AnyHandler:
            called = name or handler.__name__.replace("_", "-")
            self.on(called)(handler)
            self.jobs.append({**fields, "schedule": schedule, "name": called})
            return handler

        return declare

    def jobs_file(self) -> dict[str, Any]:
        """The declared jobs as a file of jobs that `sweephand apply` takes. `labels` mark what it owns."""
        marks = {"defaults": self._defaults, "labels": self._labels}
        return {"namespace": self.namespace, **marks, "jobs": self.jobs}

    def use(self, client: Client) -> None:
        """Call another stack, verify by its secrets, and forget what was done: for tests.

        In each test a new stack begins, and gives its triggers the ids that the one before has given.
        """
        self._given_client, self._given_secrets = client, None
        self._store = MemoryStore(self._now)
        self.__dict__.pop("_client", None)
        self.__dict__.pop("_secrets", None)

    def lease_at_most(self, seconds: float) -> None:
        """Let claims from now on last so long at most, until the next call says otherwise."""
        self._lease_s = min(self._longest_s, max(math.ceil(seconds), 1))

    # One request

    def respond(self, headers: Mapping[str, str], body: bytes) -> Answer:
        """The answer to a request, after its handler has returned. No Exception leaves it."""
        work = self.begin(headers, body)
        return work if isinstance(work, Answer) else self._respond(work)

    async def respond_async(self, headers: Mapping[str, str], body: bytes) -> Answer:
        """As respond(), in a loop. The store and functions that are not async run in threads.

        The work goes on if the request is cancelled. So a client that disconnects does not end it each time.
        """
        task = asyncio.create_task(self._respond_async(headers, body))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return await asyncio.shield(task)

    async def _respond_async(self, headers: Mapping[str, str], body: bytes) -> Answer:
        work = await asyncio.to_thread(self.begin, headers, body)
        if isinstance(work, Answer):
            return work
        if not inspect.iscoroutinefunction(work.handler):
            return await asyncio.to_thread(self._respond, work)
        try:
            returned = await work.handler(work.run)
        except Exception as error:  # noqa: BLE001 - the answer tells of it
            return await asyncio.to_thread(self.failed, work, error)
        except BaseException:
            self.release(work)
            raise
        return await asyncio.to_thread(self.finished, work, returned)

    def _respond(self, work: Work) -> Answer:
        try:
            returned = work.done()
        except Exception as error:  # noqa: BLE001 - the answer tells of it
            return self.failed(work, error)
        except BaseException:
            self.release(work)
            raise
        return self.finished(work, returned)

    def begin(self, headers: Mapping[str, str], body: bytes) -> Work | Answer:
        """The work of a request, claimed; or the answer if there is none to do."""
        named = {name.lower(): text for name, text in headers.items()}
        try:
            verify(self._secrets, named, body, self._now())
            return self.claimed(run_of_request(named, body))
        except SignatureError as error:
            self.log.warning("A request was refused: %s", error)
            return _said(HTTPStatus.UNAUTHORIZED, str(error))
        except UnreadableError as error:
            return _said(HTTPStatus.BAD_REQUEST, str(error))
        except Exception as error:
            self.log.exception("A request could not be received.")
            return self._failure(HTTPStatus.INTERNAL_SERVER_ERROR, error)

    def claimed(self, run: Run) -> Work | Answer:
        """The work of a delivery that is known to be genuine, or the answer if there is none to do."""
        if run.namespace != self.namespace:
            return _said(HTTPStatus.NOT_FOUND, f"This receiver is for the namespace {self.namespace}.")
        handler = self._handler_of(run)
        if handler is None:
            known = ", ".join(sorted(each.pattern for each in self._handlers if each.event == run.event))
            return _said(
                HTTPStatus.NOT_FOUND,
                f"No handler is there for {run.job} ({run.event}). There are: {known or 'none'}.",
            )
        run.client = lambda: self._client
        claim, ends_at = _claim_of(run), self._now() + self._lease_s
        if self._store.get(_done(run)) == _DONE:
            return Answer(HTTPStatus.NO_CONTENT)
        if not self._store.add(claim, str(math.ceil(ends_at)), self._lease_s):
            return self._of_duplicate(run, claim)
        return Work(handler, run, claim, ends_at)

    def finished(self, work: Work, returned: Any) -> Answer:
        """The answer after a handler has returned."""
        try:
            return self.settled(work, returned)
        except Exception as error:  # noqa: BLE001 - the answer tells of it
            return self.failed(work, error)

    def settled(self, work: Work, returned: Any) -> Answer:
        """As finished(), but it raises an error of a callback.

        FinalError for a result that cannot be kept: another attempt would do the work again for the same.
        """
        run = work.run
        if returned is ACCEPTED:
            if run.token is None:
                raise InputError('Only a run of a job with "completion": "async" can be accepted.')
            return self._accepted(work)
        body = b""
        try:
            if returned is not None and run.token is None:
                body = json.dumps(returned, allow_nan=False).encode()
            elif returned is not None and not run.is_reported:
                run.complete(returned)
        except (TypeError, ValueError, InvalidError) as error:
            raise FinalError(f"The handler's result cannot be kept: {error}") from error
        if run.is_reported:
            return self._accepted(work)
        self._keep(_done(run), _DONE)
        if returned is None:
            return Answer(HTTPStatus.NO_CONTENT)
        return Answer(HTTPStatus.OK, {"content-type": "application/json"}, body)

    def _accepted(self, work: Work) -> Answer:
        self._keep(work.claim, _ACCEPTED)
        return Answer(HTTPStatus.ACCEPTED)

    def _keep(self, key: str, state: str) -> None:
        try:
            self._store.set(key, state, self._keep_s)
        except Exception:
            self.log.exception("A duplicate of %s may be done again.", key)

    def failed(self, work: Work, error: Exception) -> Answer:
        """The answer after a handler has raised an error. Another attempt may do the work."""
        if work.run.is_reported:
            self.log.error("After the end of %s of %s:", work.run.run_id, work.run.job, exc_info=error)
            return self._accepted(work)
        self.release(work)
        match error:
            case RetryAfter():
                seconds = str(math.ceil(max(error.seconds, 0)))
                return self._failure(HTTPStatus.SERVICE_UNAVAILABLE, error, {"retry-after": seconds})
            case Gone():
                return self._failure(HTTPStatus.GONE, error)
            case FinalError():
                return self._failure(HTTPStatus.UNPROCESSABLE_ENTITY, error)
            case GoneError() | ConflictError() if work.run.token is not None:
                # The run is over, cancelled or tried elsewhere. A status 410 would pause the job.
                return self._failure(HTTPStatus.CONFLICT, error)
        self.log.error("%s of %s failed.", work.run.run_id, work.run.job, exc_info=error)
        return self._failure(HTTPStatus.INTERNAL_SERVER_ERROR, error)

    def release(self, work: Work) -> None:
        """Let another attempt do the work."""
        if self._now() >= work.ends_at:
            return  # Another attempt may have claimed it since.
        try:
            self._store.delete(work.claim)
        except Exception:
            self.log.exception("The claim of %s stays until its lease ends.", work.run.id)

    def reason(self, error: Exception) -> str:
        """An error as its run may show it."""
        text = str(error) if isinstance(error, _PLAIN) else f"{type(error).__name__}: {error}"
        # The name of a file may have bytes that are no UTF-8.
        return without_secrets(text.encode(errors="backslashreplace").decode(), self._environment)

    def _failure(self, status: int, error: Exception, headers: Mapping[str, str] | None = None) -> Answer:
        return _said(status, self.reason(error), headers)

    def _of_duplicate(self, run: Run, claim: str) -> Answer:
        if run.token is not None:
            # Both copies of an attempt have one token. Any other answer would end what the first one does.
            return Answer(HTTPStatus.ACCEPTED)
        found = self._store.get(claim)
        if found == _DONE:
            return Answer(HTTPStatus.NO_CONTENT)
        # An earlier attempt would be refused too if the process that works on it has crashed.
        seconds = max(int(found) - math.floor(self._now()), 1) if found else 1
        text = "Another delivery of this trigger is being worked on."
        return _said(HTTPStatus.SERVICE_UNAVAILABLE, text, {"retry-after": str(seconds)})

    def _handler_of(self, run: Run) -> Handler | None:
        found = self._handlers.get(_Key(run.event, run.job, None))
        if found is not None:
            return found
        prefixes = [
            each.prefix
            for each in self._handlers
            if each.event == run.event and each.prefix is not None and run.job.startswith(each.prefix)
        ]
        return self._handlers.get(_Key(run.event, None, max(prefixes, key=len, default=None)))

    # The stack

    @cached_property
    def _client(self) -> Client:
        if self._given_client is not None:
            return self._given_client
        url = self._environment.get("SWEEPHAND_URL")
        if not url:
            raise InputError("No stack is known. Set SWEEPHAND_URL, or give Receiver(client=…).")
        return Client(url, self._environment.get("SWEEPHAND_KEY"))

    @cached_property
    def _secrets(self) -> Secrets:
        given = self._given_secrets
        if given is None and self._given_client is None:
            given = self._environment.get("SWEEPHAND_SIGNING_SECRET") or None
        if given is not None:
            return FixedSecrets(given)
        return StackSecrets(lambda: self._client, self.namespace, self._now)


#: Errors whose text is meant for people, and needs no name of a class.
_PLAIN: Final = (RetryAfter, Gone, FinalError, GoneError, ConflictError)


def _done(run: Run) -> str:
    return f"sweephand:{run.id}"


def _claim_of(run: Run) -> str:
    """A later attempt of an asynchronous run comes when the one before has counted as failed.

    So it has a claim of its own. The stack tells the earlier one to stop by its next callback.
    """
    return _done(run) if run.token is None else f"{_done(run)}:{run.attempt}"


def _said(status: int, text: str, headers: Mapping[str, str] | None = None) -> Answer:
    return Answer(status, {"content-type": "text/plain; charset=utf-8", **(headers or {})}, text.encode())
