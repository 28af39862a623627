"""Reads values of the template's parameters, from options and from a file."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from sweephand_deploy.errors import InputError


def read_parameters(options: Sequence[str], file: Path | None) -> Mapping[str, str]:
    """The values by their names. An option `Name=value` comes before the file. Raises InputError."""
    found = {} if file is None else dict(_of_file(file))
    for option in options:
        name, equals, value = option.partition("=")
        if not (name and equals):
            raise InputError(f"--parameter must be Name=value, not {option}")
        found[name] = value
    return found


def _of_file(file: Path) -> Iterator[tuple[str, str]]:
    """The values of a file in JSON or YAML: an object, or the list that the AWS CLI takes."""
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(f"--parameter-file {file} cannot be read: {error}") from error
    match content:
        case dict():
            yield from ((str(name), _text(name, value)) for name, value in content.items())
        case [*entries] if all(isinstance(each, dict) and "ParameterKey" in each for each in entries):
            for each in entries:
                yield str(each["ParameterKey"]), _text(each["ParameterKey"], each.get("ParameterValue"))
        case _:
            raise InputError(
                f"--parameter-file {file} must hold names with values, or a list of objects with "
                "ParameterKey and ParameterValue."
            )


def _text(name: Any, value: Any) -> str:
    """A value as CloudFormation takes it."""
    match value:
        case bool():
            return str(value).lower()
        case str() | int() | float():
            return str(value)
        case [*entries] if all(isinstance(each, str | int) for each in entries):
            return ",".join(map(str, entries))
    raise InputError(f"The value of the parameter {name} must be a text, a number, true, false or a list.")
