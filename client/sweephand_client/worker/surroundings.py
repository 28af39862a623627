"""What a command finds around it: its user, its directory and its environment."""

import os
import pwd
from collections.abc import Mapping
from typing import Final

from sweephand_client.http.errors import InputError
from sweephand_client.worker.commands_file import Command, CommandsFile
from sweephand_client.worker.process import Account

#: What a command has of the worker's environment. The rest may hold keys of the worker.
_KEPT: Final = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR")
_PATH_DEFAULT: Final = "/usr/local/bin:/usr/bin:/bin"


def check_users(file: CommandsFile) -> None:
    """Raise InputError if a command has a user that does not exist, or that this worker cannot be."""
    for job, command in file.commands.items():
        try:
            found = _entry(command.user)
        except KeyError:
            raise InputError(
                f"{file.path}: {job} runs as {command.user}, and there is no such user."
            ) from None
        if found.pw_uid != os.geteuid() != 0:
            raise InputError(
                f"{file.path}: {job} runs as {command.user}. Only a worker that root runs can do that. "
                f"Run the worker as {command.user}, or as root, or leave `user` out."
            )


def account_of(command: Command) -> Account:
    """The user of a command, with all groups of that user. KeyError if the user does not exist any longer."""
    entry = _entry(command.user)
    if entry.pw_uid == os.geteuid():
        return Account(None, None, None)
    return Account(entry.pw_uid, entry.pw_gid, os.getgrouplist(entry.pw_name, entry.pw_gid))


def environment_of(command: Command, names: Mapping[str, str], worker: Mapping[str, str]) -> dict[str, str]:
    """The environment of a command. `names` are those of its trigger, and `worker` is the worker's own."""
    entry = _entry(command.user)
    found = {"PATH": _PATH_DEFAULT} | {name: worker[name] for name in _KEPT if name in worker}
    found |= {
        "HOME": entry.pw_dir,
        "LOGNAME": entry.pw_name,
        "USER": entry.pw_name,
        "SHELL": "/bin/sh",
    }
    for name, value in command.environment.items():
        if value is not None:
            found[name] = value
        elif name in worker:
            found[name] = worker[name]
    return found | {f"SWEEPHAND_{name}": value for name, value in names.items()}


def directory_of(command: Command, environment: Mapping[str, str]) -> str:
    """Where a command runs: in its directory, or at home as with cron, or in / if there is no home."""
    home = environment["HOME"]
    return command.directory or (home if os.path.isdir(home) else "/")  # noqa: PTH112 - a text is enough


def _entry(user: str | None) -> pwd.struct_passwd:
    if user is not None:
        return pwd.getpwnam(user)
    try:
        return pwd.getpwuid(os.geteuid())
    except KeyError:
        # A container may run as a number that has no name.
        home = os.environ.get("HOME", "/")
        return pwd.struct_passwd((str(os.geteuid()), "x", os.geteuid(), os.getegid(), "", home, "/bin/sh"))
