"""The command `import eventbridge`: makes jobs of the schedules of EventBridge Scheduler."""

from collections import Counter
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from time import sleep
from typing import Annotated, Any

import typer

from sweephand_client.commands.output import Output, write_whole
from sweephand_client.commands.problems import exit_for
from sweephand_client.commands.session import DIFFERS, REFUSED, Session, problem_value
from sweephand_client.commands.tables import counted
from sweephand_client.http.errors import InputError
from sweephand_client.tasks.eventbridge.moving import Moved, Mover
from sweephand_client.tasks.eventbridge.report import needed, report_lines, report_value
from sweephand_client.tasks.eventbridge.source import Source, scheduler
from sweephand_client.tasks.eventbridge.translation import Move, jobs_files, translate
from sweephand_client.tasks.jobs_file import write_jobs_file


class Existing(Enum):
    """What becomes of a job that exists and differs."""

    REFUSE = "refuse"
    KEEP = "keep"
    REPLACE = "replace"


def eventbridge(
    session: Session,
    *,
    region: Annotated[
        str | None, typer.Option(help="The region of the schedules. Else AWS_DEFAULT_REGION.")
    ] = None,
    group: Annotated[
        list[str] | None, typer.Option("--group", help="Only this schedule group; may be repeated.")
    ] = None,
    prefix: Annotated[str | None, typer.Option(help="Only schedules whose names begin so.")] = None,
    to: Annotated[
        Path | None, typer.Option(help="Write a file for `apply` into this folder, for each namespace.")
    ] = None,
    disable_source: Annotated[
        bool,
        typer.Option("--disable-source", help="Write the jobs, and disable each schedule after its job."),
    ] = False,
    existing: Annotated[
        Existing, typer.Option(help="With --disable-source: what becomes of a job that exists and differs.")
    ] = Existing.REFUSE,
    without_roles: Annotated[
        bool,
        typer.Option("--without-roles", help="Reach targets by the stack's role, not by each schedule's."),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only report.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit 1 if a schedule cannot be moved.")] = False,
    endpoint_url: Annotated[str | None, typer.Option(help="The address of EventBridge, for tests.")] = None,
) -> None:
    """Make jobs of the schedules of EventBridge Scheduler, and report what becomes of each.

    Schedule groups become namespaces, unless --namespace takes all.
    """
    if not (to or disable_source or dry_run):
        raise InputError("Say what to do: --dry-run to report, --to FOLDER for files, or --disable-source.")
    output = session.output
    source = Source(scheduler(region, endpoint_url))
    with output.progress("reading") as bar:
        schedules = source.read(group or (), prefix, bar.step)
    moves = translate(
        schedules, namespace=session.asked_namespace, now=session.now(), with_roles=not without_roles
    )
    value: dict[str, Any] = {"schedules": [report_value(each) for each in moves], "needs": needed(moves)}
    if not output.is_data:
        head = f"{counted(len(moves), 'schedule')} of {source.region}"
        output.text("\n".join([head, *report_lines(moves)]))
    if to is not None and not dry_run:
        value["files"] = _write_files(to, moves)
        if not output.is_data:
            _show_files(output, value["files"])
    moved: list[Moved] = []
    if disable_source and not dry_run:
        moved = _move(session, source, moves, existing)
        value["moved"] = [_moved_value(each) for each in moved]
    if output.is_data:
        output.data(value)
    _exit(moves, moved, strict=strict)


def _move(session: Session, source: Source, moves: Sequence[Move], existing: Existing) -> list[Moved]:
    """Write the jobs and disable the schedules. A person is told of what was not done."""
    output = session.output

    def wait(seconds: float) -> None:
        output.note(f"Waiting {seconds:.0f} s, until EventBridge has begun each fire that was due before.")
        sleep(seconds)

    mover = Mover(session.client, source, now=session.now, sleep=wait, existing=existing.value)
    moved = []
    with output.progress("moving", sum(each.job is not None for each in moves)) as bar:
        for done in mover.run(moves):
            bar.step()
            moved.append(done)
            if not output.is_data:
                _show_moved(output, done)
    if not output.is_data:
        output.text(_counts(moved))
    return moved


def _write_files(folder: Path, moves: Sequence[Move]) -> list[str]:
    """Write the file of each namespace. InputError if one exists and differs: it may have been edited."""
    files = {}
    for namespace, (file, notes) in jobs_files(moves).items():
        if "/" in namespace or not namespace.strip("."):
            raise InputError(f"{namespace!r} is no namespace. Give it without a slash.")
        files[folder / f"{namespace}.yaml"] = write_jobs_file(file, notes)
    try:
        edited = [path for path, text in files.items() if path.exists() and path.read_text("utf-8") != text]
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{folder} cannot be used: {error}") from None
    if edited:
        raise InputError(f"{edited[0]} exists and differs. It may have been edited, so give a new folder.")
    for path, text in files.items():
        write_whole(path, text.removesuffix("\n").split("\n"))
    return [str(path) for path in files]


def _show_files(output: Output, files: Sequence[str]) -> None:
    output.text("\n".join(["Write the jobs with:", *(f"  sweephand apply --file {each}" for each in files)]))


def _show_moved(output: Output, done: Moved) -> None:
    name = f"{done.move.schedule.group}/{done.move.schedule.name}"
    if done.problem is not None:
        output.text(f"{name} refused: {done.problem}")
    elif done.enabled:
        output.text(f"{name} {done.did}, but enabled: {done.enabled}")


def _counts(moved: Sequence[Moved]) -> str:
    counts = Counter(each.did for each in moved)
    disabled = sum(each.move.schedule.is_enabled and not each.enabled for each in moved)
    words = [f"{count} {did}" for did, count in sorted(counts.items())]
    return ", ".join([*words, f"{counted(disabled, 'schedule')} disabled"])


def _moved_value(done: Moved) -> dict[str, Any]:
    schedule = done.move.schedule
    value: dict[str, Any] = {
        "group": schedule.group,
        "name": schedule.name,
        "did": done.did,
        "source": "enabled" if done.enabled else "disabled",
    }
    if done.enabled:
        value["enabledBecause"] = done.enabled
    return value | ({"problem": problem_value(done.problem)} if done.problem else {})


def _exit(moves: Sequence[Move], moved: Sequence[Moved], *, strict: bool) -> None:
    exit_for(each.problem for each in moved)
    if any(each.was_refused for each in moved):
        raise typer.Exit(REFUSED)
    is_lost = strict and any(each.outcome == "not-moved" for each in moves)
    if is_lost or any(each.enabled for each in moved):
        raise typer.Exit(DIFFERS)
