"""How policies are stored in the Jobs table, and their lines in the Timers table: entries by time."""

from collections.abc import Callable, Sequence
from typing import Final

from pynamodb.attributes import UnicodeAttribute

from sweephand.base.errors import NewerError, StoreError
from sweephand.base.instants import SECOND_MS, Instant
from sweephand.base.layouts import NAME, WHOLE, Field, Layout
from sweephand.base.timing import LINE_EXTENDED_AFTER_MS, LINE_RETENTION_MS, POLICY_RETENTION_MS
from sweephand.model.page import Page
from sweephand.model.policy import Policy, PolicyKey, Rate
from sweephand.model.policy_line import (
    KeptEntries,
    LineClaim,
    LineCount,
    LineEntry,
    LinePlace,
    LineTop,
    entry_key,
)
from sweephand.model.policy_names import PRIORITIES
from sweephand.model.trigger import TriggerMessage
from sweephand.model.wire import decode, encode
from sweephand.storage.changes import CHANGE
from sweephand.storage.item import IntegerAttribute, Item, StoredItem, expiry, fields_of
from sweephand.storage.table import ItemKey, RawItem, Refusal, Table, VersionedItem, put_version
from sweephand.storage.timers import DeflatedAttribute

#: The sort key of a claim. It sorts before every entry, which begins with a digit.
_CLAIM: Final = "#claim"

#: The version of an entry. A version of Sweephand leaves entries alone that have a newer one.
_VERSION: Final = 1

#: A read of the first entries passes over about so many that have a newer version.
_NEWER_MAX: Final = 100


class ClaimItem(Item):
    """The claim of a partition."""

    owner = UnicodeAttribute(null=True)
    until = IntegerAttribute(null=True)
    fence = IntegerAttribute()
    crashed_until = IntegerAttribute(attr_name="crashed", null=True)


class EntryItem(Item):
    """An entry: its messages in the one wire form, as a deflated list of texts, and their number.

    `begun` is 1 if a worker that has ended may have begun some of them.
    """

    messages = DeflatedAttribute(attr_name="z")
    token = UnicodeAttribute()
    size = IntegerAttribute(attr_name="n")
    begun = IntegerAttribute(attr_name="b", null=True)
    version = IntegerAttribute(attr_name="v")


