"""The behaviour of SQS alone: calls of ten, refused entries, other queues, and places for dead letters."""

import json
import re
import threading
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from tests.contract.builders import EVERY_CHARACTER
from tests.fakes.sqs import Sqs, refusal

from sweephand.base.errors import StoreError
from sweephand.base.limits import NAME_LENGTH_MAX
from sweephand.delivery.checked_clients import SqsClients
from sweephand.delivery.sqs_queue import CALL_BYTES_MAX, CALLS_MAX, TRIES_MAX, SqsQueue
from sweephand.model.job import JobKey
from sweephand.model.policy_names import Lanes
from sweephand.model.trigger import (
    BundleMessage,
    DeadLetter,
    NewerMessage,
    Sendable,
    Trigger,
    TriggerMessage,
)
from sweephand.model.wire import decode, encode
from sweephand.targets.reach import EVERY_QUEUE, JobQueues

STACK = "https://sqs.eu-west-1.amazonaws.com/123456789012/delivery"
DEAD = "https://sqs.eu-west-1.amazonaws.com/123456789012/dead"


def message(number: int) -> TriggerMessage:
    due_at = 1_795_262_400_000 + number
    return TriggerMessage(Trigger(JobKey("team", "job"), "u" * 16, "r", due_at, number, 0), due_at)


def letter(body: str = "{}", reason: str = "Attempt 10 of 10 failed: Response 503.") -> DeadLetter:
    return DeadLetter(body, reason, message(1).trigger, 10, 503, "busy")


