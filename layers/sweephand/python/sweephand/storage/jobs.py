"""How jobs are stored in the Jobs table: one small item each, over 16 partitions of their namespace."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final
from zlib import crc32

from pynamodb.attributes import UnicodeAttribute

from sweephand.base.instants import Instant
from sweephand.model.change import (
    Change,
    fields_from_item,
    fields_to_item,
    former_from_item,
    former_to_item,
)
from sweephand.model.definition import Definition, Payload
from sweephand.model.job import Job, JobBrief, JobKey, Revision, RevisionName, is_result_of
from sweephand.model.policy_names import PRIORITY_DEFAULT, Priority
from sweephand.ports import Page, always
from sweephand.schedules import Series
from sweephand.storage.item import IntegerAttribute, Item, JsonAttribute, expiry
from sweephand.storage.listing import Listing, merged
from sweephand.storage.revisions import keep_revisions, put_revision, read_revisions
from sweephand.storage.table import ItemKey, RawItem, Table
from sweephand.storage.time_limit import only_while

#: The partitions that one namespace is spread over. DynamoDB takes 1,000 writes a second in each.
LISTING_SHARDS: Final = 16

#: How many parts of a change are in one attribute.
_CHANGE_LENGTH: Final = 5

#: Sorts after every character that a name can have; the last of these is `~`.
_AFTER_NAMES: Final = "\x7f"


class JobItem(Item):
    """A job as stored. The definition is stored as JSON, because it is compared and read as a whole only.

    `policy` and `priority` repeat two of its fields for briefs, which do not read the definition. They are
    left out if the user left them out.
    """

    uid = UnicodeAttribute()
    version = UnicodeAttribute()
    rev = UnicodeAttribute()
    since = IntegerAttribute()
    cut = IntegerAttribute()
    earlier = JsonAttribute(null=True)
    shard = IntegerAttribute()
    written = JsonAttribute()
    series = JsonAttribute()
    digest = UnicodeAttribute(null=True)
    size = IntegerAttribute(null=True)
    data = UnicodeAttribute(null=True)
    ref = UnicodeAttribute(null=True)
    owner = UnicodeAttribute()
    created_at = IntegerAttribute(attr_name="created")
    updated_at = IntegerAttribute(attr_name="updated")
    paused_at = IntegerAttribute(null=True, attr_name="paused")
    pause_reason = JsonAttribute(null=True, attr_name="why")
    gone_at = IntegerAttribute(null=True, attr_name="gone")
    change = JsonAttribute(null=True)
    fields = JsonAttribute(null=True)
    former = JsonAttribute(null=True)
    resumed_at = IntegerAttribute(null=True, attr_name="resumed")
    counted_in = IntegerAttribute(null=True, attr_name="counted")
    has_batches = IntegerAttribute(null=True, attr_name="batches")
    late_until = IntegerAttribute(null=True, attr_name="late")
    policy = UnicodeAttribute(null=True)
    priority = UnicodeAttribute(null=True)


#: The attributes of a brief.
_BRIEF: Final = tuple(
    str(each.attr_name)
    for each in (
        JobItem.pk,
        JobItem.sk,
        JobItem.uid,
        JobItem.rev,
        JobItem.since,
        JobItem.paused_at,
        JobItem.policy,
        JobItem.priority,
    )
)

#: The condition that there is no job of that key.
_ABSENT: Final = JobItem.pk.does_not_exist()


class DynamoJobs:
    """ports.JobStore on the Jobs table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self, key: JobKey) -> Job | None:
        """The job of that key, or None. One strong read: 1 RRU for each 4 KB."""
        raw = self._table.get(_item_key(key))
        return None if raw is None else _job(raw)

    def get_many(self, keys: Sequence[JobKey], *, may_be_stale: bool = False) -> Mapping[JobKey, Job]:
        """The jobs of those keys that exist, read 100 at a time: 1 RRU each, or half."""
        places = [_item_key(key) for key in keys]
        jobs = map(_job, self._table.get_batch(places, may_be_stale=may_be_stale))
        return {job.key: job for job in jobs}

    def briefs(self, keys: Sequence[JobKey]) -> Mapping[JobKey, JobBrief]:
        """The briefs of those jobs that exist, read 100 at a time and eventually consistent: 0.5 RRU each."""
        places = [_item_key(key) for key in keys]
        briefs = map(_brief, self._table.get_batch(places, may_be_stale=True, attributes=_BRIEF))
        return {brief.key: brief for brief in briefs}

    def put(self, job: Job, replacing: str | None, in_time: Callable[[], bool] = always) -> bool:
        """Write the job if the stored version is `replacing`, or if this very write is stored already."""
        condition = _ABSENT if replacing is None else JobItem.version == replacing
        with only_while(in_time):
            refusal = self._table.put(_item(job), condition)
        if refusal is None or refusal.stored is None:
            return refusal is None
        return is_result_of(_job(refusal.stored), job)

    def delete(self, job: Job, in_time: Callable[[], bool] = always) -> bool:
        """Remove the job if it is in that version or gone already."""
        unchanged = JobItem.version == job.version
        with only_while(in_time):
            return self._table.delete(_item_key(job.key), _ABSENT | unchanged) is None

    def file(self, name: RevisionName, revision: Revision) -> None:
        """Keep an earlier revision for which its job has no room: 1 WRU."""
        put_revision(self._table, name, revision)

    def filed(self, names: Sequence[RevisionName]) -> Mapping[RevisionName, Revision]:
        """Those of the revisions that were filed, read 100 at a time: 1 RRU each."""
        return read_revisions(self._table, names)

    def keep(self, key: JobKey, until: Instant) -> bool:
        """Move the end of the job's item: 1 WRU for each KB, written or not."""
        from sweephand.storage.kept_items import is_kept  # noqa: PLC0415 - stacks are seldom off

        return is_kept(self._table, _item_key(key), until)

    def keep_filed(self, key: JobKey, ending_before: Instant, until: Instant, limit: int) -> int:
        """Move the ends of filed revisions of that key, as storage.revisions does."""
        return keep_revisions(self._table, key, ending_before, until, limit)

    def page(self, namespace: str, prefix: str, after: str, limit: int) -> Page[Job]:
        """Up to `limit` jobs by name, merged from 16 partitions with few reads beyond the page."""
        listings = [
            Listing(partial(self._query, _partition(namespace, shard), prefix))
            for shard in range(LISTING_SHARDS)
        ]
        items, following = merged(listings, after, limit)
        return Page(tuple(map(_job, items)), following)

    def _query(
        self, partition: str, prefix: str, after: str, limit: int
    ) -> tuple[Sequence[tuple[str, RawItem]], bool]:
        low = max(prefix, after + "\0")
        high = prefix + _AFTER_NAMES
        if low > high:
            return (), False
        result = self._table.query((JobItem.pk == partition) & JobItem.sk.between(low, high), limit)
        return [(raw["sk"]["S"], raw) for raw in result.items], result.has_more


