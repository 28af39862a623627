"""How policies are stored in the Jobs table."""

from typing import Final

from sweephand.base.layouts import NAME, SENTENCE, WHOLE, Field, Layout, text_of
from sweephand.base.limits import GATE_KEY_LENGTH_MAX
from sweephand.model.page import Page
from sweephand.model.policy import Policy, PolicyKey, Rate
from sweephand.storage.changes import CHANGE
from sweephand.storage.item import StoredItem, fields_of
from sweephand.storage.table import ItemKey, RawItem, Table, VersionedItem, put_version

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
    Field("created_at", "created", WHOLE),
    Field("updated_at", "updated", WHOLE),
    Field("deleted_at", "deleted", WHOLE, None),
    Field("paused_at", "paused", WHOLE, None),
    Field("pause_reason", "why", SENTENCE, None),
    Field("change", "change", CHANGE.form, None),
    Field("by", "by", text_of(GATE_KEY_LENGTH_MAX), None),
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
    return StoredItem(*_policy_key(policy.key), _POLICY, policy)


def _policy(raw: RawItem) -> Policy:
    _, namespace = raw["pk"]["S"].split("#")
    return Policy(key=PolicyKey(namespace, raw["sk"]["S"]), **fields_of(_POLICY, raw))