class ScriptedSqs:
    """An SQS client whose answers a test writes; remembers each call."""

    def __init__(self, *answers: Any) -> None:
        self._answers = list(answers)
        self.calls: list[tuple[str, list[dict[str, Any]]]] = []

    def send_message_batch(self, *, QueueUrl: str, Entries: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: N803 - boto3's names
        self.calls.append((QueueUrl, Entries))
        refused: Any = self._answers.pop(0) if self._answers else ()
        if isinstance(refused, Exception):
            raise refused
        ids = [entry["Id"] for entry in Entries]
        return {
            "Successful": [{"Id": each} for each in ids if int(each) not in refused],
            "Failed": [
                {"Id": each, "Code": "InternalError", "SenderFault": False}
                for each in ids
                if int(each) in refused
            ],
        }


class Pauses(list[float]):
    """The pauses that were asked for; none is made."""

    def __call__(self, duration_s: float) -> None:
        self.append(duration_s)


def queue_of(client: ScriptedSqs, pauses: Pauses | None = None, lanes: Lanes | None = None) -> SqsQueue:
    clients = SqsClients(lambda _: client)  # type: ignore[arg-type, return-value] # what SqsQueue calls of one
    return SqsQueue(
        clients,
        STACK,
        DEAD,
        pauses if pauses is not None else Pauses(),
        allow_insecure=False,
        queues=EVERY_QUEUE,
        lanes=lanes,
    )


def bodies(entries: Sequence[dict[str, Any]]) -> list[str]:
    return [entry["MessageBody"] for entry in entries]


def test_each_message_carries_its_namespace_as_message_group_so_that_a_noisy_one_delays_itself() -> None:
    client = ScriptedSqs()
    other = message(2)._replace(trigger=message(2).trigger._replace(key=JobKey("other", "job")))
    bundle = BundleMessage((message(3), message(4)))
    sent: list[Sendable] = [message(1), other, bundle, NewerMessage("{}")]
    queue_of(client).send([(each, 0) for each in sent])
    ((_, entries),) = client.calls
    assert [each.get("MessageGroupId") for each in entries] == ["team", "other", "team", None]


def test_a_backlog_of_ten_thousand_low_triggers_does_not_stand_before_a_high_one() -> None:
    client = ScriptedSqs()
    lanes = Lanes(STACK, f"{STACK}-high", f"{STACK}-low", open=frozenset({"high", "low"}))
    queue = queue_of(client, lanes=lanes)
    low: list[tuple[Sendable, int]] = [(message(each)._replace(lane="low"), 0) for each in range(10_000)]
    queue.send([*low, (message(10_000)._replace(lane="high"), 0), (message(10_001), 0)])
    sizes: Counter[str] = Counter()
    for url, entries in client.calls:
        sizes[url] += len(entries)
    assert sizes == {lanes.low: 10_000, lanes.high: 1, lanes.normal: 1}


def test_a_dead_letter_has_no_message_group_in_a_standard_queue() -> None:
    client = ScriptedSqs()
    queue_of(client).bury([(letter(), None)])
    ((_, (entry,)),) = client.calls
    assert "MessageGroupId" not in entry


@pytest.mark.parametrize("namespace", ["a", EVERY_CHARACTER, "n" * NAME_LENGTH_MAX])
def test_every_namespace_is_a_message_group_that_sqs_accepts(sqs: Sqs, namespace: str) -> None:
    sent = message(1)._replace(trigger=message(1).trigger._replace(key=JobKey(namespace, "job")))
    url = sqs.queue("delivery")
    SqsQueue(sqs.clients, url, url, Pauses(), allow_insecure=False, queues=EVERY_QUEUE).send([(sent, 0)])
    (received,) = sqs.messages(url)
    assert decode(received["Body"]) == sent
    assert received["Attributes"]["MessageGroupId"] == namespace
    # moto takes any text. SQS takes 1 to 128 letters, digits and marks.
    assert re.fullmatch(r"[!-~]{1,128}", namespace)


def test_every_message_is_sent_and_ten_share_a_call() -> None:
    client = ScriptedSqs()
    queue_of(client).send([(message(number), 0) for number in range(1_005)])
    assert sorted(len(entries) for _, entries in client.calls) == [5] + [10] * 100
    sent = {body for _, entries in client.calls for body in bodies(entries)}
    assert sent == {encode(message(number)) for number in range(1_005)}


def test_sending_no_messages_makes_no_call() -> None:
    client = ScriptedSqs()
    queue_of(client).send([])
    queue_of(client).bury([])
    assert client.calls == []


@pytest.mark.parametrize(
    ("delay_ms", "delay_s"), [(0, 0), (999, 0), (1_000, 1), (899_999, 899), (900_000, 900)]
)
def test_a_delay_is_rounded_down_so_that_nothing_comes_late(delay_ms: int, delay_s: int) -> None:
    client = ScriptedSqs()
    queue_of(client).send([(message(1), delay_ms)])
    assert client.calls[0][1][0]["DelaySeconds"] == delay_s


@pytest.mark.parametrize("delay_ms", [-1, 900_001])
def test_a_delay_that_sqs_refuses_raises_an_assertion_error(delay_ms: int) -> None:
    client = ScriptedSqs()
    with pytest.raises(AssertionError):
        queue_of(client).send([(message(2), 0), (message(1), delay_ms)])
    assert client.calls == []


def test_only_the_refused_entries_of_a_call_are_sent_again() -> None:
    client, pauses = ScriptedSqs({0, 3, 9}, {1}, ()), Pauses()
    queue_of(client, pauses).send([(message(number), 0) for number in range(10)])
    sent = [[decode(body) for body in bodies(entries)] for _, entries in client.calls]
    assert sent[1] == [message(0), message(3), message(9)]
    assert sent[2] == [message(3)]
    assert list(pauses) == [0.05, 0.1]


def test_an_entry_that_is_refused_for_ever_is_an_error() -> None:
    client, pauses = ScriptedSqs(*[{0}] * 99), Pauses()
    with pytest.raises(StoreError, match="1 messages were not accepted by the queue: InternalError"):
        queue_of(client, pauses).send([(message(1), 0), (message(2), 0)])
    assert (len(client.calls), len(pauses)) == (TRIES_MAX, TRIES_MAX - 1)


def test_an_entry_of_which_the_answer_says_nothing_was_not_accepted() -> None:
    class Silent(ScriptedSqs):
        def send_message_batch(self, **call: Any) -> dict[str, Any]:
            answer = super().send_message_batch(**call)
            return {"Successful": answer["Successful"]}

    client = Silent({0}, ())
    queue_of(client).send([(message(1), 0), (message(2), 0)])
    assert [len(entries) for _, entries in client.calls] == [2, 1]


def test_a_call_that_fails_is_an_error_after_all_others_were_made() -> None:
    client = ScriptedSqs(refusal("InternalError"))
    with pytest.raises(StoreError, match="10 messages"):
        queue_of(client).send([(message(number), 0) for number in range(200)])
    assert len(client.calls) == 20


def test_a_poison_message_of_any_size_becomes_a_dead_letter() -> None:
    client = ScriptedSqs()
    queue_of(client).bury([(letter("💥" * 262_144), None), (letter("x" * 1_048_576), None)])
    assert [len(entries) for _, entries in client.calls] == [2]
    assert sum(len(body) for body in bodies(client.calls[0][1])) <= CALL_BYTES_MAX - 2_048
    for body in bodies(client.calls[0][1]):
        assert "The message was cut to 65536 characters." in json.loads(body)["reason"]


def test_large_dead_letters_are_sent_in_as_many_calls_as_they_need() -> None:
    client = ScriptedSqs()
    queue_of(client).bury([(letter("x" * 400_000), None)] * 5)
    assert sorted(len(entries) for _, entries in client.calls) == [1, 2, 2]


def test_the_reason_is_an_attribute_too_bounded_and_printable() -> None:
    client = ScriptedSqs()
    queue_of(client).bury([(letter(reason="bad\x00\r\n" + "x" * 999), None), (letter(reason=""), None)])
    values = [entry["MessageAttributes"]["reason"]["StringValue"] for entry in client.calls[0][1]]
    assert values == ["bad   " + "x" * 250, "unknown"]


def test_a_dead_letter_whose_queue_is_not_listed_any_more_goes_to_the_stacks_queue_and_says_so(
    sqs: Sqs,
) -> None:
    own, dead = sqs.queue("orders"), sqs.queue("dead")
    listed = JobQueues(arns=("arn:aws:sqs:*:*:sweephand-*",))
    queue = SqsQueue(sqs.clients, sqs.queue("delivery"), dead, Pauses(), allow_insecure=False, queues=listed)
    queue.bury([(letter(), own)])
    assert not sqs.messages(own)
    (found,) = sqs.letters(dead)
    assert "TargetQueueArns" in found["reason"]


@pytest.mark.parametrize(
    "code", ["AWS.SimpleQueueService.NonExistentQueue", "AccessDenied", "KMS.DisabledException"]
)
def test_a_dead_letter_that_the_jobs_queue_refuses_goes_to_the_stacks_queue(code: str) -> None:
    own = "https://sqs.eu-central-1.amazonaws.com/999999999999/mine"
    client = ScriptedSqs(refusal(code))
    queue_of(client).bury([(letter(), own)])
    assert [url for url, _ in client.calls] == [own, DEAD]
    reason = json.loads(bodies(client.calls[1][1])[0])["reason"]
    assert reason.startswith(
        "Attempt 10 of 10 failed: Response 503. (The job's dead-letter queue did not take it: "
    )
    assert code in reason


@pytest.mark.parametrize(
    "own", ["", "mine", "https://evil.example/123456789012/mine", "http://127.0.0.1/1/mine"]
)
def test_a_dead_letter_whose_queue_url_is_invalid_goes_to_the_stacks_queue(own: str) -> None:
    client = ScriptedSqs()
    queue_of(client).bury([(letter(), own)])
    assert [url for url, _ in client.calls] == [DEAD]


def test_the_bad_queue_of_one_job_does_not_stop_the_dead_letters_of_others() -> None:
    good, bad = (f"https://sqs.eu-west-1.amazonaws.com/123456789012/{name}" for name in ("good", "bad"))

    class Choosy(ScriptedSqs):
        def send_message_batch(self, *, QueueUrl: str, Entries: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: N803
            answer = super().send_message_batch(QueueUrl=QueueUrl, Entries=Entries)
            if bad == QueueUrl:
                raise refusal("AccessDenied")
            return answer

    client = Choosy()
    queue_of(client).bury([(letter(), bad), (letter(), good), (letter(), None), (letter(), bad)])
    assert {url: len(entries) for url, entries in client.calls} == {bad: 2, good: 1, DEAD: 3}


def test_a_dead_letter_that_no_queue_takes_is_an_error() -> None:
    client = ScriptedSqs(refusal("AccessDenied"), refusal("AccessDenied"))
    with pytest.raises(StoreError):
        queue_of(client).bury([(letter(), "https://sqs.eu-west-1.amazonaws.com/123456789012/mine")])


def test_each_queue_is_asked_in_its_own_region() -> None:
    asked: list[str | None] = []

    def client(region: str | None) -> Any:
        asked.append(region)
        return ScriptedSqs()

    queue = SqsQueue(SqsClients(client), STACK, DEAD, Pauses(), allow_insecure=False, queues=EVERY_QUEUE)
    queue.send([(message(1), 0)])
    for _ in range(2):
        queue.bury([(letter(), "https://sqs.eu-central-1.amazonaws.com/999999999999/mine")])
    assert asked == [None, "eu-central-1"]


def test_several_calls_are_made_at_the_same_time() -> None:
    together = threading.Barrier(CALLS_MAX)

    class Meeting(ScriptedSqs):
        def send_message_batch(self, **call: Any) -> dict[str, Any]:
            together.wait(5)
            return super().send_message_batch(**call)

    client = Meeting()
    queue_of(client).send([(message(number), 0) for number in range(10 * CALLS_MAX)])
    assert len(client.calls) == CALLS_MAX


def test_a_fifo_dead_letter_queue_takes_a_dead_letter_once_in_the_order_of_its_job(sqs: Sqs) -> None:
    own = sqs.queue("mine.fifo")
    queue = SqsQueue(
        sqs.clients,
        sqs.queue("delivery"),
        sqs.queue("dead"),
        Pauses(),
        allow_insecure=False,
        queues=EVERY_QUEUE,
    )
    long = DeadLetter("{}", "x", Trigger(JobKey("n" * 128, "j" * 128), "u", "r", 1, 1, 0))
    queue.bury([(letter(), own), (letter(), own), (DeadLetter("poison", "Not a message."), own), (long, own)])
    found = sqs.messages(own)
    groups = [each["Attributes"]["MessageGroupId"] for each in found]
    assert (groups[:2], len(groups[2]), len(found)) == (["team/job", "poison"], 64, 3)


def test_a_dead_letter_says_that_its_jobs_queue_does_not_exist(sqs: Sqs) -> None:
    dead = sqs.queue("dead")
    queue = SqsQueue(
        sqs.clients, sqs.queue("delivery"), dead, Pauses(), allow_insecure=False, queues=EVERY_QUEUE
    )
    queue.bury([(letter(), "https://sqs.eu-west-1.amazonaws.com/123456789012/nowhere")])
    assert "NonExistentQueue" in sqs.letters(dead)[0]["reason"]
