"""Packing: which timers that are written together share a pack, and what the pack is called."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Final, NamedTuple

from sweephand.base.instants import Instant
from sweephand.model.timer import OccurrenceTimer, Place, TimerPack, bucket_of, pack_key

#: DynamoDB bills whole KB. A pack of 20 timers fills one, and a pack of 100 wastes at most an eighth.
PACK_TIMERS_MAX: Final = 100

#: A pack's name is unique in its bucket. 96 bits of a hash make two equal names impossible in practice.
_NAME_LENGTH: Final = 24


class Successor(NamedTuple):
    """The successor of a timer, and the timer's number in its chunk."""

    number: int
    timer: OccurrenceTimer


def packed(
    chunk: Sequence[Place], successors: Sequence[Successor]
) -> tuple[list[OccurrenceTimer], list[TimerPack]]:
    """The successors of a chunk's timers: those that are alone in their bucket, and packs of the others.

    `chunk` has the places of all its timers.

    The timers of a pack follow from the timers between two places of the chunk, and the pack is named after
    these two places. So every sweeper that writes a pack of some name has packed the same timers. The packs
    of two sweepers differ only by timers whose revisions have ended: those never rule again.
    """
    singles: list[OccurrenceTimer] = []
    packs: list[TimerPack] = []
    by_bucket: dict[Instant, dict[str, Successor]] = {}
    for each in successors:
        timer = each.timer
        if timer.demand is not None:
            # A batch on demand is rare, and its timer carries data. So a pack has no columns for it.
            singles.append(timer)
            continue
        # Two timers of a job that lead to the same successor continue as one.
        by_bucket.setdefault(bucket_of(timer.due_at), {}).setdefault(timer.sort_key, each)
    for bucket_at, of_bucket in by_bucket.items():
        group, begin = list(of_bucket.items()), 0
        for start in range(0, len(group), PACK_TIMERS_MAX):
            part = group[start : start + PACK_TIMERS_MAX]
            is_last = start + PACK_TIMERS_MAX >= len(group)
            _, last = part[-1]
            end = len(chunk) - 1 if is_last else last.number
            if len(part) == 1:
                singles.append(last.timer)
            else:
                name = _hashed(*chunk[begin], *chunk[end])
                packs.append(_pack(bucket_at, name, dict(part)))
            begin = end + 1
    return singles, packs


def packed_new(timers: Sequence[OccurrenceTimer]) -> list[OccurrenceTimer | TimerPack]:
    """The timers of jobs that are created together, in packs by shard and bucket.

    The timers lie beyond the horizon of every sweeper that may run before the jobs are committed. So does the
    beginning of each timer's bucket, where its pack lies, because a sweep reads whole buckets. The name of a
    pack holds the `uid` of a job, which this creation alone uses: no other writer writes a pack of that name.
    """
    places: dict[tuple[int, Instant], list[OccurrenceTimer]] = {}
    for timer in timers:
        places.setdefault((timer.shard, bucket_of(timer.due_at)), []).append(timer)
    found: list[OccurrenceTimer | TimerPack] = []
    for (shard, bucket_at), group in places.items():
        group.sort(key=lambda timer: timer.sort_key)
        for start in range(0, len(group), PACK_TIMERS_MAX):
            part = group[start : start + PACK_TIMERS_MAX]
            if len(part) == 1:
                found += part
            else:
                first = part[0]
                name = _hashed("created", first.uid, first.sort_key)
                found.append(TimerPack(shard, pack_key(bucket_at, name), tuple(part)))
    return found


def _pack(bucket_at: Instant, name: str, successors: Mapping[str, Successor]) -> TimerPack:
    """The pack of that name. `successors` has the successors by their sort keys."""
    timers = [successors[key].timer for key in sorted(successors)]
    return TimerPack(timers[0].shard, pack_key(bucket_at, name), tuple(timers))


def _hashed(*parts: str) -> str:
    return sha256("\n".join(parts).encode()).hexdigest()[:_NAME_LENGTH]
