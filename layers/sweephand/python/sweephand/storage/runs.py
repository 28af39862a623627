"""How runs are stored in the Jobs table: one item each, ordered by due time under their job's key.

A partition of DynamoDB takes 1,000 writes a second, and a batch may end many more runs. So the runs of a
batch are spread over 16 partitions by their index. Runs with index 0, which are all runs of a job without
batches, have a partition of their own (decision 185).
"""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from pynamodb.attributes import UnicodeAttribute

from sweephand.base.instants import Instant
from sweephand.model.job import JobKey
from sweephand.model.run import Run, State
from sweephand.model.run_conditions import (
    Guard,
    WriteCondition,
    claim_condition,
    is_same_write,
    move_condition,
    record_condition,
    release_condition,
)
from sweephand.model.run_id import AFTER_UIDS, RunName, parse_run_name, run_position
from sweephand.model.trigger import Trigger
from sweephand.model.wire_parts import (
    batch_from_json,
    batch_to_json,
    demand_from_json,
    demand_to_json,
    failure_from_json,
    failure_to_json,
    payload_from_json,
    payload_to_json,
    permit_from_json,
    permit_to_json,
)
from sweephand.ports import Page
from sweephand.storage.item import (
    IntegerAttribute,
    Item,
    JsonAttribute,
    attribute_forms,
    expiry,
)
from sweephand.storage.listing import Listing, merged
from sweephand.storage.table import ItemKey, RawItem, Table

if TYPE_CHECKING:
    # Only the list of a namespace's runs reads flags.
    from sweephand.model.flag import Flag

#: The partitions of a job's runs with an index over 0.
BATCH_PARTITIONS: Final = 16


class RunItem(Item):
    """A run as stored. Texts of a consumer or a caller are stored as JSON, which keeps any text unchanged."""

    uid = UnicodeAttribute()
    due_at = IntegerAttribute(attr_name="due")
    index = IntegerAttribute()
    state = UnicodeAttribute()
    attempts = IntegerAttribute()
    rev = UnicodeAttribute()
    sequence = IntegerAttribute(attr_name="seq")
    started_at = IntegerAttribute(null=True, attr_name="started")
    ended_at = IntegerAttribute(null=True, attr_name="ended")
    lateness_ms = IntegerAttribute(null=True, attr_name="late")
    next_attempt_at = IntegerAttribute(null=True, attr_name="next")
    response_code = IntegerAttribute(null=True, attr_name="code")
    answer = JsonAttribute(null=True)
    reason = JsonAttribute(null=True)
    skipped_for = UnicodeAttribute(null=True, attr_name="for")
    owner = UnicodeAttribute(null=True)
    claimed_until = IntegerAttribute(null=True, attr_name="until")
    round_from = IntegerAttribute(null=True, attr_name="round")
    round_at = IntegerAttribute(null=True, attr_name="round_at")
    round_ends = JsonAttribute(null=True, attr_name="ends")
    version = UnicodeAttribute(null=True)
    token = UnicodeAttribute(null=True)
    heartbeat_ms = IntegerAttribute(null=True, attr_name="beat")
    heartbeat_by = IntegerAttribute(null=True, attr_name="beat_by")
    run_until = IntegerAttribute(null=True, attr_name="run_until")
    next_check_at = IntegerAttribute(null=True, attr_name="look_at")
    demand = JsonAttribute(null=True)
    payload = JsonAttribute(null=True)
    gone_at = IntegerAttribute(null=True, attr_name="gone")
    stands_for = IntegerAttribute(null=True, attr_name="count")
    last_due_at = IntegerAttribute(null=True, attr_name="last")
    result = JsonAttribute(null=True)
    last_failure = JsonAttribute(null=True, attr_name="failed")
    batch = JsonAttribute(null=True)
    permit = JsonAttribute(null=True)


