"""Makes jobs of the lines of a crontab, and says of each line what a job cannot say."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from sweephand_client.tasks.crontab.entries import Entry, read_entries
from sweephand_client.tasks.crontab.shell import Step, arguments, read_steps, split_input
from sweephand_client.tasks.jobs_file import DeclaredJob, JobsFile

#: The variables that belong to the environment of the consumer, not to a job.
_ENVIRONMENT: Final = frozenset({"PATH", "SHELL", "HOME", "LANG", "LC_ALL", "LOGNAME", "USER"})

_COMMENTED_OUT: Final = "Commented out in the crontab."

#: What a job needs to behave like a line of a crontab (docs/crontab.md, "What behaves differently").
LIKE_CRON: Final[Mapping[str, Any]] = {
    "retry": {"maxAttempts": 1},
    "catchup": {"mode": "none", "window": "2m"},
}

_NAME_LENGTH_MAX: Final = 128
_DESCRIPTION_LENGTH_MAX: Final = 512


@dataclass(frozen=True, slots=True)
class Note:
    """What a person should know about a line. `is_lost`: the line, or a part of it, is in no job."""

    line: int
    text: str
    is_lost: bool = False


@dataclass(frozen=True, slots=True)
class Translated:
    """The jobs of a crontab, and the notes in the order of its lines."""

    file: JobsFile
    notes: tuple[Note, ...]

    def notes_by_job(self) -> dict[str, list[str]]:
        """The notes as comments of a file of jobs."""
        return {"": [f"line {each.line}: {each.text}" for each in self.notes]} if self.notes else {}


@dataclass
class _Translation:
    """What the lines before the present one have set, and what they gave."""

    target: Mapping[str, Any] | None
    timezone: str | None
    like_cron: bool
    jitter: str | None = None
    comment: list[str] = field(default_factory=list)
    jobs: list[DeclaredJob] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    names: set[str] = field(default_factory=set)


def translate(
    text: str,
    *,
    target: Mapping[str, Any] | None = None,
    timezone: str | None = None,
    namespace: str | None = None,
    like_cron: bool = False,
    has_users: bool = False,
) -> Translated:
    """The jobs of a crontab. Each line that gives no job, or not all of one, has a note.

    `timezone` is the zone of lines before which there is no `CRON_TZ`. `like_cron`: a job is neither tried
    again nor caught up. The jobs go to `target`, or to the default target of their namespace.
    """
    state = _Translation(target, timezone, like_cron)
    for entry in read_entries(text, has_users=has_users):
        match entry.kind:
            case "blank":
                state.comment.clear()
            case "comment":
                state.comment.append(entry.text)
            case "variable":
                state.comment.clear()
                _take_variable(state, entry)
            case "wrong":
                state.comment.clear()
                state.notes.append(Note(entry.number, f"no job: {entry.text}", is_lost=True))
            case "job":
                _take_job(state, entry)
                state.comment.clear()
    file = JobsFile(tuple(state.jobs), namespace)
    return Translated(file, tuple(state.notes))


def _take_variable(state: _Translation, entry: Entry) -> None:
    match entry.name:
        case "CRON_TZ" | "TZ":
            state.timezone = entry.text or None
        case "RANDOM_DELAY":
            if entry.text.isdecimal() and int(entry.text):
                state.jitter = f"{int(entry.text)}m"
            else:
                state.jitter = None
        case "MAILTO":
            note = "MAILTO: give the jobs an onComplete to learn of failures (docs/crontab.md)"
            state.notes.append(Note(entry.number, note, is_lost=bool(entry.text)))
        case name if name in _ENVIRONMENT:
            state.notes.append(Note(entry.number, f"{name}: set it in the environment of the consumer"))
        case name:
            note = f"{name}: give it to the commands in the environment of the consumer, or in data"
            state.notes.append(Note(entry.number, note, is_lost=True))


def _take_job(state: _Translation, entry: Entry) -> None:
    if "~" in entry.name:
        note = "no job: the random ~ is no schedule; write a time, and spread jobs by jitter"
        state.notes.append(Note(entry.number, note, is_lost=True))
        return
    command, given = split_input(entry.text)
    try:
        steps = read_steps(command)
    except ValueError as error:
        state.notes.append(Note(entry.number, f"no job: the command cannot be read ({error})", is_lost=True))
        return
    if not steps:
        state.notes.append(Note(entry.number, "no job: there is no command", is_lost=True))
        return
    if any(step.is_shell for step in steps):
        note = "the command needs a shell; the consumer has to run it as a whole"
        state.notes.append(Note(entry.number, note))
    if any(step.overlap is None and step.name == "flock" for step in steps):
        state.notes.append(Note(entry.number, "flock: a job cannot say this; see overlap", is_lost=True))
    names = [_free_name(state, step) for step in steps]
    jobs = [_job(state, step, given if at == 0 else None) for at, step in enumerate(steps)]
    jobs[0] = {**_times(state, entry), **jobs[0]}
    for at in range(len(jobs) - 1):
        jobs[at]["onComplete"] = _chained(names[at + 1], steps[at + 1])
    if state.comment:
        jobs[0] = {"description": " ".join(state.comment)[:_DESCRIPTION_LENGTH_MAX], **jobs[0]}
    declared = [DeclaredJob(name, job) for name, job in zip(names, jobs, strict=True)]
    if entry.is_commented_out:
        declared[0] = replace(declared[0], paused=_COMMENTED_OUT)
    if entry.name.lower() == "@reboot":
        note = f"@reboot: {names[0]} fires only on demand; trigger it when the machine starts"
        state.notes.append(Note(entry.number, note))
    state.jobs += declared


def _times(state: _Translation, entry: Entry) -> dict[str, Any]:
    if entry.name.lower() == "@reboot":
        return {}
    found: dict[str, Any] = {"schedule": entry.name}
    if state.timezone is not None:
        found["timezone"] = state.timezone
    if state.jitter is not None:
        found["jitter"] = state.jitter
    return found


def _job(state: _Translation, step: Step, given: str | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if state.target is not None:
        found["target"] = dict(state.target)
    data: Any = {}
    if words := arguments(step.words):
        data["arguments"] = words
    if given is not None:
        data = {**data, "input": given} if data else given
    if data:
        found["data"] = data
    if step.overlap is not None:
        found["overlap"] = step.overlap
    return found | (dict(LIKE_CRON) if state.like_cron else {})


def _chained(name: str, step: Step) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "job", "name": name}
    if step.when not in (None, "succeeded"):
        found["when"] = step.when
    return found


def _free_name(state: _Translation, step: Step) -> str:
    """The name of the program as the name of a job, with a number if an earlier job has that name."""
    base = re.sub(r"[^A-Za-z0-9._~:@+=-]+", "-", step.name).strip("-")[: _NAME_LENGTH_MAX - 8]
    base = base if base.strip(".") else "job"
    name, number = base, 1
    while name in state.names:
        number += 1
        name = f"{base}-{number}"
    state.names.add(name)
    return name
