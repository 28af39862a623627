"""The command line `sweephand`.

A command's module is imported when the command is called. All of them together would take half a second.
"""

import io
import os
import sys
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from functools import partial
from importlib import import_module, metadata
from typing import Annotated, Any, Final, NamedTuple

import typer
from typer.core import TyperGroup
from typer.main import get_command, get_group

from sweephand_client.commands.examples import epilog


class _Place(NamedTuple):
    """Where a command or a group is: a module of this folder, and its name there.

    A command that `is_plain` has none of the options that choose a stack.
    """

    module: str
    name: str = "app"
    is_plain: bool = False


#: The commands in the order of the help.
_PLACES: Final[Mapping[str, _Place]] = {
    "dev": _Place("dev", "dev", is_plain=True),
    "docs": _Place("docs", "docs", is_plain=True),
    "deploy": _Place("deploy", "deploy", is_plain=True),
    "destroy": _Place("deploy", "destroy", is_plain=True),
    "status": _Place("access", "status"),
    "changes": _Place("access", "changes"),
    "tail": _Place("run", "tail"),
    "overview": _Place("figures", "overview"),
    "forecast": _Place("figures", "forecast"),
    "stats": _Place("figures", "stats"),
    "zones": _Place("figures", "zones"),
    "why": _Place("run", "why"),
    "apply": _Place("apply", "apply"),
    "schema": _Place("apply", "schema"),
    "rehearse": _Place("rehearse", "rehearse"),
    "check": _Place("rehearse", "check"),
    "crontab": _Place("crontab", "crontab"),
    "worker": _Place("worker", "worker"),
    "export": _Place("transfer", "export"),
    "rebuild": _Place("repairs", "rebuild"),
    "audit": _Place("repairs", "audit"),
    "job": _Place("job"),
    "run": _Place("run"),
    "batch": _Place("batch"),
    "schedule": _Place("flow", "schedules"),
    "calendar": _Place("calendar"),
    "policy": _Place("flow", "policies"),
    "window": _Place("flow", "windows"),
    "namespace": _Place("flow", "namespaces"),
    "key": _Place("access", "keys"),
    "secret": _Place("access", "secrets"),
    "profile": _Place("access", "profiles"),
    "import": _Place("imports"),
}


#: The exit code of what could not be done for lack of a stack, or of room on a disk.
_UNREACHABLE: Final = 3

#: What the help calls the types of Python. A flag has none.
_TYPES: Final[Mapping[str, str]] = {
    "<str>": "TEXT",
    "<list[str]>": "TEXT",
    "<int>": "NUMBER",
    "<int range>": "NUMBER",
    "<float>": "NUMBER",
    "<float range>": "NUMBER",
    "<file>": "FILE",
    "<directory>": "FOLDER",
    "<path>": "PATH",
    "<bool>": "",
}


class _Commands(MutableMapping[str, Any]):
    """The commands by their names. Each is made when it is asked for."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = _made(name, _PLACES[name])
        return self._made[name]

    def __setitem__(self, name: str, made: Any) -> None:
        self._made[name] = made

    def __delitem__(self, name: str) -> None:
        del self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_PLACES)

    def __len__(self) -> int:
        return len(_PLACES)


def _made(name: str, place: _Place) -> Any:
    found = getattr(_module(place.module), place.name)
    if isinstance(found, typer.Typer):
        group = get_group(found)
        group.name = name
        for inner, each in group.commands.items():
            _complete_help(each, f"{name} {inner}")
        return _name_types(group)
    alone = typer.Typer(add_completion=False)
    register = alone.command(name) if place.is_plain else _module("session").command(alone, name)
    register(found)
    return _complete_help(get_command(alone), name)


def _complete_help(made: Any, name: str) -> Any:
    """Give the help of a command its examples, and the names of types in words."""
    made.epilog = epilog(name)
    return _name_types(made)


def _name_types(made: Any) -> Any:
    """Let the help of a command name the types of its options in words, not as Python has them."""
    made.get_params = partial(_named_params, made.get_params)
    return made


def _named_params(params_of: Callable[[Any], list[Any]], context: Any) -> list[Any]:
    found = params_of(context)
    for each in found:
        if not isinstance(each.display_type, partial):
            each.display_type = partial(_type_of, each.display_type)
    return found


def _type_of(display_type: Callable[[Any], str], context: Any) -> str:
    named = display_type(context)
    return _TYPES.get(named, named)


def _module(name: str) -> Any:
    return import_module(f"sweephand_client.commands.{name}")


class _Group(TyperGroup):
    """The group of all commands."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**{**given, "commands": _Commands()})
        _name_types(self)

    def list_commands(self, ctx: Any) -> list[str]:
        """The names in the order of the help."""
        del ctx
        return list(self.commands)


app = typer.Typer(
    name="sweephand",
    cls=_Group,
    no_args_is_help=True,
    # A traceback with the values of variables would print keys.
    pretty_exceptions_enable=False,
    help="Schedule jobs in a Sweephand stack, and see what becomes of them.",
    epilog="Exit codes: 0 done, 1 differs, 2 bad input, 3 unreachable, 4 refused.",
)


def _show_version(asked: bool) -> None:  # noqa: FBT001 - typer passes it by position
    if asked:
        typer.echo(_version())
        raise typer.Exit


def _version() -> str:
    try:
        return f"sweephand {metadata.version('sweephand')}"
    except metadata.PackageNotFoundError:
        return "sweephand of a clone, which is not installed"


@app.callback()
def options(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Schedule jobs in a Sweephand stack, and see what becomes of them."""


def main() -> None:
    """Run the command line, and exit with its code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # The locale of the terminal may lack a character.
            stream.reconfigure(errors="backslashreplace")
    code: Any = 0
    try:
        try:
            app(prog_name="sweephand")
        except SystemExit as ended:
            code = ended.code
        sys.stdout.flush()
    except OSError as error:
        # Python would try to write the rest once more as it ends.
        if not isinstance(error, BrokenPipeError):
            sys.stderr.write(f"The output cannot be written: {error.strerror}.\n")
            code = _UNREACHABLE
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    main()
