"""What all commands share: the options that choose a stack, and the exit codes of errors."""

import datetime as dt
import inspect
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Final

import typer

from sweephand_client.api.client import Client
from sweephand_client.commands.output import Output
from sweephand_client.http.errors import (
    MAY_HAVE_WRITTEN,
    InputError,
    InvalidError,
    Problem,
    RefusedError,
    StackFailedError,
    SweephandError,
    UnreachableError,
)
from sweephand_client.profiles import Stack, find_stack
from sweephand_client.tasks.steps import HELD_BACK

#: The exit codes. 1 is what a command found, not an error.
DIFFERS: Final = 1
BAD_INPUT: Final = 2
UNREACHABLE: Final = 3
REFUSED: Final = 4

_EVERY_NAMESPACE: Final = "*"

#: The statuses of problems that better input would not have.
_INVALID: Final = (400, 405, 413, 415, 422)

_ProfileOption = Annotated[
    str | None,
    typer.Option("--profile", "-p", help="The profile of the stack.", rich_help_panel="Stack"),
]
_NamespaceOption = Annotated[
    str | None,
    typer.Option("--namespace", "-n", help="The namespace.", rich_help_panel="Stack"),
]
_JsonOption = Annotated[
    bool, typer.Option("--json", help="Print JSON instead of tables.", rich_help_panel="Stack")
]

#: The options of every command.
_SHARED: Final = (
    inspect.Parameter("in_profile", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_ProfileOption),
    inspect.Parameter(
        "in_namespace", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_NamespaceOption
    ),
    inspect.Parameter("as_json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=_JsonOption),
)


@dataclass
class Session:
    """The stack, the namespace and the output of one command."""

    output: Output
    profile: str | None = None
    asked_namespace: str | None = None

    @cached_property
    def stack(self) -> Stack:
        """The stack that the options, the environment or the files choose. Raises InputError.

        A person is told which stack a file has chosen.
        """
        found = find_stack(profile=self.profile)
        if found.is_implied and not self.output.as_json:
            self.output.note(f"The stack is {found.url}, by {found.source}.")
        return found

    @cached_property
    def client(self) -> Client:
        """The client of the stack."""
        return Client(self.stack.url, self.stack.authorization())

    @cached_property
    def namespace(self) -> str:
        """The namespace: of the option, of the environment, of the profile, or the only one of the key."""
        named = self.asked_namespace or self.stack.namespace
        if named is not None:
            return named
        own = self.client.me()["namespace"]
        if own == _EVERY_NAMESPACE:
            raise InputError(
                "The key opens every namespace. Say which one: --namespace NAME, SWEEPHAND_NAMESPACE, "
                "or the field namespace of the profile."
            )
        return own

    def take_namespace(self, named: str | None) -> None:
        """Take the namespace that a file may name. InputError if the option names another one."""
        if named is not None and self.asked_namespace not in (None, named):
            raise InputError(f"The file is for the namespace {named}, not for {self.asked_namespace}.")
        self.asked_namespace = self.asked_namespace or named

    def now(self) -> dt.datetime:
        """The present time by the clock of this machine."""
        return dt.datetime.now(dt.UTC)

    def close(self) -> None:
        """Close the connections, if there are any."""
        if "client" in self.__dict__:
            self.client.close()


def command(
    app: typer.Typer, name: str | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a command, and give it the options of every command. Its first argument is the Session."""

    def register(run: Callable[..., None]) -> Callable[..., None]:
        own = list(inspect.signature(run).parameters.values())[1:]

        def call(**given: Any) -> None:
            output = Output(as_json=given.pop("as_json"))
            session = Session(output, given.pop("in_profile"), given.pop("in_namespace"))
            with _exit_codes(output):
                try:
                    run(session, **given)
                finally:
                    session.close()

        parameters = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in own] + list(_SHARED)
        call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        call.__annotations__ = {each.name: each.annotation for each in parameters}
        call.__name__, call.__doc__ = run.__name__, run.__doc__
        app.command(name)(call)
        return run

    return register


@contextmanager
def _exit_codes(output: Output) -> Iterator[None]:
    """Turn an error into words on stderr and an exit code."""
    try:
        yield
    except UnreachableError as error:
        _fail(output, UNREACHABLE, _with_warning(str(error), error), {"url": error.url})
    except StackFailedError as error:
        said = _with_warning(error.problem.detail, error)
        text = _with_warning(f"{error.url} failed: {error.problem}", error)
        _fail(output, UNREACHABLE, text, {**problem_value(error.problem), "detail": said})
    except InvalidError as error:
        _fail(output, BAD_INPUT, str(error.problem), problem_value(error.problem))
    except RefusedError as error:
        _fail(output, REFUSED, str(error.problem), problem_value(error.problem))
    except InputError as error:
        _fail(output, BAD_INPUT, str(error), {})
    except SweephandError as error:
        _fail(output, REFUSED, str(error), {})
    except BrokenPipeError:
        # The reader of a pipe has gone, as `head` does. Python would complain once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None


def _with_warning(text: str, error: UnreachableError | StackFailedError) -> str:
    return f"{text}\n{MAY_HAVE_WRITTEN}" if error.may_have_written else text


def _fail(output: Output, code: int, text: str, value: dict[str, Any]) -> None:
    output.error(text, {"exitCode": code, "detail": text, **value})
    raise typer.Exit(code) from None


def problem_value(problem: Problem) -> dict[str, Any]:
    """A problem as JSON."""
    errors = [{"pointer": each.pointer, "detail": each.detail} for each in problem.errors]
    return {"status": problem.status, "detail": problem.detail, "errors": errors}


def exit_for(found: Iterable[Problem | None]) -> None:
    """Exit because of problems of single jobs: 3 if the stack failed, 2 if all input was wrong, else 4.

    Returns without any problem.
    """
    problems = [each for each in found if each is not None]
    if not problems:
        return
    if any(each.status >= 500 for each in problems):  # noqa: PLR2004 - 5xx
        raise typer.Exit(UNREACHABLE)
    # A deletion that was held back only follows from another problem.
    others = [each for each in problems if each.kind != HELD_BACK]
    raise typer.Exit(BAD_INPUT if all(each.status in _INVALID for each in others) else REFUSED)
