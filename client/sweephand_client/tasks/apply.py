"""Makes the jobs of a namespace those that a file declares: first a plan of each change, then the calls.

The plan compares each job before it writes, because a PUT of every job would begin a completed one-off anew.
A file says by labels or a prefix which jobs it owns, and a label of each job says which file wrote it. A file
of the last state would not do: with one each, two people would delete each other's jobs.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, Final

from sweephand_client.api.client import Client
from sweephand_client.http.errors import InputError, NotFoundError
from sweephand_client.openapi.job_answers import WholeJobResponse
from sweephand_client.openapi.requests import CatchUpMode
from sweephand_client.tasks.job_fields import (
    FieldChange,
    changed_fields,
    stored_form,
    without_nulls,
    written_fields,
)
from sweephand_client.tasks.jobs_file import DeclaredJob, JobsFile
from sweephand_client.tasks.owners import Mark, foreign, marked, split_mark
from sweephand_client.tasks.resources import RESOURCES, Resource
from sweephand_client.tasks.steps import HELD, Done, Kind, Pausing, Step
from sweephand_client.tasks.writing import (
    attempt,
    create_paused,
    is_incomplete,
    remove_incomplete,
    write_job,
    write_jobs,
)

#: How many jobs are read or deleted at the same time.
_AT_ONCE: Final = 8


def plan(
    client: Client,
    namespace: str,
    file: JobsFile,
    *,
    prunes: bool = False,
    takes_over: bool = False,
    seen: Callable[[], None] = lambda: None,
) -> list[Step]:
    """The steps that make the namespace what the file declares: resources and then jobs, each by name.

    `seen` is called for each job read. With `prunes`, each job is deleted that the file owns and does not
    declare, and each resource for which it has null. A resource that the stack would refuse has its problem
    in its step. So has a job that this file did not write as it is, unless it `takes_over`, or changes
    nothing. Raises InputError if the file does not mark what it owns.
    """
    if prunes and not file.owns:
        raise InputError("To prune, the file must mark what it owns. Give it labels: or prefix: at the top.")
    resources = [
        found
        for each in RESOURCES
        for name, body in sorted(file.resources.get(each.field, {}).items())
        if (found := _resource_step(client, namespace, each, name, body, prunes=prunes)) is not None
    ]
    settings: Mapping[str, Any] = client.namespaces.get(namespace)
    for each in resources:
        if each.resource is not None and each.resource.kind == "settings" and not each.problem:
            settings = each.body or settings
    default_retry = without_nulls(settings.get("defaultRetry"))

    planner = _Planner(client, namespace, file, default_retry, takes_over=takes_over)

    def step(declared: DeclaredJob) -> Step:
        found = planner.step(declared)
        seen()
        return found

    with ThreadPoolExecutor(_AT_ONCE) as threads:
        steps = list(threads.map(step, file.jobs))
        if prunes:
            kept = {each.name for each in file.jobs}
            listed = client.jobs.list(namespace, prefix=file.prefix, labels=file.labels)
            others = [each["name"] for each in listed if each["name"] not in kept]
            steps += [each for each in threads.map(planner.deletion, others) if each is not None]
    return resources + sorted(steps, key=lambda each: each.name)


def _resource_step(
    client: Client,
    namespace: str,
    resource: Resource,
    name: str,
    body: Mapping[str, Any] | None,
    *,
    prunes: bool,
) -> Step | None:
    """The step of a resource; None if it is to be deleted, and there is none or nothing is pruned."""
    stored = resource.read(client, namespace, name)
    rev = None if stored is None else stored["rev"]
    if body is None:
        return Step("delete", name, rev=rev, resource=resource) if prunes and stored is not None else None
    fields = resource.changes(stored, body, {})
    problem = None
    if stored is None or fields or resource.kind == "calendar":
        problem, preview = resource.judge(client, namespace, name, body)
        fields = resource.changes(stored, body, preview)
    kind: Kind = "create" if stored is None else "change" if fields or problem else "same"
    return Step(kind, name, fields=fields, rev=rev, resource=resource, body=body, problem=problem)


def carry_out(
    client: Client,
    namespace: str,
    steps: Iterable[Step],
    *,
    reason: str | None = None,
    catchup: CatchUpMode | None = None,
) -> Iterator[Done]:
    """Carry out the steps, and tell of each that changes something when it is over.

    Resources are written first, since jobs may name them. Jobs are paused before they are written, and
    resumed afterwards. Jobs are deleted last, and then resources, the last one first. Nothing is deleted if
    something was refused: a file that is wrong must not delete. Neither is what was changed since it was
    read. A refused step does not stop the others.
    `reason` says why, in the jobs' changes. `catchup` is that of Jobs.resume().
    """
    steps = [each for each in steps if each.is_change]
    refused = False
    writes = [each for each in steps if each.kind != "delete" and each.problem is None]
    jobs = [each for each in writes if each.resource is None]
    for done in chain(
        (Done(each, each.problem) for each in steps if each.problem is not None),
        _resources(client, namespace, (each for each in writes if each.resource is not None)),
        _one_by_one(client, namespace, jobs, reason, catchup),
        _in_bulk(client, namespace, jobs, reason),
    ):
        refused |= done.problem is not None
        yield done
    deletions = [each for each in steps if each.kind == "delete" and each.problem is None]
    if refused:
        yield from (Done(each, HELD) for each in deletions)
        return

    def delete(step: Step) -> Done:
        return Done(
            step,
            attempt(lambda: client.jobs.delete(namespace, step.name, if_match=step.rev, reason=reason)),
        )

    with ThreadPoolExecutor(_AT_ONCE) as threads:
        yield from threads.map(delete, (each for each in deletions if each.resource is None))
    yield from _resources(
        client, namespace, reversed([each for each in deletions if each.resource is not None])
    )


def _resources(client: Client, namespace: str, steps: Iterable[Step]) -> Iterator[Done]:
    """The steps about resources, one after the other."""
    for step in steps:
        resource = step.resource
        assert resource is not None, "a job has steps of its own"
        if step.body is None:
            write = partial(resource.delete, client, namespace, step.name, step.rev)
        else:
            write = partial(resource.put, client, namespace, step.name, step.body)
        yield Done(step, attempt(write))


def _one_by_one(
    client: Client,
    namespace: str,
    steps: Iterable[Step],
    write_reason: str | None,
    catchup: CatchUpMode | None,
) -> Iterator[Done]:
    """The steps that pause, resume or only claim a job."""
    for step in steps:
        if step.pausing is not None or step.only_claims:
            write = partial(_write_and_pause, client, namespace, step, write_reason, catchup)
            yield Done(step, attempt(write))


def _write_and_pause(
    client: Client, namespace: str, step: Step, write_reason: str | None, catchup: CatchUpMode | None
) -> None:
    assert step.declared is not None, "only a declared job is paused or resumed"
    paused = step.declared.paused
    reason = paused if isinstance(paused, str) else None
    if step.kind == "create":
        create_paused(
            client, namespace, step.name, step.declared.definition, reason, write_reason=write_reason
        )
        return
    if step.pausing == "pause":
        client.jobs.pause(namespace, step.name, reason=reason)
    if step.only_claims:
        # A PUT would begin a completed job anew, and count its repeats anew.
        labels = step.declared.definition["labels"]
        client.jobs.patch(namespace, step.name, {"labels": labels}, if_match=step.rev)
    elif step.kind == "change":
        # A pause leaves the revision. So the write fails if the job was changed since it was read.
        write_job(client, namespace, step.write, reason=write_reason)
    if step.pausing == "resume":
        client.jobs.resume(namespace, step.name, catchup=catchup)


def _in_bulk(client: Client, namespace: str, steps: Iterable[Step], reason: str | None) -> Iterator[Done]:
    """The steps that only write a job."""
    steps = [each for each in steps if each.pausing is None and not each.only_claims]
    for step in steps:
        if step.incomplete is not None:
            remove_incomplete(client, namespace, step.name, step.incomplete)
    problems = write_jobs(client, namespace, [each.write for each in steps], reason=reason)
    for step, problem in zip(steps, problems, strict=True):
        yield Done(step, problem)


class _Planner:
    """Compares the jobs of a file with those that are stored. Threads may share it."""

    def __init__(
        self,
        client: Client,
        namespace: str,
        file: JobsFile,
        default_retry: Mapping[str, Any] | None,
        *,
        takes_over: bool,
    ) -> None:
        self._client = client
        self._namespace = namespace
        self._owner = file.owner
        self._default_retry = default_retry
        self._takes_over = takes_over

    def step(self, declared: DeclaredJob) -> Step:
        """What becomes of a job of the file."""
        stored = self._stored(declared.name)
        after, _ = split_mark(stored_form(declared.definition, self._default_retry))
        if "retry" in after:
            # A process of the stack may know another default for a minute. So the job is written with this.
            declared = replace(declared, definition={**declared.definition, "retry": after["retry"]})
        if self._owner:
            declared = replace(declared, definition=marked(declared.definition, after, self._owner))
        is_paused = stored is not None and stored["state"] == "paused" and not is_incomplete(stored)
        pausing: Pausing | None = None
        if declared.paused not in (None, False) and not is_paused:
            pausing = "pause"
        elif declared.paused is False and is_paused:
            pausing = "resume"
        if stored is None or is_incomplete(stored):
            incomplete = None if stored is None else stored["rev"]
            created = changed_fields({}, after)
            return Step("create", declared.name, declared, created, pausing, incomplete=incomplete)
        before, mark = split_mark(written_fields(stored))
        fields = changed_fields(before, after)
        kind: Kind = "change" if fields else "same"
        updated_at = stored["updatedAt"]
        found = Step(kind, declared.name, declared, fields, pausing, stored["rev"], updated_at=updated_at)
        return self._owned(found, mark)

    def deletion(self, name: str) -> Step | None:
        """The step that deletes a job; None if there is none by now."""
        stored = self._stored(name)
        if stored is None:
            return None
        found = Step("delete", name, rev=stored["rev"])
        return found if is_incomplete(stored) else self._owned(found, split_mark(written_fields(stored))[1])

    def _owned(self, step: Step, mark: Mark | None) -> Step:
        """The step, with a problem if it would change a job that somebody else wrote."""
        if not self._owner or (mark is not None and mark.is_of(self._owner)):
            return step
        if self._takes_over and step.kind != "delete":
            before = mark.owner if mark is not None and mark.fits else None
            fields = (*step.fields, FieldChange("owner", before, self._owner))
            return replace(step, kind="change", fields=fields, only_claims=step.kind == "same")
        if self._takes_over or not step.is_change:
            return step
        return replace(step, problem=foreign(self._client, self._namespace, step.name, mark))

    def _stored(self, name: str) -> WholeJobResponse | None:
        try:
            return self._client.jobs.get(self._namespace, name)
        except NotFoundError:
            return None