def count_jobs(table: Table, namespace: str, now: Instant, besides: int | None) -> int:
    """How many jobs of a namespace are stored and have not expired, from all of its partitions.

    Those that took their places in the generation `besides` are left out.
    """
    found = 0
    for shard in range(LISTING_SHARDS):
        after, has_more = " ", True  # no name begins with a space
        while has_more:
            condition = (JobItem.pk == _partition(namespace, shard)) & (JobItem.sk > after)
            items, has_more = table.query(condition)
            found += sum(_is_counted(raw, now, besides) for raw in items)
            after = items[-1]["sk"]["S"] if items else after
    return found


def _is_counted(raw: RawItem, now: Instant, besides: int | None) -> bool:
    if "gone" in raw and int(raw["gone"]["N"]) <= now:
        return False
    return besides is None or "counted" not in raw or int(raw["counted"]["N"]) != besides


def _partition(namespace: str, shard: int) -> str:
    return f"jobs#{namespace}#{shard}"


def _item_key(key: JobKey) -> ItemKey:
    return _partition(key.namespace, crc32(key.name.encode()) % LISTING_SHARDS), key.name


def _item(job: Job) -> JobItem:
    partition, name = _item_key(job.key)
    payload = job.definition.payload
    return JobItem(
        pk=partition,
        sk=name,
        uid=job.uid,
        version=job.version,
        rev=job.current.rev,
        since=job.current.since,
        cut=job.cut,
        earlier=[[each.rev, each.since, each.until] for each in job.earlier] or None,
        shard=job.shard,
        written=dict(job.definition.written),
        series=job.series.to_item(),
        digest=payload and payload.digest,
        size=payload and payload.size,
        data=payload.text if payload and payload.is_inline else None,
        ref=payload and payload.ref,
        owner=job.owner,
        created_at=job.created_at,
        updated_at=job.updated_at,
        paused_at=job.paused_at,
        pause_reason=job.pause_reason,
        gone_at=job.expires_at,
        change=job.change and tuple(job.change)[:_CHANGE_LENGTH],
        fields=fields_to_item(job.change),
        former=former_to_item(job.change),
        resumed_at=job.resumed_at,
        counted_in=job.counted_in,
        has_batches=1 if job.has_batches else None,
        late_until=job.late_until,
        policy=job.definition.policy,
        priority=job.definition.written.get("priority"),
        expires_at=_removal(job),
    )


def _removal(job: Job) -> int | None:
    """When DynamoDB may remove the job, in seconds since 1970."""
    return expiry(job.removed_at)


def _job(raw: RawItem) -> Job:
    item = JobItem.read(raw)
    namespace = item.pk.split("#")[1]
    payload = Payload(item.digest, item.size, item.data, item.ref) if item.digest else None
    return Job(
        key=JobKey(namespace, item.sk),
        uid=item.uid,
        version=item.version,
        current=Revision(item.rev, item.since),
        cut=item.cut,
        earlier=tuple(Revision(*each) for each in item.earlier or ()),
        shard=item.shard,
        definition=Definition(item.written, payload),
        series=Series.from_item(item.series),
        created_at=item.created_at,
        updated_at=item.updated_at,
        owner=item.owner,
        paused_at=item.paused_at,
        pause_reason=item.pause_reason,
        expires_at=item.gone_at,
        change=_change(item) if item.change else None,
        resumed_at=item.resumed_at,
        counted_in=item.counted_in,
        has_batches=item.has_batches is not None,
        late_until=item.late_until,
    )


def _brief(raw: RawItem) -> JobBrief:
    # JobItem.read() takes longer than all else that a sweep does for a job, since it looks for each attribute
    # that a job may have.
    paused_at, policy = raw.get("paused"), raw.get("policy")
    priority: Priority = raw["priority"]["S"] if "priority" in raw else PRIORITY_DEFAULT
    return JobBrief(
        JobKey(raw["pk"]["S"].split("#")[1], raw["sk"]["S"]),
        raw["uid"]["S"],
        Revision(raw["rev"]["S"], int(raw["since"]["N"])),
        None if paused_at is None else int(paused_at["N"]),
        None if policy is None else policy["S"],
        priority,
    )


def _change(item: JobItem) -> Change:
    at, who, what, version, reason = item.change
    former = former_from_item(item.former)
    return Change(at, who, what, version, reason, fields_from_item(item.fields), former)
