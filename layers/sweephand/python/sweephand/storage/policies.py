"""How policies are stored in the Jobs table."""

from collections.abc import Sequence
from typing import Final

from pynamodb.attributes import UnicodeAttribute
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from sweephand.base.instants import Instant
from sweephand.base.layouts import NAME, SENTENCE, WHOLE, Field, Layout, text_of
from sweephand.base.limits import GATE_KEY_LENGTH_MAX
from sweephand.model.page import Page
from sweephand.model.policy import Breaker, Policy, PolicyKey, Rate
from sweephand.storage.changes import CHANGE
from sweephand.storage.item import IntegerAttribute, Item, StoredItem, fields_of
from sweephand.storage.table import ItemKey, RawItem, Refusal, Table, VersionedItem, put_version

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
    Field(
        "breaker",
        "breaker",
        Layout(Breaker, Field("failures", "failures", WHOLE), Field("probe_after_ms", "after", WHOLE)).form,
        None,
    ),
    Field("failed", "failed", WHOLE, 0),
    Field("failing_since", "failing", WHOLE, None),
    Field("broken_at", "broken", WHOLE, None),
    Field("probe", "probe", NAME, None),
    Field("probe_at", "at", WHOLE, None),
)


class BreakerItem(Item):
    """What functions write into the item of a policy while its consumer fails."""

    breaker = UnicodeAttribute()
    failed = IntegerAttribute()
    failing_since = IntegerAttribute(attr_name="failing")
    broken_at = IntegerAttribute(attr_name="broken")
    probe = UnicodeAttribute()
    probe_at = IntegerAttribute(attr_name="at")


#: The policy has a breaker, and it is closed.
_CAN_OPEN: Final = BreakerItem.breaker.exists() & BreakerItem.probe.does_not_exist()

_NO_FAILURES: Final = [BreakerItem.failed.remove(), BreakerItem.failing_since.remove()]


class DynamoPolicies:
    """ports.PolicyStore on the Jobs table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self, key: PolicyKey) -> Policy | None:
        """The policy of that key. One strong read: 1 RRU."""
        raw = self._table.get(_policy_key(key))
        return None if raw is None else _policy(raw)

    def put(self, policy: Policy, replacing: str | None, *, seen: Policy | None = None) -> bool:
        """Write the policy if the stored version is `replacing`, or if this very write is stored already."""
        also = None
        if seen is not None:
            no_probe = BreakerItem.probe.does_not_exist()
            also = no_probe if seen.probe is None else BreakerItem.probe == seen.probe
        return put_version(self._table, _policy_item(policy), policy.version, replacing, also=also)

    def page(self, namespace: str, after: str, limit: int, *, with_deleted: bool = False) -> Page[Policy]:
        """Up to `limit` policies of a namespace by name, those that were deleted only if so asked."""
        # No name begins with a space, and the bound of a query must not be empty.
        beyond = VersionedItem.sk > (after or " ")
        result = self._table.query((VersionedItem.pk == _policies_partition(namespace)) & beyond, limit)
        policies = [_policy(raw) for raw in result.items]
        shown = tuple(each for each in policies if with_deleted or each.deleted_at is None)
        return Page(shown, policies[-1].key.name if result.has_more and policies else None)

    def count_failure(self, key: PolicyKey, now: Instant) -> Policy | None:
        """Count one more failure by one update, if the policy has a breaker that is closed."""
        actions = [
            BreakerItem.failed.add(1),
            BreakerItem.failing_since.set(BreakerItem.failing_since | now),
        ]
        answer = self._table.update(_policy_key(key), actions, _CAN_OPEN)
        return None if isinstance(answer, Refusal) else _policy(answer)

    def forget_failures(self, key: PolicyKey) -> None:
        """Remove the count, if there is one."""
        self._table.update(_policy_key(key), _NO_FAILURES, BreakerItem.failed.exists())

    def open_breaker(self, key: PolicyKey, probe: str, at: Instant, now: Instant) -> bool:
        """Store the first probe, and remove the count."""
        return self._set_probe(key, probe, at, [BreakerItem.broken_at.set(now), *_NO_FAILURES], _CAN_OPEN)

    def next_probe(self, key: PolicyKey, probe: str, at: Instant, *, replacing: str) -> bool:
        """Store the next probe if the stored one has the id `replacing`."""
        return self._set_probe(key, probe, at, [], BreakerItem.probe == replacing)

    def close_breaker(self, key: PolicyKey) -> None:
        """Remove the probe, if there is one."""
        actions = [each.remove() for each in (BreakerItem.broken_at, BreakerItem.probe, BreakerItem.probe_at)]
        self._table.update(_policy_key(key), actions, BreakerItem.probe.exists())

    def _set_probe(
        self, key: PolicyKey, probe: str, at: Instant, actions: Sequence[Action], condition: Condition
    ) -> bool:
        actions = [BreakerItem.probe.set(probe), BreakerItem.probe_at.set(at), *actions]
        answer = self._table.update(_policy_key(key), actions, condition)
        if not isinstance(answer, Refusal):
            return True
        return answer.stored is not None and _policy(answer.stored).probe == probe


def _policies_partition(namespace: str) -> str:
    return f"policies#{namespace}"


def _policy_key(key: PolicyKey) -> ItemKey:
    return _policies_partition(key.namespace), key.name


def _policy_item(policy: Policy) -> StoredItem:
    return StoredItem(*_policy_key(policy.key), _POLICY, policy)


def _policy(raw: RawItem) -> Policy:
    _, namespace = raw["pk"]["S"].split("#")
    return Policy(key=PolicyKey(namespace, raw["sk"]["S"]), **fields_of(_POLICY, raw))
