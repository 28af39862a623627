"""How jobs are stored in the Jobs table: one small item each, over 16 partitions of their namespace.

An earlier revision that has no room in its job is an item of its own.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from operator import itemgetter
from typing import Any, Final
from zlib import crc32

from pynamodb.attributes import UnicodeAttribute

from sweephand.base.concurrency import always
from sweephand.base.instants import Instant
from sweephand.base.layouts import NAME, NUMBER, OBJECT, SENTENCE, TRUTH, WHOLE, Field, Layout, Part
from sweephand.model.definition import Definition
from sweephand.model.job import Job, JobBrief, JobKey, PauseEnd, Revision, RevisionName, is_result_of
from sweephand.model.page import Page
from sweephand.model.policy_names import PRIORITY_DEFAULT, Priority
from sweephand.model.revisions import filed_until
from sweephand.model.wire_parts import CATCH_UP_MODE, ORIGIN, PAYLOAD, SERIES
from sweephand.ports.jobs import Wanted
from sweephand.storage.changes import CHANGE
from sweephand.storage.connect import only_while
from sweephand.storage.item import IntegerAttribute, Item, StoredItem, expiry, fields_of
from sweephand.storage.listing import Listing, merged
from sweephand.storage.table import ItemKey, RawItem, Table


class RevisionItem(Item):
    """An earlier revision as stored. The partition key holds its job, and the sort key its uid and name."""

    since = IntegerAttribute()
    until = IntegerAttribute()


def put_revision(table: Table, name: RevisionName, revision: Revision) -> None:
    """Write an earlier revision: 1 WRU. Writing it again changes nothing."""
    pk, sk = _revision_key(name)
    expires_at = expiry(filed_until(revision))
    table.put(RevisionItem(pk, sk, since=revision.since, until=revision.until, expires_at=expires_at))


def read_revisions(table: Table, names: Sequence[RevisionName]) -> dict[RevisionName, Revision]:
    """Those of the revisions that were written, by strong reads of 100 at a time: 1 RRU each."""
    return dict(map(_named, table.get_batch([_revision_key(name) for name in names])))


def _revisions_partition(key: JobKey) -> str:
    return f"revisions#{key.namespace}#{key.name}"


def _revision_key(name: RevisionName) -> ItemKey:
    return _revisions_partition(name.key), f"{name.uid}#{name.rev}"


def _named(raw: RawItem) -> tuple[RevisionName, Revision]:
    item = RevisionItem.read(raw)
    _, namespace, name = item.pk.split("#")
    uid, _, rev = item.sk.partition("#")
    return RevisionName(JobKey(namespace, name), uid, rev), Revision(rev, item.since, item.until)


#: The partitions that one namespace is spread over. DynamoDB takes 1,000 writes a second in each.
LISTING_SHARDS: Final = 16

#: Sorts after every character that a name can have; the last of these is `~`.
_AFTER_NAMES: Final = "\x7f"


#: A job as stored. Its key holds the namespace and the name.
_JOB: Final = Layout(
    Job,
    Field("uid", "uid", NAME),
    Field("version", "version", NAME),
    Part("current", Layout(Revision, Field("rev", "rev", NAME), Field("since", "since", NUMBER))),
    Field("cut", "cut", WHOLE),
    Field(
        "earlier",
        "earlier",
        Layout(
            Revision, Field("rev", "r", NAME), Field("since", "s", NUMBER), Field("until", "u", NUMBER, None)
        ).columns,
        (),
    ),
    Field("shard", "shard", WHOLE),
    Part(
        "definition",
        Layout(Definition, Field("written", "written", OBJECT), Field("payload", "data", PAYLOAD, None)),
    ),
    Field("series", "series", SERIES),
    Field("owner", "owner", SENTENCE),
    Field("created_at", "created", WHOLE),
    Field("updated_at", "updated", WHOLE),
    Field("paused_at", "paused", WHOLE, None),
    Field("pause_reason", "why", SENTENCE, None),
    Field("expires_at", "gone", NUMBER, None),
    Field("change", "change", CHANGE.form, None),
    Field("resumed_at", "resumed", WHOLE, None),
    Field("counted_in", "counted", WHOLE, None),
    Field("has_batches", "batches", TRUTH, default=False),
    Field("late_until", "late", NUMBER, None),
    Field("origin", "origin", ORIGIN.form, None),
    Field(
        "pause_end",
        "until",
        Layout(PauseEnd, Field("at", "at", WHOLE), Field("mode", "mode", CATCH_UP_MODE, None)).form,
        None,
    ),
)


class JobItem(StoredItem):
    """A job as stored. `version` is for conditions.

    `policy` and `priority` repeat two fields of the definition for briefs, which do not read the definition.
    They are left out if the user left them out.
    """

    version = UnicodeAttribute(null=True)
    policy = UnicodeAttribute(null=True)
    priority = UnicodeAttribute(null=True)


#: What the user wrote of a job, which says whether a search wants it.
_WRITTEN: Final[Layout[Any]] = Layout(dict, Field("written", "written", OBJECT))

#: The attributes of a brief.
_BRIEF: Final = ("pk", "sk", "uid", "rev", "since", "paused", "policy", "priority")

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
        return self._table.keep(_item_key(key), until)

    def page(self, namespace: str, prefix: str, after: str, limit: int) -> Page[Job]:
        """Up to `limit` jobs by name, merged from 16 partitions with few reads beyond the page."""
        listings = [
            Listing(partial(self._query, _partition(namespace, shard), prefix))
            for shard in range(LISTING_SHARDS)
        ]
        items, following = merged(listings, after, limit, self._table.concurrently)
        return Page(tuple(map(_job, items)), following)

    def search(self, namespace: str, prefix: str, after: str, limit: int, wanted: Wanted) -> Page[Job]:
        """The wanted ones of up to `limit` jobs by name, from one query of each of the 16 partitions.

        No partition is asked again. So a page ends where the first of them has more than its share. Jobs that
        are not wanted are not decoded, because that takes most of the time. An item for each label would save
        $0.0002 for a list of 10,000 jobs, and each write of such a job would cost more.
        """
        share = -(-limit // LISTING_SHARDS)
        partitions = [_partition(namespace, shard) for shard in range(LISTING_SHARDS)]
        looks = [partial(self._look, each, prefix, after, share, wanted) for each in partitions]
        found, reached = zip(*self._table.concurrently(looks), strict=True)
        end = min((each for each in reached if each is not None), default=None)
        items = sorted(chain.from_iterable(found), key=itemgetter(0))
        return Page(tuple(_job(raw) for name, raw in items if end is None or name <= end), end)

    def _look(
        self, partition: str, prefix: str, after: str, limit: int, wanted: Wanted
    ) -> tuple[Sequence[tuple[str, RawItem]], str | None]:
        """The wanted ones of the next jobs of a partition, and the last name if more may follow."""
        items, has_more = self._query(partition, prefix, after, limit)
        found = [(name, raw) for name, raw in items if wanted(name, fields_of(_WRITTEN, raw)["written"])]
        return found, items[-1][0] if has_more else None

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
    return JobItem(
        *_item_key(job.key),
        _JOB,
        job,
        policy=job.definition.policy,
        priority=job.definition.written.get("priority"),
        expires_at=expiry(job.removed_at),
    )


def _job(raw: RawItem) -> Job:
    return Job(key=JobKey(raw["pk"]["S"].split("#")[1], raw["sk"]["S"]), **fields_of(_JOB, raw))


def _brief(raw: RawItem) -> JobBrief:
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
