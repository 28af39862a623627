"""Checks of calls that write many jobs: each job has an answer of its own, and the answer is true."""

from collections.abc import Iterator

from tests.simulation.oracle.jobs import SKEW_MS
from tests.simulation.oracle.lives import told
from tests.simulation.oracle.tale import Tale
from tests.simulation.traces.rare_events import BulkWriteAnswered, EntryAnswered
from tests.simulation.traces.trace import Deleted, Mishap, Written

#: The API gives up by itself when a request is this old (protocol.md, "Arming").
GIVES_UP_MS = 20_000

#: What the problem of a job says, in lower case, that was not written while others of the call were.
NOT_WRITTEN = "this job was not written."

#: The status of a job for which its namespace has no place.
TOO_MANY = 429

#: Faults at a call of a port. Each may cost one job its answer.
FAULTS = ("throttle", "loss", "part", "repeat", "answer lost")

#: Faults that last. While one lasts, any number of jobs may fail. The first number in a fault's name is its
#: length in ms.
LASTING = ("outage of ", "throttled writes of ", "slowness of ")


def acknowledged_entries_stand(tale: Tale) -> Iterator[str]:
    """A job that a call acknowledged was there during the call, in that revision and with that data.

    If the client was told that the call created the job (201), the call itself wrote its first revision.
    """
    if not tale.bulk_writes:
        return
    created = {each.rev for each in tale.of(Written) if each.verb == "create"}
    for answer, entry in _entries(tale):
        if not entry.is_acknowledged:
            continue
        if not _was_there(tale, answer, entry):
            yield f"{_named(answer, entry)} was acknowledged as {entry.rev}, and no such job was there"
        elif entry.status == 201 and entry.rev not in created.intersection(answer.written):
            yield f"{_named(answer, entry)} counts as created, and the call did not create it"


def refused_entries_leave_nothing(tale: Tale) -> Iterator[str]:
    """A job that was refused is in no store, and none of its triggers leaves.

    The data of a refused entry is its own. An entry that was not written for lack of time was not written by
    that call. Nor was one for which there was no place: the client repeats a call of which some jobs failed,
    and by then there may be a place.
    """
    if not tale.bulk_writes:
        return
    written = {each.definition.get("data") for each in tale.of(Written)}
    requested = {each.data for each in tale.requests}
    of_rev = {each.rev: each for each in tale.of(Written)}
    for answer, entry in _entries(tale):
        ours = [of_rev[rev] for rev in answer.written if rev in of_rev]
        is_ours = any((each.name, each.definition.get("data")) == (entry.name, entry.data) for each in ours)
        is_stored = is_ours if entry.status == TOO_MANY else entry.data in written | requested
        if entry.is_refused and entry.data is not None and is_stored:
            what = "fired" if entry.data in requested else "was written"
            yield f"{_named(answer, entry)} was refused with {entry.status}, and {what}"
        if NOT_WRITTEN in entry.detail.lower() and is_ours:
            yield f"{_named(answer, entry)} counts as not written, and the call wrote it"


def entries_are_judged_alone(tale: Tale) -> Iterator[str]:
    """A call answers each job under its name. It writes no invalid job, and refuses no valid one.

    If stores fail, the times of an invalid job may not have been read yet. A valid job may be one too many
    for its namespace.
    """
    for answer, entry in _entries(tale):
        if entry.told_name != entry.name:
            yield f"{_named(answer, entry)} was answered as {entry.told_name}"
        is_judged = entry.is_refused and entry.status != TOO_MANY
        if is_judged if entry.is_valid else entry.is_acknowledged:
            what = "valid" if entry.is_valid else "invalid"
            yield f"{_named(answer, entry)} is {what}, and was answered with {entry.status}"


def failures_cost_one_job_each(tale: Tale) -> Iterator[str]:
    """One fault costs at most one job of a call its answer, unless the fault lasts or time was over."""
    mishaps = tale.of(Mishap) if tale.bulk_writes else []
    for answer in tale.bulk_writes:
        failed = [each for each in answer.entries if not each.is_acknowledged and not each.is_refused]
        if not failed or answer.at - answer.asked_at > GIVES_UP_MS:
            continue
        if any(_lasts_into(each, answer) for each in mishaps):
            continue
        if tale.has_clock_stepped(answer.asked_at, answer.at):
            # By the clock that has stepped, the time of the call is over.
            continue
        faults = [each for each in mishaps if _is_fault_of(each, answer)]
        if len(failed) > len(faults):
            yield f"{len(failed)} jobs failed in {_call(answer)}, which met {len(faults)} faults"


def creations_replace_no_job(tale: Tale) -> Iterator[str]:
    """A new job takes the place of one of its name only if that one's time to live is over."""
    for gone in tale.of(Deleted):
        life = tale.lives.get(gone.uid)
        if gone.verb != "create" or life is None:
            continue
        stood = [each for each in life.writes if each.at <= gone.at]
        expires_at = stood[-1].expires_at if stood else None
        if expires_at is None or expires_at > gone.at + SKEW_MS:
            what = f"{gone.name}: {gone.uid} was there at {told(gone.at)}"
            yield f"{what}, and another creation replaced it"


def _entries(tale: Tale) -> Iterator[tuple[BulkWriteAnswered, EntryAnswered]]:
    for answer in tale.bulk_writes:
        for entry in answer.entries:
            yield answer, entry


def _was_there(tale: Tale, answer: BulkWriteAnswered, entry: EntryAnswered) -> bool:
    for life in tale.lives.values():
        if life.name != entry.name:
            continue
        for number in life.stood(answer.asked_at, answer.at):
            write = life.writes[number]
            if write.rev == entry.rev and write.definition.get("data") == entry.data:
                return True
    return False


def _is_fault_of(mishap: Mishap, answer: BulkWriteAnswered) -> bool:
    is_theirs = mishap.where.startswith(f"{answer.process} ")
    return is_theirs and mishap.kind in FAULTS and answer.asked_at <= mishap.at <= answer.at


def _lasts_into(mishap: Mishap, answer: BulkWriteAnswered) -> bool:
    if not mishap.kind.startswith(LASTING) or mishap.at > answer.at:
        return False
    lasts_ms = int(mishap.kind.split(" of ")[1].split()[0])
    return mishap.at + lasts_ms >= answer.asked_at


def _call(answer: BulkWriteAnswered) -> str:
    return f"the bulk write that was answered at {told(answer.at)}"


def _named(answer: BulkWriteAnswered, entry: EntryAnswered) -> str:
    return f"{entry.name}: an entry of {_call(answer)}"
