"""Sending messages to SQS: ten in a call, several calls at once, and every refused message is reported."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from hashlib import sha256
from itertools import chain
from typing import Any, Final, NamedTuple, TypeAlias

from botocore.exceptions import BotoCoreError, ClientError

from sweephand.base.errors import StoreError
from sweephand.base.instants import SECOND_MS
from sweephand.base.timing import QUEUE_DELAY_MAX_MS
from sweephand.delivery.checked_clients import SqsClients
from sweephand.model.policy_names import LANE_DEFAULT, Lanes
from sweephand.model.trigger import DeadLetter, NewerMessage, Sendable, lane_of_message, namespace_of
from sweephand.model.wire import encode, encode_letter
from sweephand.targets.reach import FIFO_SUFFIX, JobQueues, group_id, read_queue_url
from sweephand.targets.url import UrlError

#: Limits of SendMessageBatch: entries in a call, and bytes of all entries together with their attributes.
ENTRIES_MAX: Final = 10
CALL_BYTES_MAX: Final = 1_048_576

#: The bytes that an attribute adds to its entry at most: name, type and value.
_ATTRIBUTE_BYTES_MAX: Final = 1_024

#: Calls under way at once. At 10 to 20 ms each, eight send a thousand messages in a quarter of a second.
CALLS_MAX: Final = 8

#: How often an entry is sent that SQS refuses by itself, and the first pause between two tries. The pause
#: doubles.
TRIES_MAX: Final = 5
FIRST_PAUSE_S: Final = 0.05

REASON_LENGTH_MAX: Final = 256

#: How many characters are kept of a message that is too large for a dead letter. JSON writes one in up to 12
#: bytes.
_KEPT_LENGTH_MAX: Final = CALL_BYTES_MAX // 16


class _Entry(NamedTuple):
    """One entry of a call, and the dead letter that it holds, if it holds one."""

    fields: dict[str, Any]
    dead_letter: DeadLetter | None = None

    @property
    def size(self) -> int:
        """An upper bound of its size in bytes. Bodies that Sweephand writes are ASCII."""
        body: str = self.fields["MessageBody"]
        return (len(body) if body.isascii() else len(body.encode())) + _ATTRIBUTE_BYTES_MAX


class _Call(NamedTuple):
    """One SendMessageBatch. `region` is the queue's; None is the stack's own."""

    url: str
    region: str | None
    entries: tuple[_Entry, ...]


class _Refusal(NamedTuple):
    """An entry that SQS did not accept after all tries, and why."""

    entry: _Entry
    why: str


#: Makes the calls, concurrently if it can, and returns the refusals of each call in order. `map` is one.
_MakeCalls: TypeAlias = Callable[
    [Callable[[_Call], list[_Refusal]], Sequence[_Call]], Iterable[list[_Refusal]]
]


def _in_threads(make: Callable[[_Call], list[_Refusal]], calls: Sequence[_Call]) -> Iterable[list[_Refusal]]:
    with ThreadPoolExecutor(min(CALLS_MAX, len(calls)), "send") as threads:
        return list(threads.map(make, calls))


class SqsQueue:
    """ports.Queue over SQS. Safe to use from many threads at once.

    `lanes` are the queues of the lanes, if the stack has several. `wait` sleeps for that many seconds.
    `concurrently` makes several calls; for a single thread it is `map`.
    """

    def __init__(
        self,
        clients: SqsClients,
        url: str,
        dead_letter_url: str,
        wait: Callable[[float], None],
        *,
        allow_insecure: bool,
        queues: JobQueues,
        lanes: Lanes | None = None,
        concurrently: _MakeCalls = _in_threads,
    ) -> None:
        self._clients = clients
        self._lanes = Lanes(url) if lanes is None else lanes
        self._dead_letter_url = dead_letter_url
        self._wait = wait
        self._allow_insecure = allow_insecure
        self._queues = queues
        self._concurrently = concurrently

    def send(self, messages: Sequence[tuple[Sendable, int]]) -> None:
        """As ports.Queue promises."""
        by_url: dict[str, list[_Entry]] = {}
        for message, delay_ms in messages:
            # What a newer version wrote does not show its lane.
            lane = LANE_DEFAULT if isinstance(message, NewerMessage) else lane_of_message(message)
            url = self._lanes.url_of(lane)
            by_url.setdefault(url, []).append(_message_entry(message, delay_ms))
        self._make_all(call for url, entries in by_url.items() for call in _calls(url, None, entries))

    def send_as_is(self, url: str, entries: Sequence[Mapping[str, Any]]) -> None:
        """Send entries of SendMessageBatch, without ids, to a queue of the stack.

        StoreError: it may have accepted any of them.
        """
        self._make_all(_calls(url, None, [_Entry(dict(each)) for each in entries]))

    def acknowledge(self, receipts: Sequence[str]) -> None:
        """As ports.Queue promises. A removal that SQS refuses is not repeated."""
        for url, handles in self._lanes.by_url(receipts).items():
            for start in range(0, len(handles), ENTRIES_MAX):
                self.remove(url, handles[start : start + ENTRIES_MAX])

    def remove(self, url: str, handles: Sequence[str]) -> None:
        """Remove up to ten received messages from a queue of the stack. A refused removal is not repeated."""
        entries: Any = [{"Id": str(number), "ReceiptHandle": each} for number, each in enumerate(handles)]
        # A receipt that cannot be used any more leaves its message in the queue. A duplicate is the only
        # cost.
        with suppress(ClientError, BotoCoreError):
            self._clients.client(None).delete_message_batch(QueueUrl=url, Entries=entries)

    def bury(self, dead_letters: Sequence[tuple[DeadLetter, str | None]]) -> None:
        """As ports.Queue promises. A dead letter that a job's own queue does not take goes to the stack's.

        Its reason then says so. A mistake in one job's queue must not lose its dead letters, and must not
        make the message come again.
        """
        common = [dead_letter for dead_letter, url in dead_letters if url is None]
        by_url: dict[str, list[DeadLetter]] = {}
        for dead_letter, url in dead_letters:
            if url is not None:
                by_url.setdefault(url, []).append(dead_letter)
        calls: list[_Call] = []
        for url, own in by_url.items():
            try:
                queue = read_queue_url(url, allow_insecure=self._allow_insecure)
                refusal = self._queues.refusal(queue)
            except UrlError as error:
                refusal = str(error)
            if refusal is None:
                calls += _calls(
                    url, queue.region, [_dead_letter_entry(dead_letter, url) for dead_letter in own]
                )
            else:
                common += [_redirected(dead_letter, refusal) for dead_letter in own]
        for refused in self._refusals(calls):
            assert refused.entry.dead_letter is not None, "these calls hold dead letters"
            common.append(_redirected(refused.entry.dead_letter, refused.why))
        url = self._dead_letter_url
        self._make_all(_calls(url, None, [_dead_letter_entry(dead_letter, url) for dead_letter in common]))

    def _make_all(self, calls: Iterable[_Call]) -> None:
        """Make the calls. StoreError unless every entry was accepted."""
        refused = self._refusals(calls)
        if refused:
            raise StoreError(f"{len(refused)} messages were not accepted by the queue: {refused[0].why}")

    def _refusals(self, calls: Iterable[_Call]) -> list[_Refusal]:
        """Make the calls, several at a time, and return the entries that were not accepted."""
        waiting = list(calls)
        if len(waiting) <= 1:
            return [refusal for call in waiting for refusal in self._refusals_of_call(call)]
        return list(chain.from_iterable(self._concurrently(self._refusals_of_call, waiting)))

    def _refusals_of_call(self, call: _Call) -> list[_Refusal]:
        """Make one call, again for the entries that it refuses, and return those that are still refused.

        A call that fails as a whole is not repeated here: the SDK has repeated it.
        """
        refused = [_Refusal(entry, "never sent") for entry in call.entries]
        for tried in range(TRIES_MAX):
            if tried:
                self._wait(FIRST_PAUSE_S * 2 ** (tried - 1))
            entries = [each.entry for each in refused]
            try:
                refused = self._try_once(call, entries)
            except (ClientError, BotoCoreError) as error:
                return [_Refusal(entry, str(error)) for entry in entries]
            if not refused:
                break
        return refused

    def _try_once(self, call: _Call, entries: Sequence[_Entry]) -> list[_Refusal]:
        """Send once. Only the entries that the answer lists as successful were accepted."""
        request: Any = [{"Id": str(number), **entry.fields} for number, entry in enumerate(entries)]
        answer = self._clients.client(call.region).send_message_batch(QueueUrl=call.url, Entries=request)
        accepted = {each["Id"] for each in answer.get("Successful", [])}
        reasons = {
            each["Id"]: f"{each['Code']}: {each.get('Message', '')}" for each in answer.get("Failed", [])
        }
        return [
            _Refusal(entry, reasons.get(str(number), "SQS did not say what became of it"))
            for number, entry in enumerate(entries)
            if str(number) not in accepted
        ]


def _calls(url: str, region: str | None, entries: Sequence[_Entry]) -> Iterator[_Call]:
    """The entries, in order, in as few calls as SQS allows."""
    collected: list[_Entry] = []
    size = 0
    for entry in entries:
        if len(collected) == ENTRIES_MAX or (collected and size + entry.size > CALL_BYTES_MAX):
            yield _Call(url, region, tuple(collected))
            collected, size = [], 0
        collected.append(entry)
        size += entry.size
    if collected:
        yield _Call(url, region, tuple(collected))


def _message_entry(message: Sendable, delay_ms: int) -> _Entry:
    assert 0 <= delay_ms <= QUEUE_DELAY_MAX_MS, "a message that waits longer than SQS allows has a timer"
    fields: dict[str, Any] = {"MessageBody": encode(message), "DelaySeconds": delay_ms // SECOND_MS}
    if not isinstance(message, NewerMessage):
        # On a standard queue, SQS delays the groups that keep most functions busy ("fair queues"). A name has
        # only characters that SQS allows, and is never too long.
        fields["MessageGroupId"] = namespace_of(message)
    return _Entry(fields)


def _dead_letter_entry(dead_letter: DeadLetter, url: str) -> _Entry:
    body = encode_letter(dead_letter)
    if len(body) + _ATTRIBUTE_BYTES_MAX > CALL_BYTES_MAX:
        reason = f"{dead_letter.reason} (The message was cut to {_KEPT_LENGTH_MAX} characters.)"
        body = encode_letter(dead_letter._replace(body=dead_letter.body[:_KEPT_LENGTH_MAX], reason=reason))
    reason = "".join(each if each.isprintable() else " " for each in dead_letter.reason)[:REASON_LENGTH_MAX]
    fields = {
        "MessageBody": body,
        "MessageAttributes": {"reason": {"DataType": "String", "StringValue": reason or "unknown"}},
    }
    if url.endswith(FIFO_SUFFIX):
        # A message that was handled twice gives the same dead letter twice. Within five minutes SQS drops
        # one.
        fields["MessageDeduplicationId"] = sha256(body.encode()).hexdigest()
        fields["MessageGroupId"] = group_id(dead_letter.trigger.key) if dead_letter.trigger else "poison"
    return _Entry(fields, dead_letter)


def _redirected(dead_letter: DeadLetter, why: str) -> DeadLetter:
    """The dead letter for the stack's own queue, with the reason why it is there."""
    return dead_letter._replace(
        reason=f"{dead_letter.reason} (The job's dead-letter queue did not take it: {why})"
    )
