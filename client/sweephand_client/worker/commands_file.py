"""Reads and writes the file of commands: which command line runs for which job."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, cast

from sweephand_client.http.errors import InputError
from sweephand_client.tasks.exact_yaml import Places, parsed, yaml_text

#: What happens to a run of a job while an earlier one runs on this machine.
Overlap = Literal["allow", "skip", "wait"]

_JOB: Final = re.compile(r"(?!\.\.?$)[A-Za-z0-9._~:@+=-]{1,128}|[A-Za-z0-9._~:@+=-]{0,127}\*")
_VARIABLE: Final = re.compile(r"[^=\0]+")
_DURATION: Final = re.compile(r"(?:(\d{1,6})d)?(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,6})s)?")
_OF_FILE: Final = ("namespace", "defaults", "commands")


@dataclass(frozen=True, slots=True)
class Command:
    """How the command of a job runs.

    `words` is the program with its arguments. A variable of the `environment` that is None has the worker's
    value. `stdin` is a text, or `data` for the body of the delivery. Without `timeout_s` the command may run
    for as long as its run may.
    """

    words: tuple[str, ...]
    environment: Mapping[str, str | None] = field(default_factory=dict)
    directory: str | None = None
    user: str | None = None
    timeout_s: int | None = None
    overlap: Overlap = "allow"
    stdin: bytes | Literal["data"] = b""


@dataclass(frozen=True, slots=True)
class CommandsFile:
    """The commands by the names of their jobs. A name that ends with a star stands for all that begin so."""

    path: str
    commands: Mapping[str, Command]
    namespace: str | None = None

    def command_of(self, job: str) -> Command | None:
        """The command of a job: of its own name, or of the longest beginning of it that the file has."""
        if not _JOB.fullmatch(job) or job.endswith("*"):
            return None
        if job in self.commands:
            return self.commands[job]
        prefixes = (each for each in self.commands if each.endswith("*") and job.startswith(each[:-1]))
        longest = max(prefixes, key=len, default=None)
        return None if longest is None else self.commands[longest]


class _Rule(NamedTuple):
    """What a field of a command has to be, in words and as a test."""

    expected: str
    holds: Any


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != "" and "\0" not in value


def _is_environment(value: Any) -> bool:
    return isinstance(value, dict) and all(
        _VARIABLE.fullmatch(name) and (each is None or (isinstance(each, str) and "\0" not in each))
        for name, each in value.items()
    )


RULES: Final[Mapping[str, _Rule]] = {
    "command": _Rule(
        "give a text for /bin/sh, or a list of texts: a program and its arguments",
        lambda value: (
            _is_text(value)
            or (
                isinstance(value, list)
                and value != []
                and _is_text(value[0])
                and all(isinstance(each, str) and "\0" not in each for each in value)
            )
        ),
    ),
    "environment": _Rule(
        "give an object of texts, as in {LANG: C.UTF-8}; a name without a value has the worker's value",
        _is_environment,
    ),
    "directory": _Rule("give an absolute path", lambda value: _is_text(value) and Path(value).is_absolute()),
    "user": _Rule("give the name of a user", _is_text),
    "timeout": _Rule(
        "give a duration of a second or more, as in 90s, 10m or 1h30m",
        lambda value: isinstance(value, str) and seconds(value) > 0,
    ),
    "overlap": _Rule("give allow, skip or wait", lambda value: value in ("allow", "skip", "wait")),
    "stdin": _Rule(
        "give data, or a text as in {text: yes}",
        lambda value: (
            value == "data"
            or (isinstance(value, dict) and value.keys() == {"text"} and isinstance(value["text"], str))
        ),
    ),
}


def load_commands_file(path: str) -> CommandsFile:
    """The commands of a file. Raises InputError if it cannot be read or used, or if others may change it."""
    try:
        with Path(path).open(encoding="utf-8") as file:
            found = os.fstat(file.fileno())
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The file of commands {path} cannot be read: {error}") from None
    if found.st_uid not in (0, os.geteuid()):
        raise InputError(
            f"{path} belongs to somebody else, and says what is executed. Run: chown {os.geteuid()} {path}"
        )
    if found.st_mode & 0o022:
        raise InputError(f"Others may change {path}, which says what is executed. Run: chmod go-w {path}")
    return read_commands_file(text, path)


def read_commands_file(text: str, path: str) -> CommandsFile:
    """The commands of a text. Raises InputError that names each wrong place by its line and JSON pointer."""
    value = parsed(text)
    if not isinstance(value, dict) or not isinstance(value.get("commands"), dict):
        raise InputError(
            f"{path} has no object `commands`. Give commands: and below it the name of each job."
        )
    wrong = list(_wrong(value))
    if wrong:
        places = Places(text)
        said = (f"  {places.of(pointer)}: {why}" for pointer, why in wrong)
        raise InputError(f"{path} cannot be used:\n" + "\n".join(said))
    defaults = value.get("defaults") or {}
    commands = {job: _command(defaults, fields) for job, fields in value["commands"].items()}
    return CommandsFile(path, commands, value.get("namespace"))


def write_commands_file(commands: Mapping[str, Mapping[str, Any]], namespace: str | None) -> str:
    """The text of a file with these fields for each job. What all have as environment stands there once."""
    value: dict[str, Any] = {} if namespace is None else {"namespace": namespace}
    own = {job: dict(fields) for job, fields in commands.items()}
    first = next(iter(own.values()), {}).get("environment")
    if first and all(each.get("environment") == first for each in own.values()):
        value["defaults"] = {"environment": dict(first)}
        for each in own.values():
            del each["environment"]
    return yaml_text({**value, "commands": own})


def _wrong(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Each wrong place, as its JSON pointer and what would be right there."""
    for name in value.keys() - {*_OF_FILE}:
        yield f"/{_escaped(name)}", f"there is no such field; give {', '.join(_OF_FILE)}"
    if not isinstance(value.get("namespace"), str | None):
        yield "/namespace", "give the name of the namespace whose deliveries run the commands"
    defaults = value.get("defaults") or {}
    if isinstance(defaults, dict) and "command" in defaults:
        yield "/defaults/command", "give each job a command of its own"
    yield from _wrong_fields("/defaults", defaults)
    for job, fields in value["commands"].items():
        pointer = f"/commands/{_escaped(job)}"
        if not _JOB.fullmatch(job):
            yield pointer, "give the name of a job, or how names begin with a star at its end, as in backup-*"
        yield from _wrong_fields(pointer, fields)
        if isinstance(fields, dict) and "command" not in fields:
            yield pointer, f"there is no command; {RULES['command'].expected}"


