"""Checks of requests to consumers: none is missing, early, not owed, after a cancel, or under two names."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise

from tests.simulation.oracle.chains import CHAINED
from tests.simulation.oracle.jobs import SKEW_MS
from tests.simulation.oracle.lives import READ_AGE_MS, Life, told
from tests.simulation.oracle.misfires import misfires
from tests.simulation.oracle.owed import is_excused, owed
from tests.simulation.oracle.tale import Tale
from tests.simulation.traces.trace import Answered, Buried, Requested

#: The body of a job without data.
NO_DATA = "null"

#: The part of a trigger by hand's id that follows its job's uid.
MANUAL = "-manual-"


def nothing_is_lost(tale: Tale) -> Iterator[str]:
    """At least once: every due time that a job owed was requested, whatever crashed."""
    requested = {(each.uid, each.due_at) for each in tale.requests if not each.is_on_demand}
    for life in tale.lives.values():
        for reign, due_at in owed(tale, life):
            if (life.uid, due_at) not in requested and not is_excused(tale, life, reign, due_at):
                what = f"{life.name}: {life.uid} owed {told(due_at)} (revision {reign.rev})"
                yield f"{what}; no request left for it"


def what_was_asked_for_leaves(tale: Tale) -> Iterator[str]:
    """A trigger by hand leaves if its client was told that it is on its way. The job only has to be there."""
    asked = Counter(
        each.uid for each in tale.of(Answered) if each.verb == "trigger" and each.uid and not each.error
    )
    left: dict[str, set[str]] = defaultdict(set)
    for request in tale.requests:
        if request.is_on_demand and MANUAL in request.trigger_id:
            left[request.uid].add(request.trigger_id)
    over = {*tale.buried, *tale.ended_by_hand}
    given_up = Counter(each.partition(MANUAL)[0] for each in over if MANUAL in each)
    for uid, number in asked.items():
        life = tale.lives.get(uid or "")
        if life is not None and life.deleted_at is None and len(left[life.uid]) + given_up[life.uid] < number:
            what = f"{life.name}: {number} triggers by hand of {uid} were acknowledged"
            yield f"{what}, and requests left for {len(left[life.uid])}"


def nothing_is_early(tale: Tale) -> Iterator[str]:
    """Never early: by the delivery function's clock, and by true time but for the differences of clocks."""
    for request in tale.requests:
        if request.is_on_demand:
            continue
        if request.clock_at < request.due_at:
            yield f"{_named(request)} left at {told(request.clock_at)} by its function's clock: early"
        elif request.at < request.due_at - SKEW_MS:
            yield f"{_named(request)} left at {told(request.at)}, earlier than any clock is ahead"


def only_what_is_owed_is_requested(tale: Tale) -> Iterator[str]:
    """A first attempt is owed by its job, as it was at most 1 s before, under that number."""
    for request in tale.requests:
        if request.is_on_demand or request.attempt > 1:
            continue
        life = tale.lives.get(request.uid)
        if life is None:
            yield f"{_named(request)} is of a job that was never written"
        elif complaint := _unowed(life, request):
            yield f"{_named(request)} {complaint}"


def skipped_misfires_stay_skipped(tale: Tale) -> Iterator[str]:
    """Of the misfires of a pause the resumed revision fires those that catch-up says, and no others."""
    for life in tale.lives.values():
        for number, write in enumerate(life.writes):
            if write.verb != "resume":
                continue
            skipped = misfires(life, number).skipped
            for request in tale.requests:
                is_its_own = (request.uid, request.rev) == (life.uid, write.rev) and not request.is_on_demand
                if is_its_own and request.due_at in skipped:
                    yield f"{_named(request)} was a misfire of the pause, to be skipped"


def skipped_misfires_are_recorded(tale: Tale) -> Iterator[str]:
    """There is one record of the misfires that a resume skips, whichever function died."""
    for life in tale.lives.values():
        resumes = [number for number, write in enumerate(life.writes) if write.verb == "resume"]
        for number in resumes if life.deleted_at is None else ():
            write, skipped = life.writes[number], misfires(life, number).skipped
            if not skipped or write.at > tale.through or _is_range_given_up(tale, life.uid, skipped[0]):
                continue
            stored = [tale.runs_of.get((life.uid, f"{due_at}-0"), []) for due_at in skipped]
            # By another function's clock some left before the pause, so they have runs of their own.
            if not all(stored) and not any(each.reason == "misfire" for run in stored for each in run):
                what = f"{life.name}: {len(skipped)} misfires from {told(skipped[0])} on"
                yield f"{what} were skipped by the resume at {told(write.at)}, and there is no record of it"


def _is_range_given_up(tale: Tale, uid: str, first: int) -> bool:
    return any(each.uid == uid and each.due_range and each.due_range[0] == first for each in tale.of(Buried))


def nothing_begins_after_a_cancel(tale: Tale) -> Iterator[str]:
    """No request leaves more than 1 s after its job was deleted or paused.

    A trigger by hand of a paused job may leave, and so may a redriven one. A chained one may not.
    """
    for request in tale.requests:
        life = tale.lives.get(request.uid)
        if life is None:
            continue
        if life.deleted_at is not None and request.at > life.deleted_at + READ_AGE_MS:
            yield f"{_left(request)}; its job was deleted at {told(life.deleted_at)}"
            continue
        for gone_at, back_at in life.gaps():
            if gone_at + READ_AGE_MS < request.at < back_at:
                yield f"{_left(request)}; its job was deleted at {told(gone_at)}, and not yet back"
        stood = [life.writes[number] for number in life.readable(request.at)]
        is_by_hand = request.is_on_demand and CHAINED not in request.trigger_id
        redriven_from = tale.redriven_from.get(request.trigger_id)
        if is_by_hand or (redriven_from is not None and request.attempt >= redriven_from):
            continue
        if stood and all(each.paused_at is not None for each in stood):
            yield f"{_left(request)}; its job was paused at {told(stood[0].at)}"


