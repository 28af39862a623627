"""Reads the lines of a crontab (Debian crontab(5), cronie crontab(5))."""

import re
from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal["job", "variable", "comment", "blank", "wrong"]

_MACROS: Final = ("@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly", "@reboot")
_VARIABLE: Final = re.compile(r"""\s*(?:"([^"]+)"|'([^']+)'|([A-Za-z_][A-Za-z0-9_]*))\s*=\s*(.*?)\s*""")
#: A time field: numbers, names of days and months, and what combines them. `~` is a random time.
_FIELD: Final = re.compile(r"[0-9A-Za-z*/,~?LW#-]+")
_FIELDS: Final = 5


@dataclass(frozen=True, slots=True)
class Entry:
    """One line. `number` counts from 1. `text` is the command, the value of the variable, or the comment.

    `name` is the schedule of a job, or the name of the variable. Of a wrong line, `text` says what is wrong.
    """

    number: int
    kind: Kind
    text: str = ""
    name: str = ""
    is_commented_out: bool = False


def read_entries(text: str, *, has_users: bool) -> list[Entry]:
    """The lines of a crontab. `has_users`: a name of a user follows the time, as in /etc/crontab."""
    return [
        _entry(number, line, has_users=has_users) for number, line in enumerate(text.split("\n"), start=1)
    ]


def _entry(number: int, line: str, *, has_users: bool) -> Entry:
    stripped = line.strip()
    if not stripped:
        return Entry(number, "blank")
    if stripped.startswith("#"):
        comment = stripped.lstrip("#").strip()
        found = _job(number, comment, has_users=has_users)
        # Prose is no job: the first five words of a sentence are no time fields.
        if found.kind == "job" and _is_time(found.name):
            return Entry(number, "job", found.text, found.name, is_commented_out=True)
        return Entry(number, "comment", comment)
    variable = _VARIABLE.fullmatch(line)
    if variable and not stripped.startswith(("@", "*")):
        name = next(each for each in variable.groups()[:3] if each)
        return Entry(number, "variable", _unquoted(variable[4]), name)
    return _job(number, stripped, has_users=has_users)


def _job(number: int, line: str, *, has_users: bool) -> Entry:
    words = 1 if line.startswith("@") else _FIELDS
    parts = line.split(None, words + has_users)
    if len(parts) <= words + has_users:
        user = " and a user" if has_users else ""
        return Entry(number, "wrong", f"expected {_FIELDS} time fields{user} and then a command")
    schedule = " ".join(parts[:words])
    if words == 1 and schedule.lower() not in _MACROS:
        return Entry(number, "wrong", f"{schedule} is unknown; expected {', '.join(_MACROS)}")
    alien = next((each for each in parts[:words] if words > 1 and not _FIELD.fullmatch(each)), None)
    if alien is not None:
        return Entry(number, "wrong", f"{alien!r} is no time field")
    return Entry(number, "job", parts[-1], schedule)


def _is_time(schedule: str) -> bool:
    """Whether a schedule in a comment is surely meant as one: a macro, or fields with digits or stars."""
    if schedule.startswith("@"):
        return schedule.lower() in _MACROS
    return all(re.search("[0-9*]", each) for each in schedule.split()[:3])


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value
