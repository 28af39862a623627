"""Each command's help has examples, and each example is a command that the command line takes."""

import shlex
from collections.abc import Iterator
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from sweephand_client.commands.examples import EXAMPLES, examples_of
from sweephand_client.commands.main import app

LINES = EXAMPLES.strip().splitlines()


def leaves(made: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """The commands below a group, by their whole names."""
    for word, each in made.commands.items():
        whole = f"{name} {word}".strip()
        if hasattr(each, "commands"):
            yield from leaves(each, whole)
        else:
            yield whole, each


COMMANDS = dict(leaves(get_command(app)))


@pytest.mark.parametrize("line", LINES)
def test_an_example_is_a_command_that_is_taken(line: str) -> None:
    words = shlex.split(line.partition(" < ")[0].partition(" > ")[0])[1:]
    name = next(each for each in (" ".join(words[:2]), words[0]) if each in COMMANDS)
    # A word that no option or argument takes raises an error.
    with COMMANDS[name].make_context(name, words[len(name.split()) :]):
        pass


def test_each_command_has_an_example_in_its_help() -> None:
    assert [name for name in COMMANDS if not examples_of(name)] == []
    assert {line for name in COMMANDS for line in examples_of(name)} == set(LINES)


def test_the_help_of_a_command_shows_its_examples() -> None:
    shown = CliRunner().invoke(app, ["run", "list", "--help"], env={"COLUMNS": "200", "NO_COLOR": "1"}).output
    assert "Examples:" in shown
    assert "sweephand run list --state failed --since 1h --reason timeout" in shown
