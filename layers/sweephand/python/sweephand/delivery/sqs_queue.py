"""How messages get into SQS: ten to a call, many calls at once, and every one accepted or said to be not."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from hashlib import sha256
from itertools import chain
from typing import Any, Final, NamedTuple, TypeAlias

from botocore.exceptions import BotoCoreError, ClientError

from sweephand.base.errors import StoreError
from sweephand.base.instants import SECOND_MS
from sweephand.base.timing import QUEUE_DELAY_MAX_MS
from sweephand.delivery.sqs_clients import SqsClients
from sweephand.model.trigger import DeadLetter, Sendable
from sweephand.model.wire import encode, encode_letter
from sweephand.targets.queue_url import FIFO_SUFFIX, group_id, read_queue_url
from sweephand.targets.queues import JobQueues
from sweephand.targets.url import UrlError

#: AWS: entries in one SendMessageBatch, and bytes in all of them together, attributes included.
ENTRIES_MAX: Final = 10
CALL_BYTES_MAX: Final = 1_048_576

#: What an attribute adds to its entry's body, at most: name, type and value.
_ATTRIBUTE_BYTES_MAX: Final = 1_024

#: Calls under way at once: at 10 to 20 ms each, eight send a thousand messages in a quarter of a second.
CALLS_MAX: Final = 8

#: How often an entry that is refused alone is sent, and the first pause between two tries; it doubles.
TRIES_MAX: Final = 5
FIRST_PAUSE_S: Final = 0.05

REASON_LENGTH_MAX: Final = 256

#: What is kept of a message too large to be buried whole: JSON writes a character in up to 12 bytes.
_KEPT_LENGTH_MAX: Final = CALL_BYTES_MAX // 16


class _Parcel(NamedTuple):
    """One entry of a call, and the dead letter it holds, if it does."""

    fields: dict[str, Any]
    letter: DeadLetter | None = None

    @property
    def size(self) -> int:
        """Its bytes, at most; bodies are ASCII."""
        return len(self.fields["MessageBody"]) + _ATTRIBUTE_BYTES_MAX


class _Call(NamedTuple):
    """One SendMessageBatch; `region` is the queue's, None for the stack's own."""

    url: str
    region: str | None
    parcels: tuple[_Parcel, ...]


class _Refusal(NamedTuple):
    """An entry that was not accepted, for all that was tried, and why."""

    parcel: _Parcel
    why: str


#: Makes the calls, several at once if it can, and says of each what was refused, in order: `map` is one.
_Concurrently: TypeAlias = Callable[
    [Callable[[_Call], list[_Refusal]], Sequence[_Call]], Iterable[list[_Refusal]]
]


def _in_threads(make: Callable[[_Call], list[_Refusal]], calls: Sequence[_Call]) -> Iterable[list[_Refusal]]:
    with ThreadPoolExecutor(min(CALLS_MAX, len(calls)), "send") as threads:
        return list(threads.map(make, calls))


class SqsQueue:
    """ports.Queue over SQS. Safe to use from many threads at once; `wait` sleeps for that many seconds.

    `concurrently` makes several calls; where there is one thread only, it is `map`.
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
        concurrently: _Concurrently = _in_threads,
    ) -> None:
        self._clients = clients
        self._url = url
        self._dead_letter_url = dead_letter_url
        self._wait = wait
        self._allow_insecure = allow_insecure
        self._queues = queues
        self._concurrently = concurrently

    def send(self, messages: Sequence[tuple[Sendable, int]]) -> None:
        """As ports.Queue promises."""
        parcels = [_message_parcel(message, delay_ms) for message, delay_ms in messages]
        self._accepted(_calls(self._url, None, parcels))

    def acknowledge(self, receipts: Sequence[str]) -> None:
        """As ports.Queue promises: what SQS does not remove is not asked for again."""
        client = self._clients.client(None)
        for start in range(0, len(receipts), ENTRIES_MAX):
            some = receipts[start : start + ENTRIES_MAX]
            entries: Any = [{"Id": str(number), "ReceiptHandle": each} for number, each in enumerate(some)]
            # A receipt that cannot be used leaves a message to come again, which costs a duplicate at most.
            with suppress(ClientError, BotoCoreError):
                client.delete_message_batch(QueueUrl=self._url, Entries=entries)

    def bury(self, letters: Sequence[tuple[DeadLetter, str | None]]) -> None:
        """As ports.Queue promises. A letter that a job's own queue does not take goes to the stack's.

        Its reason then says so: a mistake in one job's queue must neither lose its letters nor keep the
        message coming back.
        """
        common = [letter for letter, url in letters if url is None]
        by_url: dict[str, list[DeadLetter]] = {}
        for letter, url in letters:
            if url is not None:
                by_url.setdefault(url, []).append(letter)
        calls: list[_Call] = []
        for url, own in by_url.items():
            try:
                queue = read_queue_url(url, allow_insecure=self._allow_insecure)
                refusal = self._queues.refusal(queue)
            except UrlError as error:
                refusal = str(error)
            if refusal is None:
                calls += _calls(url, queue.region, [_letter_parcel(letter, url) for letter in own])
            else:
                common += [_returned(letter, refusal) for letter in own]
        for refused in self._refused(calls):
            assert refused.parcel.letter is not None, "these calls hold letters"
            common.append(_returned(refused.parcel.letter, refused.why))
        url = self._dead_letter_url
        self._accepted(_calls(url, None, [_letter_parcel(letter, url) for letter in common]))

    def _accepted(self, calls: Iterable[_Call]) -> None:
        """Make the calls; StoreError unless every entry was accepted."""
        refused = self._refused(calls)
        if refused:
            raise StoreError(f"{len(refused)} messages were not accepted by the queue: {refused[0].why}")

    def _refused(self, calls: Iterable[_Call]) -> list[_Refusal]:
        """Make the calls, several at a time, and return what was not accepted."""
        waiting = list(calls)
        if len(waiting) <= 1:
            return [refusal for call in waiting for refusal in self._refused_of(call)]
        return list(chain.from_iterable(self._concurrently(self._refused_of, waiting)))

    def _refused_of(self, call: _Call) -> list[_Refusal]:
        """Make one call, again for what is refused of it, and return what still is.

        What fails as a whole has been tried again by the SDK.
        """
        refused = [_Refusal(parcel, "never sent") for parcel in call.parcels]
        for tried in range(TRIES_MAX):
            if tried:
                self._wait(FIRST_PAUSE_S * 2 ** (tried - 1))
            parcels = [each.parcel for each in refused]
            try:
                refused = self._tried(call, parcels)
            except (ClientError, BotoCoreError) as error:
                return [_Refusal(parcel, str(error)) for parcel in parcels]
            if not refused:
                break
        return refused

    def _tried(self, call: _Call, parcels: Sequence[_Parcel]) -> list[_Refusal]:
        """Send once. Accepted is what the answer says was; all else was not."""
        entries: Any = [{"Id": str(number), **parcel.fields} for number, parcel in enumerate(parcels)]
        answer = self._clients.client(call.region).send_message_batch(QueueUrl=call.url, Entries=entries)
        accepted = {each["Id"] for each in answer.get("Successful", [])}
        reasons = {
            each["Id"]: f"{each['Code']}: {each.get('Message', '')}" for each in answer.get("Failed", [])
        }
        return [
            _Refusal(parcel, reasons.get(str(number), "SQS did not say what became of it"))
            for number, parcel in enumerate(parcels)
            if str(number) not in accepted
        ]


