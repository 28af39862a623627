"""How runs are kept in the Jobs table: one item each, those of a job in the order of their due times."""

import re
from typing import Final, cast

from pynamodb.attributes import UnicodeAttribute

from sweephand.instants import INSTANT_MAX, Instant
from sweephand.jobs.job import JobKey
from sweephand.ports import Page
from sweephand.runs.run import Run, State
from sweephand.storage.item import IntegerAttribute, Item, JsonAttribute, expiry
from sweephand.storage.table import ItemKey, RawItem, Table

_RUN_ID: Final = re.compile(r"(0|[1-9][0-9]{0,14})-(0|[1-9][0-9]{0,6})", re.ASCII)

#: Sorts after every character of a uid.
_AFTER_UIDS: Final = "\x7f"


class RunItem(Item):
    """A run as stored. What a consumer or a person wrote is JSON, which keeps any text as it was."""

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
    owner = UnicodeAttribute(null=True)
    claimed_until = IntegerAttribute(null=True, attr_name="until")
    gone_at = IntegerAttribute(null=True, attr_name="gone")
    stands_for = IntegerAttribute(null=True, attr_name="count")
    last_due_at = IntegerAttribute(null=True, attr_name="last")


class DynamoRuns:
    """ports.RunStore on the Jobs table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def claim(self, run: Run, now: Instant) -> Run | None:
        """Write a `claimed` run if it is granted, or found written already: None; else what refuses it."""
        assert run.state == "claimed", "only a claim is claimed"
        assert run.owner, "a claim has a holder"
        absent = RunItem.pk.does_not_exist()
        over = RunItem.state.is_in("succeeded", "failed", "skipped")
        outpaced = (RunItem.attempts < run.attempts) & ~over
        abandoned = (
            (RunItem.attempts == run.attempts) & (RunItem.state == "claimed") & (RunItem.claimed_until <= now)
        )
        refusal = self._table.put(_item(run), absent | outpaced | abandoned)
        if refusal is None:
            return None
        stored = _run(refusal.shown)
        is_own = _is_by_the_same(stored, run) and stored.state == "claimed"
        return None if is_own else stored

    def record(self, run: Run) -> bool:
        """Write what became of an attempt if it may be written, or is found written already."""
        assert run.owner, "a record has an author"
        absent = RunItem.pk.does_not_exist()
        claimed = (
            (RunItem.attempts == run.attempts) & (RunItem.owner == run.owner) & (RunItem.state == "claimed")
        )
        refusal = self._table.put(_item(run), absent | claimed)
        if refusal is None:
            return True
        stored = _run(refusal.shown)
        return _is_by_the_same(stored, run) and stored.state == run.state

    def get(self, key: JobKey, run_id: str) -> Run | None:
        """The run of that name that started last, among the few that jobs of one key can have had."""
        match = _RUN_ID.fullmatch(run_id)
        if match is None or int(match[1]) > INSTANT_MAX:
            return None
        low = _position(int(match[1]), int(match[2]), "")
        in_range = RunItem.sk.between(low, low + _AFTER_UIDS)
        found = map(_run, self._table.query((RunItem.pk == _partition(key)) & in_range).items)
        return max(found, key=lambda run: (run.started_at or 0, run.uid), default=None)

    def page(self, key: JobKey, state: State | None, before: str, limit: int) -> Page[Run]:
        """Up to `limit` runs, newest due time first, by a query that runs backwards."""
        of_job = RunItem.pk == _partition(key)
        condition = of_job & (RunItem.sk < before) if before else of_job
        stretch = self._table.query(condition, limit, backwards=True)
        runs = (_run(raw) for raw in stretch.items)
        items = tuple(run for run in runs if state is None or run.state == state)
        return Page(items, stretch.items[-1]["sk"]["S"] if stretch.has_more else None)


def _partition(key: JobKey) -> str:
    return f"runs#{key.namespace}#{key.name}"


def _position(due_at: Instant, index: int, uid: str) -> str:
    return f"{due_at:014d}#{index:07d}#{uid}"


def _key(run: Run) -> ItemKey:
    return _partition(run.key), _position(run.due_at, run.index, run.uid)


def _is_by_the_same(stored: Run, run: Run) -> bool:
    return (stored.owner, stored.attempts) == (run.owner, run.attempts)


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
        owner=run.owner,
        claimed_until=run.claimed_until,
        gone_at=run.expires_at,
        stands_for=None if run.count == 1 else run.count,
        last_due_at=run.last_due_at,
        expires_at=expiry(run.expires_at),
    )


def _run(raw: RawItem) -> Run:
    item = RunItem.from_raw_data(dict(raw))
    _, namespace, name = item.pk.split("#")
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
        owner=item.owner,
        claimed_until=item.claimed_until,
        expires_at=item.gone_at,
        count=item.stands_for or 1,
        last_due_at=item.last_due_at,
    )
