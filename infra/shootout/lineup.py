"""The schedulers that are measured, in the order of their turns."""

from collections.abc import Sequence
from typing import Final

from infra.shootout.peer import Peer
from infra.shootout.peers.apscheduler import Apscheduler
from infra.shootout.peers.bullmq import SETTINGS, Bullmq
from infra.shootout.peers.celery import Celery
from infra.shootout.peers.dev import Dev
from infra.shootout.peers.nats import Nats
from infra.shootout.peers.pgboss import PgBoss
from infra.shootout.peers.procrastinate import Procrastinate
from infra.shootout.peers.restate import Restate
from infra.shootout.peers.scheduler import Scheduler
from infra.shootout.peers.stack import Stack
from infra.shootout.peers.temporal import Temporal

PEERS: Final[Sequence[Peer]] = (
    Dev(has_file=False),
    Dev(has_file=True),
    Stack(),
    Temporal(has_file=False),
    Temporal(has_file=True),
    Nats(syncs=False),
    Nats(syncs=True),
    Celery(is_durable=False),
    Celery(is_durable=True),
    Apscheduler(has_file=False),
    Apscheduler(has_file=True),
    Restate(),
    *map(Bullmq, SETTINGS),
    PgBoss(),
    Procrastinate(),
    Scheduler(),
)