def _calls(url: str, region: str | None, parcels: Sequence[_Parcel]) -> Iterator[_Call]:
    """The parcels in as few calls as SQS allows, in order."""
    begun: list[_Parcel] = []
    size = 0
    for parcel in parcels:
        if len(begun) == ENTRIES_MAX or (begun and size + parcel.size > CALL_BYTES_MAX):
            yield _Call(url, region, tuple(begun))
            begun, size = [], 0
        begun.append(parcel)
        size += parcel.size
    if begun:
        yield _Call(url, region, tuple(begun))


def _message_parcel(message: Sendable, delay_ms: int) -> _Parcel:
    assert 0 <= delay_ms <= QUEUE_DELAY_MAX_MS, "what waits longer than a queue can hold it has a timer"
    return _Parcel({"MessageBody": encode(message), "DelaySeconds": delay_ms // SECOND_MS})


def _letter_parcel(letter: DeadLetter, url: str) -> _Parcel:
    body = encode_letter(letter)
    if len(body) + _ATTRIBUTE_BYTES_MAX > CALL_BYTES_MAX:
        reason = f"{letter.reason} (The message was cut to {_KEPT_LENGTH_MAX} characters.)"
        body = encode_letter(letter._replace(body=letter.body[:_KEPT_LENGTH_MAX], reason=reason))
    reason = "".join(each if each.isprintable() else " " for each in letter.reason)[:REASON_LENGTH_MAX]
    fields = {
        "MessageBody": body,
        "MessageAttributes": {"reason": {"DataType": "String", "StringValue": reason or "unknown"}},
    }
    if url.endswith(FIFO_SUFFIX):
        # The same letter twice within five minutes is one: a message that was handled twice.
        fields["MessageDeduplicationId"] = sha256(body.encode()).hexdigest()
        fields["MessageGroupId"] = group_id(letter.trigger.key) if letter.trigger else "poison"
    return _Parcel(fields, letter)


def _returned(letter: DeadLetter, why: str) -> DeadLetter:
    """The letter for the stack's own queue, with the reason why it is there."""
    return letter._replace(reason=f"{letter.reason} (The job's dead-letter queue did not take it: {why})")
