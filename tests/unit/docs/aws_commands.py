"""Runs commands of the AWS CLI as the pages show them, by botocore."""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, Final

import botocore.session
import jmespath
from botocore import xform_name
from botocore.model import ListShape, Shape, StructureShape

#: A variable that a command sets: `NAME=$(aws …)`.
_ASSIGNED: Final = re.compile(r"(\w+)=\$\((.*)\)", re.DOTALL)

#: Options of the CLI itself. Those that follow have a value.
_OF_THE_CLI: Final = ("--query", "--output")


class Shell:
    """A shell that knows `aws` and the shell function `output`, which prints an output of the stack."""

    def __init__(self, outputs: Mapping[str, str]) -> None:
        self._outputs = outputs
        self._variables: dict[str, str] = {}

    def run(self, command: str) -> Any:
        """Run one command of a block. Returns its answer, after `--query`."""
        assigned = _ASSIGNED.fullmatch(command.strip())
        answer = self._aws(assigned[2] if assigned else command)
        if assigned:
            self._variables[assigned[1]] = str(answer)
        return answer

    def _aws(self, command: str) -> Any:
        text = re.sub(r"\$\(output (\w+)\)", lambda found: self._outputs[found[1]], command)
        text = re.sub(r"\$(\w+)", lambda found: self._variables[found[1]], text)
        program, service, operation, *words = shlex.split(text.replace("\\\n", " "))
        assert program == "aws", command
        client = botocore.session.get_session().create_client(service)
        if operation == "wait":
            name, *words = words
            waiter: Any = client.get_waiter(name.replace("-", "_"))
            waiter.wait(**_given(client, waiter.config.operation, words)[0])
            return None
        names = {xform_name(each, "-"): each for each in client.meta.service_model.operation_names}
        given, of_the_cli = _given(client, names[operation], words)
        answer = getattr(client, operation.replace("-", "_"))(**given)
        return jmespath.search(of_the_cli["--query"], answer) if "--query" in of_the_cli else answer


def _given(client: Any, operation: str, words: Sequence[str]) -> tuple[dict[str, Any], dict[str, str]]:
    """The parameters of the operation, and the options of the CLI itself."""
    shape = client.meta.service_model.operation_model(operation).input_shape
    members = {f"--{xform_name(each, '-')}": each for each in shape.members}
    given: dict[str, Any] = {}
    of_the_cli: dict[str, str] = {}
    options: list[tuple[str, list[str]]] = []
    for word in words:
        if word.startswith("--"):
            options.append((word, []))
        else:
            options[-1][1].append(word)
    for option, values in options:
        if option in _OF_THE_CLI:
            [of_the_cli[option]] = values
        else:
            given[members[option]] = _value(shape.members[members[option]], values)
    return given, of_the_cli


def _value(shape: Shape, words: Sequence[str]) -> Any:
    """The value of an option, in the shorthand of the CLI: `Name=value,Other=value` for each structure."""
    if shape.type_name == "boolean" and not words:
        return True
    if isinstance(shape, ListShape):
        return [_value(shape.member, [word]) for word in words]
    [word] = words
    if word[:1] in "[{":
        return json.loads(word)
    if isinstance(shape, StructureShape):
        pairs = (pair.partition("=") for pair in word.split(","))
        return {name: _value(shape.members[name], [value]) for name, _, value in pairs}
    return word == "true" if shape.type_name == "boolean" else word
