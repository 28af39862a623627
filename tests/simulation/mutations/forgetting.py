"""Errors with revisions that a job forgets: they are not filed, filed too late, or not looked for."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from unittest.mock import patch

from tests.simulation.mutations.registry import (
    Broken,
    Deferred,
    Instead,
    Ports,
    built,
    everywhere,
    mutation,
    replacing,
    together,
    wrapping,
)

from sweephand.base.instants import Instant
from sweephand.jobs.commit import Commits
from sweephand.model.job import Job, JobKey, Revision
from sweephand.model.revisions import revision_of
from sweephand.model.timer import OccurrenceTimer
from sweephand.model.trigger import HasRevision, Message, RangeMessage, TriggerMessage
from sweephand.runs import trigger_ranges
from sweephand.runs.delivery import Delivery, JobReads
from sweephand.wheel.arm import split_range
from sweephand.wheel.shard_visit import DueJobReads


def _files_nothing(ports: Ports) -> None:
    ports["jobs"] = Instead(ports["jobs"], file=lambda *_: None)


@mutation("A job keeps one earlier revision, and files none")
def keeps_one_revision() -> Broken:
    return together(everywhere("EARLIER_REVISIONS_MAX", 1), built(Commits, _files_nothing))


@mutation("A job keeps three earlier revisions, and files none")
def keeps_three_revisions() -> Broken:
    return together(everywhere("EARLIER_REVISIONS_MAX", 3), built(Commits, _files_nothing))


@mutation("A revision that does not fit into its job's item is not filed")
def files_no_revision() -> Broken:
    return built(Commits, _files_nothing)


@mutation("A revision is filed after the commit that removes it from its job")
def files_after_commit() -> Broken:
    deferred = Deferred()

    def change(ports: Ports) -> None:
        jobs = ports["jobs"]
        put = jobs.put

        def put_first(*args: object) -> object:
            is_written = put(*args)
            deferred.make()
            return is_written

        ports["jobs"] = Instead(jobs, put=put_first, file=deferred.of(jobs.file))

    return built(Commits, change)


def _marked_once(_: JobReads, delivery: Delivery) -> Delivery:
    """The delivery with the mark that its message has."""
    return delivery


@mutation("The delivery function does not read filed revisions")
def delivers_what_is_remembered() -> Broken:
    def remembered(_: JobReads, of: HasRevision, job: Job | None, __: Instant) -> Revision | None:
        return revision_of(job, of.uid, of.rev)

    return together(
        patch.object(JobReads, "revision", remembered), patch.object(JobReads, "mark_owed", _marked_once)
    )


@mutation("The triggers of a range are marked as owed, even if their revision ends before them")
def owes_all_of_a_range() -> Broken:
    def owed(whole: RangeMessage) -> Iterator[Message]:
        for each in split_range(whole):
            yield each._replace(is_owed=True) if isinstance(each, TriggerMessage) else each

    return together(
        patch.object(trigger_ranges, "split_range", owed), patch.object(JobReads, "mark_owed", _marked_once)
    )


@mutation("A trigger that had to wait stays owed, even if its revision has ended", first=4_500)
@wrapping(JobReads, "mark_owed")
def owes_what_waited(mark_owed: Callable[..., Delivery], reads: JobReads, delivery: Delivery) -> Delivery:
    return delivery if delivery.message.is_owed else mark_owed(reads, delivery)


@mutation("A sweeper does not read filed revisions")
@replacing(DueJobReads, "_with_filed")
def sweeps_what_is_remembered(
    _: DueJobReads, __: Sequence[OccurrenceTimer], jobs: Mapping[JobKey, Job]
) -> Mapping[JobKey, Job]:
    return jobs
