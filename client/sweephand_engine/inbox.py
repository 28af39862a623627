"""What was delivered to this process: HTTP requests to its inbox, and requests that AWS would have got."""

import json
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from sweephand.base.instants import SECOND_MS, Instant
from sweephand.delivery.adapter import Service
from sweephand_engine.aws import AwsClient

#: The heads of the columns of a line.
HEAD: Final = "arrived       late     attempt  job                          to"

NOTHING: Final = "Nothing has arrived yet."

#: The deliveries that the inbox remembers.
KEPT_MAX: Final = 1_000

#: A reader of the next delivery also sees what came so many milliseconds before.
_MISSED_MS: Final = 10_000


#: The headers of a delivery by HTTP, by what a delivery by AWS calls the same.
_HEADERS: Final = {
    "namespace": "sweephand-namespace",
    "job": "sweephand-job",
    "due": "sweephand-due",
    "attempt": "sweephand-attempt",
    "batchIndex": "sweephand-batch-index",
}


@dataclass(frozen=True, slots=True)
class Arrival:
    """One delivery. `names` are the trigger's, as a delivery by AWS has them, and `to` says where it went."""

    at: Instant
    names: Mapping[str, Any]
    to: str
    body: str
    note: str = ""

    def line(self) -> str:
        """The line of the delivery, with an escape sequence for each character that does not print.

        It shows the lateness of a first attempt, and `retry` for a later one. For a trigger of a batch behind
        the first one it shows the index: such a trigger has no due time of its own.
        """
        clock = datetime.fromtimestamp(self.at / SECOND_MS).astimezone().strftime("%H:%M:%S.%f")[:-3]
        attempt, index = self.names.get("attempt", "?"), int(self.names.get("batchIndex") or 0)
        due = self.names.get("due")
        late_ms = 0 if due is None else self.at - round(datetime.fromisoformat(due).timestamp() * SECOND_MS)
        late = f"# {index}" if index else f"{late_ms:5d} ms"
        shown = {"1": late, "?": ""}.get(str(attempt), "retry")
        job = self.names.get("job", "?")
        line = f"{clock}  {shown:>8}  {attempt:>5}    {job:<27}  {self.to}{self.note}  {self.body}"
        return "".join(each if each.isprintable() else json.dumps(each)[1:-1] for each in line)


class Inbox:
    """The last deliveries. Several threads may use it at once."""

    def __init__(self, now: Callable[[], Instant]) -> None:
        self._now = now
        self._came = threading.Condition()
        self._arrivals: deque[Arrival] = deque(maxlen=KEPT_MAX)
        self._unread: deque[Arrival] = deque(maxlen=KEPT_MAX)

    def arrivals(self) -> list[Arrival]:
        """The deliveries so far, oldest first."""
        with self._came:
            return list(self._arrivals)

    def next(self, within_s: float) -> list[Arrival]:
        """The deliveries that no reader of this method has seen, as soon as there are any.

        Those that came long before are left out. Empty if none come in time.
        """
        since = self._now() - _MISSED_MS
        with self._came:
            while self._unread and self._unread[0].at < since:
                self._unread.popleft()
            self._came.wait_for(lambda: self._unread, within_s)
            unread = list(self._unread)
            self._unread.clear()
        return unread

    def take(
        self, path: str, headers: Mapping[str, str], body: bytes, secrets_of: Callable[[str], Iterable[str]]
    ) -> None:
        """Keep a delivery by HTTP. If no secret of its namespace verifies it, a note takes its names' place.

        The names of its headers are in lower case.
        """
        at = self._now()
        names = {name: headers[header] for name, header in _HEADERS.items() if header in headers}
        secrets = secrets_of(names["namespace"]) if "namespace" in names else ()
        is_signed = any(verifies(secret, headers, body) for secret in secrets)
        text = body.decode(errors="replace")
        self._keep(
            Arrival(at, names, path, text) if is_signed else Arrival(at, {}, path, text, "   WRONG SIGNATURE")
        )

    def client(self, service: Service) -> AwsClient:
        """A client of a service of AWS whose requests arrive here."""
        return AwsClient(service, self._take_request)

    def _take_request(self, service: str, operation: str, request: Mapping[str, Any]) -> None:
        shown = {
            name: value.decode(errors="replace") if isinstance(value, bytes) else value
            for name, value in request.items()
        }
        text = json.dumps(shown, ensure_ascii=False, default=str)
        self._keep(Arrival(self._now(), _names_in(shown), f"{service} {operation}", text))

    def _keep(self, arrival: Arrival) -> None:
        with self._came:
            self._arrivals.append(arrival)
            self._unread.append(arrival)
            self._came.notify_all()


def verifies(secret: str, headers: Mapping[str, str], body: bytes) -> bool:
    """Whether a request is signed with that secret (Standard Webhooks 1.0)."""
    try:
        Webhook(secret).verify(body, dict(headers), json_parse=False)
    except (WebhookVerificationError, ValueError):
        return False
    return True


def _names_in(request: Mapping[str, Any]) -> Mapping[str, Any]:
    """The trigger's names in a request to AWS: in an attribute, or in the event's JSON."""
    if attribute := request.get("MessageAttributes", {}).get("sweephand"):
        return _object(json.loads(attribute["StringValue"]))
    entries = request.get("Entries") or [{}]
    event = request.get("Payload") or request.get("input") or entries[0].get("Detail") or "{}"
    # With the format `raw`, it is the data alone: any JSON.
    return _object(_object(json.loads(event)).get("sweephand"))


def _object(found: Any) -> dict[str, Any]:
    return found if isinstance(found, dict) else {}
