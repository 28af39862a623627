"""The command `apply`: makes the jobs of a namespace those that a file or a program declares."""

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from sweephand_client.commands.inputs import file_name, jobs_of, read_text
from sweephand_client.commands.output import Output
from sweephand_client.commands.problems import exit_for
from sweephand_client.commands.session import DIFFERS, Session, problem_value
from sweephand_client.http import exact_json
from sweephand_client.http.errors import InputError, Problem
from sweephand_client.tasks.apply import carry_out, plan
from sweephand_client.tasks.dry_run import refusals
from sweephand_client.tasks.job_fields import FieldChange
from sweephand_client.tasks.jobs_file import jobs_schema, read_jobs_file
from sweephand_client.tasks.steps import Done, Lines, Step, is_blocked

_MARKS = {"create": "+", "change": "~", "delete": "-", "same": "="}
_DID = {"create": "created", "change": "changed", "delete": "deleted", "same": "kept"}
_PLANNED = {
    "create": "to create",
    "change": "to change",
    "delete": "to delete",
    "refused": "refused",
    "same": "to pause or resume",
}

#: What JSON counts of a plan and of an apply, also where it is 0.
_OF_PLAN = ("create", "change", "delete", "refused")
_OF_APPLY = ("created", "changed", "deleted", "refused")

#: The fields whose headers can hold secrets, and what a plan shows of such a header.
_TARGETS = ("target", "onComplete", "onAlert", "defaultTarget")
_HIDDEN = "(hidden)"
_HIDDEN_CHANGE = "(hidden, changed)"


def apply(
    session: Session,
    *,
    file: Annotated[
        str | None, typer.Option("--file", "-f", help="The file of jobs, YAML or JSON; - is stdin.")
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="MODULE:NAME", help="A receiver in Python, with the jobs it declares."
        ),
    ] = None,
    prune: Annotated[
        bool, typer.Option("--prune", help="Delete jobs that the file owns and does not have.")
    ] = False,
    take_over: Annotated[
        bool, typer.Option("--take-over", help="Write over jobs that another file or person wrote.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would change, and what the stack would refuse.")
    ] = False,
    all_or_nothing: Annotated[
        bool,
        typer.Option("--all-or-nothing", help="Write nothing if a dry run finds something that is refused."),
    ] = False,
    reason: Annotated[
        str | None,
        typer.Option(help="Why, for the changes of the jobs that it writes or deletes."),
    ] = None,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="With --dry-run: exit 1 if anything would change.")
    ] = False,
) -> None:
    """Make the jobs of a namespace those that a file or a program declares."""
    if (file is None) == (source is None):
        raise InputError("Say which jobs: --file FILE, or --from MODULE:NAME.")
    text = jobs_of(str(source)) if file is None else read_text(file)
    declared = read_jobs_file(text, str(source) if file is None else file_name(file))
    lines = None if file is None else Lines(text, declared)
    session.take_namespace(declared.namespace)
    output, namespace = session.output, session.namespace
    with output.progress("comparing", len(declared.jobs)) as bar:
        steps = plan(session.client, namespace, declared, prunes=prune, takes_over=take_over, seen=bar.step)
    refused: list[Done] = []
    if dry_run or all_or_nothing or is_blocked(steps):
        with output.progress("checking", len(declared.jobs)) as bar:
            refused = refusals(session.client, namespace, steps, reason=reason, seen=bar.step)
    if dry_run or refused:
        _show_plan(output, steps, refused, lines)
        if not dry_run and not output.is_data:
            output.note("Nothing was written.")
        exit_for(each.problem for each in refused)
        if exit_code and any(each.is_change for each in steps):
            raise typer.Exit(DIFFERS)
        return
    finished: list[Done] = []
    with output.progress("applying", sum(each.is_change for each in steps)) as bar:
        for done in carry_out(session.client, namespace, steps, reason=reason):
            bar.step()
            finished.append(done)
            if not output.is_data:
                _show_done(output, done, lines)
    same = sum(not each.is_change for each in steps)
    counts = Counter("refused" if each.problem else _verb(each.step) for each in finished)
    if output.is_data:
        results = [_done_value(each) for each in finished]
        output.data({"results": results, **dict.fromkeys(_OF_APPLY, 0), **counts, "unchanged": same})
    else:
        output.text(_counts_text(dict(sorted(counts.items())), same))
    exit_for(each.problem for each in finished)


