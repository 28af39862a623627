"""NATS JetStream's message schedules: a worker with a durable consumer, and a client that publishes.

python -m infra.shootout.clients.nats PORT work FOLDER
python -m infra.shootout.clients.nats PORT create
"""

import asyncio
import sys
import time
from datetime import UTC, datetime

import nats
from infra.shootout.worker import RefusedError, arrive, took, wanted
from nats.aio.msg import Msg
from nats.js.api import ConsumerConfig, StreamConfig
from nats.js.client import JetStreamContext

_RETRY_S = 5
_IN_FLIGHT = 500


async def _work(js: JetStreamContext, home: str) -> None:
    config = StreamConfig(name="jobs", subjects=["once.*", "each.*", "fire.*"], allow_msg_schedules=True)
    await js.add_stream(config)

    async def handle(message: Msg) -> None:
        key = message.data.decode()
        # The server stores a fired message when it is due, and a cron schedule is due at whole seconds.
        due_at = int(message.metadata.timestamp.timestamp()) * 1_000 if key.startswith("r") else "-"
        try:
            arrive(home, key, due_at)
        except RefusedError:
            await message.nak(_RETRY_S)
        else:
            await message.ack()

    await js.subscribe(
        "fire.*", durable="worker", cb=handle, manual_ack=True, config=ConsumerConfig(max_ack_pending=10_000)
    )
    print("ready", flush=True)
    await asyncio.Event().wait()


async def _create(js: JetStreamContext) -> None:
    asked = wanted()
    messages = [
        (f"once.{key}", key, f"@at {datetime.fromtimestamp(due_at / 1_000, UTC).isoformat()}")
        for key, due_at in asked.get("once", ())
    ] + [(f"each.{key}", key, "* * * * * *") for key in asked.get("each_second", ())]
    began_s = time.monotonic()
    for start in range(0, len(messages), _IN_FLIGHT):
        published = [
            await js.publish_async(
                subject,
                key.encode(),
                headers={"Nats-Schedule": schedule, "Nats-Schedule-Target": f"fire.{key}"},
            )
            for subject, key, schedule in messages[start : start + _IN_FLIGHT]
        ]
        await asyncio.gather(*published)
    took(began_s)


async def _main() -> None:
    connection = await nats.connect(f"nats://127.0.0.1:{sys.argv[1]}", max_reconnect_attempts=-1)
    js = connection.jetstream()
    if sys.argv[2] == "work":
        await _work(js, sys.argv[3])
    else:
        await _create(js)
        await connection.close()


asyncio.run(_main())
