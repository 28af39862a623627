"""The commands that make a stack in an AWS account, and delete it."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from sweephand_client.commands.session import BAD_INPUT, DIFFERS, REFUSED, UNREACHABLE

#: Not imported by statements: what it needs is in the extra `deploy`.
_PACKAGE = "sweephand_deploy"

#: As shells report a program that Ctrl-C has ended.
_INTERRUPTED = 130

_StackName = Annotated[str, typer.Option("--stack-name", help="The stack's name.")]
_Region = Annotated[str, typer.Option(help="The region. Without it, that of your settings of AWS.")]
_RoleArn = Annotated[str, typer.Option("--role-arn", help="The role that CloudFormation takes for its work.")]
_Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


def deploy(
    *,
    parameters: Annotated[
        list[str] | None,
        typer.Option("--parameter", help="Name=value. Parameters that you do not name keep their values."),
    ] = None,
    parameter_file: Annotated[
        Path | None, typer.Option("--parameter-file", help="A file of them, in JSON or YAML.")
    ] = None,
    stack_name: _StackName = "sweephand",
    region: _Region = "",
    role_arn: _RoleArn = "",
    bucket: Annotated[
        str, typer.Option(help="A bucket of yours for the code. Without it, one is made.")
    ] = "",
    no_execute: Annotated[
        bool, typer.Option("--no-execute", help="Make the change set, and leave it to you to execute it.")
    ] = False,
    package: Annotated[
        Path | None, typer.Option(help="Call nothing. Write template and zips into this folder.")
    ] = None,
    yes: _Yes = False,
) -> None:
    """Create a stack in your AWS account, or update it.

    It shows what would change, and asks. If it is interrupted, give it again: it follows what is going on.
    """
    with _exit_codes() as module:
        if package is not None:
            module("deploy").package(package)
            return
        order = module("deploy").Order(
            stack_name,
            module("parameters").read_parameters(parameters or [], parameter_file),
            role_arn or None,
            bucket or None,
            executes=not no_execute,
        )
        talk = module("deploy").Talk(_say, _question(is_needed=not (yes or no_execute)), time.sleep)
        if not module("deploy").deploy(module("deploy").session_of(region), order, talk):
            raise typer.Exit(DIFFERS)


def destroy(
    *,
    stack_name: _StackName = "sweephand",
    region: _Region = "",
    role_arn: _RoleArn = "",
    yes: _Yes = False,
) -> None:
    """Delete a stack of your AWS account. The tables and the bucket stay.

    It says what would be lost, and asks.
    """
    with _exit_codes() as module:
        talk = module("deploy").Talk(_say, _question(is_needed=not yes), time.sleep)
        session = module("deploy").session_of(region)
        if not module("destroy").destroy(session, stack_name, role_arn or None, talk):
            raise typer.Exit(DIFFERS)


def _say(line: str) -> None:
    typer.secho(line, bold=line.startswith("!!!"), fg=typer.colors.RED if line.startswith("!!!") else None)


def _question(*, is_needed: bool) -> Callable[[str], bool]:
    """What decides: the person at the terminal, unless no decision is needed."""
    if not is_needed:
        return lambda _: True
    if not sys.stdin.isatty():
        typer.echo("There is no terminal to ask at. --yes answers the question.", err=True)
        raise typer.Exit(BAD_INPUT)
    return typer.confirm


@contextmanager
def _exit_codes() -> Iterator[Callable[[str], Any]]:
    """Gives a module of the package by its name. An error becomes words on stderr and an exit code."""
    try:
        errors: Any = import_module(f"{_PACKAGE}.errors")
    except ModuleNotFoundError as error:
        typer.echo(
            f"Deploying needs packages that are not installed, such as {error.name}. "
            "Install them: pip install 'sweephand[deploy]'",
            err=True,
        )
        raise typer.Exit(BAD_INPUT) from None
    codes = {errors.InputError: BAD_INPUT, errors.UnreachableError: UNREACHABLE, errors.RefusedError: REFUSED}
    try:
        yield lambda name: import_module(f"{_PACKAGE}.{name}")
    except errors.DeployError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(codes[type(error)]) from None
    except KeyboardInterrupt:
        typer.echo(
            "\nCloudFormation goes on with what it has begun. Give the command again to follow it.", err=True
        )
        raise typer.Exit(_INTERRUPTED) from None
