"""Checks of jobs whose runs take turns: one at a time, in order, bounded, and skipped only for a reason.

semantics.md, "Overlap": a trigger may come due while a run of the same job is not over. Then it is skipped,
or waits in order, or waits until a newer one comes. A run lasts from its claim, before its first request,
until its record says that it is over, retries included. If its deliverer dies, the run goes on when its
message comes again. Only a run without activity for an hour does not hold its job any longer.
"""

from collections import defaultdict
from collections.abc import Iterator

from tests.simulation.oracle.enumeration import length_ms
from tests.simulation.oracle.lives import told
from tests.simulation.oracle.tale import Tale
from tests.simulation.oracle.turns import (
    ABANDONED_MS,
    PROCESS_MS,
    SIMULATED_SKEW_MS,
    Rule,
    Turns,
    id_of,
    may_overlap,
    moments,
    rules,
)
from tests.simulation.oracle.windows import may_hold
from tests.simulation.traces.trace import InLine, LineStored, Mishap, Requested, RunStored

#: Two functions' clocks differ by less than this (protocol.md, "Clocks").
SKEW_MS = 90_000

#: A claim lasts 180 s. The next attempt is in the queue for at most 900 s, or has a timer.
CLAIM_MS = 180_000
QUEUE_DELAY_MAX_MS = 900_000

#: A holder that is owed no more leaves the line within this time. A delivery may last 180 s after the cut.
#: Its message may take the rest: a function that receives it may die, or fail to read the job and put it
#: back.
LET_GO_MS = 1_800_000

#: A clock is ahead by at most this much, so a trigger that is due later has not come.
AHEAD_MS = 45_000

#: From one call of a thread to its next one it takes less than this, unless a fault meets the function.
STEP_MS = 1_000

#: The defaults of a job (semantics.md, "Delivery").
HEARTBEAT_TIMEOUT_DEFAULT = "5m"

#: The reason of a run that is skipped for another.
OVERLAP = "overlap"


def runs_take_turns(tale: Tale) -> Iterator[str]:
    """No request leaves while another run of its job is not over and was active in the last hour."""
    for turns, event in moments(tale):
        if not isinstance(event, Requested):
            continue
        for trigger_id, run in turns.begun.items():
            if trigger_id == event.trigger_id or may_overlap(turns.life, run.since, event.at):
                continue
            if turns.met_late(trigger_id) or turns.met_late(event.trigger_id):
                # Its message came back at the very instant at which others stopped waiting for it.
                continue
            gives_up = any(0 <= run.seen_at - at <= PROCESS_MS for at in tale.burials.get(trigger_id, ()))
            if gives_up and run.state == "claimed":
                # The function that gives a run up claims it, and makes no request.
                continue
            is_back = turns.is_back_behind(trigger_id, event.trigger_id) or turns.has_lost_turn(trigger_id)
            is_asked_for = event.is_on_demand or holds_by_hand(turns, event)
            makes_way = is_asked_for and may_hold(tale, event.name, run.since, event.at)
            is_let_pass = run.state == "retrying" and (is_back or makes_way or passes_by_hand(turns, event))
            if is_let_pass or (
                run.state == "running" and is_overdue(tale, trigger_id, run.seen_at, event.at)
            ):
                continue
            claimed_until = run.seen_at + CLAIM_MS if run.state == "claimed" else run.seen_at
            is_claim_over = run.state == "claimed" and event.at >= claimed_until - SIMULATED_SKEW_MS
            if is_claim_over and turns.is_taken_back(trigger_id, event.at):
                # No function begins a trigger that is owed no more, and a function that had begun it is gone.
                continue
            seen_at = max(claimed_until, turns.retry_at(trigger_id, event.at))
            if run.state == "running" or event.at < seen_at + ABANDONED_MS - SIMULATED_SKEW_MS:
                yield (
                    f"{event.name}: {event.trigger_id} left at {told(event.at)} beside {trigger_id}, "
                    f"which was {run.state} since {told(run.seen_at)}"
                )


def what_is_skipped_never_leaves(tale: Tale) -> Iterator[str]:
    """A trigger that is skipped for another run has not begun, is not on demand, and never leaves."""
    for turns, event in moments(tale):
        if isinstance(event, RunStored) and _is_skip(event):
            skipped = id_of(event)
            if not event.run_id[:1].isdigit():
                yield f"{event.name}: {skipped} is on demand, and was skipped at {told(event.at)}"
            for request in tale.requests_of.get(skipped, []):
                first, last = sorted((request.at, event.at))
                if not may_overlap(turns.life, first, last):
                    what = f"{event.name}: {skipped} was skipped at {told(event.at)}"
                    yield f"{what}, and left at {told(request.at)}"


