"""How earlier revisions without room in their job are stored in the Jobs table: one small item each."""

from collections.abc import Sequence

from sweephand.model.earlier_revisions import filed_until
from sweephand.model.job import JobKey, Revision, RevisionName
from sweephand.storage.item import IntegerAttribute, Item, expiry
from sweephand.storage.table import ItemKey, RawItem, Table


class RevisionItem(Item):
    """An earlier revision as stored. The partition key holds its job, and the sort key its uid and name."""

    since = IntegerAttribute()
    until = IntegerAttribute()


def put_revision(table: Table, name: RevisionName, revision: Revision) -> None:
    """Write an earlier revision: 1 WRU. Writing it again changes nothing."""
    pk, sk = _item_key(name)
    expires_at = expiry(filed_until(revision))
    table.put(RevisionItem(pk, sk, since=revision.since, until=revision.until, expires_at=expires_at))


def read_revisions(table: Table, names: Sequence[RevisionName]) -> dict[RevisionName, Revision]:
    """Those of the revisions that were written, by strong reads of 100 at a time: 1 RRU each."""
    return dict(map(_named, table.get_batch([_item_key(name) for name in names])))


def _partition(key: JobKey) -> str:
    return f"revisions#{key.namespace}#{key.name}"


def _item_key(name: RevisionName) -> ItemKey:
    return _partition(name.key), f"{name.uid}#{name.rev}"


def _named(raw: RawItem) -> tuple[RevisionName, Revision]:
    item = RevisionItem.read(raw)
    _, namespace, name = item.pk.split("#")
    uid, _, rev = item.sk.partition("#")
    return RevisionName(JobKey(namespace, name), uid, rev), Revision(rev, item.since, item.until)