class DynamoPolicyLines:
    """ports.PolicyLines on the Timers table."""

    def __init__(self, table: Table, now: Callable[[], Instant]) -> None:
        self._table = table
        self._now = now

    def put(self, place: LinePlace, entry: LineEntry) -> None:
        """Write an entry. A pack of a hundred triggers takes about 4 KB."""
        self._table.put(
            EntryItem(
                _partition(place),
                entry.sort_key,
                messages=[encode(each) for each in entry.messages],
                token=entry.token,
                size=len(entry.messages),
                begun=1 if entry.may_be_begun else None,
                version=_VERSION,
                expires_at=expiry(max(entry.at, self._now()) + LINE_RETENTION_MS),
            )
        )

    def top(self, place: LinePlace, before: Instant, limit: int) -> LineTop:
        """The claim and the first entries. Large entries and those of newer versions take more queries."""
        claim: LineClaim | None = None
        entries: list[LineEntry] = []
        low, size, newer, has_more = _CLAIM, limit + 1, 0, True
        while has_more and len(entries) < limit and newer < _NEWER_MAX:
            in_time = (EntryItem.pk == _partition(place)) & EntryItem.sk.between(low, entry_key(before, ""))
            result = self._table.query(in_time, size)
            for raw in result.items:
                low = raw["sk"]["S"] + "\0"
                if raw["sk"]["S"] == _CLAIM:
                    claim = _claim(raw)
                elif len(entries) < limit:
                    try:
                        entries.append(_entry(raw))
                    except NewerError:
                        newer += 1
            # DynamoDB reads 1 MB at most, which are a few packs of large triggers. A worker that has begun
            # all of these must see the next ones.
            has_more, size = result.has_more, 2 * size
        return LineTop(claim, tuple(entries), newer > 0)

    def page(self, place: LinePlace, after: str, limit: int) -> Sequence[LineEntry]:
        """The entries behind a sort key, by one query, which reads 1 MB at most."""
        # The claim sorts before every entry, and the bound of a query must not be empty.
        behind = EntryItem.sk > (after or entry_key(0, ""))
        items = self._table.query((EntryItem.pk == _partition(place)) & behind, limit).items
        return tuple(_entry(raw) for raw in items)

    def count(self, place: LinePlace, before: Instant, limit: int) -> LineCount:
        """The number of triggers, by one query. DynamoDB bills whole entries, and returns no message."""
        of_place = EntryItem.pk == _partition(place)
        in_time = of_place & EntryItem.sk.between(entry_key(0, ""), entry_key(before, ""))
        result = self._table.query(in_time, limit + 1, attributes=("sk", "n"))
        items = result.items[:limit]
        triggers = sum(int(raw["n"]["N"]) for raw in items)
        first_at = int(items[0]["sk"]["S"].partition("#")[0]) if items else None
        # DynamoDB reads 1 MB at most, so it may return fewer than it was asked for.
        is_all = len(result.items) <= limit and not result.has_more
        return LineCount(triggers, first_at, is_all)

    def extend(
        self, place: LinePlace, after: str, before: Instant, until: Instant, limit: int
    ) -> KeptEntries:
        """Move the end of each entry if it has its token: one query, and 1 WRU for each KB."""
        low = after + "\0" if after else entry_key(0, "")
        in_time = EntryItem.sk.between(low, entry_key(before, ""))
        found = self._table.query((EntryItem.pk == _partition(place)) & in_time, limit)
        ending = until - LINE_EXTENDED_AFTER_MS
        kept = [raw for raw in found.items if _ends_before(raw, ending) and self._is_kept(raw, until)]
        payloads = [named for raw in kept if not _is_newer(raw) for named in _entry(raw).payloads]
        is_last = not found.has_more and len(found.items) < limit
        return KeptEntries(len(kept), payloads, None if is_last else found.items[-1]["sk"]["S"])

    def _is_kept(self, raw: RawItem, until: Instant) -> bool:
        later = [EntryItem.expires_at.set(until // SECOND_MS)]
        unchanged = EntryItem.token == raw["token"]["S"]
        answer = self._table.update((raw["pk"]["S"], raw["sk"]["S"]), later, unchanged)
        return not isinstance(answer, Refusal)

    def delete(self, place: LinePlace, entry: LineEntry) -> bool:
        """Remove the entry if it has this token or is gone."""
        gone = EntryItem.pk.does_not_exist()
        unchanged = EntryItem.token == entry.token
        return self._table.delete((_partition(place), entry.sort_key), gone | unchanged) is None

    def claim(self, place: LinePlace, seen: LineClaim | None, owner: str, until: Instant) -> LineClaim | None:
        """Claim the partition if the fence is as it was seen, or if this owner has claimed it already."""
        claim = LineClaim.after(seen, owner, until)
        unclaimed = ClaimItem.fence.does_not_exist()
        unchanged = ClaimItem.fence == (0 if seen is None else seen.fence)
        item = ClaimItem(*_claim_key(place), **claim._asdict())
        refusal = self._table.put(item, unclaimed if seen is None else unchanged)
        if refusal is None:
            return claim
        return claim if refusal.stored is not None and _claim(refusal.stored) == claim else None

    def renew(self, place: LinePlace, claim: LineClaim, until: Instant) -> bool:
        """Store the owner and the end of the claim if its fence is unchanged."""
        actions = [
            ClaimItem.owner.remove() if claim.owner is None else ClaimItem.owner.set(claim.owner),
            ClaimItem.until.set(until),
        ]
        answer = self._table.update(_claim_key(place), actions, ClaimItem.fence == claim.fence)
        return not isinstance(answer, Refusal)


def _partition(place: LinePlace) -> str:
    key = place.policy
    return f"line#{key.namespace}#{key.name}#{PRIORITIES.index(place.priority)}#{place.partition:04d}"


def _claim_key(place: LinePlace) -> ItemKey:
    return _partition(place), _CLAIM


def _claim(raw: RawItem) -> LineClaim:
    item = ClaimItem.read(raw)
    return LineClaim(item.owner, item.until or 0, item.fence, item.crashed_until or 0)


def _is_newer(raw: RawItem) -> bool:
    return int(raw["v"]["N"]) > _VERSION


def _ends_before(raw: RawItem, instant: Instant) -> bool:
    """Whether DynamoDB may remove the entry before that instant."""
    return int(raw["expires_at"]["N"]) * SECOND_MS < instant


def _entry(raw: RawItem) -> LineEntry:
    if _is_newer(raw):
        raise NewerError(f"This entry of a line has version {raw['v']['N']}, and this code reads {_VERSION}.")
    item = EntryItem.read(raw)
    at, name = item.sk.split("#", 1)
    return LineEntry(int(at), name, tuple(map(_message, item.messages)), item.token, bool(item.begun))


def _message(text: str) -> TriggerMessage:
    message = decode(text)
    if not isinstance(message, TriggerMessage):
        raise StoreError(f"an entry of a line holds {type(message).__name__}, and only triggers belong there")
    return message


#: A policy as stored. Its key holds the namespace and the name.
_POLICY: Final = Layout(
    Policy,
    Field("version", "version", NAME),
    Field("concurrent_max", "max", WHOLE, None),
    Field(
        "rate",
        "rate",
        Layout(Rate, Field("limit", "limit", WHOLE), Field("per_ms", "per", WHOLE)).form,
        None,
    ),
    Field("holder_size", "size", WHOLE),
    Field("partitions", "parts", WHOLE),
    Field("created_at", "created", WHOLE),
    Field("updated_at", "updated", WHOLE),
    Field("deleted_at", "deleted", WHOLE, None),
    Field("change", "change", CHANGE.form, None),
)


class DynamoPolicies:
    """ports.PolicyStore on the Jobs table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self, key: PolicyKey) -> Policy | None:
        """The policy of that key. One strong read: 1 RRU."""
        raw = self._table.get(_policy_key(key))
        return None if raw is None else _policy(raw)

    def put(self, policy: Policy, replacing: str | None) -> bool:
        """Write the policy if the stored version is `replacing`, or if this very write is stored already."""
        return put_version(self._table, _policy_item(policy), policy.version, replacing)

    def keep(self, policy: Policy, until: Instant) -> bool:
        """Move the end of a policy that was deleted, by one write on the condition of its version."""
        assert policy.deleted_at is not None, "a policy that was not deleted does not expire"
        end_s = -(-until // SECOND_MS)
        is_same = VersionedItem.version == policy.version
        answer = self._table.update(_policy_key(policy.key), [VersionedItem.expires_at.set(end_s)], is_same)
        return not isinstance(answer, Refusal)

    def page(self, namespace: str, after: str, limit: int, *, with_deleted: bool = False) -> Page[Policy]:
        """Up to `limit` policies of a namespace by name, those that were deleted only if so asked."""
        # No name begins with a space, and the bound of a query must not be empty.
        beyond = VersionedItem.sk > (after or " ")
        result = self._table.query((VersionedItem.pk == _policies_partition(namespace)) & beyond, limit)
        policies = [_policy(raw) for raw in result.items]
        shown = tuple(each for each in policies if with_deleted or each.deleted_at is None)
        return Page(shown, policies[-1].key.name if result.has_more and policies else None)


def _policies_partition(namespace: str) -> str:
    return f"policies#{namespace}"


def _policy_key(key: PolicyKey) -> ItemKey:
    return _policies_partition(key.namespace), key.name


def _policy_item(policy: Policy) -> StoredItem:
    ends_at = None if policy.deleted_at is None else policy.deleted_at + POLICY_RETENTION_MS
    return StoredItem(*_policy_key(policy.key), _POLICY, policy, expires_at=expiry(ends_at))


def _policy(raw: RawItem) -> Policy:
    _, namespace = raw["pk"]["S"].split("#")
    return Policy(key=PolicyKey(namespace, raw["sk"]["S"]), **fields_of(_POLICY, raw))