def triggers_have_one_identity(tale: Tale) -> Iterator[str]:
    """One trigger has one id, and one id has one trigger. In a revision it has one number."""
    ids: dict[tuple[str, int, int], set[str]] = defaultdict(set)
    triggers: dict[str, set[tuple[str, int, int]]] = defaultdict(set)
    numbers: dict[tuple[str, str], set[int]] = defaultdict(set)
    for request in tale.requests:
        trigger = (request.uid, request.due_at, request.index)
        triggers[request.trigger_id].add(trigger)
        numbers[request.trigger_id, request.rev].add(request.sequence)
        if not request.is_on_demand:
            ids[trigger].add(request.trigger_id)
    for trigger, of_it in ids.items():
        if len(of_it) > 1:
            yield f"one trigger of {trigger[0]}, due {told(trigger[1])}, left as {sorted(of_it)}"
    for trigger_id, named in triggers.items():
        if len(named) > 1:
            yield f"{trigger_id} names {len(named)} triggers"
    for (trigger_id, rev), counted in numbers.items():
        if len(counted) > 1:
            yield f"{trigger_id} of revision {rev} has the numbers {sorted(counted)}"


def data_is_of_the_present(tale: Tale) -> Iterator[str]:
    """A request carries the data that the job had at most 1 s before it left."""
    for request in tale.requests:
        life = tale.lives.get(request.uid)
        if life is None or request.is_on_demand:
            continue
        readable = (life.writes[number] for number in life.readable(request.at))
        texts = {each.definition.get("data", NO_DATA) for each in readable}
        if texts and request.data not in texts:
            yield f"{_named(request)} carries {request.data!r}; in force was {' or '.join(sorted(texts))!r}"


def nothing_comes_twice_in_calm(tale: Tale) -> Iterator[str]:
    """When no fault happens, each revision's triggers leave once: no chain of timers has doubled."""
    if tale.echo_ends_at is None:
        return
    times: dict[tuple[str, str, int], list[int]] = defaultdict(list)
    for each in tale.requests:
        if not each.is_on_demand and tale.echo_ends_at < each.due_at <= tale.through:
            times[each.trigger_id, each.rev, each.attempt].append(each.at)
    for (trigger_id, rev, attempt), sent in times.items():
        is_explained = _is_at_a_border_of_parts(tale, trigger_id) or _are_cut_off(tale, sent)
        if len(sent) > 1 and not is_explained:
            yield f"attempt {attempt} of {trigger_id} (revision {rev}) left {len(sent)} times in the calm"


def _are_cut_off(tale: Tale, sent: list[int]) -> bool:
    """Whether a trigger that ends its function may have ended the one of each request but the last.

    Poison acts in the calm, too. The other triggers of that function then come again.
    """
    return all(any(first <= at <= then for at in tale.killed_at) for first, then in pairwise(sorted(sent)))


def _is_at_a_border_of_parts(tale: Tale, trigger_id: str) -> bool:
    """Whether a trigger may begin a part of a list that a rebuild has cut otherwise than its revision."""
    life = tale.lives.get(trigger_id.partition("-")[0])
    if not tale.losses or life is None:
        return False
    return any(isinstance(each.definition.get("schedule"), list) for each in life.writes)


def repeats_are_exact(tale: Tale) -> Iterator[str]:
    """No trigger has a number below 1, or above what any version of its job allows."""
    for request in tale.requests:
        life = tale.lives.get(request.uid)
        if life is None or request.is_on_demand:
            continue
        reign = life.reign(request.rev)
        repeats = reign.occurrences.timing.repeats if reign is not None else None
        if request.sequence < 1 or (repeats is not None and request.sequence > repeats):
            yield f"{_named(request)} has the number {request.sequence} of {repeats}"


def _unowed(life: Life, request: Requested) -> str | None:
    """Return why no version of the job that may have been read owed that trigger, or None if one did."""
    reasons: list[str] = []
    for number in life.readable(request.at):
        reign = life.reign(request.rev, number)
        if life.writes[number].paused_at is not None:
            reasons.append("was held: its job is paused")
        elif reign is None:
            reasons.append("is of a revision that was not committed")
        elif not reign.owns(request.due_at):
            until = "" if reign.until is None else f" until {told(reign.until)}"
            reasons.append(f"was not owed by its revision, which ruled since {told(reign.since)}{until}")
        elif (sequence := reign.occurrences.number_of(request.due_at)) is None:
            reasons.append("is no occurrence of its schedule")
        elif sequence != request.sequence:
            reasons.append(f"has the number {request.sequence} and is occurrence {sequence}")
        else:
            return None
    return reasons[-1] if reasons else "is of a job that was not there"


def _named(request: Requested) -> str:
    what = f"{request.name}: attempt {request.attempt} of {request.trigger_id}"
    return f"{what}, due {told(request.due_at)}, of revision {request.rev},"


def _left(request: Requested) -> str:
    return f"{_named(request)} left at {told(request.at)}"
