"""Makes a job of each line of a crontab, and says of each line what a job cannot say."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, Final
from zoneinfo import available_timezones

from sweephand_client.openapi.requests import JobRequest, Target
from sweephand_client.tasks.crontab.lines import Line, path_in, read_lines
from sweephand_client.tasks.crontab.time_fields import Dialect
from sweephand_client.tasks.jobs_file import DeclaredJob, JobsFile

#: The variables whose values say where and how a command runs. The consumer has values of its own.
_ENVIRONMENT: Final = frozenset({"PATH", "SHELL", "HOME", "LANG", "LC_ALL", "LOGNAME", "USER"})
#: The variables that cronie reads itself and Debian's cron does not.
OF_CRONIE: Final = frozenset({"CRON_TZ", "RANDOM_DELAY"})

#: What cron hands to a command without a PATH of the crontab (crontab(5) of both).
_PATH: Final = "/usr/bin:/bin"
_SHELL: Final = "/bin/sh"

#: How soon a worker that has died is noticed. The time of a message begins when its queue takes it, and so it
#: has to be longer than a message waits there.
_HEARTBEAT: Final = "2m"
_HEARTBEAT_FROM_QUEUE: Final = "10m"

_COMMENTED_OUT: Final = "Commented out in the crontab."

#: What a job needs to behave like a line of a crontab (docs/crontab.md, "What behaves differently").
_ONE_ATTEMPT: Final[JobRequest] = {"retry": {"maxAttempts": 1}}
_NO_CATCHUP: Final[JobRequest] = {"catchup": {"mode": "none", "window": "2m"}}

#: The accounts of every Debian system (base-passwd) and a few that run many cron jobs.
_ACCOUNTS: Final = frozenset({"root", "daemon", "www-data", "backup", "nobody", "postgres", "mysql", "nginx"})

_SCRIPT: Final = re.compile(r"\.(?:sh|bash|py|pl|rb|php|js)$")
_NAME_LENGTH_MAX: Final = 128
_DESCRIPTION_LENGTH_MAX: Final = 512
#: The most minutes that cronie takes.
_DELAY_MINUTES_MAX: Final = 24 * 60


@dataclass(frozen=True, slots=True)
class Note:
    """What a person should know about a line. `is_lost`: the line, or a part of it, is in no job."""

    line: int
    text: str
    is_lost: bool = False


@dataclass(frozen=True, slots=True)
class Translated:
    """The jobs of a crontab, and the notes in the order of its lines.

    `commands` are the fields of each job's command in the file of a worker. Their values may be secrets.
    """

    file: JobsFile
    notes: tuple[Note, ...]
    commands: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, repr=False)

    def notes_by_job(self) -> dict[str, list[str]]:
        """The notes as comments of a file of jobs."""
        return {"": [f"line {each.line}: {each.text}" for each in self.notes]} if self.notes else {}


@dataclass
class _Translation:
    """What the lines before the present one have set, and what they gave."""

    target: Target | None
    timezone: str | None
    dialect: Dialect
    like_cron: bool
    for_worker: bool
    #: What CRON_TZ says, or else the zone of the machine.
    zone: str | None
    jitter: str | None = None
    #: The variables for the commands so far. Their values may be secrets.
    variables: dict[str, str] = field(default_factory=dict)
    comment: list[str] = field(default_factory=list)
    jobs: dict[str, DeclaredJob] = field(default_factory=dict)
    commands: dict[str, dict[str, Any]] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)

    def note(self, line: Line, text: str, *, is_lost: bool = False) -> None:
        """Tell a person of a line."""
        self.notes.append(Note(line.number, text, is_lost))


def translate(
    text: str,
    *,
    dialect: Dialect = "debian",
    target: Target | None = None,
    timezone: str | None = None,
    namespace: str | None = None,
    like_cron: bool = False,
    has_users: bool = False,
    for_worker: bool = False,
) -> Translated:
    """The jobs of a crontab: one for each line that its cron would run. Every other line has a note.

    `timezone` is the zone of the machine. `like_cron`: a job is neither tried again nor caught up. The jobs
    go to `target`, or to the default target of their namespace. `for_worker`: the commands are for the file
    of a worker, and no job says what it runs.
    """
    state = _Translation(target, timezone, dialect, like_cron, for_worker, zone=timezone)
    for line in read_lines(text, dialect, has_users=has_users):
        match line.kind:
            case "comment":
                state.comment.append(line.text)
                continue
            case "header":
                if line.is_commented_out:
                    state.note(line, "no job: a comment whose command names no path may only be an example")
            case "variable":
                _take_variable(state, line)
            case "wrong":
                state.note(line, f"no job: {line.text}", is_lost=True)
            case "job":
                _take_job(state, line)
            case "blank":
                pass
        state.comment.clear()
    if text and not text.endswith("\n"):
        last = Line(text.count("\n") + 1, "blank")
        state.note(last, "cron ignores a crontab whose last line has no line feed at its end")
    return Translated(JobsFile(tuple(state.jobs.values()), namespace), tuple(state.notes), state.commands)


def _take_variable(state: _Translation, line: Line) -> None:
    match line.name:
        case "CRON_TZ" if state.dialect == "cronie":
            state.zone = line.text or state.timezone
        case "RANDOM_DELAY" if state.dialect == "cronie":
            _take_delay(state, line)
        case "MAILTO" | "MAILFROM" | "CONTENT_TYPE" | "CONTENT_TRANSFER_ENCODING":
            text = f"{line.name}: give the jobs an onComplete to learn of failures (docs/crontab.md)"
            state.note(line, text, is_lost=bool(line.text))
        case name:
            state.variables[name] = line.text
            if state.for_worker and name not in (*OF_CRONIE, "TZ"):
                return
            if name in OF_CRONIE:
                text = f"{name}: Debian's cron only hands it to the commands"
            elif name == "TZ":
                text = "TZ: cron only hands it to the commands; it moves no schedule"
            else:
                text = f"{name}: set it in the environment of the consumer"
            state.note(line, text, is_lost=not state.for_worker and name not in _ENVIRONMENT)


def _take_delay(state: _Translation, line: Line) -> None:
    minutes = int(line.text) if re.fullmatch("[0-9]{1,9}", line.text) else -1
    is_taken = 0 <= minutes <= _DELAY_MINUTES_MAX
    state.jitter = f"{minutes}m" if minutes and is_taken else None
    if not is_taken:
        text = f"RANDOM_DELAY: cronie ignores this value; expected minutes, 0 to {_DELAY_MINUTES_MAX}"
        state.note(line, text, is_lost=True)


def _take_job(state: _Translation, line: Line) -> None:
    if line.name != "@reboot" and not _is_zone(state.zone):
        state.note(line, f"no job: {state.zone!r} is no time zone, such as Europe/Paris", is_lost=True)
        return
    if state.for_worker and "\0" in line.text:
        state.note(line, "no job: no command can have the character NUL in it", is_lost=True)
        return
    name = _free_name(state, line.text)
    job: JobRequest = {}
    if description := " ".join(filter(None, state.comment)):
        job["description"] = description[:_DESCRIPTION_LENGTH_MAX]
    if line.name != "@reboot":
        job |= _times(state, line.name)
    if state.target is not None:
        job["target"] = state.target
    if state.for_worker:
        job["completion"] = "async"
        is_queued = state.target is not None and state.target["type"] == "sqs"
        job["heartbeatTimeout"] = _HEARTBEAT_FROM_QUEUE if is_queued else _HEARTBEAT
        state.commands[name] = _command(state, line)
    else:
        job["data"] = _data(state, line)
    if state.like_cron:
        job |= _ONE_ATTEMPT if line.name == "@reboot" else {**_ONE_ATTEMPT, **_NO_CATCHUP}
    state.jobs[name] = DeclaredJob(name, job, _COMMENTED_OUT if line.is_commented_out else None)
    if line.name == "@reboot":
        state.note(line, f"@reboot: {name} fires only on demand; trigger it when the machine starts")
    first, _, rest = line.text.partition(" ")
    if line.user is None and first in _ACCOUNTS and path_in(rest):
        text = f"the command begins with {first}; if that is the user of a system crontab, say --system"
        state.note(line, text, is_lost=True)


def _times(state: _Translation, schedule: str) -> JobRequest:
    times: JobRequest = {"schedule": schedule}
    if state.zone is not None:
        times["timezone"] = state.zone
    if state.jitter is not None:
        times["jitter"] = state.jitter
    return times


def _is_zone(name: str | None) -> bool:
    """Whether the API knows a zone, as far as this machine can tell: some have no zone data."""
    known = available_timezones()
    return name is None or not known or name in known


def _data(state: _Translation, line: Line) -> dict[str, Any]:
    """What cron would run. Of the variables only the names travel, because values may be secrets."""
    given = {
        "command": line.text,
        "stdin": line.stdin,
        "user": line.user,
        "env": list(state.variables) or None,
    }
    return {name: value for name, value in given.items() if value is not None}


def _command(state: _Translation, line: Line) -> dict[str, Any]:
    """What cron would run, for the file of a worker."""
    if re.search(r"(?<!&)&\s*$", line.text):
        text = "the command goes on in the background, where a worker ends it: leave out the & at its end"
        state.note(line, text, is_lost=True)
    shell = state.variables.get("SHELL", _SHELL)
    given = {
        "command": line.text if shell == _SHELL else [shell, "-c", line.text],
        "stdin": None if line.stdin is None else {"text": line.stdin},
        "user": line.user,
        "environment": {"PATH": _PATH}
        | {name: text for name, text in state.variables.items() if name and "\0" not in name + text},
    }
    return {name: value for name, value in given.items() if value is not None}


def _free_name(state: _Translation, command: str) -> str:
    """The name of the program as the name of a job, with a number if an earlier job has that name."""
    words = (word for word in command.split() if not re.match(r"\w+=", word))
    program = PurePosixPath(path_in(command) or next(words, "")).name
    base = re.sub(r"[^A-Za-z0-9._~:@+=-]+", "-", _SCRIPT.sub("", program)).strip("-")
    base = base[: _NAME_LENGTH_MAX - 8]
    base = base if base.strip(".") else "job"
    name, number = base, 1
    while name in state.jobs:
        number += 1
        name = f"{base}-{number}"
    return name
