"""Long polls for the local AWS: delivery functions get a delayed message as soon as it can be received.

On AWS, Lambda polls a queue with long polls. ministack looks at its queues when a message is sent, and
otherwise once a second. A delayed message that becomes visible in between would be late by up to a second. So
this process makes ministack look ten times a second, for as long as ministack answers.

    python -m infra.local.long_polling --port 4700
"""

import argparse
import sys
import time
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError
from infra.local import processes
from infra.local.deploy import session
from infra.local.places import PYTHON, ROOT, Place, environment

#: The time between two looks. A message is at most this late, and a look takes about a millisecond.
_LOOK_EVERY_S: Final = 0.1

#: A queue of its own. It keeps one message.
_QUEUE: Final = "sweephand-local-long-polling"

#: SQS's longest retention, in seconds. After that the message is sent anew.
_RETENTION_S: Final = 14 * 24 * 3_600


def start(place: Place) -> None:
    """Start the process for the local AWS at this place, unless it runs already."""
    if processes.recorded(place.long_polling_pid_file) is None:
        words = [str(PYTHON), "-m", "infra.local.long_polling", "--port", str(place.port)]
        env = environment() | {"PYTHONPATH": str(ROOT)}
        processes.start(words, env, place.long_polling_log, place.long_polling_pid_file)


def stop(place: Place) -> None:
    """End the process, if it runs."""
    processes.stop(place.long_polling_pid_file)


def look(sqs: Any, queue_url: str, every_s: float = _LOOK_EVERY_S) -> None:
    """Make the local AWS look at its queues, again and again.

    A message that is made visible makes it look. ClientError: the message is gone. BotoCoreError: the local
    AWS does not answer.
    """
    sqs.send_message(QueueUrl=queue_url, MessageBody="long polling")
    [message] = sqs.receive_message(QueueUrl=queue_url)["Messages"]
    while True:
        sqs.change_message_visibility(
            QueueUrl=queue_url, ReceiptHandle=message["ReceiptHandle"], VisibilityTimeout=0
        )
        time.sleep(every_s)


def main() -> int:
    """Look until the local AWS is gone. The exit code is 0."""
    parser = argparse.ArgumentParser(prog="python -m infra.local.long_polling")
    parser.add_argument("--port", type=int, required=True)
    place = Place(parser.parse_args().port)
    sqs: Any = session().client("sqs", endpoint_url=place.endpoint_url)
    try:
        queue_url = sqs.create_queue(
            QueueName=_QUEUE, Attributes={"MessageRetentionPeriod": str(_RETENTION_S)}
        )["QueueUrl"]
        while True:
            try:
                look(sqs, queue_url)
            except ClientError as error:
                print(f"The message is sent anew: {error}", file=sys.stderr, flush=True)
                time.sleep(1)
    except BotoCoreError:
        return 0


if __name__ == "__main__":
    sys.exit(main())