def _wrong_fields(pointer: str, fields: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(fields, dict):
        yield pointer, f"give an object with {', '.join(RULES)}"
        return
    for name, value in fields.items():
        if name not in RULES:
            yield f"{pointer}/{_escaped(name)}", f"there is no such field; give {', '.join(RULES)}"
        elif not RULES[name].holds(value):
            yield f"{pointer}/{name}", RULES[name].expected


def _command(defaults: Mapping[str, Any], own: Mapping[str, Any]) -> Command:
    """The command of a job. Its variables come on top of those of all jobs."""
    fields = {**defaults, **own}
    command, stdin = fields["command"], fields.get("stdin", {"text": ""})
    return Command(
        words=("/bin/sh", "-c", command) if isinstance(command, str) else tuple(command),
        environment={**defaults.get("environment", {}), **own.get("environment", {})},
        directory=fields.get("directory"),
        user=fields.get("user"),
        timeout_s=seconds(fields["timeout"]) if "timeout" in fields else None,
        overlap=cast("Overlap", fields.get("overlap", "allow")),
        stdin="data" if stdin == "data" else stdin["text"].encode(),
    )


def seconds(text: str) -> int:
    """A duration in seconds; 0 for another text."""
    found = _DURATION.fullmatch(text)
    numbers = (int(each or 0) for each in found.groups()) if found else (0,)
    return sum(number * unit for number, unit in zip(numbers, (86_400, 3_600, 60, 1), strict=False))


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
