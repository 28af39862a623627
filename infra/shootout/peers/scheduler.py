"""ministack's EventBridge Scheduler. It shows what AWS accepts, and not how punctual AWS is."""

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread
from typing import Any, Final

import boto3
from botocore.exceptions import BotoCoreError
from infra.local import ministack, processes
from infra.local.places import MINISTACK_PYTHON, REGION, Place, StackError, free_port
from infra.shootout.peer import Run, Trigger
from infra.shootout.processes import with_children
from infra.shootout.worker import RefusedError, arrive

_THREADS: Final = 8
_QUEUE: Final = "shootout"
_AGAIN: Final = {"VisibilityTimeout": "5"}
_ROLE: Final = "arn:aws:iam::000000000000:role/any"


class Scheduler:
    """One-offs are schedules with `at`, which send to a queue of SQS."""

    name = "eventbridge"
    setting = "ministack: looks at all schedules each 10 s, in memory; whole seconds, as on AWS"
    delivers = "the harness, which receives from a queue of SQS"
    lacks: Mapping[str, str] = {
        "recurring": "its shortest period is a minute",
        "kill": "its state ends with the process",
        "clock": "it starts as for tests, with the right clock",
    }

    def versions(self) -> Mapping[str, str]:
        """The version of ministack."""
        (found,) = MINISTACK_PYTHON.parents[1].rglob("ministack-*.dist-info")
        return {"ministack": found.stem.partition("-")[2]}

    def install(self) -> None:
        """`make setup` has installed ministack."""

    def start(self, run: Run) -> None:
        """Start ministack, and threads that receive from the queue."""
        self._place = Place(free_port(), enforces_roles=False)
        ministack.start(self._place)
        sqs = self._client("sqs")
        queue = {"QueueUrl": sqs.create_queue(QueueName=_QUEUE, Attributes=_AGAIN)["QueueUrl"]}
        for _ in range(_THREADS):
            Thread(target=_receive, args=(sqs, queue, run.home), daemon=True).start()

    def create(self, triggers: Sequence[Trigger]) -> float:
        """Create a schedule by a call each, on threads."""
        scheduler = self._client("scheduler")
        began_s = time.monotonic()
        with ThreadPoolExecutor(_THREADS) as threads:
            list(threads.map(lambda trigger: schedule(scheduler, trigger), triggers))
        return time.monotonic() - began_s

    def recur(self, keys: Sequence[str]) -> float:
        """Raise StackError: its shortest period is a minute."""
        del keys
        raise StackError(self.lacks["recurring"])

    def restart(self) -> None:
        """Raise StackError: it would be empty."""
        raise StackError(self.lacks["kill"])

    def pids(self) -> Sequence[int]:
        """The process of ministack, with its children."""
        pid = processes.recorded(self._place.pid_file)
        return [] if pid is None else with_children([pid])

    def stop(self) -> None:
        """End ministack, and with it the threads."""
        processes.stop(self._place.pid_file)

    def _client(self, service: str) -> Any:
        key = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
        url = self._place.endpoint_url
        return boto3.client(service, endpoint_url=url, region_name=REGION, **key)  # type: ignore[call-overload]


def _receive(sqs: Any, queue: Mapping[str, str], home: Path) -> None:
    """Receive until the queue is gone. What is refused comes again when its visibility timeout ends."""
    with suppress(BotoCoreError):
        while True:
            found = sqs.receive_message(**queue, MaxNumberOfMessages=10, WaitTimeSeconds=20)
            for message in found.get("Messages", ()):
                with suppress(RefusedError):
                    arrive(str(home), message["Body"])
                    sqs.delete_message(**queue, ReceiptHandle=message["ReceiptHandle"])


def schedule(scheduler: Any, trigger: Trigger) -> None:
    """Create a schedule that is due at the first whole second not before the trigger."""
    at = datetime.fromtimestamp(-(-trigger.due_at // 1_000), UTC)
    target = {"Arn": f"arn:aws:sqs:{REGION}:000000000000:{_QUEUE}", "RoleArn": _ROLE, "Input": trigger.key}
    scheduler.create_schedule(
        Name=trigger.key,
        ScheduleExpression=f"at({at:%Y-%m-%dT%H:%M:%S})",
        FlexibleTimeWindow={"Mode": "OFF"},
        ActionAfterCompletion="DELETE",
        Target=target,
    )
