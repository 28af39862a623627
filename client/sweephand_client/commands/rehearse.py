"""The commands `rehearse` and `check`: what weeks of jobs would do, and what a stack would refuse."""

from dataclasses import replace
from importlib import import_module
from typing import Annotated, Any

import typer

from sweephand_client.commands.inputs import file_name, read_text
from sweephand_client.commands.session import Session
from sweephand_client.commands.tables import counted
from sweephand_client.commands.times import AHEAD, given
from sweephand_client.http.errors import InputError
from sweephand_client.tasks.jobs_file import read_jobs_file
from sweephand_client.tasks.transfer import export

#: Not imported by statements: what the engine needs is in the extra `dev`.
_ENGINE = "sweephand_engine.rehearsal"

_NAMESPACE_DEFAULT = "default"


def rehearse(
    session: Session,
    file: Annotated[
        str | None,
        typer.Argument(help="The file of jobs, as apply takes it; - is stdin. Without it, the namespace."),
    ] = None,
    *,
    weeks: Annotated[int, typer.Option(min=1, max=52, help="How long.")] = 4,
    since: Annotated[
        str | None, typer.Option("--from", help=f"Where it begins: {AHEAD}. By default now.")
    ] = None,
    consumer: Annotated[
        list[str] | None,
        typer.Option(
            help="What consumers are like, as p50=0.2s,p99=3s,fail=1%; of some jobs, as report-*:p50=20s."
        ),
    ] = None,
    outage: Annotated[
        str | None,
        typer.Option(
            help="For how long no consumer can be reached, as 2h: from the largest herd on, or as 2h@INSTANT."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Another number makes another chance.")] = 0,
    policies: Annotated[
        bool,
        typer.Option(
            "--policies", help="Take policies, calendars and settings of the namespace from the stack."
        ),
    ] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown for a pull request.")] = False,
) -> None:
    """Play weeks of jobs in simulated time: herds, overlaps, clock changes, failures, lateness and the bill.

    Nothing is written and nothing is delivered.
    """
    engine, reports = _module("rehearse", "rehearse"), _module("report", "rehearse")
    now = session.now()
    options = engine.read_options(
        weeks=weeks,
        since=given(session.times.ahead, since),
        now=now,
        consumers=consumer or (),
        outage=outage,
        seed=seed,
    )
    if file is None:
        what = f"namespace {session.namespace}"
        with session.output.progress("reading") as bar:
            lines = export(session.client, session.namespace, now=now, seen=bar.step).lines
            found = engine.rehearse_namespace(lines, now, options)
    else:
        text = read_text(file)
        declared = read_jobs_file(text, file_name(file))
        session.take_namespace(declared.namespace)
        namespace = session.namespace if policies else session.asked_namespace or _NAMESPACE_DEFAULT
        settings = export(session.client, namespace, now=now, seen=lambda: None).lines if policies else None
        what = "stdin" if file == "-" else file
        found = engine.rehearse_file(declared, text, namespace, settings, options)
    if session.output.is_data:
        session.output.data(reports.as_json(found, what))
        return
    parts = reports.sections(found, what)
    if markdown:
        typer.echo(reports.markdown(parts))
        return
    for part in parts:
        _show(session, part)


def check(
    session: Session, files: Annotated[list[str], typer.Argument(help="Files of jobs, as apply takes them.")]
) -> None:
    """Check files of jobs without a stack: each field that apply would refuse in an empty namespace.

    Policies, secrets, default targets and calendars that the files name count as stored.
    """
    engine = _module("rehearse", "check")
    wrong, counts = [], {}
    for file in files:
        text = read_text(file)
        try:
            declared = read_jobs_file(text, file_name(file))
            # Each file may be for a namespace of its own.
            own = replace(session)
            own.take_namespace(declared.namespace)
            engine.check_file(declared, text, own.asked_namespace or _NAMESPACE_DEFAULT, session.now())
            counts[file] = len(declared.jobs)
        except InputError as error:
            wrong.append(f"{file}: {error}")
    if wrong:
        raise InputError("\n".join(wrong))
    if session.output.is_data:
        session.output.data({"jobs": counts})
        return
    for file, count in counts.items():
        session.output.text(f"{file}: {counted(count, 'job')}, and none is refused")


def _module(name: str, command: str) -> Any:
    """A module of the rehearsal. InputError if its packages are not installed."""
    try:
        return import_module(f"{_ENGINE}.{name}")
    except ModuleNotFoundError as error:
        raise InputError(
            f"`sweephand {command}` needs packages that are not installed, such as {error.name}. "
            "Install them: pip install 'sweephand[dev]'"
        ) from None


def _show(session: Session, part: Any) -> None:
    session.output.heading(part.heading)
    for sentence in part.sentences:
        session.output.text(sentence)
    if part.rows:
        session.output.table(part.columns, part.rows, None)
    session.output.text("")
