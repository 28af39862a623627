"""Checks of bulk calls: an acknowledged call has changed each job that its filter chooses, and no other."""

from collections.abc import Iterator

from tests.simulation.oracle.ends import is_past
from tests.simulation.oracle.lives import Life, told
from tests.simulation.oracle.tale import Tale
from tests.simulation.traces.trace import Deleted, ManyAnswered, Mishap, Written

#: The states of a job since the call was asked for, one of which it needs when the call is acknowledged.
DONE = {"pause many": "paused", "resume many": "resumed", "delete many": "deleted"}

#: The verb of the trace's event for each job that a bulk call pauses, resumes or deletes.
_VERB_OF_EACH = {"pause many": "pause", "resume many": "resume", "delete many": "delete many"}


def bulk_calls_leave_none_out(tale: Tale) -> Iterator[str]:
    """Every chosen job that was there all the while was paused, resumed or deleted meanwhile.

    A job is chosen if it fits the filter and comes after the given cursor and not after the returned one. A
    call that was never acknowledged is judged as any other change.
    """
    for answer in tale.of(ManyAnswered):
        for life in tale.lives.values():
            if _is_meant(life, answer) and not _is_done(life, answer):
                what = f"{_named(answer)} was acknowledged at {told(answer.at)}"
                yield f"{what}, and {life.name} ({life.uid}) was not {DONE[answer.verb]}"


def bulk_calls_touch_no_other(tale: Tale) -> Iterator[str]:
    """No job is changed whose name or labels do not fit the filter, or that lies outside of the page."""
    for answer in tale.of(ManyAnswered):
        for uid in answer.changed:
            name = tale.lives[uid].name
            namesakes = (life for life in tale.lives.values() if life.name == name)
            is_chosen = any(
                answer.chosen.has(life.writes[number])
                for life in namesakes
                for number in life.stood(answer.asked_at, answer.at)
            )
            if not is_chosen or not _is_within(name, answer):
                yield f"{_named(answer)} changed {name} ({uid}), which it is not about"


def bulk_calls_count(tale: Tale) -> Iterator[str]:
    """A call counts the jobs that it changed, and at most those that others wrote or deleted meanwhile.

    There is one exception. The answer to a write may be lost, and another call may delete the job meanwhile.
    Then the repeated write finds no job and cannot tell which of the two calls came first. The call need not
    count this job.
    """
    for answer in tale.of(ManyAnswered):
        changed = len(set(answer.changed))
        meanwhile = [
            each
            for each in tale.events
            if isinstance(each, Written | Deleted)
            and answer.asked_at <= each.at <= answer.at
            and each.name.startswith(answer.chosen.prefix)
        ]
        others = len({each.name for each in meanwhile if each.uid not in answer.changed})
        is_alone = len(meanwhile) == len(answer.changed)
        fewest = changed
        if answer.count < changed and _is_write_unanswered(tale, answer):
            fewest -= sum(_is_deleted_by_another(uid, answer, meanwhile) for uid in set(answer.changed))
        if not fewest <= answer.count <= changed + others or (is_alone and answer.count != changed):
            yield f"{_named(answer)} changed {changed} jobs, and counted {answer.count}"


def bulk_calls_move_on(tale: Tale) -> Iterator[str]:
    """The cursor that a call returns lies behind the one that it was given, so a client reaches the end."""
    for answer in tale.of(ManyAnswered):
        if answer.reached is not None and answer.reached <= answer.chosen.after:
            yield f"{_named(answer)} came no further than {answer.reached}"


def _is_meant(life: Life, answer: ManyAnswered) -> bool:
    """Whether the job was there and fitted the filter all the while, and lies within the page."""
    first, deleted_at = life.writes[0], life.deleted_at
    # A deletion is to delete the job, so the job does not have to be there at the end.
    is_gone = deleted_at is not None and deleted_at <= answer.at
    is_gone |= any(gone <= answer.at and back > answer.asked_at for gone, back in life.gaps())
    if first.at > answer.asked_at or not _is_within(life.name, answer) or is_gone:
        return False
    stood = [life.writes[number] for number in life.stood(answer.asked_at, answer.at)]
    may_be_gone = any(is_past(each, answer.at) for each in stood)
    return not may_be_gone and all(answer.chosen.has(each) for each in stood)


def _is_write_unanswered(tale: Tale, answer: ManyAnswered) -> bool:
    """Whether during the call the answer to a write of a job was lost, so that the SDK repeated the write."""
    return any(
        each.kind in ("repeat", "answer lost")
        and " jobs." in each.where
        and answer.asked_at <= each.at <= answer.at
        for each in tale.of(Mishap)
    )


def _is_deleted_by_another(uid: str, answer: ManyAnswered, meanwhile: list[Written | Deleted]) -> bool:
    """Whether another call deleted the job of that name after this call had changed the job of that uid."""
    verb = _VERB_OF_EACH[answer.verb]
    ours = (number for number, each in enumerate(meanwhile) if (each.uid, each.verb) == (uid, verb))
    first = next(ours, None)
    if first is None:
        return False
    name = meanwhile[first].name
    deletions = [each.uid for each in meanwhile[first:] if isinstance(each, Deleted) and each.name == name]
    own = [each for each in answer.changed if answer.verb == "delete many" and each in deletions]
    return len(deletions) > len(own)


def _is_within(name: str, answer: ManyAnswered) -> bool:
    return name > answer.chosen.after and (answer.reached is None or name <= answer.reached)


def _is_done(life: Life, answer: ManyAnswered) -> bool:
    """Whether at some instant meanwhile the job had the state that the call asks for.

    A deleted job has none.
    """
    if answer.verb == "delete many":
        return False
    stood = (life.writes[number] for number in life.stood(answer.asked_at, answer.at))
    return any((each.paused_at is not None) == (answer.verb == "pause many") for each in stood)


def _named(answer: ManyAnswered) -> str:
    by = [f"names from {answer.chosen.prefix}"] if answer.chosen.prefix else []
    by += [f"{name} {value}" for name, value in answer.chosen.labels.items()]
    after = f" after {answer.chosen.after}" if answer.chosen.after else ""
    return f"{answer.verb} by {', '.join(by)}{after}"
