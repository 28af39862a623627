"""The steps of an `apply`: what becomes of each job, and of what stands beside the jobs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, Literal

from sweephand_client.http.errors import HELD_BACK, FieldError, Problem
from sweephand_client.tasks.exact_yaml import Places
from sweephand_client.tasks.job_fields import FieldChange
from sweephand_client.tasks.jobs_file import DeclaredJob, JobsFile
from sweephand_client.tasks.resources import RESOURCES, Resource
from sweephand_client.tasks.writing import Write

Kind = Literal["create", "change", "same", "delete"]
Pausing = Literal["pause", "resume"]

HELD: Final = Problem(409, "", "It was not deleted, because something else was refused.", kind=HELD_BACK)


@dataclass(frozen=True, slots=True)
class Step:
    """What becomes of one job. `declared` is None if the job is deleted; `rev` is the revision that was read.

    With a `resource`, the step is about no job, but about the resource of that name, and writes `body`.

    `incomplete` is the revision of a job that an interrupted creation left. It is removed first.
    `updated_at` is when the job that was read got its definition. With a `problem`, nothing is written. The
    step `only_claims` a job if only its owner changes.
    """

    kind: Kind
    name: str
    declared: DeclaredJob | None = None
    fields: tuple[FieldChange, ...] = ()
    pausing: Pausing | None = None
    rev: str | None = None
    incomplete: str | None = None
    updated_at: str | None = None
    resource: Resource | None = None
    body: Mapping[str, Any] | None = None
    problem: Problem | None = None
    only_claims: bool = False

    @property
    def what(self) -> str:
        """The job or the resource, for people."""
        return self.name if self.resource is None else self.resource.what(self.name)

    @property
    def key(self) -> tuple[str, str]:
        """What tells the step from the others of a file."""
        return "" if self.resource is None else self.resource.kind, self.name

    @property
    def is_change(self) -> bool:
        """Whether the step changes anything."""
        return self.kind != "same" or self.pausing is not None

    @property
    def write(self) -> Write:
        """The job to write."""
        assert self.declared is not None, "only a declared job is written"
        return Write(self.name, self.declared.definition, self.rev)


@dataclass(frozen=True, slots=True)
class Done:
    """A step that was carried out, or the problem that prevented it."""

    step: Step
    problem: Problem | None = None


def is_blocked(steps: Iterable[Step]) -> bool:
    """Whether a resource would be refused. Then apply writes nothing, because jobs may need it."""
    return any(each.resource is not None and each.problem is not None for each in steps)


class Lines:
    """The lines of what a file declares, for people who have to mend it."""

    def __init__(self, text: str, declared: JobsFile) -> None:
        self._text = text
        self._numbers = {each.name: number for number, each in enumerate(declared.jobs)}

    @cached_property
    def _places(self) -> Places:
        return Places(self._text)

    def order(self, step: Step) -> tuple[int, int]:
        """Where the problems of a step stand among those of a file: resources come first, by their kinds."""
        if step.resource is not None:
            return 0, RESOURCES.index(step.resource)
        return 1, self._numbers[step.name]

    def place(self, step: Step, pointer: str) -> str:
        """The line of a field of what the step writes, and its pointer."""
        if step.resource is not None:
            return self._places.of(step.resource.pointer(step.name) + pointer)
        return self._places.of_job(self._numbers[step.name], pointer)

    def added_to(self, done: Done) -> Done:
        """The same with the line beside the pointer of each field that was refused.

        A problem without fields has the line of what was not written, unless that is not in the file.
        """
        step, problem = done.step, done.problem
        if problem is None or (step.declared is None and step.body is None):
            return done
        if not problem.errors:
            detail = f"{self.place(step, '')}: {problem.detail}"
            return replace(done, problem=replace(problem, detail=detail))
        errors = tuple(FieldError(self.place(step, each.pointer), each.detail) for each in problem.errors)
        return replace(done, problem=replace(problem, errors=errors))