def skips_have_their_reason(tale: Tale) -> Iterator[str]:
    """`skip`: another run was not over. `wait`: and as many waited as may. `waitLatest`: a newer one came."""
    arrived = _arrived(tale)
    for turns, event in moments(tale):
        if not isinstance(event, RunStored) or not _is_skip(event):
            continue
        skipped = id_of(event)
        reasons = [
            _missing(tale, turns, event, rule, arrived[event.uid])
            for rule in rules(turns.life, event.at - PROCESS_MS, event.at)
        ]
        if None not in reasons:
            yield f"{event.name}: {skipped} was skipped at {told(event.at)}, and {reasons[-1]}"


def turns_come_in_order(tale: Tale) -> Iterator[str]:
    """The line goes to the waiting trigger that was due first. One by hand may pass those of a paused job."""
    for turns, event in moments(tale):
        if not isinstance(event, LineStored) or event.holder is None:
            continue
        holder = event.holder
        if turns.holder is not None and turns.holder.trigger_id == holder.trigger_id:
            continue
        if holder.is_asked_for and _was_paused(turns, event.at):
            continue
        for each, since in turns.waiting.values():
            is_before = _place(each) < _place(holder)
            if not is_before or may_overlap(turns.life, since, event.at):
                continue
            if holder.is_asked_for and may_hold(tale, event.name, since, event.at):
                continue
            if turns.is_claimed(each.trigger_id):
                # It was claimed when its job let runs overlap, and its function is dead. It can leave the
                # line, and not be skipped.
                continue
            if not turns.is_taken_back(each.trigger_id, event.at):
                yield (
                    f"{event.name}: at {told(event.at)} the turn of {holder.trigger_id} came before that of "
                    f"{each.trigger_id}, which waited since {told(since)}"
                )


def _place(each: InLine) -> tuple[int, int, str]:
    return *_place_of(each.trigger_id, each.due_at), each.trigger_id


def _place_of(trigger_id: str, due_at: int) -> tuple[int, int]:
    """Where a trigger stands in a line: by its due time, and by its index in the batch of that occurrence."""
    _, _, after = trigger_id.partition(f"-{due_at}-")
    return due_at, int(after.partition("-")[0] or 0)


def lines_are_bounded(tale: Tale) -> Iterator[str]:
    """At most `waitLimit` triggers wait; one with `waitLatest`; and none with `skip`."""
    for turns, event in moments(tale):
        if not isinstance(event, LineStored) or not event.waiting:
            continue
        fresh = turns.fresh_in(event)
        since = min(
            (turns.waiting.get(each.trigger_id, (each, event.at))[1] for each in fresh), default=event.at
        )
        in_force = rules(turns.life, since - PROCESS_MS, event.at)
        if any(rule.mode == "allow" for rule in in_force):
            continue
        most = max({"wait": rule.limit, "waitLatest": 1}.get(rule.mode, 0) for rule in in_force)
        if len(fresh) > most:
            named = ", ".join(each.trigger_id for each in fresh[:2])
            what = f"{event.name}: at {told(event.at)} {len(fresh)} waited ({named} …)"
            yield f"{what}, and at most {most} may wait"


def is_overdue(tale: Tale, trigger_id: str, seen_at: int, at: int) -> bool:
    """Whether a consumer should have reported an hour ago, and the wheel still owes its deadline.

    The run counts as failed since then: only missing ticks have kept that from being recorded. A heartbeat
    extends the deadline and sends no message.
    """
    deadlines = tale.deadlines_of.get(trigger_id, [])
    latest = max((each for each in deadlines if each.at <= at), key=lambda each: each.at, default=None)
    if latest is None:
        return False
    is_owed = all(each.key < latest.sort_key for each in tale.cursors.get(latest.shard, []) if each.at <= at)
    if seen_at > latest.at + PROCESS_MS and not is_owed:
        return False
    life = tale.lives[latest.uid]
    timeouts = (each.definition.get("heartbeatTimeout", HEARTBEAT_TIMEOUT_DEFAULT) for each in life.writes)
    silent_at = seen_at + max(map(length_ms, timeouts)) if seen_at > latest.at + PROCESS_MS else 0
    return at >= max(latest.due_at, silent_at) + ABANDONED_MS - SIMULATED_SKEW_MS


def passes_by_hand(turns: Turns, event: Requested) -> bool:
    """Whether the trigger was made by hand, and a pause held the retry that it passed.

    It keeps the line for its own retries, also when the pause is over.
    """
    return holds_by_hand(turns, event) and any(_was_paused(turns, at) for at in (turns.held_since, event.at))


def holds_by_hand(turns: Turns, event: Requested) -> bool:
    """Whether the trigger holds the line, and somebody asked for it, by hand or by a redrive."""
    holder = turns.holder
    return holder is not None and holder.trigger_id == event.trigger_id and holder.is_asked_for


def _was_paused(turns: Turns, at: int) -> bool:
    """Whether a function that acts at that instant may have found the job paused."""
    stood = (turns.life.writes[each] for each in turns.life.stood(at - PROCESS_MS, at))
    return any(each.paused_at is not None for each in stood)


def _is_skip(event: RunStored) -> bool:
    return event.state == "skipped" and event.reason == OVERLAP


