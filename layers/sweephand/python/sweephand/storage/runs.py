"""How runs and their flags are stored in the Jobs table: one item each, ordered by due time.

A partition of DynamoDB takes 1,000 writes a second, and a batch may end many more runs. So the runs of a
batch are spread over 16 partitions by their index. Runs with index 0, which are all runs of a job without
batches, have a partition of their own (decision 042). The flags of a namespace are spread over 16 partitions
too.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final, NamedTuple, get_args
from zlib import crc32

from sweephand.base.instants import SECOND_MS, Instant
from sweephand.base.layouts import NAME, NUMBER, SENTENCE, WHOLE, Field, Layout, Part, choice_of
from sweephand.model.job import JobKey
from sweephand.model.page import Page
from sweephand.model.run import (
    Flag,
    Guard,
    Run,
    State,
    WriteCondition,
    claim_condition,
    is_same_write,
    last_flag_at,
    move_condition,
    record_condition,
    release_condition,
)
from sweephand.model.run_id import AFTER_UIDS, RunName, parse_run_name, run_position
from sweephand.model.trigger import Trigger
from sweephand.model.wire_parts import (
    BATCH_PLACE,
    DEMAND,
    FAILED_ATTEMPTS,
    FAILURE,
    ORIGIN,
    PAYLOAD,
    PERMIT,
    RESULT,
    ROUND_ENDS,
)
from sweephand.storage.item import Item, StoredItem, attribute_value, expiry, fields_of
from sweephand.storage.listing import Listing, merged
from sweephand.storage.table import Expression, ItemKey, RawItem, Table

#: The partitions of a job's runs with an index over 0.
BATCH_PARTITIONS: Final = 16


#: A run as stored. Its key holds the namespace and the name of its job.
_RUN: Final = Layout(
    Run,
    Field("uid", "uid", NAME),
    Field("due_at", "due", WHOLE),
    Field("index", "index", WHOLE),
    Field("state", "state", choice_of(*get_args(State))),
    Field("attempts", "attempts", WHOLE),
    Field("rev", "rev", NAME),
    Field("sequence", "seq", WHOLE),
    Field("started_at", "started", WHOLE, None),
    Field("ended_at", "ended", WHOLE, None),
    Field("lateness_ms", "late", NUMBER, None),
    Field("next_attempt_at", "next", NUMBER, None),
    Field("response_code", "code", WHOLE, None),
    Field("answer", "answer", SENTENCE, None),
    Field("reason", "reason", SENTENCE, None),
    Field("skipped_for", "for", NAME, None),
    Field("owner", "owner", NAME, None),
    Field("claimed_until", "until", NUMBER, None),
    Field("round_from", "round", WHOLE, 1),
    Field("round_at", "round_at", WHOLE, None),
    Field("round_ends", "ends", ROUND_ENDS, None),
    Field("version", "version", NAME, None),
    Field("token", "token", NAME, None),
    Field("heartbeat_ms", "beat", WHOLE, None),
    Field("heartbeat_by", "beat_by", NUMBER, None),
    Field("run_until", "run_until", NUMBER, None),
    Field("next_check_at", "look_at", NUMBER, None),
    Field("demand", "demand", DEMAND.form, None),
    Field("payload", "payload", PAYLOAD, None),
    Field("expires_at", "gone", NUMBER, None),
    Field("count", "count", WHOLE, 1),
    Field("last_due_at", "last", WHOLE, None),
    Field("result", "result", RESULT, None),
    Field("last_failure", "failed", FAILURE.form, None),
    Field("batch", "batch", BATCH_PLACE.form, None),
    Field("permit", "permit", PERMIT.form, None),
    Field("origin", "origin", ORIGIN.form, None),
    Field("held_ms", "held", WHOLE, 0),
    Field("held_until", "held_until", WHOLE, None),
    Field("attempt_at", "attempt_at", WHOLE, None),
    Field("failed_attempts", "tries", FAILED_ATTEMPTS, ()),
)

#: The fields by their names in code.
_FIELDS: Final = {field.name: field for field in _RUN.fields}


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
        in_range = Item.sk.between(low, low + AFTER_UIDS)
        found = map(_run, self._table.query((Item.pk == partition) & in_range).items)
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
        found, following = merged(listings, _Newest(before), limit, self._table.concurrently)
        items = tuple(run for run in map(_run, found) if state is None or run.state == state)
        return Page(items, None if following is None else str(following))

    def newest(self, keys: Sequence[JobKey], limit: int) -> Sequence[Page[Run]]:
        """The first pages of runs with index 0 of several keys, by a query each, several at once."""
        return list(
            self._table.concurrently(
                [partial(self.page, each, None, "", limit, with_batches=False) for each in keys]
            )
        )

    def beside(
        self, key: JobKey, name: RunName, *, with_batches: bool = True
    ) -> tuple[Run | None, Run | None]:
        """The runs before and after a name, by two queries of one item, or with batches 34."""
        partitions = [_partition(key, index) for index in range(BATCH_PARTITIONS + 1 if with_batches else 1)]
        low = run_position(name, "")
        high = low + AFTER_UIDS
        older = [
            partial(self._nearest, (Item.pk == each) & (Item.sk < low), backwards=True) for each in partitions
        ]
        newer = [
            partial(self._nearest, (Item.pk == each) & (Item.sk > high), backwards=False)
            for each in partitions
        ]
        found = list(self._table.concurrently([*older, *newer]))
        before = [each for each in found[: len(older)] if each is not None]
        after = [each for each in found[len(older) :] if each is not None]
        return (
            _run(max(before, key=_position_of)) if before else None,
            _run(min(after, key=_position_of)) if after else None,
        )

    def _nearest(self, condition: Expression, *, backwards: bool) -> RawItem | None:
        return next(iter(self._table.query(condition, 1, backwards=backwards).items), None)

    def _query(self, partition: str, before: str, limit: int) -> tuple[Sequence[tuple[str, RawItem]], bool]:
        of_partition = Item.pk == partition
        condition = of_partition & (Item.sk < str(before)) if before else of_partition
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
    long (decision 006). With history, each delivery writes at least one such condition.
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
    stored_name = "pk" if name == "pk" else _FIELDS[name].stored
    return names.setdefault(stored_name, f"#{stored_name}")


def _value(name: str, value: Any, values: dict[str, Any]) -> str:
    """The placeholder of a value of that attribute."""
    field, placeholder = _FIELDS[name], f":{len(values)}"
    values[placeholder] = attribute_value(field, field.form.write(value))
    return placeholder


def _partition(key: JobKey, index: int) -> str:
    of_job = f"runs#{key.namespace}#{key.name}"
    return f"{of_job}#{index % BATCH_PARTITIONS}" if index else of_job


def _place(key: JobKey, name: RunName, uid: str) -> ItemKey:
    return _partition(key, name.index), run_position(name, uid)


def _position_of(raw: RawItem) -> str:
    position: str = raw["sk"]["S"]
    return position


def _key(run: Run) -> ItemKey:
    return _place(run.key, RunName(run.due_at, run.index, run.demand), run.uid)


def _item(run: Run) -> Item:
    return StoredItem(*_key(run), _RUN, run, expires_at=expiry(run.expires_at))


def _run(raw: RawItem) -> Run:
    _, namespace, name, *_ = raw["pk"]["S"].split("#")
    return Run(key=JobKey(namespace, name), **fields_of(_RUN, raw))


#: The partitions that one namespace is spread over. DynamoDB takes 1,000 writes a second in each, and a
#: consumer that is down can fail as many runs in a second as Sweephand delivers.
FLAG_PARTITIONS: Final = 16

#: A flag as stored. Its key holds the namespace, and `expires_at` its end in seconds.
_FLAG: Final = Layout(
    Flag,
    Part("key", Layout(dict, Field("name", "name", NAME))),
    Field("uid", "uid", NAME),
    Part(
        "run",
        Layout(
            RunName,
            Field("due_at", "due", WHOLE),
            Field("index", "index", WHOLE),
            Field("demand", "demand", DEMAND.form, None),
        ),
    ),
)


class DynamoFlags:
    """ports.FlagStore on the Jobs table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def put(self, flag: Flag) -> None:
        """Write a flag: 1 WRU."""
        position = flag.position
        partition = _flag_partition(flag.key.namespace, crc32(position.encode()) % FLAG_PARTITIONS)
        item = StoredItem(partition, position, _FLAG, flag, expires_at=expiry(flag.expires_at))
        self._table.put(item)

    def page(self, namespace: str, since: Instant, after: str, limit: int) -> Page[Flag]:
        """Up to `limit` flags, newest due time first, merged from 16 partitions."""
        # Nothing is due before 1970. The number in a position would have 16 digits there.
        high = last_flag_at(max(since, 0))
        listings = [
            Listing(partial(self._query, _flag_partition(namespace, partition), high))
            for partition in range(FLAG_PARTITIONS)
        ]
        items, following = merged(listings, after, limit, self._table.concurrently)
        return Page(tuple(_flag(raw) for raw in items), following)

    def _query(
        self, partition: str, high: str, after: str, limit: int
    ) -> tuple[Sequence[tuple[str, RawItem]], bool]:
        low = after + "\0"
        if low > high:
            return (), False
        result = self._table.query((Item.pk == partition) & Item.sk.between(low, high), limit)
        return [(raw["sk"]["S"], raw) for raw in result.items], result.has_more


def _flag_partition(namespace: str, partition: int) -> str:
    return f"flags#{namespace}#{partition}"


def _flag(raw: RawItem) -> Flag:
    fields = fields_of(_FLAG, raw)
    key = JobKey(raw["pk"]["S"].split("#")[1], **fields["key"])
    expires_at = int(raw["expires_at"]["N"]) * SECOND_MS if "expires_at" in raw else None
    return Flag(**fields | {"key": key}, expires_at=expires_at)
