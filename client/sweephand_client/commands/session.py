"""What all commands share: the options that choose a stack, and the exit codes of errors."""

import datetime as dt
import inspect
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from time import sleep
from typing import Annotated, Any, Final, TypeVar

import typer

from sweephand_client.api.client import Client
from sweephand_client.commands.forms import Form
from sweephand_client.commands.output import Output
from sweephand_client.commands.times import Times, read_zone
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
from sweephand_client.profiles import Stack, find_stack, other_local_stacks

#: The exit codes. 1 is what a command found, not an error.
DIFFERS: Final = 1
BAD_INPUT: Final = 2
UNREACHABLE: Final = 3
REFUSED: Final = 4

_EVERY_NAMESPACE: Final = "*"

_Listed = TypeVar("_Listed", bound=Mapping[str, Any])

#: Seconds between two looks.
_WATCH_S: Final = 2.0

#: How many namespaces a sentence names.
_NAMED_MAX: Final = 10

_ProfileOption = Annotated[
    str | None,
    typer.Option("--profile", "-p", help="The profile of the stack.", rich_help_panel="Stack"),
]
_NamespaceOption = Annotated[
    str | None,
    typer.Option("--namespace", "-n", help="The namespace.", rich_help_panel="Stack"),
]
_ZoneOption = Annotated[
    str | None,
    typer.Option(
        "--zone", help="The zone of times, as UTC. By default this machine's.", rich_help_panel="Results"
    ),
]
_FormOption = Annotated[
    Form | None,
    typer.Option(
        "--output", "-o", help="Print data: json, yaml, csv, or the names alone.", rich_help_panel="Results"
    ),
]
_JsonOption = Annotated[
    bool, typer.Option("--json", help="The same as --output json.", rich_help_panel="Results")
]

#: An option of commands that show what changes.
Watch = Annotated[bool, typer.Option("--watch", help="Show it again every two seconds. Ctrl-C ends it.")]

#: An option of commands that list.
AllNamespaces = Annotated[
    bool, typer.Option("--all-namespaces", "-A", help="Of each namespace that the key sees.")
]

#: The options of every command, with their defaults.
_SHARED: Final = tuple(
    inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
    for name, default, annotation in (
        ("in_profile", None, _ProfileOption),
        ("in_namespace", None, _NamespaceOption),
        ("in_zone", None, _ZoneOption),
        ("in_form", None, _FormOption),
        ("as_json", False, _JsonOption),
    )
)


@dataclass
class Session:
    """The stack, the namespace, the output and the time zone of one command."""

    output: Output
    profile: str | None = None
    asked_namespace: str | None = None
    zone: dt.tzinfo | None = None

    @cached_property
    def stack(self) -> Stack:
        """The stack that the options, the environment or the files choose. Raises InputError.

        A person is told which stack a file has chosen.
        """
        found = find_stack(profile=self.profile)
        if found.is_implied and not self.output.is_data:
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

    def namespaces(self, *, every: bool) -> Iterator[str]:
        """The namespace; with `every` all that the key sees. InputError if an option names one, too."""
        if not every:
            yield self.namespace
            return
        if self.asked_namespace is not None:
            raise InputError("Give --namespace or --all-namespaces, not both.")
        for each in self.client.namespaces.list():
            yield each["namespace"]

    def of_namespace(self, found: Iterable[_Listed]) -> Iterator[_Listed]:
        """Those of the namespace that an option names. Without the option, all of them."""
        return (each for each in found if self.asked_namespace in (None, each["namespace"]))

    def note_unknown_namespace(self) -> None:
        """Say that the namespace of a command is none of those of the stack. An empty stack has none."""
        named = self.asked_namespace or self.stack.namespace
        if named is None or self.output.is_data:
            return
        known = [each["namespace"] for each in self.client.namespaces.list()]
        if known and named not in known:
            self.output.note(f"The stack has no namespace {named}. It has {', '.join(known[:_NAMED_MAX])}.")

    def take_namespace(self, named: str | None) -> None:
        """Take the namespace that a file may name. InputError if the option names another one."""
        if named is not None and self.asked_namespace not in (None, named):
            raise InputError(f"The file is for the namespace {named}, not for {self.asked_namespace}.")
        self.asked_namespace = self.asked_namespace or named

    def now(self) -> dt.datetime:
        """The present time by the clock of this machine."""
        return dt.datetime.now(dt.UTC)

    @property
    def times(self) -> Times:
        """Reads times as people write them."""
        return Times(self.now(), self.zone)

    def watch(self, show: Callable[[], bool]) -> None:
        """Show something every two seconds, until `show` returns that it is over, or Ctrl-C is pressed."""
        with suppress(KeyboardInterrupt):
            while not show():
                sleep(_WATCH_S)
                self.output.clear()

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
            asked, zone_name = given.pop("in_form"), given.pop("in_zone")
            form = Form.JSON if given.pop("as_json") else asked
            with _exit_codes(Output(form)):
                zone = read_zone(zone_name)
                session = Session(
                    Output(form, zone), given.pop("in_profile"), given.pop("in_namespace"), zone
                )
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
        text = _with_warning(str(error), error) + _elsewhere(error.url)
        _fail(output, UNREACHABLE, text, {"url": error.url})
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


def _elsewhere(url: str) -> str:
    """Lines that name the local stacks that answer, for the error about one at `url` that does not."""
    others = other_local_stacks(url, os.environ, Path.cwd())
    calls = (
        f"\n{each.source} answers at {each.url}: unset SWEEPHAND_KEY; export SWEEPHAND_URL={each.url}"
        for each in others
    )
    return "".join(calls)


def _with_warning(text: str, error: UnreachableError | StackFailedError) -> str:
    return f"{text}\n{MAY_HAVE_WRITTEN}" if error.may_have_written else text


def _fail(output: Output, code: int, text: str, value: dict[str, Any]) -> None:
    output.error(text, {"exitCode": code, "detail": text, **value})
    raise typer.Exit(code) from None


def problem_value(problem: Problem) -> dict[str, Any]:
    """A problem as JSON."""
    errors = [{"pointer": each.pointer, "detail": each.detail} for each in problem.errors]
    return {"status": problem.status, "detail": problem.detail, "errors": errors}
