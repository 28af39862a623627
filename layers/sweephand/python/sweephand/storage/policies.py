"""How flow policies are stored in the Jobs table: one partition for each namespace."""

from collections.abc import Sequence
from typing import Any

from sweephand.base.instants import SECOND_MS, Instant
from sweephand.base.timing import POLICY_RETENTION_MS
from sweephand.model.change import Change, fields_from_item, fields_to_item
from sweephand.model.page import Page
from sweephand.model.policy import Policy, PolicyKey, Rate
from sweephand.storage.item import IntegerAttribute, JsonAttribute, expiry
from sweephand.storage.table import ItemKey, RawItem, Refusal, Table
from sweephand.storage.versions import VersionedItem, put_version


class PolicyItem(VersionedItem):
    """A policy as stored. `rate` is `[limit, per_ms]`; `change` is `[at, who, what]` of this version."""

    concurrent_max = IntegerAttribute(null=True, attr_name="max")
    rate = JsonAttribute(null=True)
    holder_size = IntegerAttribute(attr_name="size")
    partitions = IntegerAttribute(attr_name="parts")
    created_at = IntegerAttribute(attr_name="created")
    updated_at = IntegerAttribute(attr_name="updated")
    deleted_at = IntegerAttribute(null=True, attr_name="deleted")
    change = JsonAttribute(null=True)
    fields = JsonAttribute(null=True)


class DynamoPolicies:
    """flow_ports.PolicyStore on the Jobs table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self, key: PolicyKey) -> Policy | None:
        """The policy of that key. One strong read: 1 RRU."""
        raw = self._table.get(_key(key))
        return None if raw is None else _policy(raw)

    def put(self, policy: Policy, replacing: str | None) -> bool:
        """Write the policy if the stored version is `replacing`, or if this very write is stored already."""
        return put_version(self._table, _item(policy), policy.version, replacing)

    def keep(self, policy: Policy, until: Instant) -> bool:
        """Move the end of a policy that was deleted, by one write on the condition of its version."""
        assert policy.deleted_at is not None, "a policy that was not deleted does not expire"
        end_s = -(-until // SECOND_MS)
        is_same = PolicyItem.version == policy.version
        answer = self._table.update(_key(policy.key), [PolicyItem.expires_at.set(end_s)], is_same)
        return not isinstance(answer, Refusal)

    def page(self, namespace: str, after: str, limit: int, *, with_deleted: bool = False) -> Page[Policy]:
        """Up to `limit` policies of a namespace by name, those that were deleted only if so asked."""
        # No name begins with a space, and the bound of a query must not be empty.
        beyond = PolicyItem.sk > (after or " ")
        result = self._table.query((PolicyItem.pk == _partition(namespace)) & beyond, limit)
        policies = [_policy(raw) for raw in result.items]
        shown = tuple(each for each in policies if with_deleted or each.deleted_at is None)
        return Page(shown, policies[-1].key.name if result.has_more and policies else None)


def _partition(namespace: str) -> str:
    return f"policies#{namespace}"


def _key(key: PolicyKey) -> ItemKey:
    return _partition(key.namespace), key.name


def _item(policy: Policy) -> PolicyItem:
    ends_at = None if policy.deleted_at is None else policy.deleted_at + POLICY_RETENTION_MS
    return PolicyItem(
        *_key(policy.key),
        version=policy.version,
        concurrent_max=policy.concurrent_max,
        rate=None if policy.rate is None else list(policy.rate),
        holder_size=policy.holder_size,
        partitions=policy.partitions,
        created_at=policy.created_at,
        updated_at=policy.updated_at,
        deleted_at=policy.deleted_at,
        change=policy.change and [policy.change.at, policy.change.who, policy.change.what],
        fields=fields_to_item(policy.change),
        expires_at=expiry(ends_at),
    )


def _policy(raw: RawItem) -> Policy:
    item = PolicyItem.read(raw)
    _, namespace = item.pk.split("#")
    return Policy(
        key=PolicyKey(namespace, item.sk),
        version=item.version,
        concurrent_max=item.concurrent_max,
        rate=None if item.rate is None else Rate(*item.rate),
        holder_size=item.holder_size,
        partitions=item.partitions,
        created_at=item.created_at,
        updated_at=item.updated_at,
        deleted_at=item.deleted_at,
        change=item.change and _change(item.change, item.version, item.fields),
    )


def _change(parts: Sequence[Any], version: str, fields: Sequence[Sequence[Any]] | None) -> Change:
    at, who, what = parts
    return Change(at, who, what, version, fields=fields_from_item(fields))
