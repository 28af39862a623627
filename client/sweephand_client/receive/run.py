"""One attempt of a run as its consumer gets it, read from a request or a message, and its callbacks."""

import datetime as dt
import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Any, Final

from sweephand_client.api.client import Client
from sweephand_client.http.errors import ConflictError, GoneError, InputError, SweephandError
from sweephand_client.openapi.run_answers import CallbackResponse

#: The names of an attempt. HTTP has a header for each (docs/webhooks.md, "What a consumer receives").
_HEADERS: Final = {
    "namespace": "sweephand-namespace",
    "job": "sweephand-job",
    "run": "sweephand-run",
    "batch": "sweephand-batch",
    "due": "sweephand-due",
    "attempt": "sweephand-attempt",
    "sequence": "sweephand-sequence",
    "batchIndex": "sweephand-batch-index",
    "event": "sweephand-event",
    "labels": "sweephand-labels",
    "runToken": "sweephand-run-token",
    "traceparent": "traceparent",
    "traceOrigin": "sweephand-trace-origin",
}

_LOG: Final = logging.getLogger("sweephand.receive")

#: A heartbeat is sent three times before it has to come, and at least this often. Seconds.
_BEAT_LONGEST_S: Final = 300.0
_BEAT_SHORTEST_S: Final = 0.5
_BEATS: Final = 3
#: The wait for the next heartbeat if one did not get through, or if the stack has not recorded the 202 yet.
_BEAT_AGAIN_S: Final = 2.0
#: How long the end of a block waits for a heartbeat that is on its way.
_END_S: Final = 1.0

#: The API refuses a longer one (`reasonLengthMax`).
_REASON_LENGTH_MAX: Final = 512

#: The signed id of a trigger, with the name of its run, and that of a run's end.
_ID: Final = re.compile(r"[^-]+-((?:[a-z]+-)?(\d+)-(\d+)(?:-[a-z0-9]+)?)(-end-\d+)?")


class UnreadableError(SweephandError):
    """A request or a message is no delivery of Sweephand."""


@dataclass(slots=True)
class Run:
    """One attempt of a run, or a notification about one. `event` is `trigger`, `end`, `batch-end` or `alert`.

    `id` is the same at every attempt and in every duplicate. `run_id` is None for the end of a batch.
    `token` proves the consumer in its callbacks. It is None unless the job has `"completion": "async"`.
    `is_reported` says that a callback has ended the attempt. `traceparent` is the trace context of the
    attempt, and `trace_origin` the one to which it links, if it is no child (docs/webhooks.md, "Traces").
    """

    id: str
    namespace: str
    job: str
    run_id: str | None
    due_at: dt.datetime
    attempt: int
    sequence: int
    batch_index: int
    event: str
    labels: Mapping[str, str]
    data: Any
    token: str | None = field(default=None, repr=False)
    traceparent: str | None = None
    trace_origin: str | None = None
    client: Callable[[], Client] | None = field(default=None, repr=False, compare=False)
    is_reported: bool = field(default=False, compare=False)

    def heartbeat(self) -> dt.datetime | None:
        """Say that the work goes on. Returns when the next callback has to come.

        That is None until the stack has recorded that the run was accepted. Raises GoneError or ConflictError
        if the consumer has to stop. InputError without a token.
        """
        return _instant(self._heartbeat().get("heartbeatBy"))

    def complete(self, result: Any = None) -> None:
        """Say that the work is done. `result` is any JSON up to 2 KB. Errors as those of heartbeat()."""
        client, run_id, token = self._caller()
        client.runs.complete(self.namespace, self.job, run_id, result, token=token)
        self.is_reported = True

    def fail(self, reason: str, *, retry: bool = True) -> None:
        """Say that the attempt has failed. Without `retry`, the run is given up. Errors as heartbeat().

        The run shows the first 512 characters of the reason.
        """
        client, run_id, token = self._caller()
        shown = reason[:_REASON_LENGTH_MAX]
        client.runs.fail(self.namespace, self.job, run_id, shown, retry=retry, token=token)
        self.is_reported = True

    @contextmanager
    def beating(self) -> Iterator[Event]:
        """Send heartbeats from a thread until the block ends, the first one at once.

        The event that it gives is set when the consumer has to stop. Then the end of the block raises the
        error. A heartbeat that does not get through is sent again.
        """
        over, must_stop = Event(), Event()
        refusals: list[SweephandError] = []
        first_s = self._beat_s()

        def beat() -> None:
            wait_s = first_s
            try:
                while not over.wait(wait_s):
                    wait_s = self._beat_s()
            except (GoneError, ConflictError) as error:
                refusals.append(error)
                must_stop.set()

        thread = Thread(target=beat, name=f"heartbeat of {self.run_id}", daemon=True)
        thread.start()
        try:
            yield must_stop
        finally:
            over.set()
            thread.join(_END_S)
        if refusals and not self.is_reported:
            raise refusals[0]

    def _beat_s(self) -> float:
        """Send a heartbeat, and return the seconds to wait before the next one."""
        try:
            answer = self._heartbeat()
        except (GoneError, ConflictError, InputError):
            raise
        except Exception:  # noqa: BLE001 - without heartbeats the run is tried elsewhere
            _LOG.warning("A heartbeat of %s did not get through.", self.run_id, exc_info=True)
            return _BEAT_AGAIN_S
        left_s = seconds_left(answer)
        if left_s is None:
            return _BEAT_AGAIN_S
        return min(max(left_s / _BEATS, _BEAT_SHORTEST_S), _BEAT_LONGEST_S)

    def _heartbeat(self) -> CallbackResponse:
        client, run_id, token = self._caller()
        return client.runs.heartbeat(self.namespace, self.job, run_id, token=token)

    def _caller(self) -> tuple[Client, str, str]:
        if self.token is None or self.run_id is None:
            raise InputError('This run takes no callbacks. Give the job "completion": "async", or return.')
        if self.client is None:
            raise InputError("No client is there for the callbacks of this run.")
        return self.client(), self.run_id, self.token


