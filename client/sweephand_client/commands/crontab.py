"""The command `crontab`: turns a crontab into a file of jobs."""

import os
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from sweephand_client.commands.inputs import read_target, read_text
from sweephand_client.commands.session import DIFFERS, Session
from sweephand_client.commands.times import read_zone
from sweephand_client.http.errors import InputError
from sweephand_client.openapi.requests import Target
from sweephand_client.tasks.crontab.lines import read_lines
from sweephand_client.tasks.crontab.translation import OF_CRONIE, Translated, translate
from sweephand_client.tasks.jobs_file import write_jobs_file
from sweephand_client.worker.commands_file import write_commands_file


class Cron(Enum):
    """The program that reads a crontab."""

    DEBIAN = "debian"
    CRONIE = "cronie"


def crontab(
    session: Session,
    file: Annotated[str, typer.Argument(help="The crontab; - is stdin.", show_default=False)],
    *,
    url: Annotated[
        str | None, typer.Option(help="The endpoint of all jobs. Else the namespace's default.")
    ] = None,
    queue: Annotated[str | None, typer.Option(help="The SQS queue of all jobs, by its URL.")] = None,
    target: Annotated[str | None, typer.Option(help="Any target, as JSON, @FILE or -.")] = None,
    commands: Annotated[
        Path | None, typer.Option(help="Write the commands to this new file, for `sweephand worker`.")
    ] = None,
    timezone: Annotated[str | None, typer.Option("--timezone", "-z", help="The zone of the machine.")] = None,
    cron: Annotated[
        Cron | None,
        typer.Option(help="The cron that reads it: Debian's and Ubuntu's, or cronie of Fedora and RHEL."),
    ] = None,
    like_cron: Annotated[
        bool, typer.Option("--like-cron", help="No retries and no catch-up, as cron.")
    ] = False,
    system: Annotated[
        bool, typer.Option("--system", help="The lines name a user, as in /etc/crontab.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit 1 if a line is not wholly in the jobs.")
    ] = False,
) -> None:
    """Print the jobs of a crontab as a file for `apply`, and say what a job cannot say.

    With --commands, the values of the crontab's variables go to that file, and to no job.
    """
    given = cast("Target | None", read_target(url, queue, target or None))
    read_zone(timezone)
    text = read_text(file)
    if cron is None:
        _check_variables(text, has_users=system)
    translated = translate(
        text,
        dialect=(cron or Cron.DEBIAN).value,
        target=given,
        timezone=timezone,
        namespace=session.asked_namespace,
        like_cron=like_cron,
        has_users=system,
        for_worker=commands is not None,
    )
    _check_zones(translated)
    if commands is not None:
        _write_commands(commands, write_commands_file(translated.commands, session.asked_namespace))
    if session.output.is_data:
        session.output.data(_crontab_value(translated))
    else:
        typer.echo(write_jobs_file(translated.file, translated.notes_by_job()), nl=False)
    for note in translated.notes:
        session.output.note(f"line {note.line}: {note.text}")
    if strict and any(each.is_lost for each in translated.notes):
        raise typer.Exit(DIFFERS)


def _write_commands(path: Path, text: str) -> None:
    """Write a new file that only its owner may read: the variables may hold secrets."""
    try:
        with os.fdopen(
            os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8"
        ) as file:
            file.write(text)
    except FileExistsError:
        raise InputError(f"{path} exists. It may have been edited, so give --commands a new file.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error}") from None


def _check_variables(text: str, *, has_users: bool) -> None:
    """Refuse a variable that one cron obeys and the other ignores, unless a person said which cron it is."""
    for line in read_lines(text, "debian", has_users=has_users):
        if line.kind == "variable" and line.name in OF_CRONIE:
            raise InputError(
                f"Line {line.number} sets {line.name}. Cronie obeys it. Debian's cron only hands it to the "
                "commands. Say which one reads this crontab: --cron cronie, or --cron debian."
            )


def _check_zones(translated: Translated) -> None:
    """Refuse a crontab whose jobs would fire by UTC only because nobody named its zone."""
    if any(
        "schedule" in each.definition and "timezone" not in each.definition for each in translated.file.jobs
    ):
        raise InputError(
            "Cron reads a line in the zone of its machine, unless cronie has found a CRON_TZ above it. "
            "Say which zone: --timezone Europe/Paris, or --timezone UTC."
        )


def _crontab_value(translated: Translated) -> dict[str, Any]:
    jobs = []
    for each in translated.file.jobs:
        paused = {} if each.paused is None else {"paused": each.paused}
        jobs.append({"name": each.name, **each.definition, **paused})
    notes = [{"line": each.line, "text": each.text, "isLost": each.is_lost} for each in translated.notes]
    return {"jobs": jobs, "notes": notes}
