"""Reads what options say: JSON, labels, files and secrets."""

import importlib
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Final, cast

import typer

from sweephand_client.commands.completion import job_names
from sweephand_client.http import exact_json
from sweephand_client.http.errors import InputError
from sweephand_client.openapi.policies import PolicyBreakerRequest, PolicyRateRequest
from sweephand_client.openapi.requests import BatchRequest, JobCalendar

#: The argument of each command about one job.
JobName = Annotated[
    str, typer.Argument(help="The name of the job.", show_default=False, autocompletion=job_names)
]

#: The option of commands that ask a person before they delete.
Yes = Annotated[bool, typer.Option("--yes", help="Do it without a question.")]

#: A number, and maybe a time. The API knows the limits of both.
_NUMBER_AND_TIME: Final = re.compile(r"([0-9]{1,18})(?:/(.+))?")


def read_text(path: str) -> str:
    """The text of a file, or of stdin for `-`. InputError if it cannot be read, or is not UTF-8."""
    if path == "-":
        return _from_stdin()
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path} cannot be read: {error}") from None


def file_name(path: str) -> str:
    """The name of a file without its folders, or `stdin`."""
    return "stdin" if path == "-" else Path(path).name


def _from_stdin() -> str:
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise InputError(f"stdin is not a text in UTF-8: {error.reason} at byte {error.start}.") from None


def jobs_of(source: str) -> str:
    """The file of jobs, as JSON, that an object `MODULE:NAME` of a program declares.

    The object has a method `jobs_file`, as a Receiver has. The working directory is searched first.
    InputError if there is no such object.
    """
    module, _, name = source.partition(":")
    if not module or not name:
        raise InputError(
            f"{source!r} names no object. Give module and name, as in --from myapp.jobs:receiver."
        )
    sys.path.insert(0, str(Path.cwd()))
    try:
        return exact_json.write(getattr(importlib.import_module(module), name).jobs_file())
    except Exception as error:
        raise InputError(
            f"{source} gives no jobs: {type(error).__name__}: {error}. Name a Receiver, or an object with a "
            "method jobs_file()."
        ) from error
    finally:
        sys.path.pop(0)


def read_json(text: str, option: str) -> Any:
    """The JSON of an option: the value itself, `@FILE`, or `-` for stdin. InputError for other text."""
    if text == "-" or text.startswith("@"):
        text = read_text(text.removeprefix("@"))
    try:
        return exact_json.read(text)
    except ValueError as error:
        raise InputError(
            f"{option} is not JSON: {error}. Put a text in double quotes, as in '\"text\"'."
        ) from None


def read_object(text: str, option: str) -> dict[str, Any]:
    """The JSON object of an option, as read_json reads it."""
    value = read_json(text, option)
    if not isinstance(value, dict):
        raise InputError(f'{option} is no JSON object. Give one, as in \'{{"name": "value"}}\'.')
    return value


def read_target(url: str | None, queue: str | None, target: str | None) -> dict[str, Any] | None:
    """The target that the options name, None without any. InputError if several of them name one."""
    if sum(each is not None for each in (url, queue, target)) > 1:
        raise InputError("Give only one of --url, --queue and --target.")
    if url is not None:
        return {"type": "http", "url": url}
    if queue is not None:
        return {"type": "sqs", "queueUrl": queue}
    return None if target is None else read_object(target, "--target")


def read_whole_number(text: str) -> int:
    """The whole number of an option. InputError for other text."""
    if not text.removeprefix("-").isdecimal():
        raise InputError(f"{text!r} is no whole number.")
    return int(text)


def read_rate(text: str) -> PolicyRateRequest:
    """The rate of an option `LIMIT/TIME`. InputError for other text."""
    found = _NUMBER_AND_TIME.fullmatch(text)
    if found is None or found[2] is None:
        raise InputError(f"{text!r} is no rate. Give a number and a time, as in --rate 100/1m.")
    return {"limit": int(found[1]), "per": found[2]}


def read_breaker(text: str) -> PolicyBreakerRequest:
    """The breaker of an option `FAILURES/TIME`. InputError for other text."""
    found = _NUMBER_AND_TIME.fullmatch(text)
    if found is None or found[2] is None:
        raise InputError(
            f"{text!r} is no breaker. Give a number of failures, and after which time a probe leaves, as in "
            "--breaker 10/1m."
        )
    return {"failures": int(found[1]), "probeAfter": found[2]}


def read_batch(text: str) -> BatchRequest:
    """The batch of an option `COUNT/WINDOW` or `COUNT`. InputError for other text."""
    found = _NUMBER_AND_TIME.fullmatch(text)
    if found is None:
        raise InputError(
            f"{text!r} is no batch. Give a number of triggers and a window, as in --batch 50000/1h, "
            "or the number alone."
        )
    batch: BatchRequest = {"count": int(found[1])}
    if found[2] is not None:
        batch["window"] = found[2]
    return batch


def read_calendar(text: str) -> JobCalendar:
    """The calendar of an option `NAME/OTHERWISE` or `NAME`. The API knows the values of both."""
    name, separator, otherwise = text.partition("/")
    calendar: JobCalendar = {"name": name}
    return cast("JobCalendar", {**calendar, "otherwise": otherwise}) if separator else calendar


def read_labels(texts: Iterable[str]) -> dict[str, str]:
    """The labels of options `name=value`. InputError for other text."""
    found = {}
    for text in texts:
        name, separator, value = text.partition("=")
        if not name or not separator:
            raise InputError(f"{text!r} is no label. Give name=value, as in --label team=ops.")
        found[name] = value
    return found


def read_secret(what: str) -> str:
    """A secret from stdin, without the line end, or from a prompt that does not show it.

    A secret in the arguments would be in the shell's history and in the list of processes.
    """
    if sys.stdin.isatty():
        value: str = typer.prompt(what, hide_input=True, err=True)
    else:
        value = _from_stdin().removesuffix("\n").removesuffix("\r")
    if not value:
        raise InputError(f"{what} is empty. Give it on stdin, or at the prompt.")
    return value


def is_terminal() -> bool:
    """Whether a person can answer a question."""
    return sys.stdin.isatty()


def confirm(text: str, *, is_sure: bool) -> None:
    """Ask whether to go on, unless `is_sure`. InputError where nobody can answer."""
    if is_sure:
        return
    if not is_terminal():
        raise InputError(f"{text} Give --yes to do it without a question.")
    typer.confirm(text, abort=True, err=True)


def ask(text: str, *, is_sure: bool) -> None:
    """Ask a person whether to go on, unless `is_sure`. A script is not asked: it has named one thing."""
    if not is_sure and is_terminal():
        typer.confirm(text, abort=True, err=True)


def selection(
    prefix: str | None, label: Iterable[str], name: str | None, by: str = "--label"
) -> dict[str, Any] | None:
    """The filter of a command about one job or many; None if it names one. InputError for both or neither.

    `by` is the option that gives the labels.
    """
    labels = read_labels(label)
    if name is not None and (prefix or labels):
        raise InputError(f"Give the name of a job, or select many by --prefix or {by}, not both.")
    if name is not None:
        return None
    if not prefix and not labels:
        raise InputError(f"Give the name of a job, or select many by --prefix or {by}.")
    return {"prefix": prefix, "labels": labels}