def schema(session: Session) -> None:
    """Print the JSON Schema of the file that apply takes, with which an editor completes and checks it."""
    session.output.data(jobs_schema(session.client.description()))


def _show_plan(output: Output, steps: list[Step], refused: list[Done], lines: Lines | None) -> None:
    problems = {each.step.key: each.problem for each in refused}
    counts = Counter("refused" if each.key in problems else each.kind for each in steps if each.is_change)
    same = sum(not each.is_change for each in steps)
    if output.is_data:
        values = [_step_value(each, problems.get(each.key)) for each in steps if each.is_change]
        numbers = {each: counts[each] for each in _OF_PLAN}
        output.data({"steps": values, **numbers, "pausing": counts["same"], "unchanged": same})
        return
    for step in steps:
        if not step.is_change:
            continue
        suffix = "" if step.pausing is None else f" ({step.pausing})"
        output.text(f"{_MARKS[step.kind]} {step.what}{suffix}")
        for each in map(_without_secrets, step.fields):
            if each.before is not None:
                output.text(f"    - {each.name}: {exact_json.write(each.before)}")
            if each.after is not None or each.name == "data":
                output.text(f"    + {each.name}: {exact_json.write(each.after)}")
    for done in refused:
        _show_done(output, done, lines)
    output.text(_counts_text({_PLANNED[each]: count for each, count in sorted(counts.items())}, same))


def _counts_text(counts: Mapping[str, int], same: int) -> str:
    return ", ".join([*(f"{count} {what}" for what, count in counts.items()), f"{same} unchanged"])


def _without_secrets(change: FieldChange) -> FieldChange:
    """The change without the values of headers. It still says which of them change."""
    if change.name not in _TARGETS:
        return change
    before, after = change.before, change.after
    return FieldChange(change.name, _with_hidden_headers(before, before), _with_hidden_headers(after, before))


def _with_hidden_headers(target: Any, before: Any) -> Any:
    headers = _headers(target)
    if headers is None:
        return target
    if not isinstance(headers, Mapping):
        return {**target, "headers": _HIDDEN}
    former = _headers(before)
    known = former if isinstance(former, Mapping) else {}

    def shown(name: str, value: Any) -> Any:
        if isinstance(value, Mapping) and value.keys() == {"secretRef"}:
            return value
        return _HIDDEN if known.get(name, value) == value else _HIDDEN_CHANGE

    return {**target, "headers": {name: shown(name, value) for name, value in headers.items()}}


def _headers(target: Any) -> Any:
    return target.get("headers") if isinstance(target, Mapping) else None


def _show_done(output: Output, done: Done, lines: Lines | None) -> None:
    done = done if lines is None else lines.added_to(done)
    if done.problem is None:
        output.text(f"{done.step.what} {_verb(done.step)}")
    else:
        output.text(f"{done.step.what} refused: {done.problem}")


def _verb(step: Step) -> str:
    if step.kind == "same":
        return "paused" if step.pausing == "pause" else "resumed"
    return _DID[step.kind]


def _step_value(step: Step, problem: Problem | None) -> dict[str, Any]:
    shown = map(_without_secrets, step.fields)
    fields = [{"name": each.name, "before": each.before, "after": each.after} for each in shown]
    value = {"name": step.name, "kind": step.kind, "pausing": step.pausing, "fields": fields}
    return value | _resource_value(step) | _problem_value(problem)


def _done_value(done: Done) -> dict[str, Any]:
    value: dict[str, Any] = {"name": done.step.name, "did": "refused" if done.problem else _verb(done.step)}
    return value | _resource_value(done.step) | _problem_value(done.problem)


def _resource_value(step: Step) -> dict[str, Any]:
    return {} if step.resource is None else {step.resource.kind: True}


def _problem_value(problem: Problem | None) -> dict[str, Any]:
    return {} if problem is None else {"problem": problem_value(problem)}
