"""Valid values for the suites. A test passes only the fields that matter to it."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Final, TypeVar

from sweephand.access.callers import key_id_of
from sweephand.base.instants import DAY_MS, MINUTE_MS, Instant
from sweephand.model.api_key import Key, Role
from sweephand.model.change import AdminChange
from sweephand.model.definition import Definition, Payload
from sweephand.model.job import Job, JobKey, Revision
from sweephand.model.line import Holder, Line, StoredLine
from sweephand.model.orders import ResumeMessage
from sweephand.model.policy import Policy, PolicyKey
from sweephand.model.run import Run
from sweephand.model.secret import Secret, SecretKey, SigningSecret, SigningSecrets
from sweephand.model.timer import (
    DeadlineTimer,
    OccurrenceTimer,
    ResumeTimer,
    RetryTimer,
    TimerPack,
    WatchTimer,
    pack_key,
)
from sweephand.model.trigger import DeadlineMessage, Trigger, TriggerMessage
from sweephand.model.watch import WatchMessage
from sweephand.schedules import Batch, Occurrence, Series

Rival = TypeVar("Rival")

#: 2026-11-21T12:00:00Z, an instant at the beginning of a bucket.
NOON: Final[Instant] = 1_795_262_400_000

#: Every character that a name can have.
EVERY_CHARACTER: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~:@+=-"

UID: Final = "uid0000000000001"


def series() -> Series:
    return Series("@every 10s", "UTC", start_at=NOON - MINUTE_MS, repeats=1_000)


def job(name: str = "backup", version: str = "version000000001", **changed: Any) -> Job:
    """A job in its first revision, which the write of that version brought."""
    made = Job(
        key=JobKey("default", name),
        uid=UID,
        version=version,
        current=Revision(f"1-{version}", since=NOON - 1),
        cut=NOON,
        earlier=(),
        shard=3,
        definition=Definition(
            {
                "schedule": "@every 10s",
                "target": {"type": "http", "url": "https://example.com/hook"},
            }
        ),
        series=series(),
        created_at=NOON,
        updated_at=NOON,
        owner="admin",
    )
    return replace(made, **changed)


def next_revision(of: Job, version: str) -> Job:
    """The job as the next write of its definition leaves it."""
    number = int(of.rev.partition("-")[0]) + 1
    cut = of.cut + 1_000
    return replace(
        of,
        version=version,
        current=Revision(f"{number}-{version}", since=cut),
        cut=cut,
        earlier=(*of.earlier, of.current._replace(until=cut)),
    )


def paused(of: Job, version: str) -> Job:
    """The job as a pause leaves it: another version, the same revision."""
    return replace(of, version=version, paused_at=of.cut + 500, pause_reason="maintenance")


def large_payload() -> Payload:
    """A payload that is kept outside of the job, as the writer of a job has it."""
    payload = Payload.of('"' + "x" * 3_000 + '"')
    return payload._replace(ref=f"{payload.digest[:32]}-version000000001")


def timer(
    due_at: Instant = NOON, name: str = "backup", shard: int = 3, sequence: int = 1, rev: str = "1-aaaa"
) -> OccurrenceTimer:
    key = JobKey("default", name)
    return OccurrenceTimer(shard, key, UID, rev, series(), Occurrence(due_at, sequence), NOON - MINUTE_MS)


def batch_timer(index: int = 7, **changed: Any) -> OccurrenceTimer:
    """A timer that begins with a trigger in the middle of a batch."""
    made = timer(**changed)
    batched = made.series._replace(batch=Batch(1_000, MINUTE_MS))
    return made._replace(series=batched, first=Occurrence(*made.first[:2], index, index * 60))


def pack(
    *timers: OccurrenceTimer, bucket_at: Instant = NOON, name: str = "0" * 24, shard: int = 3
) -> TimerPack:
    """A pack of those timers, or of three, where a sweeper writes it."""
    packed = timers or (timer(NOON + 5), timer(NOON + 5, "other", sequence=4), timer(NOON + MINUTE_MS - 1))
    return TimerPack(shard, pack_key(bucket_at, name), packed)


def retry_timer(not_before: Instant = NOON, attempt: int = 2, shard: int = 3, **changed: Any) -> RetryTimer:
    trigger = Trigger(JobKey("default", "backup"), UID, "1-aaaa", NOON - 1_000, 7, NOON - MINUTE_MS)
    message = TriggerMessage(trigger, not_before, attempt, first_attempt_at=NOON - 900)
    return RetryTimer(shard, message._replace(**changed))


def deadline_timer(not_before: Instant = NOON, shard: int = 3, **changed: Any) -> DeadlineTimer:
    trigger = Trigger(JobKey("default", "backup"), UID, "1-aaaa", NOON - 1_000, 7, NOON - MINUTE_MS)
    message = DeadlineMessage(trigger, 2, "owner00000000001", shard, not_before)
    return DeadlineTimer(shard, message._replace(**changed))


def watch_timer(check_at: Instant = NOON, shard: int = 3, **changed: Any) -> WatchTimer:
    first = Occurrence(NOON - 2 * MINUTE_MS, 7)
    series = Series("@every 1m", "UTC", NOON - DAY_MS)
    message = WatchMessage(
        JobKey("default", "backup"),
        UID,
        "1-aaaa",
        series,
        first,
        through=check_at - MINUTE_MS,
        since=NOON - DAY_MS,
        after_ms=MINUTE_MS,
        check_at=check_at,
        armed_at=NOON - DAY_MS,
    )
    return WatchTimer(shard, message._replace(**changed))


def resume_timer(at: Instant = NOON, shard: int = 3, **changed: Any) -> ResumeTimer:
    message = ResumeMessage(JobKey("default", "backup"), UID, at, NOON - DAY_MS)
    return ResumeTimer(shard, message._replace(**changed))


def run(due_at: Instant = NOON, attempt: int = 1, owner: str = "owner00000000001", **changed: Any) -> Run:
    """A run that its owner has claimed for a minute from its due time on."""
    made = Run(
        key=JobKey("default", "backup"),
        uid=UID,
        due_at=due_at,
        index=0,
        state="claimed",
        attempts=attempt,
        rev="1-aaaa",
        sequence=7,
        started_at=due_at + 20,
        lateness_ms=20,
        owner=owner,
        claimed_until=due_at + MINUTE_MS,
    )
    return replace(made, **changed)


def trigger_message(
    due_at: Instant = NOON,
    key: JobKey = JobKey("default", "backup"),  # noqa: B008 - a constant
    **changed: Any,
) -> TriggerMessage:
    """The first attempt of a trigger when it is due."""
    trigger = Trigger(key, UID, "1-aaaa", due_at, 7, NOON - MINUTE_MS)
    return TriggerMessage(trigger, not_before=due_at)._replace(**changed)


def stored_line(version: str = "version000000001", waiting: int = 0, **changed: Any) -> StoredLine:
    """A line that the trigger due at noon holds, and in which those of the next seconds wait."""
    holder = Holder(trigger_message(is_owed=True), NOON + 20)
    dues = (NOON + 1_000 * (each + 1) for each in range(waiting))
    line = Line(holder, tuple(trigger_message(due_at, is_owed=True) for due_at in dues))
    return StoredLine(JobKey("default", "backup"), UID, version, line)._replace(**changed)


def secrets(version: str = "version000000001", namespace: str = "default") -> SigningSecrets:
    older = SigningSecret("whsec_b2xkZXI=", NOON - 1_000, NOON + 1_000)
    return SigningSecrets(namespace, version, (SigningSecret("whsec_bmV3ZXI=", NOON), older))


def secret(
    name: str = "api-token", version: str = "version000000001", namespace: str = "default", **changed: Any
) -> Secret:
    """A signing secret whose value was replaced once."""
    values = (
        SigningSecret("whsec_bmV3ZXI=", NOON),
        SigningSecret("whsec_b2xkZXI=", NOON - 1_000, NOON + 1_000),
    )
    return replace(Secret(SecretKey(namespace, name), version, NOON - 1_000, NOON, values), **changed)


def api_key(key_id: str = "key0000000000001", namespace: str = "default", **changed: Any) -> Key:
    made = Key(key_id, "0" * 64, namespace, "write", NOON, NOON + 1_001, "for the tests")
    return made._replace(**changed)


def principal_key(principal: str, namespace: str, role: Role, expires_at: int | None = None) -> Key:
    """The key of an IAM role or user, which has no secret."""
    return Key(key_id_of(principal), "", namespace, role, NOON, expires_at, principal=principal)


def admin_change(
    at: int = NOON, version: str = "version000000001", namespace: str = "default", **changed: Any
) -> AdminChange:
    made = AdminChange(at, "key0000000000009", "created", "key", namespace, "key0000000000001", version)
    return made._replace(**changed)


def policy(concurrent_max: int | None = 5, **changed: Any) -> Policy:
    """A policy as its creation writes it."""
    made = Policy(
        key=PolicyKey("default", "mailer"),
        version="version000000001",
        concurrent_max=concurrent_max,
        rate=None,
        created_at=NOON,
        updated_at=NOON + 1,
    )
    return replace(made, **changed)


def winner(write: Callable[[Rival], bool], rivals: Sequence[Rival]) -> Rival:
    """The only rival whose write succeeded. Eight threads write at once."""
    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(write, rivals))
    assert won.count(True) == 1
    return rivals[won.index(True)]
