"""Reads the template of a stack, and puts in where AWS finds the code."""

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml

#: The property in which a resource of a type names the folder of its code.
_CODE: Final = {"AWS::Serverless::Function": "CodeUri", "AWS::Serverless::LayerVersion": "ContentUri"}

Template = dict[str, Any]


class _Loader(yaml.SafeLoader):
    """Reads a template. An intrinsic function such as `!If X` becomes `{"Fn::If": X}`."""


def _function(loader: _Loader, name: str, node: yaml.Node) -> dict[str, Any]:
    value: Any
    match node:
        case yaml.SequenceNode():
            value = loader.construct_sequence(node, deep=True)
        case yaml.MappingNode():
            value = loader.construct_mapping(node, deep=True)
        case _:
            value = loader.construct_scalar(node)  # type: ignore[arg-type]
    if name == "GetAtt" and isinstance(value, str):
        value = value.split(".", 1)
    return {name if name in ("Condition", "Ref") else f"Fn::{name}": value}


_Loader.add_multi_constructor("!", _function)


def read_template(path: Path) -> Template:
    """The template with its functions in their long form, so that it can be written as JSON.

    CloudFormation reads no aliases of YAML, and the template has some.
    """
    return parse_template(path.read_text(encoding="utf-8"))


def parse_template(text: str) -> Template:
    """The template of that text, as read_template() returns it."""
    template: Template = yaml.load(text, _Loader)  # noqa: S506 - a SafeLoader
    return template


def code_folders(template: Template) -> Mapping[str, str]:
    """The folder that each function and layer names, by the logical id of the resource."""
    return {
        name: resource["Properties"][_CODE[resource["Type"]]]
        for name, resource in template["Resources"].items()
        if resource["Type"] in _CODE
    }


def with_code(template: Template, locations: Mapping[str, Any]) -> Template:
    """The template with the location of each function and layer, as SAM's `CodeUri` has it."""
    changed = copy.deepcopy(template)
    for name, location in locations.items():
        resource = changed["Resources"][name]
        resource["Properties"][_CODE[resource["Type"]]] = location
    return changed