class DynamoRuns:
    """ports.RunStore on the Jobs table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def claim(self, run: Run, now: Instant) -> Run | None:
        """Write a `claimed` run.

        None if it was granted or is already stored; otherwise the run that refuses it.
        """
        refusal = self._table.put(_item(run), _Condition(claim_condition(run, now)))
        if refusal is None:
            return None
        stored = _run(refusal.existing)
        return None if is_same_write(stored, run) else stored

    def record(self, run: Run) -> bool:
        """Write what became of an attempt, if it may be written or is already stored."""
        return self._is_written(run, record_condition(run))

    def move(self, run: Run, seen: Run) -> bool:
        """Write a change of a run that was read, if the run is unchanged or the change is already stored."""
        return self._is_written(run, move_condition(run, seen))

    def release(self, run: Run) -> bool:
        """Remove the record of a claim, if it is unchanged or gone already."""
        return self._table.delete(_key(run), _Condition(release_condition(run))) is None

    def of(self, trigger: Trigger) -> Run | None:
        """The run of that trigger, by its key."""
        name = RunName(trigger.due_at, trigger.index, trigger.demand)
        raw = self._table.get(_place(trigger.key, name, trigger.uid))
        return None if raw is None else _run(raw)

    def of_flags(self, flags: "Sequence[Flag]") -> Sequence[Run]:
        """The runs that flags name, a hundred to a request."""
        keys = [_place(each.key, each.run, each.uid) for each in flags]
        return [_run(raw) for raw in self._table.get_batch(keys)]

    def get(self, key: JobKey, run_id: str) -> Run | None:
        """The run of that name that started last. A key can have had several jobs, with one such run each."""
        name = parse_run_name(run_id)
        if name is None:
            return None
        partition, low = _place(key, name, "")
        in_range = RunItem.sk.between(low, low + AFTER_UIDS)
        found = map(_run, self._table.query((RunItem.pk == partition) & in_range).items)
        return max(found, key=lambda run: (run.started_at or 0, run.uid), default=None)

    def page(
        self, key: JobKey, state: State | None, before: str, limit: int, *, with_batches: bool = True
    ) -> Page[Run]:
        """Up to `limit` runs, newest due time first, by queries that run backwards: one, or with batches 17.

        Most jobs have no batches. So the partition of index 0 is asked for the whole page at once.
        """
        first = _partition(key, 0)
        listings = [Listing(lambda reached, _: self._query(first, reached, limit))]
        if with_batches:
            others = (_partition(key, index) for index in range(1, BATCH_PARTITIONS + 1))
            listings += [Listing(partial(self._query, each)) for each in others]
        found, following = merged(listings, _Newest(before), limit)
        items = tuple(run for run in map(_run, found) if state is None or run.state == state)
        return Page(items, None if following is None else str(following))

    def _query(self, partition: str, before: str, limit: int) -> tuple[Sequence[tuple[str, RawItem]], bool]:
        of_partition = RunItem.pk == partition
        condition = of_partition & (RunItem.sk < str(before)) if before else of_partition
        result = self._table.query(condition, limit, backwards=True)
        return [(_Newest(raw["sk"]["S"]), raw) for raw in result.items], result.has_more

    def _is_written(self, run: Run, condition: WriteCondition) -> bool:
        refusal = self._table.put(_item(run), _Condition(condition))
        if refusal is None:
            return True
        return refusal.stored is not None and is_same_write(_run(refusal.stored), run)


class _Newest(str):
    """A position of a run that sorts before those of older runs. An empty one is before the newest run."""

    __slots__ = ()

    def __lt__(self, other: str, /) -> bool:
        """Whether it is the position of a newer run."""
        return str.__gt__(self, other)


class _Condition(NamedTuple):
    """The condition of a write as an expression of DynamoDB.

    It is written here and not by pynamodb, which makes an object for each operand and takes several times as
    long (decision 034). With history, each delivery writes at least one such condition.
    """

    condition: WriteCondition

    def serialize(self, names: dict[str, str], values: dict[str, Any], /) -> str:
        """The expression. The names and values behind its placeholders are added to `names` and `values`."""
        clauses = [_clause(guard, names, values) for guard in self.condition.guards if guard.states]
        if self.condition.may_begin:
            clauses.insert(0, f"attribute_not_exists ({_name('pk', names)})")
        assert clauses, "no state leads to this one"
        return " OR ".join(clauses)


def _clause(guard: Guard, names: dict[str, str], values: dict[str, Any]) -> str:
    states = ", ".join(_value("state", state, values) for state in sorted(guard.states))
    terms = [f"{_name('state', names)} IN ({states})"]
    for name, value in guard.same.items():
        named = _name(name, names)
        is_absent = value is None
        terms.append(
            f"attribute_not_exists ({named})" if is_absent else f"{named} = {_value(name, value, values)}"
        )
    if guard.attempts_below is not None:
        before = _value("attempts", guard.attempts_below, values)
        terms.append(f"{_name('attempts', names)} < {before}")
    if guard.claim_over_at is not None:
        until = _value("claimed_until", guard.claim_over_at, values)
        terms.append(f"{_name('claimed_until', names)} <= {until}")
    return f"({' AND '.join(terms)})"


def _name(name: str, names: dict[str, str]) -> str:
    """The placeholder of an attribute. Many attribute names are reserved words of DynamoDB."""
    stored_name = attribute_forms(RunItem)[name].stored_name
    return names.setdefault(stored_name, f"#{stored_name}")


def _value(name: str, value: Any, values: dict[str, Any]) -> str:
    """The placeholder of a value of that attribute."""
    form, placeholder = attribute_forms(RunItem)[name], f":{len(values)}"
    values[placeholder] = {form.kind: form.serialize(value)}
    return placeholder


def _partition(key: JobKey, index: int) -> str:
    of_job = f"runs#{key.namespace}#{key.name}"
    return f"{of_job}#{index % BATCH_PARTITIONS}" if index else of_job


def _place(key: JobKey, name: RunName, uid: str) -> ItemKey:
    return _partition(key, name.index), run_position(name, uid)


def _key(run: Run) -> ItemKey:
    return _place(run.key, RunName(run.due_at, run.index, run.demand), run.uid)


def _item(run: Run) -> RunItem:
    return RunItem(
        *_key(run),
        uid=run.uid,
        due_at=run.due_at,
        index=run.index,
        state=run.state,
        attempts=run.attempts,
        rev=run.rev,
        sequence=run.sequence,
        started_at=run.started_at,
        ended_at=run.ended_at,
        lateness_ms=run.lateness_ms,
        next_attempt_at=run.next_attempt_at,
        response_code=run.response_code,
        answer=run.answer,
        reason=run.reason,
        skipped_for=run.skipped_for,
        owner=run.owner,
        claimed_until=run.claimed_until,
        round_from=run.round_from if run.is_redriven else None,
        round_at=run.round_at,
        round_ends=None if run.round_ends is None else list(run.round_ends),
        token=run.token,
        heartbeat_ms=run.heartbeat_ms,
        heartbeat_by=run.heartbeat_by,
        run_until=run.run_until,
        next_check_at=run.next_check_at,
        version=run.version,
        demand=demand_to_json(run.demand),
        payload=payload_to_json(run.payload),
        gone_at=run.expires_at,
        stands_for=None if run.count == 1 else run.count,
        last_due_at=run.last_due_at,
        result=run.result,
        last_failure=failure_to_json(run.last_failure),
        batch=batch_to_json(run.batch),
        permit=permit_to_json(run.permit),
        expires_at=expiry(run.expires_at),
    )


def _run(raw: RawItem) -> Run:
    item = RunItem.read(raw)
    _, namespace, name, *_ = item.pk.split("#")
    return Run(
        key=JobKey(namespace, name),
        uid=item.uid,
        due_at=item.due_at,
        index=item.index,
        state=cast("State", item.state),
        attempts=item.attempts,
        rev=item.rev,
        sequence=item.sequence,
        started_at=item.started_at,
        ended_at=item.ended_at,
        lateness_ms=item.lateness_ms,
        next_attempt_at=item.next_attempt_at,
        response_code=item.response_code,
        answer=item.answer,
        reason=item.reason,
        skipped_for=item.skipped_for,
        owner=item.owner,
        claimed_until=item.claimed_until,
        expires_at=item.gone_at,
        count=item.stands_for or 1,
        last_due_at=item.last_due_at,
        round_from=item.round_from or 1,
        round_at=item.round_at,
        round_ends=None if item.round_ends is None else tuple(item.round_ends),
        token=item.token,
        heartbeat_ms=item.heartbeat_ms,
        heartbeat_by=item.heartbeat_by,
        run_until=item.run_until,
        next_check_at=item.next_check_at,
        version=item.version,
        demand=demand_from_json(item.demand),
        payload=payload_from_json(item.payload),
        result=item.result,
        last_failure=failure_from_json(item.last_failure),
        batch=batch_from_json(item.batch),
        permit=permit_from_json(item.permit),
    )
