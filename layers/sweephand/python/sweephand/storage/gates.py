"""How gates and their lines are stored in the Timers table.

A key is part of its partition key as a digest, so no value forges another key, and none is too long. The list
of gates that wait has the value itself.

Each holder is an attribute of its gate: `h_` and its id, with its slots, its end and the number of its writes
as one text. So a write compares a holder as a whole, and never meets the write of another one.
"""

from collections.abc import Callable, Sequence
from typing import Final

from pynamodb.attributes import UnicodeAttribute
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.operand import Path
from pynamodb.expressions.update import Action

from sweephand.base.errors import StoreError
from sweephand.base.instants import SECOND_MS, Instant
from sweephand.base.layouts import text_of
from sweephand.base.limits import GATE_KEY_LENGTH_MAX
from sweephand.base.timing import KEY_GATE_RETENTION_MS
from sweephand.model.gate import Baton, Changed, Gate, GateChange, GateName, Holder, WaitingGate
from sweephand.model.gate_line import Entry, LineCount, LineTop
from sweephand.model.page import Page
from sweephand.model.policy_names import PRIORITIES, PolicyKey
from sweephand.model.trigger import TriggerMessage
from sweephand.model.wire import decode, encode
from sweephand.storage.item import FormAttribute, IntegerAttribute, Item
from sweephand.storage.table import ItemKey, RawItem, Refusal, Table
from sweephand.storage.timers import DeflatedAttribute

_HOLDER: Final = "h_"

#: The version of an entry. A version of Sweephand leaves entries alone that have a newer one.
_VERSION: Final = 1


class GateItem(Item):
    """A gate as stored, without its holders."""

    used = IntegerAttribute(attr_name="u", null=True)
    guard = UnicodeAttribute(attr_name="g", null=True)
    queues = IntegerAttribute(attr_name="q", null=True)
    baton = UnicodeAttribute(attr_name="b", null=True)
    last_us = IntegerAttribute(attr_name="t", null=True)


class WaitingItem(Item):
    """A gate of a key in the list of those that wait. Its sort key begins with since when it does."""

    key = FormAttribute(text_of(GATE_KEY_LENGTH_MAX))
    number = IntegerAttribute(attr_name="n")
    guard = UnicodeAttribute(attr_name="g")


class EntryItem(Item):
    """An entry: its messages in the one wire form, as a deflated list of texts, and their number."""

    messages = DeflatedAttribute(attr_name="z")
    token = UnicodeAttribute()
    size = IntegerAttribute(attr_name="n")
    owner = UnicodeAttribute(null=True)
    until = IntegerAttribute(null=True)
    version = IntegerAttribute(attr_name="v")


