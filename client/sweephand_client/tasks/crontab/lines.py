"""Reads the lines of a crontab as cron does.

References: crontab(5), env.c, entry.c and do_command.c of Debian's cron 3.0pl1, and of cronie.
"""

import re
from dataclasses import dataclass, replace
from typing import Final, Literal

from sweephand_client.tasks.crontab.time_fields import CronLineError, Dialect, read_schedule

Kind = Literal["job", "variable", "comment", "header", "blank", "wrong"]

#: Cron compares these exactly: it does not know `@Daily`.
_MACROS: Final = ("@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly", "@reboot")
_VARIABLE: Final = re.compile(
    r"""(?P<name>"[^"=]*"|'[^'=]*'|[^\s="'][^\s=]*)\s*=\s*+(?P<value>"[^"]*"|'[^']*'|(?!["']).*?)\s*""",
    re.ASCII,
)
#: The lines with which Debian's crontab(1) and its /etc/crontab explain themselves.
_EXAMPLE: Final = "0 5 * * 1 tar -zcf /var/backups/home.tgz /home/"
#: The beginning of a text that gives a variable a value, whether cron reads it so or not.
_ASSIGNMENT: Final = re.compile(r"""(?:export\s+)?["']?(?P<name>[A-Za-z_]\w*)["']?\s*=\s*\S""", re.ASCII)
_HEADER: Final = re.compile(r"m\w*\s+h\w*\s+d\w*\s+m\w*\s+d\w*\b.*", re.IGNORECASE)
_NOT_READ: Final = (
    "cron does not read the line as the variable {}: expected NAME=value, and nothing after a value in quotes"
)
_FIELDS: Final = 5


@dataclass(frozen=True, slots=True)
class Line:
    """One line. `number` counts from 1. `text` is the command, the value of the variable, or the comment.

    `name` is the schedule of a job, or the name of a variable. `user` is the user of a system crontab's line.
    `stdin` is what cron writes to the command's standard input; None if it writes nothing. Of a wrong line,
    `text` says what is wrong. A header is a comment that shows what a line looks like. The value of a
    variable may be a secret. So a comment that gives a variable a value is empty. If cron does not read a
    line as a variable, `text` says so and does not quote the line.
    """

    number: int
    kind: Kind
    text: str = ""
    name: str = ""
    user: str | None = None
    stdin: str | None = None
    is_commented_out: bool = False


def read_lines(text: str, dialect: Dialect, *, has_users: bool) -> list[Line]:
    """The lines of a crontab. `has_users`: the name of a user follows the time, as in /etc/crontab.

    Only a line feed ends a line.
    """
    numbered = enumerate(text.split("\n"), start=1)
    return [_line(number, line.lstrip(" \t"), dialect, has_users=has_users) for number, line in numbered]


def path_in(command: str) -> str | None:
    """The first word of a command that is a path and that the command neither assigns nor redirects to."""
    plain = re.sub(r"[<>]+&?\s*\S+", " ", command)
    words = (word.strip("\"'();&|`{}") for word in plain.split())
    return next((word for word in words if "/" in word and not re.search(r"://|^/$|^\w+=|^-", word)), None)


def _line(number: int, line: str, dialect: Dialect, *, has_users: bool) -> Line:
    if not line:
        return Line(number, "blank")
    if line.startswith("#"):
        return _comment(number, line.lstrip("#").strip(), dialect, has_users=has_users)
    variable = _VARIABLE.fullmatch(line)
    if variable and (variable["value"] or dialect == "cronie"):
        return Line(number, "variable", _unquoted(variable["value"]), _unquoted(variable["name"]))
    try:
        return _job(number, line, dialect, has_users=has_users)
    except CronLineError as error:
        assigned = _ASSIGNMENT.match(line)
        return Line(number, "wrong", _NOT_READ.format(assigned["name"]) if assigned else str(error))


def _comment(number: int, comment: str, dialect: Dialect, *, has_users: bool) -> Line:
    """A comment, or the job that it was before somebody commented it out: its command has to name a path."""
    if comment == _EXAMPLE or _HEADER.fullmatch(comment):
        return Line(number, "header", comment)
    try:
        job = _job(number, comment, dialect, has_users=has_users)
    except CronLineError:
        return Line(number, "comment", "" if _ASSIGNMENT.match(comment) else comment)
    if path_in(job.text) is None:
        return Line(number, "header", comment, is_commented_out=True)
    return replace(job, is_commented_out=True)


def _job(number: int, line: str, dialect: Dialect, *, has_users: bool) -> Line:
    """The job of a line. Raises CronLineError if this cron would not run it."""
    if dialect == "cronie":
        line = line.removeprefix("-")  # do not write to syslog
    is_macro = line.startswith("@")
    words = 1 if is_macro else _FIELDS
    parts = re.split(r"[ \t]+", line, maxsplit=words + has_users)
    if is_macro and parts[0] not in _MACROS:
        raise CronLineError(f"{parts[0]} is unknown: expected {', '.join(_MACROS)}")
    if len(parts) <= words + has_users or not parts[-1]:
        and_user = " and a user" if has_users else ""
        raise CronLineError(f"expected {_FIELDS} time fields{and_user} and then a command")
    schedule = parts[0] if is_macro else read_schedule(parts[:words], dialect)
    user = _checked_user(parts[words]) if has_users else None
    if not has_users and parts[-1].startswith("*"):
        raise CronLineError("cron refuses a command that begins with *: it may be a sixth time field")
    command, stdin = split_stdin(_without_option(parts[-1], dialect), dialect)
    if not command.strip():
        raise CronLineError("there is no command")
    return Line(number, "job", command, schedule, user, stdin)


def _checked_user(name: str) -> str:
    if not re.fullmatch(r"[\w.][\w.-]*\$?", name):
        raise CronLineError(f"{name!r} is no user: a system crontab names one after the time fields")
    return name


def _without_option(command: str, dialect: Dialect) -> str:
    """The command without cronie's own option: `-n` sends mail only if the command fails."""
    if dialect == "debian":
        return command
    command = re.sub(r"^-n[ \t]+", "", command)
    if command.startswith("-"):
        raise CronLineError("cronie refuses a command that begins with -, except for its option -n")
    return command


def split_stdin(command: str, dialect: Dialect) -> tuple[str, str | None]:
    r"""What cron hands to the shell, and what it writes to the command's standard input; None for nothing.

    The first `%` ends the command. Each further `%` is a new line, and the input ends with one. `\%` is a
    percent sign. Debian's cron also reads `\\` before the first `%` as one backslash (do_command.c).
    """
    found = re.fullmatch(r"((?:[^%\\]|\\.)*\\?)%?(.*)", command, re.DOTALL)
    assert found, "every text matches"
    before, after = found.groups()
    command = re.sub(r"\\([%\\])", r"\1", before) if dialect == "debian" else before.replace(r"\%", "%")
    stdin = re.sub(r"\\%|%", lambda each: "%" if len(each[0]) > 1 else "\n", after)
    if stdin.rstrip("\\")[-1:] not in ("", "\n"):  # cron does not count backslashes at the end
        stdin += "\n"
    return command, stdin or None


def _unquoted(text: str) -> str:
    return text[1:-1] if text[:1] in ("'", '"') else text