def _arrived(tale: Tale) -> dict[str, dict[str, int]]:
    """Return by uid the triggers with any event but a skip, and their due times."""
    arrived: dict[str, dict[str, int]] = defaultdict(dict)
    for uid, events in tale.turns_of.items():
        for event in events:
            if isinstance(event, LineStored):
                in_line = (event.holder, *event.waiting) if event.holder else event.waiting
                arrived[uid].update({each.trigger_id: each.due_at for each in in_line})
            elif isinstance(event, Requested):
                arrived[uid][event.trigger_id] = event.due_at
    return arrived


def _missing(tale: Tale, turns: Turns, event: RunStored, rule: Rule, arrived: dict[str, int]) -> str | None:
    """Return the missing reason for a skip by that rule, or None if there was one."""
    skipped = id_of(event)
    if rule.mode == "allow":
        return "its job lets runs overlap"
    if not _is_held(tale, turns, event.at, skipped) and not _is_passed(tale, turns, event, skipped):
        return "no other run was under way"
    if rule.mode == "wait":
        most = max(
            (
                sum(each.trigger_id != skipped for each in line.waiting)
                for line in turns.lines_since(event.at - PROCESS_MS)
            ),
            default=0,
        )
        return None if most >= rule.limit else f"{most} waited, of {rule.limit} that may wait"
    if rule.mode == "waitLatest":
        due_at = int(event.run_id.partition("-")[0])
        latest, mine = event.at + AHEAD_MS, _place_of(skipped, due_at)
        has_newer = any(mine < _place_of(*each) and each[1] <= latest for each in arrived.items())
        if not has_newer and _was_line_troubled(tale, event.at):
            # The function that made way for the trigger died before the trigger was in the line. When its
            # message came again, it was owed no more.
            reigns = (
                reign for number in turns.life.readable(event.at) for reign in turns.life.reigns(number)
            )
            has_newer = any(due_at < each for reign in reigns for each in reign.dues(latest))
        return None if has_newer or _is_gone(turns, event.at) else "no newer one had come"
    return None


def _was_line_troubled(tale: Tale, at: int) -> bool:
    """Whether a fault met the line, or came between a skip and its line, soon after that instant.

    A function works in several threads. If it stops in one of them, none goes on to its next write.
    """
    mishaps = [each for each in tale.of(Mishap) if at <= each.at <= at + PROCESS_MS]
    has_stopped = any(
        each.at <= at + STEP_MS
        and each.kind.startswith(("kill", "pause"))
        and each.where.startswith("deliver ")
        for each in mishaps
    )
    return has_stopped or any(port in each.where for each in mishaps for port in ("lines", "runs.record"))


def _is_passed(tale: Tale, turns: Turns, event: RunStored, skipped: str) -> bool:
    """Whether a waiting trigger was replaced as the line went to another trigger that waited."""
    if not turns.lines or all(each.trigger_id != skipped for each in turns.lines[-1].waiting):
        return False
    until = event.at + PROCESS_MS
    lines = (each for each in tale.turns_of[event.uid] if isinstance(each, LineStored))
    following = next((each for each in lines if event.at <= each.at <= until), None)
    is_given_on = following is not None and following.holder is not None
    # Between the skip and the write of its line the function may die, or the job may go.
    return is_given_on or _was_line_troubled(tale, event.at) or _is_gone(turns, event.at)


def _is_gone(turns: Turns, at: int) -> bool:
    """Whether the job was deleted by the time when a function that acts at that instant is done."""
    return turns.life.deleted_at is not None and turns.life.deleted_at <= at + PROCESS_MS


def _is_held(tale: Tale, turns: Turns, at: int, beside: str) -> bool:
    """Whether a function may have rightly found that the run of another trigger was not over."""
    if any(each != beside and over_at >= at - PROCESS_MS for each, over_at in turns.over.items()):
        return True
    cut = max(write.cut for write in turns.life.writes)

    def is_waited_for(trigger_id: str, seen_at: int) -> bool:
        latest = max(seen_at + QUEUE_DELAY_MAX_MS, cut, turns.retry_at(trigger_id, at))
        return at <= latest + ABANDONED_MS + SKEW_MS

    for trigger_id, run in turns.begun.items():
        if trigger_id != beside and (run.state == "running" or is_waited_for(trigger_id, run.seen_at)):
            return True
    holder = turns.holder
    if holder is None or holder.trigger_id == beside:
        return False
    if holder.trigger_id in turns.over and not (holder.is_asked_for and holder.attempt > 1):
        # A redriven trigger has the line for another turn.
        return False
    # The holder is about to begin. Others do not wait that long for a holder that never begins.
    has_reason = holder.trigger_id in tale.requests_of or holder.trigger_id in tale.buried
    has_end = turns.life.deleted_at is not None or turns.life.is_held
    if has_reason or has_end:
        return is_waited_for(holder.trigger_id, turns.held_since)
    return at <= max(turns.held_since, cut) + LET_GO_MS