class DynamoGates:
    """ports.GateStore on the Timers table. `now` says when what belongs to a key was last written."""

    def __init__(self, table: Table, now: Callable[[], Instant]) -> None:
        self._table = table
        self._now = now

    def get(self, name: GateName) -> Gate:
        """The gate of that name. One strong read."""
        raw = self._table.get(_gate_key(name))
        return Gate() if raw is None else _gate(raw)

    def change(self, name: GateName, change: GateChange) -> Changed:
        """Make the change by one update, whose condition is all that the change expects."""
        conditions, actions = _expected(change), [*_actions(change), *self._expires(name)]
        answer = self._table.update(_gate_key(name), actions, conditions)
        if not isinstance(answer, Refusal):
            return Changed(_gate(answer), is_made=True)
        gate = Gate() if answer.stored is None else _gate(answer.stored)
        return Changed(gate, change.is_made(gate))

    def enlist(self, waiting: WaitingGate) -> None:
        """Write the place of a gate in the list."""
        name = waiting.name
        self._table.put(
            WaitingItem(*_waiting_key(waiting), key=name.key, number=name.number, guard=waiting.guard)
        )

    def delist(self, waiting: WaitingGate) -> None:
        """Remove that place if its guard is the same."""
        self._table.delete(_waiting_key(waiting), WaitingItem.guard == waiting.guard)

    def waiting(self, key: PolicyKey, after: str, limit: int) -> Page[WaitingGate]:
        """The first places behind that one, by one strong query."""
        beyond = WaitingItem.sk > (after or " ")
        result = self._table.query((WaitingItem.pk == _list(key)) & beyond, limit)
        last = result.items[-1]["sk"]["S"] if result.has_more else None
        return Page(tuple(_waiting(key, raw) for raw in result.items), last)

    def _expires(self, name: GateName) -> Sequence[Action]:
        if name.key is None:
            return ()
        return (GateItem.expires_at.set((self._now() + KEY_GATE_RETENTION_MS) // SECOND_MS),)


class DynamoGateLines:
    """ports.GateLines on the Timers table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def put(self, name: GateName, entry: Entry) -> None:
        """Write an entry, unless it is there. A pack of twenty triggers takes about 1 KB."""
        self._table.put(_entry_item(name, entry), EntryItem.pk.does_not_exist())

    def top(self, name: GateName, limit: int, after: str | None = None) -> LineTop:
        """The first entries, by one query, which reads 1 MB at most."""
        of_line = EntryItem.pk == _line(name)
        if after is not None:
            of_line &= EntryItem.sk > after
        result = self._table.query(of_line, limit)
        readable = [raw for raw in result.items if int(raw["v"]["N"]) <= _VERSION]
        has_newer = len(readable) < len(result.items)
        return LineTop([_entry(raw) for raw in readable], result.has_more, has_newer)

    def replace(self, name: GateName, seen: Entry, entry: Entry | None) -> bool:
        """Write or delete the entry on the token that was seen."""
        unchanged = EntryItem.token == seen.token
        if entry is None:
            gone = EntryItem.pk.does_not_exist()
            return self._table.delete((_line(name), seen.sort_key), gone | unchanged) is None
        refusal = self._table.put(_entry_item(name, entry), unchanged)
        if refusal is None:
            return True
        return refusal.stored is not None and EntryItem.read(refusal.stored).token == entry.token

    def count(self, name: GateName, limit: int) -> LineCount:
        """The number of triggers, by one query. DynamoDB bills whole entries, and returns no message."""
        result = self._table.query(EntryItem.pk == _line(name), limit, attributes=("sk", "n"))
        triggers = sum(int(raw["n"]["N"]) for raw in result.items)
        times = [int(raw["sk"]["S"].split("#")[1]) for raw in result.items]
        return LineCount(triggers, min(times, default=None), not result.has_more)


def _gate_key(name: GateName) -> ItemKey:
    return f"gate#{_path(name)}#{name.number:04d}", "gate"


def _line(name: GateName) -> str:
    return f"line#{_path(name)}#{name.number:04d}"


def _list(key: PolicyKey) -> str:
    return f"waits#{key.namespace}#{key.name}"


def _waiting_key(waiting: WaitingGate) -> ItemKey:
    return _list(waiting.name.policy), waiting.place


def _path(name: GateName) -> str:
    """The policy, and the digest of the key if there is one."""
    policy = f"{name.policy.namespace}#{name.policy.name}"
    return policy if name.key is None else f"{policy}#{name.digest}"


def _waiting(key: PolicyKey, raw: RawItem) -> WaitingGate:
    item = WaitingItem.read(raw)
    return WaitingGate(GateName(key, item.number, item.key), item.guard)


def _expected(change: GateChange) -> Condition:
    """All that the change expects of the stored gate. An item that was never written has no attribute."""
    conditions = [_is(Path(_HOLDER + token), each.was) for token, each in change.holders.items()]
    if change.used_max is not None:
        fits = GateItem.used <= change.used_max
        conditions.append(fits | GateItem.used.does_not_exist() if change.used_max >= 0 else fits)
    if change.yields:
        conditions.append(GateItem.queues.does_not_exist())
    if change.guard is not None:
        conditions.append(_is(GateItem.guard, change.guard.was))
    if (taking := change.taking) is not None:
        last = GateItem.last_us.between(taking.last_min_us, taking.last_max_us)
        conditions.append(last if taking.last_min_us > 0 else last | GateItem.last_us.does_not_exist())
    if change.baton is not None and not change.replaces_baton:
        conditions.append(GateItem.baton.does_not_exist())
    # Any item fulfills the last one. DynamoDB returns the item of an update that has a condition.
    found = conditions[0] if conditions else GateItem.pk.exists() | GateItem.pk.does_not_exist()
    for each in conditions[1:]:
        found &= each
    return found


def _actions(change: GateChange) -> list[Action]:
    actions = [_set(Path(_HOLDER + token), each.becomes) for token, each in change.holders.items()]
    if change.added:
        actions.append(GateItem.used.add(change.added))
    if (taking := change.taking) is not None:
        write = GateItem.last_us.add if taking.first_us is None else GateItem.last_us.set
        actions.append(write(taking.last_us_after(0)))
    if change.guard is not None:
        actions.append(_set(GateItem.guard, change.guard.becomes))
    elif change.guard_if_absent is not None:
        actions.append(GateItem.guard.set(GateItem.guard | change.guard_if_absent))
    if change.queues is not None:
        actions.append(GateItem.queues.set(1) if change.queues else GateItem.queues.remove())
    if change.removes_baton:
        actions.append(GateItem.baton.remove())
    elif change.baton is not None:
        actions.append(GateItem.baton.set(f"{change.baton.at} {change.baton.id}"))
    return actions


def _is(path: Path | UnicodeAttribute, value: Holder | str | None) -> Condition:
    return path.does_not_exist() if value is None else path == _text(value)


def _set(path: Path | UnicodeAttribute, value: Holder | str | None) -> Action:
    return path.remove() if value is None else path.set(_text(value))


def _text(value: Holder | str) -> str:
    return " ".join(map(str, value)) if isinstance(value, Holder) else value


def _gate(raw: RawItem) -> Gate:
    item = GateItem.read(raw)
    holders = {
        name.removeprefix(_HOLDER): Holder(*map(int, value["S"].split()))
        for name, value in raw.items()
        if name.startswith(_HOLDER)
    }
    baton = None
    if item.baton is not None:
        at, sender = item.baton.split()
        baton = Baton(int(at), sender)
    return Gate(item.used or 0, holders, item.guard, bool(item.queues), baton, item.last_us or 0)


def _entry_item(name: GateName, entry: Entry) -> EntryItem:
    return EntryItem(
        _line(name),
        entry.sort_key,
        messages=[encode(each) for each in entry.messages],
        token=entry.token,
        size=len(entry.messages),
        owner=entry.owner,
        until=entry.until if entry.owner is not None else None,
        version=_VERSION,
    )


def _entry(raw: RawItem) -> Entry:
    item = EntryItem.read(raw)
    rank, at, name = item.sk.split("#", 2)
    messages = tuple(map(_message, item.messages))
    return Entry(int(at), PRIORITIES[int(rank)], name, messages, item.token, item.owner, item.until or 0)


def _message(text: str) -> TriggerMessage:
    message = decode(text)
    if not isinstance(message, TriggerMessage):
        raise StoreError(f"an entry of a line holds {type(message).__name__}, and only triggers belong there")
    return message
