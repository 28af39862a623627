"""The command `apply`: makes the jobs of a namespace those that a file or a program declares."""

from collections import Counter
from typing import Annotated, Any

import typer

from sweephand_client.commands.inputs import jobs_of, read_text
from sweephand_client.commands.output import Output
from sweephand_client.commands.session import DIFFERS, Session, exit_for, problem_value
from sweephand_client.http import exact_json
from sweephand_client.http.errors import InputError
from sweephand_client.tasks.apply import Done, Step, carry_out, plan
from sweephand_client.tasks.jobs_file import jobs_schema, read_jobs_file

_MARKS = {"create": "+", "change": "~", "delete": "-", "same": "="}
_DID = {"create": "created", "change": "changed", "delete": "deleted", "same": "kept"}


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
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")] = False,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="With --dry-run: exit 1 if anything would change.")
    ] = False,
) -> None:
    """Make the jobs of a namespace those that a file or a program declares."""
    if (file is None) == (source is None):
        raise InputError("Say which jobs: --file FILE, or --from MODULE:NAME.")
    declared = read_jobs_file(jobs_of(str(source)) if file is None else read_text(file))
    session.take_namespace(declared.namespace)
    output, namespace = session.output, session.namespace
    with output.progress("comparing", len(declared.jobs)) as bar:
        steps = plan(session.client, namespace, declared, prunes=prune, seen=bar.step)
    if dry_run:
        _show_plan(output, steps)
        if exit_code and any(each.is_change for each in steps):
            raise typer.Exit(DIFFERS)
        return
    finished: list[Done] = []
    with output.progress("applying", sum(each.is_change for each in steps)) as bar:
        for done in carry_out(session.client, namespace, steps):
            bar.step()
            finished.append(done)
            if not output.as_json:
                _show_done(output, done)
    same = sum(not each.is_change for each in steps)
    counts = Counter("refused" if each.problem else _verb(each.step) for each in finished)
    if output.as_json:
        results = [_done_value(each) for each in finished]
        output.json({"results": results, "unchanged": same, **counts})
    else:
        output.text(
            ", ".join([*(f"{count} {verb}" for verb, count in sorted(counts.items())), f"{same} unchanged"])
        )
    exit_for(each.problem for each in finished)


def schema(session: Session) -> None:
    """Print the JSON Schema of the file that apply takes, with which an editor completes and checks it."""
    session.output.json(jobs_schema(session.client.description()))


def _show_plan(output: Output, steps: list[Step]) -> None:
    if output.as_json:
        output.json({"steps": [_step_value(each) for each in steps if each.is_change]})
        return
    for step in steps:
        if not step.is_change:
            continue
        suffix = "" if step.pausing is None else f" ({step.pausing})"
        output.text(f"{_MARKS[step.kind]} {step.what}{suffix}")
        for each in step.fields:
            if each.before is not None:
                output.text(f"    - {each.name}: {exact_json.write(each.before)}")
            if each.after is not None or each.name == "data":
                output.text(f"    + {each.name}: {exact_json.write(each.after)}")
    counts = Counter(each.kind for each in steps if each.is_change)
    same = sum(not each.is_change for each in steps)
    words = {
        "create": "to create",
        "change": "to change",
        "delete": "to delete",
        "same": "to pause or resume",
    }
    output.text(
        ", ".join(
            [*(f"{count} {words[kind]}" for kind, count in sorted(counts.items())), f"{same} unchanged"]
        )
    )


def _show_done(output: Output, done: Done) -> None:
    if done.problem is None:
        output.text(f"{done.step.what} {_verb(done.step)}")
    else:
        output.text(f"{done.step.what} refused: {done.problem}")


def _verb(step: Step) -> str:
    if step.kind == "same":
        return "paused" if step.pausing == "pause" else "resumed"
    return _DID[step.kind]


def _step_value(step: Step) -> dict[str, Any]:
    fields = [{"name": each.name, "before": each.before, "after": each.after} for each in step.fields]
    value = {"name": step.name, "kind": step.kind, "pausing": step.pausing, "fields": fields}
    return value if step.calendar is None else {**value, "calendar": True}


def _done_value(done: Done) -> dict[str, Any]:
    value: dict[str, Any] = {"name": done.step.name, "did": "refused" if done.problem else _verb(done.step)}
    if done.step.calendar is not None:
        value["calendar"] = True
    return value | ({"problem": problem_value(done.problem)} if done.problem else {})
