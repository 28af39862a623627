"""Finds the steps of an `apply` that a stack would refuse, without a write."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from sweephand_client.api.client import Client
from sweephand_client.http.errors import InvalidError, Problem
from sweephand_client.openapi.requests import JobRequest
from sweephand_client.tasks.steps import HELD, Done, Step
from sweephand_client.tasks.writing import Write, check_jobs

#: The fields that are refused because of the days of a calendar, or because there is no calendar.
_OF_DAYS: Final = ({"/calendar/name"}, {"/calendar"}, {"/ttl"})

#: The fields of a job with a target.
_TARGETS: Final = ("target", "onComplete", "onAlert")


def refusals(
    client: Client,
    namespace: str,
    steps: Sequence[Step],
    *,
    reason: str | None = None,
    seen: Callable[[], None] = lambda: None,
) -> list[Done]:
    """The steps that carry_out() would not do. The stack is asked about each write, and writes nothing.

    A job is not refused for lack of what carry_out() would write first: a calendar, by whose days it is not
    judged either, a policy, or a default target. `seen` is called for each job.
    """
    wanted = [
        each
        for each in steps
        if each.kind in ("create", "change") and not (each.resource or each.problem or each.only_claims)
    ]
    problems: list[Problem | None] = []
    for problem in check_jobs(client, namespace, [each.write for each in wanted], reason=reason):
        problems.append(problem)
        seen()
    pending = _Pending(steps)
    pairs = enumerate(zip(wanted, problems, strict=True))
    waiting = [at for at, (step, problem) in pairs if problem and pending.excuses(step.write, problem)]
    again = check_jobs(client, namespace, [pending.without(wanted[at].write) for at in waiting])
    for at, problem in zip(waiting, again, strict=True):
        problems[at] = problem or pending.unmovable(client, namespace, wanted[at].write)
    found = dict(zip((each.key for each in wanted), problems, strict=True))
    refused = [
        Done(each, problem)
        for each in steps
        if each.is_change and (problem := each.problem or found.get(each.key)) is not None
    ]
    held = [each for each in steps if each.kind == "delete" and each.problem is None] if refused else []
    return refused + [Done(each, HELD) for each in held]


class _Pending:
    """What a file would write before its jobs, so that the stack does not know it yet.

    That goes for what is refused of it, too: it has a problem of its own.
    """

    def __init__(self, steps: Sequence[Step]) -> None:
        self._names: dict[str, Collection[str]] = {}
        self._default_target: Any = None
        for step in steps:
            if step.resource is None or step.body is None or not step.is_change:
                continue
            self._names[step.resource.kind] = {*self._names.get(step.resource.kind, ()), step.name}
            if step.resource.kind == "settings":
                self._default_target = step.body.get("defaultTarget")

    def excuses(self, write: Write, problem: Problem) -> bool:
        """Whether the stack may refuse a job only because the file's own resources are not written yet."""
        pointers = {each.pointer for each in problem.errors}
        if pointers == {"/policy"}:
            return self._has_policy(write)
        if pointers and pointers <= {f"/{name}" for name in _TARGETS}:
            return bool(self._defaults(write))
        return pointers in _OF_DAYS and self._has_calendar(write)

    def without(self, write: Write) -> Write:
        """The job that the stack judges instead: with the default target, and nothing else of the file."""
        is_left_out = {"policy": self._has_policy(write), "calendar": self._has_calendar(write)}
        fields = {name: each for name, each in write.definition.items() if not is_left_out.get(name)}
        return replace(write, definition=cast("JobRequest", fields | self._defaults(write)))

    def unmovable(self, client: Client, namespace: str, write: Write) -> Problem | None:
        """The problem of a job whose schedule cannot move to other days, whatever days its calendar has."""
        written: Any = write.definition
        if not self._has_calendar(write) or written["calendar"].get("otherwise") in (None, "skip"):
            return None
        asked: Any = {name: written.get(name) for name in ("schedule", "timezone", "calendar")}
        asked |= {"namespace": namespace, "limit": 1}
        try:
            client.preview(asked)
        except InvalidError as error:
            found = tuple(each for each in error.problem.errors if each.pointer == "/calendar/otherwise")
            return replace(error.problem, errors=found) if found else None
        return None

    def _has_policy(self, write: Write) -> bool:
        return write.definition.get("policy") in self._names.get("policy", ())

    def _has_calendar(self, write: Write) -> bool:
        used: Any = write.definition.get("calendar")
        # A job without times cannot have a calendar.
        is_timed = write.definition.get("schedule") is not None or write.definition.get("dueTime") is not None
        return is_timed and isinstance(used, Mapping) and used.get("name") in self._names.get("calendar", ())

    def _defaults(self, write: Write) -> dict[str, Any]:
        """The targets of the job that stand for the default target of the file, each as that target."""
        default = self._default_target
        if not isinstance(default, Mapping):
            return {}
        targets: Any = {"target": write.definition.get("target") or {"type": "default"}}
        targets |= {name: write.definition.get(name) for name in _TARGETS[1:]}
        return {
            name: default
            for name, each in targets.items()
            if isinstance(each, Mapping) and each.get("type") == "default"
        }
