"""Each command of the documentation is one of a program that the tests run, or that they know by its rules.

`curl` runs in test_examples.py, and every command of docs/recipes.md and docs/targets in
tests/e2e/test_pages.py. Those of docs/command-line.md run in tests/e2e/test_command_line.py, and those with
openssl in test_signatures.py. Here are those that would need an AWS account, or another checkout. Those of
recovery.md about lost tables also run in test_lost_tables.py.
"""

import re
import shlex
from functools import lru_cache
from itertools import dropwhile, groupby
from typing import Any, Final

import botocore.session
import pytest
from botocore import xform_name
from tests.fakes.tables import template
from tests.unit.docs.blocks import ROOT, Block, all_blocks, commands
from typer.main import get_command

from sweephand_client.commands.main import app

#: Programs that run in other tests, as said above, and in every checkout.
RUN_ELSEWHERE: Final = {"curl", "openssl", "sweephand", "pip", ".venv/bin/python"}

#: What a shell or each system has, and functions that a page of its own defines.
OF_A_SYSTEM: Final = {
    "cat",
    "echo",
    "export",
    "printf",
    "command",
    "cut",
    "jq",
    "od",
    "sed",
    "sort",
    "tail",
    "tr",
    "{",
    "}",
}

#: The pages whose commands all run on a local stack, besides those about targets.
RUN_WHOLE: Final = {"recipes", "command-line"}

#: What a command prints that is a part of another one: `$(…)`, with parentheses of one level in it.
_SUBSTITUTED: Final = re.compile(r"\$\(((?:[^()]|\([^()]*\))*)\)")

#: Options of the AWS CLI itself, and names of commands that it has besides the operations of a service.
OF_THE_CLI: Final = {"--query", "--output", "--cli-binary-format", "--endpoint-url", "--zip-file"}
CUSTOM: Final = {("s3", "rb"), ("logs", "tail")}

#: Options that the AWS CLI renames, since it has an option of its own with that name.
RENAMED: Final = {"--notification-endpoint": "--endpoint"}


def simple_commands(block: Block) -> list[list[str]]:
    """The words of each command of a block, also of those within `$(…)` and between `&&`, `;` and `|`."""
    found = []
    for command in commands(block.text):
        text = re.sub(r"\s#.*$", "", command.replace("\\\n", " "), flags=re.MULTILINE)
        for part in [*_SUBSTITUTED.findall(text), _SUBSTITUTED.sub("VALUE", text)]:
            lexer = shlex.shlex(part, posix=True, punctuation_chars="|;&")
            lexer.whitespace_split = True
            for is_separator, words in groupby(lexer, lambda word: not word.strip("|;&")):
                named = list(dropwhile(lambda word: re.match(r"\w+=", word), words))
                if named and not is_separator:
                    found.append(named)
    return found


def commands_of(program: str) -> list[Any]:
    """The commands of a program in all pages, as the parameters of a test."""
    return [
        pytest.param(words[1:], id=f"{block.place}-{number}")
        for block in all_blocks("sh")
        for number, words in enumerate(simple_commands(block), 1)
        if words[0] == program
    ]


@lru_cache
def model(service: str) -> Any:
    """What botocore knows of a service of AWS."""
    return botocore.session.Session().get_service_model(service)


def _operation_of_waiter(service: str, name: str, waiters: list[str]) -> str:
    """The operation that `aws SERVICE wait NAME` calls until its answer is as awaited."""
    (waiter,) = (each for each in waiters if xform_name(each, "-") == name)
    return str(botocore.session.Session().get_waiter_model(service).get_waiter(waiter).operation)


@pytest.mark.parametrize("words", commands_of("aws"))
def test_a_command_of_the_aws_cli_names_an_operation_and_its_options(words: list[str]) -> None:
    service, operation, *options = words
    if (service, operation) in CUSTOM or service == "$@" or words[0].startswith("--"):
        return
    if operation == "wait":
        waiters = botocore.session.Session().get_waiter_model(service).waiter_names
        operation = xform_name(_operation_of_waiter(service, options.pop(0), waiters), "-")
    names = {xform_name(each, "-"): each for each in model(service).operation_names}
    shape = model(service).operation_model(names[operation]).input_shape
    members = {f"--{xform_name(each, '-')}": each for each in shape.members}
    given = {RENAMED.get(each, each) for each in options if each.startswith("--")}
    # A flag has an option for each of its values.
    given = {each if each in members else each.replace("--no-", "--", 1) for each in given}
    assert given - OF_THE_CLI <= set(members), given - OF_THE_CLI - set(members)
    if "--zip-file" not in given:
        assert {members[each] for each in given - OF_THE_CLI} >= set(shape.required_members)


@pytest.mark.parametrize("words", commands_of("sam"))
def test_a_command_of_sam_gives_parameters_that_the_template_has_and_allows(words: list[str]) -> None:
    parameters = template()["Parameters"]
    assert words[0] in {"build", "deploy", "delete"}
    if "--parameter-overrides" not in words:
        return
    for each in words[words.index("--parameter-overrides") + 1 :]:
        name, _, value = each.partition("=")
        declared, value = parameters[name], value.strip('"')
        if "AllowedValues" in declared:
            assert value in map(str, declared["AllowedValues"]), each
        for item in value.split(",") if declared["Type"] == "CommaDelimitedList" else [value]:
            assert re.fullmatch(declared.get("AllowedPattern", ".*"), item.strip()), each


@pytest.mark.parametrize("words", commands_of("make"))
def test_a_command_of_make_names_a_target_and_its_variables(words: list[str]) -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for each in words:
        name, is_variable, _ = each.partition("=")
        pattern = rf"\$\(.*\b{name}\b" if is_variable else rf"^{name}:.* ## "
        assert re.search(pattern, makefile, re.MULTILINE), each


@pytest.mark.parametrize("words", commands_of("sweephand"))
def test_a_command_of_the_command_line_is_one(words: list[str]) -> None:
    command: Any = get_command(app)
    left = list(words)
    while left and not left[0].startswith("-") and hasattr(command, "commands"):
        command = command.commands[left.pop(0)]
    options = {name for each in command.params for name in (*each.opts, *each.secondary_opts)}
    given = {each.partition("=")[0] for each in left if re.match(r"--?[a-zA-Z]", each)}
    assert given <= options | {"--help"}, given - options


def test_every_program_of_a_page_is_known() -> None:
    known = RUN_ELSEWHERE | OF_A_SYSTEM | {"aws", "sam", "make"}
    shell = all_blocks("sh")
    functions = {name for block in shell for name in re.findall(r"^(\w+)\(\) \{", block.text, re.MULTILINE)}
    other = {
        (block.place, words[0])
        for block in shell
        if block.page.parent.name != "targets" and block.page.stem not in RUN_WHOLE
        for words in simple_commands(block)
        if words[0].removesuffix("()") not in known | functions
    }
    assert other == set()