def run_of_request(headers: Mapping[str, str], body: bytes) -> Run:
    """The attempt of a request by HTTP. The names of `headers` are in lower case.

    UnreadableError for another request, and if the names do not fit the signed id.
    """
    names = {name: headers[header] for name, header in _HEADERS.items() if header in headers}
    data = _json(body) if body else None
    if headers.get("content-type", "").startswith("application/cloudevents+json"):
        data = data.get("data") if isinstance(data, dict) else None
    labels = _json(names.get("labels", "{}"))
    return _checked(_run({**names, "id": headers.get("webhook-id"), "labels": labels}, data))


def _checked(run: Run) -> Run:
    """The run, if its unsigned names fit the id that is signed. UnreadableError else."""
    match = _ID.fullmatch(run.id)
    if match is None:
        is_right = (run.event == "alert" and "-alert-" in run.id) or (
            run.event == "batch-end" and run.id.endswith("-batch-end")
        )
    else:
        run_id, due_ms, index, end = match.groups()
        due_at = run.due_at.timestamp() * 1_000
        named = (run.run_id, round(due_at), run.batch_index, run.event)
        is_right = named == (run_id, int(due_ms), int(index), "end" if end else "trigger")
    if not is_right:
        raise UnreadableError("sweephand-event, -run, -due or -batch-index does not fit webhook-id.")
    return run


def run_of_message(attribute: str, body: str) -> Run:
    """The attempt of a message of SQS or SNS: its attribute `sweephand`, and its body."""
    return _run(_json(attribute), _json(body))


def run_of_event(event: Any) -> Run:
    """The attempt of an event of Lambda or EventBridge, or of the input of Step Functions."""
    found = event.get("detail", event) if isinstance(event, dict) else None
    if not isinstance(found, dict):
        raise UnreadableError("This is no delivery of Sweephand: it is no object.")
    return _run(found.get("sweephand"), found.get("data"))


def _run(names: Any, data: Any) -> Run:
    if not isinstance(names, dict):
        raise UnreadableError("This is no delivery of Sweephand: it has no names of a trigger.")
    try:
        return Run(
            id=_text(names["id"]),
            namespace=_text(names["namespace"]),
            job=_text(names["job"]),
            run_id=names.get("run"),
            due_at=dt.datetime.fromisoformat(names["due"]),
            attempt=int(names["attempt"]),
            sequence=int(names["sequence"]),
            batch_index=int(names.get("batchIndex", 0)),
            event=names.get("event", "trigger"),
            labels=dict(names.get("labels") or {}),
            data=data,
            token=names.get("runToken"),
            traceparent=names.get("traceparent"),
            trace_origin=names.get("traceOrigin"),
        )
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise UnreadableError(f"This is no delivery of Sweephand: {_missing(error)}.") from None


def seconds_left(answer: CallbackResponse) -> float | None:
    """The seconds until the next callback has to come, by the stack's clock.

    None until the stack has recorded that the consumer or the queue accepted the trigger.
    """
    by, answered_at = _instant(answer.get("heartbeatBy")), _instant(answer.get("answeredAt"))
    return None if by is None or answered_at is None else (by - answered_at).total_seconds()


def _missing(error: Exception) -> str:
    return f"it has no {error.args[0]}" if isinstance(error, KeyError) else str(error)


def _instant(text: str | None) -> dt.datetime | None:
    return None if text is None else dt.datetime.fromisoformat(text)


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"{value!r} is no name")
    return value


def _json(text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise UnreadableError("This is no delivery of Sweephand: it is no JSON.") from None
